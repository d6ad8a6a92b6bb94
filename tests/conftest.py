"""Shared fixtures: where the corpora are, and the rule that a skipped test is said out loud."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("default")

_REQUIRE_ALL = "GRAMPUS_REQUIRE_ALL"


def data_folder() -> Path | None:
    """Return the folder of research corpora, or None when GRAMPUS_DATA is not set."""
    value = os.environ.get("GRAMPUS_DATA")
    return Path(value) if value else None


@pytest.fixture(scope="session")
def corpora() -> Path:
    """The folder of research corpora; a test that asks for it is skipped without GRAMPUS_DATA."""
    folder = data_folder()
    if folder is None:
        pytest.skip("GRAMPUS_DATA is not set: the research corpora are not at hand")
    if not folder.is_dir():
        pytest.fail(f"GRAMPUS_DATA must name a folder; got {folder}")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _cache_of_the_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests away from the user's own cache, vectors and names."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRAMPUS_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _no_log_of_a_slow_machine() -> Iterator[None]:
    """Let no command say how far it is because the machine is busy: what is on standard error is compared."""
    from grampus.cli import show

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(show, "LOGGED", 3600.0)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out scikit-learn's check of array-API input, which skips itself: we do not claim to support it."""
    left_out = [item for item in items if "check_array_api_input" in item.name]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up what tests counted, say how many were skipped, and fail where every test must run."""
    counts: Counter[str] = Counter()
    for report in (one for listed in terminalreporter.stats.values() for one in listed):
        for name, count in report.user_properties if getattr(report, "when", "") == "teardown" else ():
            counts[name] += count
    if counts:
        terminalreporter.write_line("Counted: " + ", ".join(f"{counts[name]:.0f} {name}" for name in sorted(counts)))
    skipped = len(terminalreporter.stats.get("skipped", []))
    if skipped:
        terminalreporter.write_line(
            f"{skipped} tests skipped (set GRAMPUS_DATA to the folder of corpora to run those that need it)"
        )
    if skipped and os.environ.get(_REQUIRE_ALL):
        terminalreporter.write_line(f"{_REQUIRE_ALL} is set: a skipped test is a failure", red=True)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Turn skips into a failing exit status where every test must run."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get(_REQUIRE_ALL) and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
