"""Edits of a run: a log that is applied to the answer, saved beside it, and undone."""

import json
from dataclasses import replace

import numpy as np
import pytest

from grampus import DocumentClusterer
from grampus.documents import cluster_within, keep_answer
from grampus.errors import InputError
from grampus.persist import Edit, Graft, Run, change_run, compare_runs
from grampus.report import read_edits, report_html
from tests.edits import random_edit
from tests.pages import TOPICS, example_run
from tests.runs import contents, small_run

WORDS = {name: words.split() for name, words in TOPICS.items()}


def names(run):
    return [cluster.name for cluster in run.evidence.clusters]


def test_rename_merge_split_move_noise_and_exclude():
    run = small_run()
    assert names(run.edited(Edit("rename", (1,), name="  Whales "))) == ["bird, nest", "Whales"]
    merged = run.edited(Edit("merge", (1, 0)))
    assert (names(merged), merged.evidence.labels.tolist()) == (["bird, nest + whale"], [0] * 5)
    parted = run.edited(Edit("split", (0,)))
    assert (names(parted), parted.evidence.labels.tolist()) == (["nest", "whale", "birds"], [1, 1, 0, 0, 2])
    moved = run.edited(Edit("move", (1,), ("c", "d")))
    assert moved.evidence.labels.tolist() == [1, 1, 1, 1, 0]
    out = run.edited(Edit("noise", documents=("a",)))
    assert out.evidence.labels.tolist() == [-1, 1, 0, 0, 0]
    assert out.evidence.second[0] == 1  # the cluster that it was taken from
    less = run.edited(Edit("exclude", documents=("a",)))
    assert (list(less.documents.ids), less.evidence.labels.tolist()) == (["b", "c", "d", "é"], [1, 0, 0, 0])
    assert len(less.undone()) == 5


def test_edits_of_one_call_use_the_numbers_before_it_and_those_after_the_last_for_new_clusters():
    run = small_run().edited(Edit("split", (0,)), Edit("rename", (2,), name="New"), Edit("merge", (0, 1)))
    assert names(run) == ["nest + whale", "New"]
    again = run.edited(Edit("rename", (1,), name="Newer"))  # numbers as they are shown now
    assert names(again) == ["nest + whale", "Newer"]
    assert again.edits[-1].clusters == (2,)  # the log has its own, which never change


def test_figures_of_clusters_that_changed_are_unknown_and_others_stay():
    run = example_run()
    edited = run.edited(Edit("merge", (1, 2)))
    kept, changed = edited.evidence.clusters[0], edited.evidence.clusters[1]
    assert kept.cohesion == run.evidence.clusters[0].cohesion
    assert np.isnan(changed.cohesion)
    assert changed.stability is None
    inside = edited.evidence.labels == 1
    assert np.isnan(edited.evidence.margin[inside]).all()
    assert np.array_equal(edited.evidence.margin[~inside], run.evidence.margin[~inside])


@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (Edit("paint", (0,)), "one of rename"),
        (Edit("rename", (7,), name="x"), "from 0 to 1"),
        (Edit("rename", (0,), name=" "), "1 to 200"),
        (Edit("merge", (0,)), "two different"),
        (Edit("merge", (0, 0)), "two different"),
        (Edit("split", (1,)), "at least 2 parts in the tree to be split; it has 1. To look for more: .* --within 1"),
        (Edit("move", (0,), ("nobody",)), "not"),
        (Edit("move", (0,)), "got none"),
        (Edit("noise", documents=("a", "b", "c", "d", "é")), "leave a document"),
        (Edit("rename", (0,), name="x", level="fine"), "levels"),
        (Edit("graft", (0,), grafts=(Graft(-1, "x", -1, 0.0, 0.0, ("c",)),)), "most of its documents"),
    ],
)
def test_edits_that_do_not_fit_are_refused(edit, word):
    with pytest.raises(InputError, match=word):
        small_run().edited(edit)


def test_undoing_gives_the_bytes_before(tmp_path):
    run = example_run()
    place, before = tmp_path / "run", []
    run.save(place)
    rng = np.random.default_rng(0)
    while len(before) < 6:
        edit = random_edit(run, rng)
        if edit is not None:
            before.append(contents(place))
            run = run.edited(edit)
            run.save(place)
            assert compare_runs(Run.load(place), run).moved == ()
    while before:
        change_run(place, lambda saved: saved.undone())
        assert contents(place) == before.pop()


def test_random_logs_make_runs_that_are_whole():
    for seed in range(8):
        rng, run = np.random.default_rng(seed), example_run()
        for _ in range(8):
            edit = random_edit(run, rng)
            run = run if edit is None else run.edited(edit)  # a Run checks itself
        assert run.evidence.tree[0].size == len(run) - run.n_unassigned


def test_assign_follows_the_edits():
    model = DocumentClusterer.of_run(example_run().edited(Edit("merge", (0, 1)), Edit("rename", (0,), name="Both")))
    assert model.n_clusters_ == 3
    found = model.assign(list(example_run().documents.texts))
    assert np.mean(found.labels == model.labels_) > 0.95


def test_a_run_of_an_older_version_shows_edits_but_cannot_assign_after_them():
    run = example_run()
    old = replace(run, model={name: value for name, value in run.model.items() if name != "group"})
    assert old.edited(Edit("merge", (0, 1))).model == {}


def test_the_file_of_a_page_is_applied_and_one_of_another_answer_refused(tmp_path):
    run, file = small_run(), tmp_path / "edits.json"
    from grampus.persist.edits import digest

    given = {"format": "grampus-edits", "version": 2, "run": run.provenance.fingerprint, "answer": digest(run)}
    file.write_text(json.dumps({**given, "edits": [{"action": "merge", "clusters": [0, 1]}]}))
    edits = read_edits(file, run)
    assert edits == (Edit("merge", (0, 1)),)
    assert "bird, nest + whale" in report_html(run, edits=edits)
    with pytest.raises(InputError, match="another answer"):
        read_edits(file, run.edited(*edits))
    file.write_text(json.dumps({**given, "edits": [{"action": "graft", "clusters": [0]}]}))
    with pytest.raises(InputError, match="kinds"):
        read_edits(file, run)


def test_a_new_run_keeps_numbers_names_and_edits_by_documents():
    old = example_run().edited(
        Edit("rename", (2,), name="Mine"), Edit("merge", (0, 1)), Edit("noise", documents=("1", "2"))
    )
    other = DocumentClusterer(4, random_state=5).fit(list(example_run().documents.texts)).run_
    kept = keep_answer(other, old)
    assert names(kept) == names(old)
    assert len(kept.edits) == 3
    assert (kept.evidence.labels == old.evidence.labels).mean() > 0.95


def test_what_no_longer_fits_is_said():
    old = example_run().edited(Edit("merge", (0, 1)))
    other = DocumentClusterer(1, random_state=0).fit(list(example_run().documents.texts)).run_
    kept = keep_answer(other, old)
    assert kept.edits == ()
    assert any("no longer fits" in note for note in kept.evidence.warnings)


def test_a_cluster_that_is_clustered_again_gets_branches_and_can_be_split():
    run = example_run()
    inside = cluster_within(run, 1, DocumentClusterer(2, random_state=0))
    assert (inside.n_clusters, inside.edits[-1].action) == (4, "graft")
    top = next(branch for branch in inside.evidence.tree if branch.cluster == 1)
    assert len(top.children) >= 2
    assert inside.edited(Edit("split", (1,))).n_clusters == 5
    assert np.array_equal(inside.undone().evidence.leaves, run.evidence.leaves)


def test_a_branch_of_another_level_can_be_named():
    from tests.pages import with_levels

    run = with_levels()
    named = run.edited(Edit("rename", (0,), name="Wide", level="coarse"))
    assert named.level_names("coarse")[0] == "Wide"
    assert names(named) == names(run)
    for level in run.levels:  # the other levels are as they were
        assert np.array_equal(named.level_labels(level), run.level_labels(level))
    both = run.edited(Edit("rename", (1,), name="Own", level="coarse"))  # a cluster of two levels has one name
    assert (both.level_names("coarse")[1], names(both)[1]) == ("Own", "Own")
