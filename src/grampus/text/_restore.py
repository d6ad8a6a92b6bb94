"""Take a fitted vectorizer apart into plain values and arrays, and put it together again."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from grampus.errors import InputError
from grampus.text._count import Units
from grampus.text._store import Texts
from grampus.text.stopwords import stop_words
from grampus.text.tokens import Terms
from grampus.text.vectorizer import TermVectorizer
from grampus.text.weighting import Weighting

__all__ = ["pack_vectorizer", "plain_parameters", "unpack_vectorizer"]


def plain_parameters(vectorizer: TermVectorizer) -> dict[str, Any]:
    """Return a vectorizer's parameters as values that JSON knows; a stop list that is a file or a set, as its words."""
    found = vectorizer.get_params(deep=False)
    if callable(found["tokenizer"]):
        raise InputError(
            "tokenizer must be a regular expression if the result is to be saved; got a function, which a file "
            "cannot hold."
        )
    stops = found["stop_words"]
    if isinstance(stops, PathLike) or (isinstance(stops, str) and stops not in ("smart", "english")):
        found["stop_words"] = sorted(stop_words(stops))
    elif stops is not None and not isinstance(stops, str):
        found["stop_words"] = sorted(stops)
    found["ngram_range"] = list(found["ngram_range"])
    found["dtype"] = np.dtype(found["dtype"]).name
    return found


def pack_vectorizer(vectorizer: TermVectorizer) -> dict[str, Any]:
    """Return what a fitted vectorizer learned: its terms, their weights and document frequencies."""
    weighting = vectorizer.weighting_
    names = vectorizer.get_feature_names_out().tolist()
    if vectorizer.ngram_range[1] > 1 and any(" " in token for token in vectorizer.terms_._units.tokens):
        raise InputError("tokens must hold no blank if n-grams are to be saved; the tokenizer gives some that do.")
    return {
        "terms": Texts(names),
        "global_weights": weighting.global_weights_,
        "document_frequency": weighting.document_frequency_,
        "n_documents": np.array(weighting.n_documents_),
    }


def unpack_vectorizer(parameters: dict[str, Any], learned: dict[str, Any]) -> TermVectorizer:
    """Return the fitted vectorizer that `plain_parameters` and `pack_vectorizer` took apart."""
    parameters = {**parameters, "ngram_range": tuple(parameters["ngram_range"]), "dtype": np.dtype(parameters["dtype"])}
    vectorizer = TermVectorizer(**parameters)
    weighting = Weighting(parameters.pop("weighting"), dtype=parameters.pop("dtype"))
    terms = Terms(**parameters)
    names = list(learned["terms"])
    terms.vocabulary_ = {name: place for place, name in enumerate(names)}
    terms.n_documents_ = weighting.n_documents_ = int(learned["n_documents"])
    terms._units, terms._column = _numbered(names, grams=parameters["ngram_range"][1] > 1)
    weighting.global_weights_ = np.asarray(learned["global_weights"])
    weighting.document_frequency_ = np.asarray(learned["document_frequency"])
    weighting.n_features_in_ = len(names)
    vectorizer.terms_, vectorizer.weighting_ = terms, weighting
    return vectorizer


def _numbered(names: list[str], *, grams: bool) -> tuple[Units, Any]:
    """Renumber tokens and n-grams: parts before what they make up."""
    if not grams:
        return Units(False, {name: place for place, name in enumerate(names)}), np.arange(len(names), dtype=np.int32)
    units, column = Units(), {}
    for place, name in enumerate(names):
        first, *rest = units.of_tokens(name.split(" "))
        for token in rest:
            first = units.grams[(first << 32) | token]
        column[first] = place
    numbers = np.full(units.size, -1, np.int32)
    numbers[list(column)] = list(column.values())
    return units.keep(numbers)
