"""What guards the project: limits of coverage, changelog fragments and releases, locked packages and their licences."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tools import coverage

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src" / "grampus").mkdir(parents=True)
    (tmp_path / "src" / "grampus" / "_version.py").write_text('"""The version."""\n\n__version__ = "1.2.0"\n')
    (tmp_path / "changes").mkdir()
    shutil.copy(ROOT / "changes" / "template.md.jinja", tmp_path / "changes")
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    text = "# Changelog\n\nIntro.\n\n<!-- towncrier release notes start -->\n\n## 1.2.0 (2026-01-02)\n\nWords.\n\n"
    (tmp_path / "CHANGELOG.md").write_text(f"{text}### Fixed\n\n- Old fix.\n\n## 1.1.0\n\n- Past.\n")
    return tmp_path


def towncrier(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("towncrier")
    command = [sys.executable, "-m", "towncrier", "build", "--version", "1.3.0", *words]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def test_fragments_go_under_the_heading_of_their_kind(project):
    (project / "changes" / "README.md").write_text("how")
    (project / "changes" / "a.security.md").write_text("Safer.")
    (project / "changes" / "b.added.md").write_text("New\nthing.\n")
    assert towncrier(project, "--yes", "--date", "2026-02-03").returncode == 0
    section = (
        "## 1.3.0 (2026-02-03)\n\n### Added\n\n- New\n  thing.\n\n### Security\n\n- Safer.\n\n## 1.2.0 (2026-01-02)"
    )
    assert section in (project / "CHANGELOG.md").read_text()
    assert sorted(path.name for path in (project / "changes").iterdir()) == ["README.md", "template.md.jinja"]


@pytest.mark.parametrize("name", ["a.md", "a.other.md"])
def test_a_fragment_needs_a_kind(project, name):
    (project / "changes" / name).write_text("x")
    done = towncrier(project, "--draft")
    assert done.returncode == 1
    assert "Invalid news fragment name" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script, run where releases are made")
def test_a_release_needs_the_version_its_section_and_no_fragment(project):
    def release(*words: str) -> tuple[int, str]:
        command = ["sh", str(ROOT / "tools" / "release.sh"), *words]
        done = subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    placeholder = "project.urls of pyproject.toml must be the address of the project, not the placeholder\n"
    assert release("check", "v1.2.0") == (1, placeholder)
    stated = (project / "pyproject.toml").read_text("utf-8")
    (project / "pyproject.toml").write_text(stated.replace("example.invalid", "code.example.org"), "utf-8")
    assert release("check", "v1.2.0") == (0, "")
    assert release("notes", "v1.2.0") == (0, "\nWords.\n\n### Fixed\n\n- Old fix.\n\n")
    assert release("notes", "v1.1.0") == (1, "CHANGELOG.md must have a section '## 1.1.0 (date)'\n")
    assert release("check", "1.2.0")[1].startswith("the tag must be v1.2.0")
    (project / "changes" / "a.fixed.md").write_text("x")
    assert release("check", "v1.2.0") == (1, "fragments must be collected before a release; got a.fixed.md\n")


def test_the_address_stands_in_one_place():
    files = [ROOT / "pyproject.toml", *(ROOT / "docs").glob("*.md"), *ROOT.glob("*.md"), ROOT / "CITATION.cff"]
    holding = [path.name for path in files if "example.invalid" in path.read_text("utf-8")]
    assert holding in (["pyproject.toml"], [])


def test_limits_of_coverage_hold_or_fail(tmp_path, capsys):
    report, totals = tmp_path / "report.json", {"num_statements": 100, "num_branches": 20, "covered_branches": 19}
    report.write_text(json.dumps({"totals": {**totals, "covered_lines": 97}}))
    assert coverage.limits("97", "93", str(report)) == 0
    assert capsys.readouterr().out == "lines 97.0 % (at least 97), branches 95.0 % (at least 93)\n"
    assert coverage.limits("97.5", "93", str(report)) == coverage.limits("97", "96", str(report)) == 1


@pytest.mark.parametrize("name", ["dev.lock", "core.lock", "image.lock"])
def test_every_locked_package_has_a_version_and_hashes(name):
    text = (ROOT / "requirements" / name).read_text("utf-8")
    blocks = [block for block in re.split(r"\n(?=[A-Za-z0-9])", text) if not block.startswith("#")]
    assert len(blocks) > 10
    wrong = [block for block in blocks if not re.match(r"[\w.-]+==\S+.*\\\n    --hash=sha256:[0-9a-f]{64}", block)]
    assert wrong == []
    assert "://" not in text


def test_every_dependency_is_locked_and_its_licence_is_listed():
    table = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = table["optional-dependencies"]
    page, lock = ((ROOT / place).read_text("utf-8") for place in ("docs/dependencies.md", "requirements/dev.lock"))
    for extra, needed in {"core": table["dependencies"], **extras}.items():
        for name in (re.split(r"[^\w.-]", one)[0].lower() for one in needed if not one.startswith("grampus")):
            assert f"| `{name}` |" in page
            assert f"\n{name}==" in f"\n{lock}" or extra in ("sentence-transformers", "gpu"), name
