"""The seam for methods: each row clusters documents, and labels of −1 go all the way through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import grampus
from grampus import DocumentClusterer, load
from grampus.documents import (
    Effort,
    Found,
    KernelKMeansMethod,
    KernelPCAMethod,
    Method,
    PDDPMethod,
    SpectralMethod,
    update_run,
)
from grampus.documents.find.methods import METHODS, check_method, restore_method
from grampus.errors import InputError
from grampus.persist import Edit, Run
from grampus.report import report_html

WORDS = {"sea": "whale sea song wave", "air": "bird nest egg wing", "land": "wolf forest pack howl"}
TEXTS = [f"{words} {word}{i % 7}" for word, words in WORDS.items() for i in range(12)]
TRUTH = np.repeat([0, 1, 2], 12)
QUICK = Effort(n_splits=5)


@dataclass(frozen=True)
class Strict(Method):
    """Kernel k-means that leaves some documents out."""

    name: ClassVar[str] = "strict"
    outside: tuple[int, ...] = (0, 5)

    def cluster(self, gram, job):
        labels = KernelKMeansMethod().cluster(gram, job).labels.copy()
        labels[list(self.outside)] = -1
        return Found(labels)


@pytest.mark.parametrize("name", METHODS)
def test_every_method_finds_separate_groups(name):
    # Three equal groups have three equal eigenvalues: k − 1 components would show any two directions among them.
    method = KernelPCAMethod(n_components=3) if name == "kernel-pca" else name
    model = DocumentClusterer(3, method=method, effort=QUICK).fit(TEXTS)
    assert grampus.metrics.ari(TRUTH, model.labels_) == 1.0
    assert model.run_.provenance.parameters["method"]["name"] == name
    assert (model.predict(TEXTS) == model.labels_).all()


def test_options_of_a_method_are_kept_with_the_run(tmp_path):
    model = DocumentClusterer(3, method=PDDPMethod(cut="projection", refine=True), effort=QUICK).fit(TEXTS)
    model.save(tmp_path / "run")
    again = grampus.load(tmp_path / "run")
    assert again.method == PDDPMethod(cut="projection", refine=True)
    assert again.effort == QUICK
    assert (again.predict(TEXTS) == model.labels_).all()


@pytest.mark.parametrize("row", METHODS.values())
def test_options_describe_a_method_completely(row):
    assert restore_method(row().options()) == row()


def test_unknown_methods_are_refused():
    with pytest.raises(InputError, match="'kernel-kmeans', 'pddp'"):
        check_method("kmeans")
    with pytest.raises(InputError, match="effort must be an Effort"):
        DocumentClusterer(2, effort={"n_init": 3}).fit(TEXTS)


def test_documents_without_terms_join_the_nearest_cluster_of_a_method_without_weights():
    texts = [*TEXTS, "for the", "the of and"]
    model = DocumentClusterer(3, method="pddp", effort=QUICK).fit(texts)
    assert grampus.metrics.ari(TRUTH, model.labels_[:-2]) == 1.0
    assert set(model.labels_[-2:]) <= {0, 1, 2}


def test_labels_of_minus_one_go_through_evidence_run_page_and_back(tmp_path):
    model = DocumentClusterer(3, method=Strict(), effort=QUICK).fit(TEXTS)
    outside = model.labels_ == -1
    assert 2 <= outside.sum() < 10
    assert model.n_clusters_ == 3
    assert sum(cluster.size for cluster in model.clusters_) == (~outside).sum()
    assert (model.margin_[outside] == 0).all()
    assert (model.oddness_[outside] == 1).all()
    assert sorted(set(model.run_.evidence.leaves[outside])) == [-1]
    model.save(tmp_path / "run")
    model.report(tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size > 10_000


def test_a_method_must_return_labels():
    @dataclass(frozen=True)
    class Broken(Method):
        name: ClassVar[str] = "broken"

        def cluster(self, gram, job):
            return Found(np.full(len(gram), -1))

    with pytest.raises(InputError, match="method must return"):
        DocumentClusterer(2, method=Broken(), effort=QUICK).fit(TEXTS)


def test_a_spectral_method_passes_its_options_on():
    with pytest.raises(InputError, match="laplacian must be one of"):
        DocumentClusterer(3, method=SpectralMethod(laplacian="none"), effort=QUICK).fit(TEXTS)


def test_a_run_of_a_method_of_ones_own_loads(tmp_path):
    texts = [f"{'whale song in the deep sea' if i % 2 else 'a bird nest in a tree'} {i}" for i in range(40)]
    model = DocumentClusterer(2, method=Strict(), random_state=0).fit(texts)
    model.save(tmp_path / "run")
    again = load(tmp_path / "run")
    assert again.labels_.tolist() == model.labels_.tolist()
    assert again.predict(texts).tolist() == model.predict(texts).tolist()
    assert again.method.options() == {"name": "strict", "outside": [0, 5]}
    again.save(tmp_path / "copy")
    assert load(tmp_path / "copy").run_.provenance.parameters["method"] == again.method.options()
    assert Run.load(tmp_path / "run").edited(Edit("merge", (0, 1))).n_clusters == 1
    assert "<html" in report_html(Run.load(tmp_path / "run"))
    assert len(update_run(Run.load(tmp_path / "run"), ["one more whale", "one more bird"])) == 42
    with pytest.raises(InputError, match="a method of your own, 'strict', whose code a run does not hold"):
        again.fit(texts)
