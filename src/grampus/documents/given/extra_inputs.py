"""What is compared besides terms: who makes it, and the kernel that adds it up."""

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from ..._progress import Progress
from ...errors import InputError
from ...kernels import Kernel, parse_kernel
from ...text import Corpus, TermVectorizer
from ...text.clean import as_cleaning
from ...text.embed.embedder import as_embedder
from ...text.embed.maker import EMBEDDED, EmbeddingInput
from ...text.embed.mean import MeanVectors
from ...text.embed.model import MEANING
from ...text.inputs import InputMaker
from ...text.meaning.encoder import encoder_digest
from ...text.meaning.files import HINT
from ...text.meaning.maker import MeaningInput
from ...text.meaning.weight import word_weight
from .inputs import Inputs, as_corpus, collect, count_words

TERMS = "cosine|principal(auto)|normalise"
EMBEDDING = "embedding"  # the input
SHORT = 20  # known terms: texts with fewer gain most from meaning


def make_input(
    embed: Any, kernel: Kernel, texts: Corpus | None, terms: TermVectorizer | None, progress: Progress | None = None
) -> InputMaker | None:
    """Return the maker of the input that was asked for; None for meaning where it has no place.

    Parameters
    ----------
    embed : "auto", callable, str, path, Embedder or None
    kernel : Kernel
        As it was asked for.
    texts : Corpus or None
        The documents, if they are nothing but texts.
    terms : TermVectorizer or None
        Texts are cleaned, and the words of word vectors are split, as for the terms.
    progress : callable, optional
    """
    if isinstance(embed, str) and embed == MEANING:
        if texts is None or EMBEDDING in texts.inputs or not _wants_meaning(kernel):
            return None
        return MeaningInput(as_cleaning(True if terms is None else terms.clean), progress=progress)
    if embed is None:
        return None
    if isinstance(embed, str | PathLike) and Path(embed).is_file() and Path(embed).suffix.lower() != ".onnx":
        shared = () if terms is None else ("tokenizer", "stop_words")
        return MeanVectors(embed, **{name: getattr(terms, name) for name in shared})
    return EmbeddingInput(as_embedder(embed), progress=progress)


def _wants_meaning(kernel: Kernel) -> bool:
    """Return whether a kernel compares meaning: the default where the encoder is installed, or one that reads it."""
    return encoder_digest() is not None if kernel == parse_kernel(TERMS) else EMBEDDING in kernel.inputs


def read_inputs(
    parameters: Mapping[str, Any], kernel: Kernel, X: Any, corpus: Corpus | None, progress: Progress | None
) -> tuple[Kernel, Inputs]:
    """Return the kernel that reads every input that was asked for, and the documents with these inputs.

    Parameters
    ----------
    parameters : dict
        Those of a DocumentClusterer: terms, embed.
    kernel : Kernel
    X : documents as ``fit`` takes them
    corpus : Corpus or None
        The texts of the rows of a matrix.
    progress : callable or None
    """
    terms, embed = parameters["terms"], parameters["embed"]
    own = as_corpus(X)
    maker = make_input(embed, kernel, own, terms, progress)
    texts = own if corpus is None else corpus
    if maker is not None and texts is None:
        raise InputError(f"embed needs texts; got {type(X).__name__}. Give them as corpus=….")
    counted = None
    if isinstance(maker, MeaningInput) and own is not None and kernel == parse_kernel(TERMS):
        maker.begin(own)
        counted = count_words(own, terms)
        maker.word_weight = word_weight(np.diff(counted.described.indptr), counted.languages)
    kernel = combined_kernel(kernel, maker, set() if texts is None else {*texts.inputs})
    makers = {} if maker is None else {EMBEDDING: maker}
    return kernel, collect(X if own is None else own, kernel, terms, corpus, makers, counted)


def combined_kernel(kernel: Kernel, maker: InputMaker | None, held: set[str]) -> Kernel:
    """Return the default kernel with embeddings added, or the caller's, which must read what was asked for.

    Parameters
    ----------
    kernel : Kernel
    maker : InputMaker or None
        Of embeddings.
    held : set of str
        Inputs that the corpus has.

    Examples
    --------
    >>> from grampus import parse_kernel
    >>> from grampus.documents.given.extra_inputs import TERMS, combined_kernel
    >>> str(combined_kernel(parse_kernel(TERMS), None, {"embedding"}))
    '0.15 * cosine|principal(auto)|normalise + 0.85 * cosine@embedding'
    """
    if kernel == parse_kernel(TERMS):
        if maker is None and EMBEDDING not in held:
            return kernel
        return weighted_kernel(EMBEDDED if maker is None or EMBEDDING in held else maker.word_weight)
    if maker is not None and EMBEDDING not in kernel.inputs:
        raise InputError(
            f"embed must be read by the kernel; '{kernel}' does not. Add '@{EMBEDDING}' to it, as in "
            f"'cosine@{EMBEDDING}', or leave the kernel to its default."
        )
    return kernel


def missing_meaning_note(parameters: Mapping[str, Any], kernel: Kernel, inputs: Inputs) -> str:
    """Return what short texts would gain from the encoder where only that it is not installed is in the way."""
    asked = isinstance(parameters["embed"], str) and parameters["embed"] == MEANING
    if not asked or inputs.vectorizer is None or kernel != parse_kernel(TERMS) or encoder_digest() is not None:
        return ""
    if np.median(np.diff(inputs.described.indptr)) >= SHORT:
        return ""
    gain = "Compared by meaning as well, such texts mostly form better groups"
    return f"These texts are short and share few words. {gain}: {HINT}"


def weighted_kernel(words: float) -> Kernel:
    """Return the default kernel of terms and embeddings; `words` is the weight of the terms, from none to all of it."""
    alone = {0.0: f"cosine@{EMBEDDING}", 1.0: TERMS}
    return parse_kernel(alone.get(words, f"{words:g} * {TERMS} + {round(1 - words, 2):g} * cosine@{EMBEDDING}"))
