"""The project's own tools: licences and bill of materials, coverage limits, changelog fragments."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grampus import __version__
from tools import changelog, coverage, supply

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "changes").mkdir()
    (tmp_path / "src" / "grampus").mkdir(parents=True)
    (tmp_path / "src" / "grampus" / "_version.py").write_text('"""The version."""\n\n__version__ = "1.2.0"\n')
    text = (
        "# Changelog\n\nIntro.\n\n## 1.2.0 (2026-01-02)\n\nWords.\n\n### Added\n- Old.\n\n### Fixed\n- Old fix.\n\n"
        "## 1.1.0\n\n- Past.\n"
    )
    (tmp_path / "CHANGELOG.md").write_text(text)
    return tmp_path


def test_fragments_go_under_the_heading_of_their_kind(project):
    (project / "changes" / "README.md").write_text("how")
    (project / "changes" / "a.added.md").write_text("New\nthing.\n")
    (project / "changes" / "b.security.md").write_text("Safer.")
    assert changelog.collect(project) == 2
    assert (project / "CHANGELOG.md").read_text() == (
        "# Changelog\n\nIntro.\n\n## 1.2.0 (2026-01-02)\n\nWords.\n\n### Added\n- Old.\n- New\n  thing.\n\n"
        "### Fixed\n- Old fix.\n\n"
        "### Security\n- Safer.\n\n## 1.1.0\n\n- Past.\n"
    )
    assert [path.name for path in (project / "changes").iterdir()] == ["README.md"]
    assert changelog.collect(project) == 0


@pytest.mark.parametrize(("name", "text"), [("a.md", "x"), ("a.other.md", "x"), ("a.added.md", " \n")])
def test_a_fragment_needs_a_kind_and_a_text(project, name, text):
    (project / "changes" / name).write_text(text)
    with pytest.raises(changelog.ChangelogError, match=r"must be named NAME\.KIND\.md"):
        changelog.collect(project)
    assert (project / "changes" / name).exists()


def test_a_release_needs_the_version_its_section_and_no_fragment(project):
    changelog.check_release("v1.2.0", project)
    assert changelog.notes("v1.2.0", project).startswith("Words.")
    assert "Past" not in changelog.notes("v1.2.0", project)
    for tag in ("v1.1.0", "1.2.0"):
        with pytest.raises(changelog.ChangelogError, match=r"must be v1\.2\.0"):
            changelog.check_release(tag, project)
    (project / "changes" / "a.fixed.md").write_text("x")
    with pytest.raises(changelog.ChangelogError, match=r"collected before a release; got a\.fixed\.md"):
        changelog.check_release("v1.2.0", project)
    with pytest.raises(changelog.ChangelogError, match=r"section '## 1\.1\.0 \(date\)'"):
        changelog.notes("v1.1.0", project)


def test_the_fragments_of_the_project_are_valid():
    assert changelog.fragments(ROOT)


def test_every_locked_package_has_hashes():
    for name in ("dev.lock", "core.lock", "image.lock"):
        lines = supply.locked(ROOT / "requirements" / name)
        assert len({(line.name, line.marker) for line in lines}) == len(lines)
    supply.check_lock()


def test_a_lock_without_hashes_is_refused(tmp_path):
    (tmp_path / "x.lock").write_text("numpy==1.0\nscipy==2.0 \\\n    --hash=sha256:" + "0" * 64 + "\n")
    with pytest.raises(supply.SupplyError, match=r"must have a version and hashes; got 'numpy==1\.0"):
        supply.locked(tmp_path / "x.lock")


@pytest.mark.parametrize(
    ("expression", "holds"),
    [
        ("MIT", True), ("GPL-3.0-or-later", False), ("MIT AND GPL-2.0-only", False), ("GPL-2.0-only OR MIT", True),
        ("Apache-2.0 WITH LLVM-exception", True), ("Proprietary", False),
    ],
)  # fmt: skip
def test_licences_are_accepted_part_by_part(expression, holds):
    assert supply.accepted(expression) is holds


def test_the_bill_names_what_the_package_needs(monkeypatch):
    # what is installed differs between environments; `make check` makes the bill of the locked one
    needs = {"scipy": ["numpy"], "rich": ["pygments", "unlocked"], "scikit-learn": ["numpy", "joblib"]}
    monkeypatch.setattr(supply, "_needs", lambda name: needs.get(name, []))
    monkeypatch.setattr(supply, "licence_of", lambda name: "MIT")
    bill = supply.bill()
    names = {component["name"] for component in bill["components"]}
    assert {"numpy", "scipy", "scikit-learn", "click", "rich", "pygments", "pystemmer", "Stopwords ISO"} <= names
    assert not {"pytest", "unlocked"} & names
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert bill["metadata"]["component"]["version"] == changelog.version_of() == __version__
    data = next(component for component in bill["components"] if component["name"] == "The World Factbook")
    assert data["licenses"] == [{"license": {"name": "public domain"}}]
    refs = {component["bom-ref"] for component in [*bill["components"], bill["metadata"]["component"]]}
    assert all({one["ref"], *one["dependsOn"]} <= refs for one in bill["dependencies"])
    depends = {one["ref"].split("@")[0]: one["dependsOn"] for one in bill["dependencies"]}
    assert any(ref.startswith("pkg:pypi/numpy@") for ref in depends["pkg:pypi/scipy"])
    assert json.dumps(supply.bill()) == json.dumps(bill)


def test_a_licence_that_is_not_accepted_is_an_error(monkeypatch):
    monkeypatch.setattr(supply, "_needs", lambda name: [])
    monkeypatch.setattr(supply, "licence_of", lambda name: "GPL-2.0-only" if name == "click" else "MIT")
    with pytest.raises(supply.SupplyError, match=r"must be accepted ones .*; got click \(GPL-2\.0-only\)$"):
        supply.licence_table()
    monkeypatch.setattr(supply, "licence_of", lambda name: "GPL-2.0-only" if name == "pytest" else "MIT")
    assert "| `click` | MIT | core |" in supply.licence_table()


def test_limits_of_coverage_hold_or_fail():
    files = [coverage.Counted("a", 90, 90, 10, 10, ""), coverage.Counted("b", 10, 7, 10, 9, "3")]
    text, holds = coverage.verdict(files, (97.0, 93.0))
    assert holds
    assert text.splitlines()[0].endswith("b: 3")
    assert not coverage.verdict(files, (97.5, 93.0))[1]
    assert not coverage.verdict(files, (97.0, 96.0))[1]


def test_a_template_counts_once_and_exceptions_do_not():
    counted = coverage._native("a.cpp", {1: 2, 2: 0}, {(1, 0): 1, (1, 1): 0})
    assert (counted.lines, counted.lines_run, counted.branches, counted.branches_run) == (2, 1, 2, 1)
    assert counted.missing == "2, 1→"


@pytest.mark.parametrize("tool", [changelog, coverage, supply])
def test_a_tool_says_how_it_is_used(tool, capsys):
    assert tool.main(["unknown"]) == 2
    assert capsys.readouterr().err.startswith("usage: python -m tools.")
