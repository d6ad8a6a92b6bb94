"""``grampus inspect``, and the options of the command about cleaning and languages."""

import json

import pytest
from click.testing import CliRunner

from grampus.cli import grampus
from grampus.text import Corpus, read_corpus

POSTS = [
    {
        "id": f"p{n}",
        "text": f"From: joe{n}@sea.example\nSubject: {kind} songs\nLines: 3\n\n"
        f"The {kind} {n} sings in the night &amp; it is heard by all of them.\nAll rights reserved.\n--\nJoe",
        "label": kind,
    }
    for n in range(12)
    for kind in ("whale", "bird")
]


@pytest.fixture
def posts(tmp_path):
    place = tmp_path / "posts.jsonl"
    lines = (json.dumps({**post, "id": f"{post['id']}-{post['label']}"}) for post in POSTS)
    place.write_text("\n".join(lines), encoding="utf-8")
    return str(place)


def run(*words):
    found = CliRunner().invoke(grampus, list(words), prog_name="grampus", obj=list(words))
    assert found.exit_code == 0, found.output
    return found.output


def test_the_survey_fits_eighty_columns_and_names_what_is_dropped(posts):
    output = run("inspect", posts)
    assert max(map(len, output.splitlines())) <= 80
    output = " ".join(output.split())
    for words in ("24 documents", "English 24", "mail headers", "signatures", "shared lines", "All rights reserved."):
        assert words in output


def test_the_same_as_json(posts):
    found = json.loads(run("inspect", posts, "--json"))
    assert found["documents"] == 24
    assert found["languages"] == {"en": 24}
    dropped = {entry["kind"]: (entry["pieces"], entry["documents"]) for entry in found["dropped"]}
    assert dropped["mail headers"] == dropped["signatures"] == dropped["shared lines"] == (24, 24)
    assert "tags and entities" in dropped
    assert {"line": "All rights reserved.", "documents": 24} in found["lines"]
    assert len(found["lines"]) <= 10
    assert "sings" in found["terms"]["frequent"]


@pytest.fixture
def uncleaned(tmp_path):
    place = tmp_path / "uncleaned.toml"
    place.write_text("[terms]\nclean = false\n")
    return "--settings", str(place)


def test_nothing_is_dropped_without_cleaning(posts, uncleaned):
    found = json.loads(run("inspect", posts, *uncleaned, "--json"))
    assert found["dropped"] == []
    assert found["terms"]["different"] > json.loads(run("inspect", posts, "--json"))["terms"]["different"]


def test_copies_and_quiet(tmp_path):
    place = tmp_path / "lines.txt"
    place.write_text("whale song\nwhale song\nbird nest\n", encoding="utf-8")
    assert json.loads(run("inspect", str(place), "--split", "lines", "--json"))["copies"] == 1
    assert run("inspect", str(place), "--quiet") == ""


def test_documents_without_a_term(tmp_path):
    place = tmp_path / "lines.txt"
    place.write_text("the\nof\n", encoding="utf-8")
    assert "at least one term must remain" in run("inspect", str(place), "--split", "lines").replace(
        "\n            ", " "
    )


def test_a_terminal_is_not_at_risk(tmp_path):
    place = tmp_path / "lines.jsonl"
    texts = [
        f"From: x\x1b[2J@sea.example\nSubject: song\n\nwhale\u202e {n} sings\nevil \x1b]0;title\x07 line"
        for n in range(12)
    ]
    place.write_text("\n".join(json.dumps({"text": text}) for text in texts), encoding="utf-8")
    assert "\x1b" not in run("inspect", str(place))


def test_the_command_takes_a_language_and_leaves_texts_alone(posts, tmp_path, uncleaned):
    out = str(tmp_path / "run")
    run("cluster", posts, "-k", "2", *uncleaned, "--language", "German", "--no-stability", "--out", out, "--quiet")
    from grampus.persist import Run

    saved = Run.load(out)
    terms = saved.provenance.parameters["terms"]
    assert (terms["clean"], terms["stop_words"], terms["stemmer"]) == (False, "de", "de")
    assert saved.documents.texts == read_corpus(posts, text="text").texts


def test_an_unknown_language_is_an_error_before_the_work(posts):
    found = CliRunner().invoke(grampus, ["cluster", posts, "--language", "Klingon"], obj=[])
    assert found.exit_code != 0
    assert "language must be 'auto', a code" in str(found.exception or found.output)


def test_a_corpus_of_its_own_needs_no_file():
    from grampus.cli.inspect import survey
    from grampus.text import TermVectorizer

    assert survey(Corpus(["whale", "bird"]), TermVectorizer())["languages"] == {}
