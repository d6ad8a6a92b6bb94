"""The documentation as a whole: links lead somewhere, spelling is British, what pages name exists."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(
    [
        *(page for page in DOCS.rglob("*.md") if not {"_build", "generated"} & set(page.parts)),
        *(page for page in ROOT.glob("*.md")),
    ]
)
SOURCES = sorted((ROOT / "src").rglob("*.py"))

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`+[^`]*`+")
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def prose(text: str) -> str:
    """Return Markdown without its code, titles (in italics) and a package's name, which are not ours to spell."""
    text = _CODE.sub("", _FENCE.sub("", text)).replace("charset-normalizer", "")
    return re.sub(r"(?<!\*)\*[^*\n]+\*(?!\*)", "", text)


def anchors(text: str) -> set[str]:
    """Return the anchors that headings make, as MyST and GitHub do."""
    headings = re.findall(r"^#{1,3} (.+)$", _FENCE.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> list[str]:
    """Return the links of a page that lead to no file, or to no heading of it; addresses elsewhere are not followed."""
    broken = []
    for target in _LINK.findall(_CODE.sub("", _FENCE.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        there = (page.parent / path).resolve()
        headings = anchors(there.read_text(encoding="utf-8") if path and anchor and there.exists() else text)
        if not there.exists() or (anchor and anchor not in headings):
            broken.append(target)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page):
    assert broken_links(page, page.read_text(encoding="utf-8")) == []


def test_the_link_check_can_fail():
    page = DOCS / "index.md"
    text = "# A page\n[a](guide/none.md) [b](#nowhere) [c](#a-page) [d](methods/trees.md#the-idea) ![e](none.png)"
    assert broken_links(page, text) == ["guide/none.md", "#nowhere", "none.png"]


def test_every_page_of_the_guide_is_in_its_index():
    listed = set(re.findall(r"^(\w+)$", (DOCS / "guide" / "index.md").read_text(encoding="utf-8"), re.MULTILINE))
    assert listed == {page.stem for page in (DOCS / "guide").glob("*.md")} - {"index"}


# -- spelling; codespell, in `make check`, looks for slips

# American forms whose British one is used throughout. Names of others' parameters and classes stand in code; a
# vectorizer is such a name that became a word.
_AMERICAN = re.compile(
    r"\b(?!vectorizers?\b)(?:"
    r"\w*(?:normal|optim|minim|maxim|organ|recogn|summar|initial|vector|regular|serial|token|standard|general|"
    r"emphas|character|categor|custom|factor|local|penal|priorit|random|real|symmetr|synchron|util|visual|linear|"
    r"quant|discret|capital|symbol|special|final|equal)iz(?:e|ed|es|ing|er|ers|ation|ations)"
    r"|analyz\w+|paralleliz\w+|colors?|colored|centers?|centered|centering|neighbors?|neighborhoods?|behaviors?|"
    r"favou?rite(?<!favourite)|favors?|honors?|gray|labeled|labeling|modeled|modeling|canceled|catalog|"
    r"fulfill\b|skillful|defense|license[ds]\b(?<!licensed)"
    r")\b",
    re.IGNORECASE,
)


def docstrings(path: Path) -> str:
    """Return the prose of a module's docstrings: no code, no examples, no names of parameters."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            doc = ast.get_docstring(node) or ""
            lines = (line for line in doc.splitlines() if not line.lstrip().startswith((">>>", "...")))
            found.append(_CODE.sub("", "\n".join(line for line in lines if not re.match(r"\w+(, \w+)*( : |$)", line))))
    return "\n".join(found)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_pages_are_spelt_the_british_way(page):
    assert _AMERICAN.findall(prose(page.read_text(encoding="utf-8"))) == []


def test_docstrings_are_spelt_the_british_way():
    found = {name(path): words for path in SOURCES if (words := _AMERICAN.findall(docstrings(path)))}
    assert found == {}


def test_the_spelling_check_can_fail():
    words = "normalized kernels of the center; a colored neighborhood, gray. normalised, centre, size, realise, prize"
    assert _AMERICAN.findall(words) == ["normalized", "center", "colored", "neighborhood", "gray"]


# -- what the pages name


@pytest.fixture(scope="module")
def make():
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("docs_pictures_make", DOCS / "pictures" / "make.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_picture_has_its_function_and_is_shown(make):
    drawn = {path.stem for path in (DOCS / "pictures").glob("*.png")}
    assert drawn == set(make.PICTURES)
    shown = {Path(target).stem for page in PAGES for target in _LINK.findall(page.read_text(encoding="utf-8"))}
    assert drawn <= shown


def test_named_tests_exist():
    text = (DOCS / "reproducibility.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text)
    assert len(named) > 10
    for path, test in named:
        assert re.search(rf"^def {test}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE), f"{path}::{test}"


def test_named_rows_exist():
    from lab.harness import ROWS, discover

    discover()
    for page in PAGES:
        for section, names in re.findall(r"python -m lab (\w+) --only ([\w -]+)`", page.read_text(encoding="utf-8")):
            assert {(section, row) for row in names.split()} <= set(ROWS), page
