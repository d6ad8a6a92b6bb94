"""The pipeline, written once: the stages from documents to a run, each with its cost.

``fit`` runs the stages up to `predict`; the run is made of the rest when something asks for it. An update is the same
list with another beginning: a stage with nothing new to do takes what the older run has. What a stage costs (bytes, and
units of work) stands below it; a prediction is the sum over all of them.
"""

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from .._backend import sooner_for
from .._check import check_integer
from .._parallel import may_copy, spares_copies, thread_count
from ..cluster.trees.nested import SMALLEST
from ..describe import typicality
from ..describe.describe import titled
from ..describe.reading import LONGEST
from ..describe.wording import FEWEST_READ, MOST_READ, READ_IN_ALL
from ..persist import Layout
from ..persist.run import EXCERPT
from ..run import Apart, returned
from ..select.evidence import COMPARED, DOCUMENTS, DRAWS
from ..select.nested import by_size, nested
from ..text.meaning.encoder import DIMENSIONS
from ..text.spool import Spool
from .answer import NOT_YET, Answer
from .cost import PredictedCost, check_cost, predict_request
from .find.guided import run_method
from .find.levels import DEALT, around, check_groups, compared_texts
from .find.method import Job
from .find.outliers import REFERENCES, find_outliers
from .find.predict import Predictor
from .find.validation import choose_ks, splits_of
from .given.extra_inputs import missing_meaning_note, read_inputs
from .given.frames import read_rows
from .given.guide import resolve
from .given.inputs import Inputs, as_corpus
from .given.large import draw_sample
from .later.stages import continue_clusters, keep_levels, keep_names, keep_places, read_again
from .tell.build_run import describe_clusters, heatmap_sample, self_prediction_rate
from .tell.duplicates import LOOKED_AT
from .tell.layout import LARGEST, REPRESENTATIVES, begin_layout, begin_layout_apart, representatives
from .tell.telling import PARTS, begin_beside, begin_telling, go_on_telling
from .work import ITERATIONS, StageCost, Work, WorkUnits

Stage = Callable[[Answer], Answer]
ENCODER = 130e6  # bytes: the tables of the encoder of meaning
LEXICON = 14e6  # bytes: stop words, stemmers and tables of languages, loaded with the first text


def read(answer: Answer) -> Answer:
    """Read texts as terms and other inputs; of a collection that is too large, those of a sample."""
    request, rows = answer.request, answer.rows
    request.progress("reading terms", 0, 1)
    if answer.before is not None:
        return read_again(answer, answer.before)
    given = rows.X if isinstance(rows.X, Spool) else as_corpus(rows.X)
    sample = draw_sample(given, request.seed, request.guide)
    X = sample.corpus if sample is not None else rows.X if given is None else given
    asked, inputs = read_inputs(request.parameters, request.kernel, X, answer.texts, request.progress)
    if rows.features is not None and inputs.words is None:
        inputs = replace(inputs, names=rows.features)
    if sample is not None:
        inputs = sample.weigh(inputs)
    notes = [*inputs.notes(), *(note for maker in inputs.makers.values() for note in maker.remarks())]
    notes.append(missing_meaning_note(request.parameters, asked, inputs))
    return replace(answer, sample=sample, asked=asked, inputs=inputs).noted(*notes)


def cost_of_read(work: Work) -> StageCost:
    """Return the cost of turning texts to terms, or of putting rows in canonical order."""
    sizes, n, z = work.sizes, work.n, work.sizes.entries
    if sizes.collected:
        return StageCost("reading")
    if not sizes.bytes:
        kept = (sizes.itemsize + 4.0 * sizes.sparse) * z
        return StageCost("reading", kept, 16.0 * n, WorkUnits(sparse=z, python=n))
    texts = 0.0 if sizes.held else 1.1 * sizes.bytes + 64.0 * n  # UTF-8, with room to grow; offsets and ids
    # Weighted counts, 12 bytes an entry and a third of that left in the heap; names, groups and order of documents;
    # the vocabulary with its written forms.
    kept = texts + sizes.bytes * sizes.cleaned + 16.0 * z + 48.0 * n + 250.0 * sizes.terms + LEXICON
    # Counts before they are weighted, sorted and put in order: 8, 12 and 7 bytes an entry.
    units = WorkUnits(text=sizes.bytes, pieces=sizes.pieces)
    if not sizes.pieces:
        return StageCost("reading", kept, 27.0 * z, units)
    # The encoder, and its rows in double precision; while they are made also in single precision, as bytes and checked.
    return StageCost("reading", kept + ENCODER + 8.0 * DIMENSIONS * n, max(27.0 * z, 16.0 * DIMENSIONS * n), units)


def compare(answer: Answer) -> Answer:
    """Make the Gram of the distinct documents; what is known of some is applied to them."""
    request, inputs = answer.request, answer.inputs
    kernel, guide, predicted = answer.kernel, request.guide, None
    if answer.before is None:
        kernel = answer.asked.for_clusters(_most(answer), request.method.components())
        predicted = check_cost(inputs, kernel, request, COSTS.values())
    features = predicted is not None and not predicted.pairs
    with sooner_for(len(inputs.weights)) if features else nullcontext():
        gram = inputs.gram(kernel)
        beside = begin_beside(inputs, gram, kernel)
    request.progress("reading terms", 1, 1)
    guidance = None if guide is None or guide.is_empty else resolve(guide, inputs)
    return replace(answer, kernel=kernel, gram=gram, beside=beside, guidance=guidance)


def cost_of_compare(work: Work) -> StageCost:
    """Return the cost of learning the kernel: components, landmarks or substrings, if any."""
    shape, n, rank = work.shape, work.n, work.shape.rank
    if shape.strings and shape.width:
        # The suffix array, its intervals and the substrings that they stand for: some 60 bytes a character, and 21 more
        # while suffixes are sorted.
        size = float(work.sizes.bytes)
        return StageCost("the kernel", shape.feature_bytes + 61.0 * size, 21.0 * size, WorkUnits(python=size))
    if shape.landmarks:
        units = WorkUnits(functions=n * rank * shape.each, products=n * rank * rank)
        return StageCost("the kernel", 8.0 * n * rank, 40.0 * rank * rank, units)
    if not rank:
        return StageCost("the kernel")
    # Features and what maps new documents to them, at the rank of the kernel and of its views.
    kept = 16.0 * n * rank * 5 / 3
    beside = 8.0 * n * (2 * rank + 1) + (2.0 * 8 * n * n if shape.below_stored else 0.0)  # Lanczos's basis
    return StageCost("the kernel", kept, beside, work.decompose(rank, shape.below))


def set_aside(answer: Answer) -> Answer:
    """Set documents aside that have nothing to compare, or, where that was asked for, are unlike any group."""
    if answer.before is not None:
        return answer
    known = None if answer.guidance is None else answer.guidance.known >= 0
    aside, note = find_outliers(answer.request.parameters["outliers"], answer.kernel, answer.inputs, known)
    empty = answer.inputs.empty(answer.missing)
    return replace(answer, aside=aside | (empty if known is None else empty & ~known)).noted(note)


def cost_of_set_aside(work: Work) -> StageCost:
    """Return no cost: neighbours are found only where documents are to be set aside, with no more than `draw` takes."""
    return StageCost("setting aside")


def choose(answer: Answer) -> Answer:
    """Choose the number of clusters of every level; where there are more than components, find more of these."""
    request = answer.request
    if answer.before is not None:
        return answer
    guidance = answer.guidance
    begun = None
    if request.k is None:
        begun = request.method.begin(answer.gram, answer.counted.weights) if guidance is None else None
        given = (answer.gram, answer.counted, answer.kernel, request.effort, request.seed, request.progress)
        choice, ks = choose_ks(*given)
        if guidance is not None:
            ks["middle"] = min(ks["middle"] + len(guidance.names), int((answer.counted.weights > 0).sum()))
            guidance = replace(guidance, free=True)
    else:
        choice, ks = None, {name: given_clusters(k, answer.counted) for name, k in (request.sizes or {}).items()}
        ks = ks if len(ks) > 1 else around(ks["middle"], int((answer.counted.weights > 0).sum()))
    kernel = answer.asked.for_clusters(max(_most(answer), ks["middle"]), request.method.components())
    gram, begun = (answer.gram, begun) if kernel == answer.kernel else (answer.inputs.gram(kernel), None)
    return replace(answer, choice=choice, ks=ks, kernel=kernel, gram=gram, guidance=guidance, begun=begun)


def cost_of_choose(work: Work) -> StageCost:
    """Return the cost of looking for groups in a sample, compared with data without groups.

    Where k is given, `measure` looks whether its clusters are groups; that is counted here, too.
    """
    if work.given and not work.effort.stability:
        return StageCost("looking for groups")
    shape, sizes, size = work.shape, work.sizes, work.sizes.bytes / max(work.n, 1)
    some, few = min(work.n, DOCUMENTS), min(work.n, COMPARED)
    # Distances between all pairs, twice, for Ward's tree; tiles of them, and components, for neighbours.
    rows = 15e6 + 8.0 * some * some + 8.0 * some * some * (shape.width == 0)
    # Collections without groups, one for each thread: columns, weights and their orders, or rows in double precision.
    drawn = shape if shape.strings or not sizes.entries else sizes
    each = (60.0 if drawn.sparse else 24.0) * drawn.entries / max(work.n, 1) + 24.0 * few
    rows += thread_count() * (few * each + 2.0 * some * some)  # and distances in a half, for its tree
    steps = (1e6 if work.given else 4e6) * (0.1 + some / 2500)
    # Texts without groups are counted for every draw; where they are encoded, once.
    texts = DEALT if sizes.pieces else 0.0 if shape.strings else DRAWS
    dealt = texts * compared_texts(work.n, size, sizes.pieces > 0)
    units = WorkUnits(text=1.5 * dealt * size, python=steps, pieces=dealt * sizes.pieces / max(work.n, 1))
    return StageCost("looking for groups", beside=rows, units=units)


def cluster(answer: Answer) -> Answer:
    """Find the clusters of the middle level; an update continues from those of the older run."""
    request = answer.request
    weights, effort = answer.counted.weights, request.effort
    job = Job(
        answer.ks[answer.level], weights, effort.n_init, effort.polish, request.seed, request.progress, answer.begun
    )
    if answer.before is not None:
        return continue_clusters(answer, answer.before, job)
    laying = (begin_layout_apart(answer.gram) if len(answer.gram) > LARGEST else None) or NOT_YET
    clustering, names, notes = run_method(answer.gram, request.method, job, answer.guidance)
    clustering = replace(clustering, labels=np.where(answer.aside, -1, clustering.labels))
    return replace(answer, clustering=clustering, names=names, begun=None, laying=laying).noted(*notes)


def cost_of_cluster(work: Work) -> StageCost:
    """Return the cost of the method, which knows it."""
    return work.method.cost(work)


def nest(answer: Answer) -> Answer:
    """Divide and join the clusters to those of the other levels, and take the level that was asked for."""
    labels, request = answer.clustering.labels, answer.request
    if answer.before is not None:
        return keep_levels(answer)
    wanted, laying = request.parameters["level"], answer.laying
    if laying is NOT_YET:
        laying = begin_layout_apart(answer.gram) or NOT_YET  # with the neighbours that the method found
    known = wanted == "middle" and may_copy()  # else a fit makes nothing that only the run needs
    early = begin_telling(answer, by_size(labels, answer.inputs.weights)) if known else NOT_YET
    base = answer.gram.split_shift()[0]
    levels = nested(base, labels, answer.ks, request.seed, smallest=request.smallest)
    levels = {name: by_size(level, answer.inputs.weights) for name, level in levels.items()}
    level = wanted if wanted in levels else "middle"
    note = f"There is no {wanted} level; the middle one is shown." if level != wanted else ""
    kept = level == "middle"
    clustering = replace(answer.clustering, polished=answer.clustering.polished and kept)
    names = {int(levels[level][labels == old][0]): name for old, name in answer.names.items()} if kept else {}
    return replace(
        answer, levels=levels, level=level, clustering=clustering, names=names, laying=laying, telling=early
    ).noted(note)


def cost_of_nest(work: Work) -> StageCost:
    """Return the cost of the partitions of the levels: sums by group of the finer one."""
    units = work.multiply(12.0 if work.shape.width else 60.0)
    return StageCost("levels", beside=4.0 * work.similarities + work.matrix / 2, units=units)


def predict(answer: Answer) -> Answer:
    """Learn to assign documents; those of a large collection that are not in the sample are assigned."""
    inputs = answer.inputs
    predictor = Predictor.of(
        answer.kernel, answer.gram, inputs.features, answer.labels, inputs.weights, inputs.vectorizer,
        answer.clustering.polished, inputs.makers,
    )  # fmt: skip
    answer = replace(answer, predictor=replace(predictor, known_words=answer.beside.known_words()))
    if answer.sample is not None:
        answer.sample.assign(predictor, answer.levels, answer.level, answer.aside, answer.request.progress)
    return answer


def cost_of_predict(work: Work) -> StageCost:
    """Return the cost of the centroids: what they are similar to is kept, and some texts are cut into words."""
    read = work.sizes.bytes * min(1.0, REFERENCES / max(work.n, 1))
    return StageCost("centroids", kept=work.similarities, units=WorkUnits(text=0.3 * read))


def measure(answer: Answer) -> Answer:
    """Measure whether the clusters are groups, how steady they are, and how typical each document is of its own."""
    request, inputs = answer.request, answer.inputs
    effort, progress = request.effort, request.progress
    choice = answer.choice
    if answer.before is None and request.k is not None:
        choice = check_groups(answer.gram, answer.counted, answer.kernel, effort, answer.ks[answer.level], progress)
    if answer.telling is NOT_YET:
        answer = replace(answer, telling=begin_telling(answer, answer.labels))
    telling = go_on_telling(answer)
    again = Apart(lambda: returned(self_prediction_rate(answer)), spares_copies(len(answer.labels)))
    typical = typicality(answer.gram, answer.labels, inputs.weights, answer.predictor.centroids.similarities)
    measured = answer.before is None and effort.stability
    if measured:
        progress("measuring stability", 0, 1)
    steady, note = telling.steady()
    if measured:
        progress("measuring stability", 1, 1)
    progress("describing", 0, 4)
    pairs, similarity, omitted = answer.beside.duplicates()
    answer = replace(
        answer, choice=choice, stability=steady, evidence=typical, duplicates=(pairs, similarity), telling=telling,
        agreement=again(),
    )  # fmt: skip
    return answer.noted(note, omitted)


def cost_of_measure(work: Work) -> StageCost:
    """Return the cost of stability on halves, of evidence, and of predicting the documents again."""
    n, shape, sizes = work.n, work.shape, work.sizes
    units = work.multiply(3.0 if shape.width else 30.0) + WorkUnits(python=1e5 + 50.0 * n)
    again = shape.feature_bytes + 24.0 * n * work.k if shape.width else 0.0
    if shape.rank:
        again = 0.0 if shape.landmarks else 18.0 * sizes.entries + 24.0 * n * (min(shape.width, 45.0) + work.k)
    kept = 60.0 * n  # labels, distances and the other figures of a document
    beside = max(4.0 * work.similarities, again)  # squared distances, without the nearest, and two of them sorted
    if not work.effort.stability or n < 4 * work.k:
        return StageCost("measuring", kept, beside, units)
    runs = 6.0 * splits_of(work.effort.n_splits, n)  # two halves, three starts
    # Rows of two halves and of the one being read, for k-means++; sparse ones through an inverted index.
    halves = 8.0 * shape.entries if shape.sparse else 1.5 * shape.feature_bytes
    units += WorkUnits(passes=runs * ITERATIONS * n * work.k * (shape.entries / n or n / 4) / 8)
    if shape.width == 0:
        units += WorkUnits(functions=shape.whole) if work.matrix else work.multiply(2.0 * ITERATIONS)
    stable = min(12.0 * runs * n, 2.0**28) + work.bounds + work.engine + halves + work.matrix
    return StageCost("measuring", kept, max(beside, stable), units)


def name(answer: Answer) -> Answer:
    """Describe and name the clusters and the tree; names of clusters that survive an update stay."""
    before, telling, progress = answer.before, answer.telling, answer.request.progress
    laying = answer.laying
    if laying is NOT_YET and before is None:
        laying = begin_layout(answer.gram)  # while Python makes names
    progress("describing", 1, 4)
    asked: list[Callable[[], Any]] = []

    def names() -> Any:
        found = telling.names()
        if found is not None:
            asked.append(telling.branches.ask(titled(found)))
        return found

    clusters = describe_clusters(answer, names)
    progress("describing", 2, 4)
    nodes, tree, leaves = asked[0]() if asked else telling.branches(clusters)
    progress("describing", 3, 4)
    answer = replace(answer, clusters=clusters, nodes=nodes, tree=tree, leaves=leaves, laying=laying)
    return keep_names(answer, before) if telling.keeps and before is not None else answer


def cost_of_name(work: Work) -> StageCost:
    """Return the cost of names of the clusters and of the tree."""
    sizes, n, k = work.sizes, work.n, work.k
    leaves = min(PARTS * k, max(k, n // SMALLEST))
    length = sizes.bytes / max(n, 1)
    characters = min(n, max(min(READ_IN_ALL, MOST_READ * k), FEWEST_READ * leaves)) * min(LONGEST, length)
    # Scores of the terms that occur in each node of the tree, sparse, and the arrays that they are computed from.
    occur = min(0.6 * sizes.terms * leaves, sizes.entries * (1.0 + math.log2(leaves)))
    held = 5.0 * sizes.entries  # which documents contain a term, as the terms' rows and one byte each
    named = 48.0 * occur + 16.0 * k * sizes.terms + held if sizes.bytes else 0.0
    kept = 8.0 * sizes.entries * (sizes.bytes > 0) + n * min(EXCERPT, length)
    units = WorkUnits(text=7.0 * characters, python=(2e4 if characters else 6e3) * leaves + 20.0 * n)
    laying = (600.0 if n <= LARGEST else 400.0) * n  # links of the map
    return StageCost("describing", kept, named + 8.0 * characters + laying, units)


def draw(answer: Answer) -> Answer:
    """Lay out the map; documents of an older run stay where they were."""
    inputs, progress = answer.inputs, answer.request.progress
    sample, block = heatmap_sample(answer.gram, answer.evidence)
    progress("describing", 4, 4)
    progress("drawing the map", 0, 1)
    places = answer.laying() if answer.before is None else keep_places(answer, answer.before)
    layout = Layout(
        coordinates=places[inputs.group].astype(np.float32),
        sample=inputs.first[sample].astype(np.int32),
        heatmap=block.astype(np.float32),
        representatives=representatives(answer.gram),
    )
    progress("drawing the map", 1, 1)
    return replace(answer, layout=layout, laying=NOT_YET)


def cost_of_draw(work: Work) -> StageCost:
    """Return the cost of the map, and of the run and its page."""
    n, shape = work.n, work.shape
    laid = min(n, LARGEST if n <= LARGEST else REPRESENTATIVES)
    # Neighbours and distances, then links in both directions with their weights; the rest among representatives.
    layout = 2000.0 * laid + (320.0 * n if n > LARGEST else 0.0) + work.matrix
    layout += 0.5 * shape.feature_bytes * laid / n + (shape.feature_bytes * laid / n if n > LARGEST else 0.0)
    page = 4.0 * n * (60.0 + min(EXCERPT, work.sizes.bytes / max(n, 1)))
    compared = float(laid) ** 2 + (n - laid) * 1000.0
    read = work.sizes.bytes * min(1.0, LOOKED_AT / max(n, 1))  # for near-copies
    steps = 300.0 * min(n, DOCUMENTS) + 100.0 * n
    units = WorkUnits(products=compared * min(shape.width or 1.0, 60.0), text=0.4 * read, python=steps)
    if shape.width == 0:
        units += work.decompose(2, work.multiply(1)) * (1 / 3) + WorkUnits(functions=shape.whole)
    return StageCost("drawing", beside=max(layout, page), units=units)


COSTS: dict[Stage, Callable[[Work], StageCost]] = {
    read: cost_of_read, compare: cost_of_compare, set_aside: cost_of_set_aside, choose: cost_of_choose,
    cluster: cost_of_cluster, nest: cost_of_nest, predict: cost_of_predict, measure: cost_of_measure,
    name: cost_of_name, draw: cost_of_draw,
}  # fmt: skip
STAGES = tuple(COSTS)
FITTED = STAGES.index(predict) + 1  # the stages of a fit; the others make the run


def predict_cost(model: Any, X: Any) -> PredictedCost:
    """Predict memory and time of ``model.fit(X).run_``, in a fraction of a second.

    Parameters
    ----------
    model : DocumentClusterer
    X : as of ``fit``

    Returns
    -------
    PredictedCost

    Examples
    --------
    >>> from grampus import DocumentClusterer
    >>> from grampus.documents import predict_cost
    >>> predict_cost(DocumentClusterer(2), ["whale song", "whales sing", "bird nest", "nests of birds"]).documents
    4
    """
    return predict_request(model._request(), read_rows(X).X, COSTS.values())


def advance(answer: Answer, stages: tuple[Stage, ...]) -> Answer:
    """Return the answer after some stages; its seconds include theirs."""
    for stage in stages:
        began = time.perf_counter()
        with sooner_for(len(answer.gram)) if _has_features(answer) else nullcontext():
            answer = stage(answer)
        answer = replace(answer, seconds=answer.seconds + time.perf_counter() - began)
    return answer


def _has_features(answer: Answer) -> bool:
    return answer.gram is not NOT_YET and answer.gram.split_shift()[0].features() is not None


def given_clusters(k: int, inputs: Inputs) -> int:
    """Check a number of clusters against the documents that differ."""
    distinct = int((inputs.weights > 0).sum())
    what = "the number of documents" if distinct == inputs.n else "the documents that differ"
    if distinct < len(inputs.weights):
        what += " and hold terms" if inputs.holds_terms else " and are not zero throughout"
    if inputs.n == 1:  # perhaps it was meant to be many
        what = "; ".join([what, *(note.rstrip(".") for note in inputs.corpus.notes if "split" in note)])
    return check_integer(k, "n_clusters", low=1, high=distinct, of=f" ({what})")


def _most(answer: Answer) -> int:
    """Return k, or the largest that was asked to be tried: what ``principal(auto)`` follows."""
    request = answer.request
    return max(request.effort.ks or (1,)) if request.k is None else given_clusters(request.k, answer.inputs)
