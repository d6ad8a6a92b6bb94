"""The pipeline, written once: the stages from documents to a run.

``fit`` runs the stages up to `predict`; the run is made of the rest when something asks for it. An update is the same
list with another beginning: a stage with nothing new to do takes what the older run has.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from .._check import check_integer
from ..cluster import nested_tree
from ..describe import typicality
from ..persist import Layout
from ..text.spool import Spool
from .answer import Answer
from .cost import check_cost
from .find.guided import run_method
from .find.levels import around, check_groups, neighbours, numbered_by_size, partitions
from .find.methods import Job
from .find.outliers import find_outliers
from .find.predict import Predictor
from .find.validation import choose_ks, measure_stability
from .given.extra_inputs import read_inputs, unused_vectors_note
from .given.guide import resolve
from .given.inputs import Inputs, as_corpus, read_for
from .given.large import draw_sample
from .later.stages import continue_clusters, keep_levels, keep_names, keep_places, read_again
from .tell.build_run import describe_clusters, heatmap_sample, self_prediction_rate, wording_of
from .tell.duplicates import duplicates
from .tell.layout import coordinates, representatives
from .tell.tree_labels import branches

Stage = Callable[[Answer], Answer]
PARTS = 4  # of a cluster in the tree


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
    if sample is not None:
        inputs = sample.weigh(inputs)
    notes = [*inputs.notes(), *(note for maker in inputs.makers.values() for note in maker.remarks())]
    if inputs.vectorizer is not None and inputs.mostly_english:
        notes += unused_vectors_note(asked)
    return replace(answer, sample=sample, asked=asked, inputs=inputs).noted(*notes)


def compare(answer: Answer) -> Answer:
    """Make the Gram of the distinct documents; what is known of some is applied to them."""
    request, inputs = answer.request, answer.inputs
    kernel, guide = answer.kernel, request.guide
    if answer.before is None:
        kernel = answer.asked.for_clusters(_most(answer), request.method.components())
        check_cost(inputs, kernel, request.method.name, request.effort, request.parameters["n_clusters"])
    gram = inputs.gram(kernel)
    request.progress("reading terms", 1, 1)
    guidance = None if guide is None or guide.is_empty else resolve(guide, inputs)
    return replace(answer, kernel=kernel, gram=gram, guidance=guidance)


def set_aside(answer: Answer) -> Answer:
    """Set documents aside that are unlike any group, where that was asked for; in an update, those that were."""
    if answer.before is not None:
        return answer
    known = None if answer.guidance is None else answer.guidance.known >= 0
    aside, note = find_outliers(answer.request.parameters["outliers"], answer.kernel, answer.inputs, known)
    return replace(answer, aside=aside).noted(note)


def choose(answer: Answer) -> Answer:
    """Choose the number of clusters of every level; where there are more than components, find more of these."""
    request = answer.request
    if answer.before is not None:
        return answer
    if request.k is None:
        choice, ks = choose_ks(
            answer.gram, answer.counted, answer.kernel, request.effort, request.seed, request.progress
        )
        if answer.guidance is not None:
            ks["middle"] = max(ks["middle"], len(answer.guidance.names))
    else:
        choice, ks = None, around(given_clusters(request.k, answer.counted), int((answer.counted.weights > 0).sum()))
    kernel = answer.asked.for_clusters(max(_most(answer), ks["middle"]), request.method.components())
    gram = answer.gram if kernel == answer.kernel else answer.inputs.gram(kernel)
    return replace(answer, choice=choice, ks=ks, kernel=kernel, gram=gram)


def cluster(answer: Answer) -> Answer:
    """Find the clusters of the middle level; an update continues from those of the older run."""
    request = answer.request
    weights, effort = answer.counted.weights, request.effort
    job = Job(answer.ks["middle"], weights, effort.n_init, effort.polish, request.seed, request.progress)
    if answer.before is not None:
        return continue_clusters(answer, answer.before, job)
    clustering, names, notes = run_method(answer.gram, request.method, job, answer.guidance)
    clustering = replace(clustering, labels=np.where(answer.aside, -1, clustering.labels))
    return replace(answer, clustering=clustering, names=names).noted(*notes)


def nest(answer: Answer) -> Answer:
    """Divide and join the clusters to those of the other levels, and take the level that was asked for."""
    labels, request = answer.clustering.labels, answer.request
    if answer.before is not None:
        return keep_levels(answer, answer.before)
    levels = partitions(answer.gram, labels, answer.ks, request.seed)
    levels = {name: numbered_by_size(level, answer.inputs.weights) for name, level in levels.items()}
    level, note = "middle", ""
    if request.k is None and request.effort.level in levels:
        level = request.effort.level
    elif request.k is None:
        note = f"There is no {request.effort.level} level; the middle one is shown."
    kept = level == "middle"
    clustering = replace(answer.clustering, polished=answer.clustering.polished and kept)
    names = {int(levels[level][labels == old][0]): name for old, name in answer.names.items()} if kept else {}
    return replace(answer, levels=levels, level=level, clustering=clustering, names=names).noted(note)


def predict(answer: Answer) -> Answer:
    """Learn to assign documents; those of a large collection that are not in the sample are assigned."""
    inputs = answer.inputs
    predictor = Predictor.of(
        answer.kernel, answer.gram, inputs.features, answer.labels, inputs.weights, inputs.vectorizer,
        answer.clustering.polished, inputs.makers,
    ).with_texts(inputs, read_for(inputs))  # fmt: skip
    answer = replace(answer, predictor=predictor)
    if answer.sample is not None:
        answer.sample.assign(predictor, answer.levels, answer.level, answer.aside, answer.request.progress)
    return answer


def measure(answer: Answer) -> Answer:
    """Measure whether the clusters are groups, how steady they are, and how typical each document is of its own."""
    request, inputs = answer.request, answer.inputs
    effort, progress = request.effort, request.progress
    choice, steady, note = answer.choice, None, ""
    if answer.before is None:
        if request.k is not None:
            k = answer.ks["middle"]
            choice = check_groups(answer.gram, answer.counted, answer.kernel, effort, k, request.seed, progress)
        if effort.stability:
            progress("measuring stability", 0, 1)
            steady, note = measure_stability(answer.gram, answer.labels, inputs.weights, effort.n_splits, request.seed)
            progress("measuring stability", 1, 1)
    progress("describing", 0, 4)
    typical = typicality(answer.gram, answer.labels, inputs.weights, answer.predictor.centroids.similarities)
    pairs, similarity, omitted = duplicates(inputs, answer.gram)
    answer = replace(
        answer, choice=choice, stability=steady, evidence=typical, duplicates=(pairs, similarity),
        agreement=self_prediction_rate(answer),
    )  # fmt: skip
    return answer.noted(note, omitted)


def name(answer: Answer) -> Answer:
    """Describe and name the clusters and the tree; names of clusters that survive an update stay."""
    inputs, labels, progress = answer.inputs, answer.labels, answer.request.progress
    before = answer.before
    keeps = before is not None and not before.forgets and (before.keeps_terms or inputs.described is not None)
    wording = None if keeps else wording_of(inputs)
    clusters = describe_clusters(answer, wording)
    progress("describing", 1, 4)
    nodes = nested_tree(answer.gram, labels, PARTS, **neighbours(answer.levels, answer.level))
    tree, leaves = branches(nodes, clusters, inputs, labels, wording)
    progress("describing", 2, 4)
    answer = replace(answer, clusters=clusters, nodes=nodes, tree=tree, leaves=leaves)
    return keep_names(answer, before) if keeps and before is not None else answer


def draw(answer: Answer) -> Answer:
    """Lay out the map; documents of an older run stay where they were."""
    inputs, progress = answer.inputs, answer.request.progress
    sample, block = heatmap_sample(answer.gram, answer.evidence)
    progress("describing", 4, 4)
    progress("drawing the map", 0, 1)
    places = coordinates(answer.gram) if answer.before is None else keep_places(answer, answer.before)
    layout = Layout(
        coordinates=places[inputs.group].astype(np.float32),
        sample=inputs.first[sample].astype(np.int32),
        heatmap=block.astype(np.float32),
        representatives=representatives(answer.gram),
    )
    progress("drawing the map", 1, 1)
    return replace(answer, layout=layout)


STAGES: tuple[Stage, ...] = (read, compare, set_aside, choose, cluster, nest, predict, measure, name, draw)
FITTED = STAGES.index(predict) + 1  # the stages of a fit; the others make the run


def advance(answer: Answer, stages: tuple[Stage, ...]) -> Answer:
    """Return the answer after some stages; its seconds include theirs."""
    for stage in stages:
        began = time.perf_counter()
        answer = stage(answer)
        answer = replace(answer, seconds=answer.seconds + time.perf_counter() - began)
    return answer


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
