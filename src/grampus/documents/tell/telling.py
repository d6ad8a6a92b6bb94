"""What can be told as soon as the clusters are known: names, tree and texts, while the evidence is measured.

And what can be told before, of the documents alone.
"""

from collections.abc import Callable, Sequence

from ..._array import Array
from ..._parallel import may_copy, spares_copies
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
from ..given.inputs import Inputs, read_for
from .build_run import preload_meaning, texts_kept, wording_of
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


def begin_telling(answer: Answer) -> Telling:
    """Begin everything that needs no more than the clusters and their levels."""
    gram, inputs, labels, before = answer.gram, answer.inputs, answer.labels, answer.before
    keeps = before is not None and not before.forgets and (before.keeps_terms or inputs.described is not None)
    wording = None if keeps else wording_of(inputs)
    spoken = None if gram.source.vocabulary is not None else wording  # substrings name themselves

    def branches() -> Callable[[Sequence[Cluster | Name]], tuple[Tree, tuple[Branch, ...], Array]]:
        tree = nested_tree(gram, labels, PARTS, **neighbours(answer.levels, answer.level))
        made = begin_branches(tree, answer.n_clusters, inputs, labels, wording)
        return lambda clusters: (tree, *made(clusters))

    pays = len(labels) >= MANY
    if pays and wording is not None and wording.forms is not None and may_copy():
        wording.forms.prepare()
    return Telling(
        keeps,
        wording,
        Apart(lambda: returned(None if spoken is None else name_partition(spoken, labels)), pays),
        Apart(branches, pays),
        Apart(lambda: returned(texts_kept(answer)), inputs.corpus.texts.nbytes >= COPY_BYTES, compiled=True),
    )
