"""What the command prints, read as someone does who has never used it: each case as a new user met it."""

import json
from pathlib import Path

import pytest

from grampus.cli.trends import _by_value
from grampus.persist import Run, trends
from grampus.persist.trends import Share
from grampus.text import read_corpus
from tests.command import answer

SEA = ["whale sea ocean fish", "whale song deep water", "sea ship sail wave", "ocean fish water whale"]
AIR = ["bird nest tree wing", "feather sky branch bird", "egg nest fly bird", "tree leaf wing sky"]
FAST = ("-k", "2", "--no-stability", "--meaning", "off")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    lines = [json.dumps({"id": str(n), "text": text, "label": "sea" if text in SEA else "the air of the mountains"})
             for n, text in enumerate(2 * SEA[:3] + SEA + AIR)]  # fmt: skip
    Path("a.jsonl").write_text("\n".join(lines))


@pytest.fixture
def saved(here, capsys):
    status, out, _ = answer(capsys, "cluster", "a.jsonl", "--label", "label", *FAST, "--out", "run")
    assert status == 0
    return out


def flat(text):
    return " ".join(text.split())


def test_what_to_do_next_is_said_at_the_end(saved, capsys):
    assert "grampus open run" in saved.split("Next:")[1]
    _, out, _ = answer(capsys, "cluster", "a.jsonl", *FAST, "--out", "my run")
    assert "grampus open 'my run'" in out
    status, out, _ = answer(capsys, "cluster", "a.jsonl", *FAST)
    assert (status, "--out run --report page.html" in out.split("Next:")[1]) == (0, True)


def test_one_edit_is_one_edit_and_clusters_come_by_size(saved, capsys):
    _, out, _ = answer(capsys, "edit", "run", "--rename", "1=Heights")
    assert "14 documents, 1 edit " in out + " "
    sizes = [int(line.split("│")[2]) for line in out.splitlines() if line.startswith("│")]
    assert sizes == sorted(sizes, reverse=True)


def test_trends_by_a_column_fit_80_columns(saved, capsys):
    _, out, _ = answer(capsys, "trends", "run", "--by", "label")
    assert max(map(len, out.splitlines())) <= 80
    shares = [Share("the air", 0, "Sea birds", 3, 4, 0.75, 0.3, 0.95),
              Share("the air", 1, "Ships", 1, 4, 0.25, 0.05, 0.7),
              Share("the air", 2, "Rocks", 0, 4, 0.0, 0.0, 0.5)]  # fmt: skip
    assert _by_value(shares, ["the air"]) == [["the air", 4, ("Sea birds: 75% (30%–95%)", "Ships: 25% (5%–70%)")]]


@pytest.mark.parametrize("by", ["year", "day"])
def test_trends_over_time_fit_80_columns(capsys, by):
    texts = [*SEA, *AIR, "boat harbour dock crane"] * 3
    lines = [json.dumps({"text": text, "date": f"{2000 + n}-05-17"}) for n, text in enumerate(texts)]
    Path("b.jsonl").write_text("\n".join(lines))
    answer(capsys, "cluster", "b.jsonl", "-k", "2", "--no-stability", "--meaning", "off", "--out", "run")
    _, out, _ = answer(capsys, "trends", "run", "--by", by)
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert len(rows) == 12  # a line for each of the last periods
    assert rows[-1].split("│")[1].strip() == ("2026" if by == "year" else "2026-05-17")
    assert max(map(len, out.splitlines())) <= 80
    assert f"15 earlier {by}s left out; --results FILE writes everything." in out


def test_edited_clusters_come_by_size_in_every_table(saved, capsys):

    answer(
        capsys,
        "cluster",
        "a.jsonl",
        "-k",
        "4",
        "--no-stability",
        "--meaning",
        "off",
        "--label",
        "label",
        "--out",
        "run",
    )
    answer(capsys, "edit", "run", "--merge", "2,3,1")
    run = Run.load("run")
    sizes = run.to_frame("clusters")["size"]
    assert sizes.tolist() == sorted(sizes, reverse=True)
    assert [sizes[cluster.number] for cluster in run.evidence.clusters] == [one.size for one in run.evidence.clusters]
    assert [one.cluster for one in trends(run, "label")][:2] == sizes.index.tolist() == [1, 0]
    _, out, _ = answer(capsys, "evaluate", "run", "--json")
    assert json.loads(out)["clusters"] == [1, 0]


def test_evaluate_says_what_its_figures_mean(saved, capsys):
    _, out, _ = answer(capsys, "evaluate", "run")
    for name, meaning in (("NMI", "0 nothing, 1 everything"), ("ARI", "0 by chance"), ("VI", "0 is best")):
        line = next(line for line in out.splitlines() if line.startswith(name))
        assert meaning in flat(out[out.index(line) :])
    clusters = Run.load("run").evidence.clusters
    assert f"Clusters: {', '.join(f'{one.number} {one.name}' for one in clusters)}." in flat(out)


def test_a_folder_with_a_manifest_of_another_program_is_documents(saved, capsys):
    Path("extension").mkdir()
    for name in ("manifest.json", "a.txt", "b.txt", "c.txt"):
        Path("extension", name).write_text("{}" if name.endswith("json") else f"whale sea {name[0]}")
    assert answer(capsys, "tree", "extension", "-k", "2", "--pattern", "*.txt")[0] == 0
    assert answer(capsys, "tree", "run")[0] == 0


def test_within_prints_what_is_new_alone(saved, capsys):
    _, out, _ = answer(capsys, "cluster", "run", "--within", "0", *FAST)
    assert out.startswith("Inside cluster 0, ")
    assert "grampus edit run --split 0" in out
    assert "Again: grampus cluster run --within 0" in out
    assert "from a.jsonl" not in out  # the table of the whole run


def test_an_update_shows_the_clusters_that_edits_made(saved, capsys):
    answer(capsys, "edit", "run", "--merge", "0,1")
    Path("new.jsonl").write_text(json.dumps({"id": "new", "text": "whale sea wave bird"}))
    status, out, _ = answer(capsys, "update", "run", "new.jsonl")
    assert status == 0
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert len(rows) == 1
    assert "edited" in rows[0]
    assert rows[0].split("│")[4:6] == ["     14 ", "    15 "]


def test_drift_is_explained(saved, capsys):
    Path("new.jsonl").write_text(json.dumps({"id": "new", "text": "whale sea wave bird"}))
    _, out, _ = answer(capsys, "update", "run", "new.jsonl")
    assert "change" in out
    assert "Drift: how far a cluster's new documents are from its old ones" in flat(out)


def test_assign_marks_what_fits_nothing(saved, capsys):
    Path("new.txt").write_text("qxzv wrbl\nwhale sea ocean\n")
    _, out, _ = answer(capsys, "assign", "run", "new.txt")
    rows = [line for line in out.splitlines() if line.startswith("│")]
    assert rows[0].split("│")[2].strip() == "–"
    assert "no: no known word" in rows[0]
    assert rows[1].split("│")[5].strip() in ("yes", "no: unlike all")


@pytest.mark.parametrize("suffix", ["xlsx", "parquet", "csv", "jsonl"])
def test_results_take_the_format_of_their_suffix(capsys, suffix):
    if suffix == "parquet":
        pytest.importorskip("pyarrow")
    status, _, error = answer(capsys, "cluster", "a.jsonl", *FAST, "--results", f"out.{suffix}")
    assert (status, error) == (0, "")
    corpus = read_corpus(f"out.{suffix}", text="words", id="id", label="cluster")
    assert list(corpus.ids) == [str(n) for n in range(14)]
    assert set(corpus.labels) == {"0", "1"}


def test_no_groups_come_with_a_command_for_the_best_guess(capsys, monkeypatch):
    from dataclasses import replace

    from grampus.cli.show import next_steps
    from grampus.persist import Choice, Run

    answer(capsys, "cluster", "a.jsonl", *FAST, "--out", "run")
    run = Run.load("run")
    none = Choice(
        1, "levels", (2, 22), (0.1, 0.2), (0.0, 0.0), (22, 2), (22,), 6, None, "No clear groups.", (), "no groups"
    )
    run = replace(run, evidence=replace(run.evidence, choice=none))
    assert next_steps(run, None, None)[0] == ("see the best guess, 22 groups", "-k 22")


def test_a_dozen_documents_come_with_a_command_for_groups(capsys):
    texts = [*SEA, *AIR][:12]
    Path("few.txt").write_text("\n".join(texts))
    status, out, _ = answer(capsys, "cluster", "few.txt", "--no-stability", "--meaning", "off")
    assert (status, "Too few documents to tell" in out) == (0, True)
    assert "group them all the same, into 3         -k 3\n" in out.split("Next:")[1]
    status, out, _ = answer(capsys, "cluster", "few.txt", "-k", "3", "--no-stability", "--meaning", "off")
    assert (status, "all the same" in out) == (0, False)


def test_what_is_left_over_leaves_the_words_their_width(saved, capsys):
    from dataclasses import replace

    from grampus.cli.show import console, show_run

    run = Run.load("run")
    clusters = tuple(replace(one, stability=0.25, mixed=True) for one in run.evidence.clusters)
    show_run(replace(run, evidence=replace(run.evidence, clusters=clusters)), console())
    cells = [line.split("│")[-2] for line in capsys.readouterr().out.splitlines() if line.startswith("│")]
    assert [cell.strip() for cell in cells[:2]] == ["0.25", "left over"]
    assert len(cells[0]) == len(" stability ")


def test_a_comparison_says_what_its_figures_mean(saved, capsys):
    answer(capsys, "edit", "run", "--merge", "0,1", "--out", "merged")
    status, out, _ = answer(capsys, "compare", "run", "merged")
    assert (status, "change" in out) == (0, True)
    assert "How alike the two are (1 the same, 0 unrelated): NMI " in out


def test_a_comparison_of_other_documents_with_the_same_numbers_is_doubted(capsys):
    for name, texts in (("sea", SEA), ("air", AIR)):
        Path(f"{name}.txt").write_text("\n".join([*texts, "boat harbour dock crane"] * 2))
        assert answer(capsys, "cluster", f"{name}.txt", *FAST, "--out", name)[0] == 0
    _, out, _ = answer(capsys, "compare", "sea", "air")
    assert "8 documents of the same id have another text in the new run: are these runs of the same" in flat(out)
    assert "another text" not in answer(capsys, "compare", "sea", "sea")[1]


def test_inspect_lists_columns_and_words_not_stems_nor_numbers(capsys):
    rows = [f"{n},Generating images of repositories 10 15,x" for n in range(40)]
    Path("b.csv").write_text("number,What would help you?,kind\n" + "\n".join(rows))
    status, out, _ = answer(capsys, "inspect", "b.csv")
    assert status == 0
    assert "What would help you? 100% Generating images of repositories 10 15" in flat(out)
    frequent = flat(out).split("frequent ")[1].split(" copies")[0]
    assert frequent == "generating 40, images 40, repositories 40"
    assert max(map(len, out.splitlines())) <= 80


def test_inspect_looks_at_a_sample_and_tells_of_unknown_languages(capsys, monkeypatch):
    monkeypatch.setattr("grampus.cli.inspect.SAMPLE", 10)
    Path("b.jsonl").write_text("\n".join(json.dumps({"text": f"zorble fleem grax{n}"}) for n in range(35)))
    _, out, _ = answer(capsys, "inspect", "b.jsonl")
    assert "9 of them" in out
    assert "unknown (read as English)" in out
    _, out, _ = answer(capsys, "inspect", "b.jsonl", "--json")
    found = json.loads(out)
    assert (found["documents"], found["sample"]) == (35, 9)
