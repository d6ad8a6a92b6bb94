"""What is compared besides terms: who makes it, and the kernel that adds it up."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from ..._progress import Progress
from ...errors import InputError
from ...kernels import Kernel, parse_kernel
from ...text import Corpus, TermVectorizer
from ...text.embed.embedder import as_embedder
from ...text.embed.maker import EMBEDDED, EmbeddingInput
from ...text.embed.mean import MeanVectors
from ...text.inputs import InputMaker
from .inputs import Inputs, as_corpus, collect

TERMS = "cosine|principal(auto)|normalise"
EMBEDDING = "embedding"  # the input


def make_input(embed: Any, terms: TermVectorizer | None, progress: Progress | None = None) -> InputMaker | None:
    """Return the maker of the input that was asked for.

    Parameters
    ----------
    embed : callable, str, path, Embedder or None
    terms : TermVectorizer or None
        The words of word vectors are split as for the terms.
    progress : callable, optional
    """
    if embed is None:
        return None
    if isinstance(embed, str | PathLike) and Path(embed).is_file() and Path(embed).suffix.lower() != ".onnx":
        return (
            MeanVectors(embed)
            if terms is None
            else MeanVectors(embed, tokenizer=terms.tokenizer, stop_words=terms.stop_words)
        )
    return EmbeddingInput(as_embedder(embed), progress=progress)


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
    terms = parameters["terms"]
    maker = make_input(parameters["embed"], terms, progress)
    texts = corpus if corpus is not None else as_corpus(X)
    if maker is not None and texts is None:
        raise InputError(f"embed needs texts; got {type(X).__name__}. Give them as corpus=….")
    kernel = combined_kernel(kernel, maker, set() if texts is None else {*texts.inputs})
    makers = {} if maker is None else {EMBEDDING: maker}
    return kernel, collect(X if texts is None or corpus is not None else texts, kernel, terms, corpus, makers)


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


def weighted_kernel(words: float) -> Kernel:
    """Return the default kernel of terms and embeddings; `words` is the weight of the terms."""
    return parse_kernel(f"{words:g} * {TERMS} + {round(1 - words, 2):g} * cosine@{EMBEDDING}")
