"""Word vectors and embeddings next to terms: who makes them, and the kernel that adds them up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..._progress import Progress
from ...errors import InputError
from ...kernels import Kernel, parse_kernel
from ...text import Corpus, TermVectorizer
from ...text.embed.embedder import as_embedder
from ...text.embed.maker import EmbeddingInput
from ...text.inputs import InputMaker
from ...text.vectors.mean import MeanVectors
from ...text.vectors.registry import known_sets, load_vectors
from .inputs import Inputs, as_corpus, collect

TERMS = "cosine|principal(auto)|normalise"
COMBINED = {  # what the default kernel becomes where there is more than terms
    ("vectors",): f"0.7 * {TERMS} + 0.3 * cosine@vectors",
    ("embedding",): f"0.15 * {TERMS} + 0.85 * cosine@embedding",
    ("embedding", "vectors"): f"0.15 * {TERMS} + 0.15 * cosine@vectors + 0.7 * cosine@embedding",
}


def make_inputs(
    vectors: Any, embed: Any, terms: TermVectorizer | None, progress: Progress | None = None
) -> dict[str, InputMaker]:
    """Return the makers of the inputs that were asked for.

    Parameters
    ----------
    vectors : str, path, WordVectors or None
    embed : callable, str, path, Embedder or None
    terms : TermVectorizer or None
        Words are split as for the terms.
    progress : callable, optional
    """
    found: dict[str, InputMaker] = {}
    if vectors is not None:
        options: dict[str, Any] = (
            {} if terms is None else {"tokenizer": terms.tokenizer, "stop_words": terms.stop_words}
        )
        found["vectors"] = MeanVectors(load_vectors(vectors, progress), **options)
    if embed is not None:
        found["embedding"] = EmbeddingInput(as_embedder(embed), progress=progress)
    return found


def read_inputs(
    parameters: Mapping[str, Any], kernel: Kernel, X: Any, corpus: Corpus | None, progress: Progress | None
) -> tuple[Kernel, Inputs]:
    """Return the kernel that reads every input that was asked for, and the documents with these inputs.

    Parameters
    ----------
    parameters : dict
        Those of a DocumentClusterer: terms, vectors, embed.
    kernel : Kernel
    X : documents as ``fit`` takes them
    corpus : Corpus or None
        The texts of the rows of a matrix.
    progress : callable or None
    """
    terms = parameters["terms"]
    makers = make_inputs(parameters["vectors"], parameters["embed"], terms, progress)
    texts = corpus if corpus is not None else as_corpus(X)
    if makers and texts is None:
        raise InputError(f"vectors and embed need texts; got {type(X).__name__}. Give them as corpus=….")
    kernel = combined_kernel(kernel, {*makers}, set() if texts is None else {*texts.inputs})
    return kernel, collect(X if texts is None or corpus is not None else texts, kernel, terms, corpus, makers)


def combined_kernel(kernel: Kernel, asked: set[str], held: set[str]) -> Kernel:
    """Return the default kernel with every input added, or the caller's, which must read what was asked for.

    Parameters
    ----------
    kernel : Kernel
    asked : set of str
        Inputs to be made.
    held : set of str
        Inputs that the corpus has.

    Examples
    --------
    >>> from grampus import parse_kernel
    >>> from grampus.documents.given.extra_inputs import TERMS, combined_kernel
    >>> str(combined_kernel(parse_kernel(TERMS), {"vectors"}, set()))
    '0.7 * cosine|principal(auto)|normalise + 0.3 * cosine@vectors'
    """
    if kernel == parse_kernel(TERMS):
        names = tuple(sorted((asked | held) & {"vectors", "embedding"}))
        return parse_kernel(COMBINED[names]) if names else kernel
    unread = sorted(asked - {*kernel.inputs})
    if unread:
        option = {"vectors": "vectors", "embedding": "embed"}[unread[0]]
        raise InputError(
            f"{option} must be read by the kernel; '{kernel}' does not. Add '@{unread[0]}' to it, as in "
            f"'cosine@{unread[0]}', or leave the kernel to its default."
        )
    return kernel


def unused_vectors_note(kernel: Kernel) -> list[str]:
    """Return a note if a set of word vectors is at hand and the default kernel does not use it."""
    names = known_sets() if kernel == parse_kernel(TERMS) else []
    if not names:
        return []
    first = f"vectors={names[0]!r}, or --vectors {names[0]}"
    return [f"Word vectors are at hand ({', '.join(names)}) and were not used. They often help: {first}."]
