"""Store a fitted vectorizer as plain values and arrays, and restore it."""

from os import PathLike
from typing import Any

import numpy as np

from ...errors import InputError
from ..clean import Cleaning, cleaning_options
from ..languages.table import LANGUAGES
from ..store import Texts
from .count import Units
from .prepare import Preparation
from .stopwords import is_named, stop_words
from .terms import Tokenizer
from .vectorizer import TermVectorizer
from .weighting import Weighting


def plain_parameters(vectorizer: TermVectorizer) -> dict[str, Any]:
    """Return a vectorizer's parameters as JSON values; stop words from a file or a set as a list."""
    found = vectorizer.get_params(deep=False)
    tokens = found.pop("tokenizer")
    tokens = tokens if isinstance(tokens, Tokenizer) else Tokenizer(tokens)
    if callable(tokens.pattern):
        raise InputError(
            "tokenizer must be a regular expression if the result is to be saved; got a function, which cannot be "
            "stored in a file."
        )
    found |= {"tokenizer": tokens.pattern, "lowercase": tokens.lowercase}
    found |= {"min_length": tokens.min_length, "max_length": tokens.max_length}
    stops = found["stop_words"]
    if isinstance(stops, PathLike) or (isinstance(stops, str) and not is_named(stops)):
        found["stop_words"] = sorted(stop_words(stops))
    elif stops is not None and not isinstance(stops, str):
        found["stop_words"] = sorted(stops)
    if isinstance(found["clean"], Cleaning):
        found["clean"] = cleaning_options(found["clean"])
    found["ngram_range"] = list(found["ngram_range"])
    found["dtype"] = np.dtype(found["dtype"]).name
    return found


def pack_vectorizer(vectorizer: TermVectorizer) -> dict[str, Any]:
    """Return what a fitted vectorizer learned: its terms, their weights and document frequencies."""
    weighting = vectorizer.weighting_
    if vectorizer.ngram_range[1] > 1 and any(" " in token for token in vectorizer._units.tokens):
        raise InputError("tokens must not contain blanks if n-grams are to be saved; those of the tokenizer do.")
    return {
        "terms": Texts(vectorizer.get_feature_names_out().tolist()),
        "global_weights": weighting.global_weights_,
        "document_frequency": weighting.document_frequency_,
        "n_documents": np.array(weighting.n_documents_),
        "shared": Texts(sorted(vectorizer.preparation_.shared)),
        "languages": Texts(vectorizer.preparation_.languages),
    }


def unpack_vectorizer(parameters: dict[str, Any], learned: dict[str, Any]) -> TermVectorizer:
    """Return the fitted vectorizer of `plain_parameters` and `pack_vectorizer`."""
    rest = {**parameters, "ngram_range": tuple(parameters["ngram_range"]), "dtype": np.dtype(parameters["dtype"])}
    if isinstance(rest.get("clean"), dict):
        rest["clean"] = Cleaning(**rest["clean"])
    tokenizer = Tokenizer(*(rest.pop(name) for name in ("tokenizer", "lowercase", "min_length", "max_length")))
    vectorizer = TermVectorizer(tokenizer=tokenizer, **rest)
    weighting = Weighting(vectorizer.weighting, dtype=vectorizer.dtype)
    names = list(learned["terms"])
    vectorizer.vocabulary_ = {name: number for number, name in enumerate(names)}
    if np.shape(learned["n_documents"]) != ():
        raise InputError(f"n_documents must be one number; got an array of shape {np.shape(learned['n_documents'])}.")
    vectorizer.n_documents_ = weighting.n_documents_ = int(learned["n_documents"])
    # Runs of 0.1 have neither.
    vectorizer.preparation_ = Preparation(*(_strings(learned, name) for name in ("shared", "languages")))
    vectorizer._units, vectorizer._column = _numbered(names, grams=vectorizer.ngram_range[1] > 1)
    weighting.global_weights_ = np.asarray(learned["global_weights"])
    weighting.document_frequency_ = np.asarray(learned["document_frequency"])
    weighting.n_features_in_ = len(names)
    vectorizer.weighting_ = weighting
    return vectorizer


def _strings(learned: dict[str, Any], name: str) -> Any:
    """Return lines or languages that were learned; refuse what a forged run may hold instead."""
    found = list(learned.get(name, ()))
    if not all(isinstance(value, str) for value in found) or (name == "languages" and set(found) - set(LANGUAGES)):
        raise InputError(f"{name} must be {'lines' if name == 'shared' else 'codes of languages'}; got {found[:3]!r}.")
    return frozenset(found) if name == "shared" else tuple(found)


def _numbered(names: list[str], *, grams: bool) -> tuple[Units, Any]:
    """Renumber tokens and n-grams, parts before what they make up."""
    if not grams:
        tokens = {name: number for number, name in enumerate(names)}
        return Units(False, tokens), np.arange(len(names), dtype=np.int32)
    units, column = Units(), {}
    for number, name in enumerate(names):
        first, *rest = units.of_tokens(name.split(" "))
        for token in rest:
            first = units.grams[(first << 32) | token]
        column[first] = number
    numbers = np.full(units.size, -1, np.int32)
    numbers[list(column)] = list(column.values())
    return units.keep(numbers)
