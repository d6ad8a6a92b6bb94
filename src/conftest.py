"""Skip, with the reason, examples of docstrings that need an extra where it is not installed (`make test-core`)."""

from __future__ import annotations

from importlib.util import find_spec

import pytest

# Part of the name of an example, and the package that it needs.
NEEDS = {"grampus.plots.": "matplotlib", ".to_frame": "pandas", "grampus.text.frame.": "pandas"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the examples whose package is missing."""
    for item in items:
        for part, package in NEEDS.items():
            if part in item.name and item.name.startswith("grampus.") and find_spec(package) is None:
                item.add_marker(pytest.mark.skip(reason=f"the example needs {package}"))
