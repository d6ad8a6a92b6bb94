"""Words of scripts without spaces depend on the extra ``[cjk]``: the run records it, and new texts are read alike."""

import sys
from dataclasses import replace

import pytest

import grampus
from grampus import DocumentClusterer
from grampus.documents import Effort, update_run
from grampus.documents.given.extras import ABSENT, SEGMENTER, needed_extras
from grampus.errors import MissingExtraError, RunError
from grampus.text.languages import segment

TEXTS = ["操作系统的文件", "文件系统在磁盘上", "系统文件与磁盘", "鲸生活在海洋里", "海洋里的鲸会唱歌", "鲸在海里唱歌"]


def two(**options):
    return DocumentClusterer(2, embed=None, effort=Effort(stability=False, n_init=3), **options)


@pytest.fixture
def without_icu(monkeypatch):
    """Nothing but pairs of characters from now on."""

    def leave_out():
        monkeypatch.setitem(sys.modules, "icu4py", None)
        monkeypatch.setitem(sys.modules, "icu4py.breakers", None)
        segment.has_segmenter.cache_clear()

    yield leave_out
    monkeypatch.undo()
    segment.has_segmenter.cache_clear()


@pytest.mark.skipif(not segment.has_segmenter(), reason="needs the extra [cjk]")
def test_a_run_with_words_refuses_new_texts_without_the_extra(tmp_path, without_icu):
    model = two().fit(TEXTS)
    assert model.run_.provenance.versions[SEGMENTER] not in (ABSENT, "")
    assert needed_extras(model.run_.provenance) == "  # with grampus[cjk]"
    model.save(tmp_path / "run")
    again = grampus.load(tmp_path / "run")
    assert again.predict(TEXTS[:1]).tolist() == model.labels_[:1].tolist()
    without_icu()
    for use in (again.assign, again.predict, lambda texts: update_run(again.run_, texts)):
        with pytest.raises(MissingExtraError, match=r"extra \[cjk\], which is not installed.*install 'grampus\[cjk\]'"):
            use(["磁盘上的文件"])


@pytest.mark.skipif(not segment.has_segmenter(), reason="needs the extra [cjk]")
def test_a_run_without_the_extra_refuses_new_texts_with_it(without_icu):
    without_icu()
    run = two().fit(TEXTS).run_
    assert run.provenance.versions[SEGMENTER] == ABSENT
    assert needed_extras(run.provenance) == ""
    assert DocumentClusterer.of_run(run).predict(TEXTS[:1]).tolist() == run.evidence.labels[:1].tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("grampus.documents.given.extras.has_segmenter", lambda: True)
        with pytest.raises(RunError, match=r"made without the extra \[cjk\]"):
            DocumentClusterer.of_run(run).predict(TEXTS[:1])


def test_other_texts_depend_on_no_extra_and_old_runs_are_read():
    run = two().fit(["whale song", "whales sing", "bird nest", "nests of birds"]).run_
    assert SEGMENTER not in run.provenance.versions
    old = replace(run, provenance=replace(run.provenance, versions={"grampus": "0.2.0"}))
    assert len(DocumentClusterer.of_run(old).predict(["whale"])) == 1
