"""The public names are a checked list, and each has a docstring with an example."""

from __future__ import annotations

import importlib

import pytest

MODULES = [
    "grampus",
    "grampus.cluster",
    "grampus.describe",
    "grampus.documents",
    "grampus.errors",
    "grampus.gram",
    "grampus.kernels",
    "grampus.metrics",
    "grampus.persist",
    "grampus.plots",
    "grampus.report",
    "grampus.select",
    "grampus.testing",
    "grampus.text",
]
PUBLIC = {
    "grampus": {
        "PDDP",
        "BisectingKernelKMeans",
        "DocumentClusterer",
        "KernelKMeans",
        "KernelPCAKMeans",
        "SpectralKMeans",
        "__version__",
        "choose_k",
        "config",
        "load",
        "parse_kernel",
    },
}


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names(name):
    assert set(importlib.import_module(name).__all__) == PUBLIC[name]


@pytest.mark.parametrize("name", MODULES)
def test_all_names_exist_and_are_sorted(name):
    module = importlib.import_module(name)
    assert list(module.__all__) == sorted(module.__all__)
    for public in module.__all__:
        assert hasattr(module, public)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        (module, name)
        for module in MODULES
        for name in importlib.import_module(module).__all__
        if not name.startswith("__") and module != "grampus.errors"
    ],
)
def test_every_public_name_has_a_docstring_with_an_example(module, name):
    doc = getattr(importlib.import_module(module), name).__doc__
    assert doc
    assert ">>>" in doc
