"""What can be told as soon as the clusters are known: names and how steady they are, then the tree and the texts.

And what can be told before, of the documents alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ..._array import Array
from ..._parallel import may_copy, meanwhile, spares_copies
from ...cluster import Tree, nested_tree
from ...describe import Cluster, Name, name_partition
from ...gram import Gram
from ...kernels import Kernel
from ...persist import Branch
from ...run import Apart, returned
from ...run.runner import COPY_BYTES
from ..answer import Answer, Beside, Telling
from ..find.levels import neighbours
from ..find.predict import share_of_known_words
from ..find.validation import measure_stability
from ..given.inputs import Inputs, read_for
from .build_run import preload_meaning, saved_model, texts_kept, wording_of
from .duplicates import duplicates
from .tree_labels import begin_branches

MANY = 500  # documents whose clusters and parts are worth processes of their own
PARTS = 4  # of a cluster in the tree


def begin_beside(inputs: Inputs, gram: Gram, kernel: Kernel) -> Beside:
    """Begin what needs the documents alone, where there are cores for it."""
    pays = spares_copies(len(gram))
    if pays:
        preload_meaning(inputs)
    found = Apart(lambda: returned(duplicates(inputs, gram)), pays)
    return Beside(found, Apart(lambda: returned(share_of_known_words(kernel, inputs, read_for(inputs))), pays))


def begin_telling(answer: Answer, labels: NDArray[np.intp]) -> Telling:
    """Begin what needs no more than the clusters: their names, and how steady they are."""
    request, gram, inputs, before = answer.request, answer.gram, answer.inputs, answer.before
    keeps = before is not None and not before.forgets and (before.keeps_terms or inputs.described is not None)
    wording = None if keeps else wording_of(inputs)
    spoken = None if gram.source.vocabulary is not None else wording  # substrings name themselves
    pays, beside = len(labels) >= MANY, spares_copies(len(labels))
    forms = wording.forms if pays and may_copy() and wording is not None else None
    if forms is not None and not beside:
        forms.prepare()  # for all copies that look words up
    names = Apart(lambda: returned(None if spoken is None else name_partition(spoken, labels)), pays)
    given = (gram, labels, inputs.weights, request.effort.n_splits, request.seed)
    fresh = before is None and request.effort.stability
    steady = Apart(lambda: returned(measure_stability(*given)), fresh and beside)
    if forms is not None and beside:
        meanwhile(forms.prepare)  # for the tree, while levels are found
    return Telling(keeps, wording, names, steady if fresh else lambda: (None, ""))


def go_on_telling(answer: Answer) -> Telling:
    """Begin what needs the levels, too, which is the tree; and what is kept of the texts and of the model."""
    gram, inputs, labels, wording = answer.gram, answer.inputs, answer.labels, answer.telling.wording

    def branches() -> Callable[[Sequence[Cluster | Name]], tuple[Tree, tuple[Branch, ...], Array]]:
        tree = nested_tree(gram, labels, PARTS, **neighbours(answer.levels, answer.level))
        made = begin_branches(tree, answer.n_clusters, inputs, labels, wording)
        return lambda clusters: (tree, *made(clusters))

    size, pays = inputs.corpus.texts.nbytes, len(labels) >= MANY
    if pays and may_copy() and wording is not None and wording.forms is not None:
        wording.forms.prepare()  # begun before, if not done
    return replace(
        answer.telling,
        branches=Apart(branches, pays),
        kept=Apart(lambda: returned(texts_kept(answer)), size >= COPY_BYTES, compiled=True),
        model=meanwhile(lambda: saved_model(answer)),
    )
