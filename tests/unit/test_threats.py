"""The threat model: every test that SECURITY.md names is there; what strangers nest deeply ends."""

import re
from pathlib import Path

import pytest

from grampus import read_corpus
from grampus.errors import CorpusError
from lab.harness import discover

ROOT = Path(__file__).parents[2]
DEEP = 100_000
NESTED = {
    "a.json": "[" * DEEP,
    "b.json": '{"text":' * DEEP,
    "c.jsonl": '{"text":' + "[" * DEEP + "]" * DEEP + "}\n",
    "d.html": "<div>" * DEEP + "whale",
    "e.xml": "<a>" * DEEP,
    "f.md": ">" * DEEP + " whale",
    "g.tex": "{" * DEEP + "whale",
    "h.rtf": "{\\rtf1" + "{" * DEEP,
    "i.eml": "Content-Type: multipart/mixed; boundary=a\n\n"
    + "--a\nContent-Type: multipart/mixed; boundary=a\n\n" * 5_000,
    "j.csv": 'text\n"' + "x" * DEEP,
}


def test_every_test_and_row_that_the_threat_model_names_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "SECURITY.md").read_text(encoding="utf-8")))
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 50
    assert named - set(re.findall(r"^def (test_\w+)", sources, re.MULTILINE)) == set()
    rows = {row.name for row in discover()}
    assert {"injection", "kills", "forged", "payloads", "forgetting", "refused-files", "fuzzed-readers"} <= rows


@pytest.mark.parametrize("name", NESTED)
def test_deep_nesting_ends(tmp_path, name):
    (tmp_path / name).write_text(NESTED[name], encoding="utf-8")
    try:
        corpus = read_corpus(tmp_path / name)
    except CorpusError as error:
        assert len(str(error).splitlines()) == 1  # noqa: PT017
    else:
        assert len(corpus) == 1
