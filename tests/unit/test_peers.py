"""The runner of lab/peers, with the packages that are installed anyway: fits, scores, labels, and going on."""

from __future__ import annotations

import json
import lzma
import subprocess
import sys

import numpy as np
import pytest

from grampus.metrics import ari, nmi
from lab.harness import ROOT
from lab.quality.peers import agreement, figures, lines, means, recorded


@pytest.mark.slow
def test_fits_are_scored_kept_and_not_made_again(tmp_path):
    rng = np.random.default_rng(0)
    classes = np.repeat(["sea", "rock", "tree"], 30)
    texts = [" ".join([kind, *rng.choice([f"{kind}{i}" for i in range(9)], 12)]) for kind in classes]
    rows = np.repeat(np.eye(3), 30, axis=0) + rng.normal(scale=0.2, size=(90, 3))
    held = json.dumps({"texts": texts, "classes": classes.tolist()}).encode()
    (tmp_path / "small.json.xz").write_bytes(lzma.compress(held))
    np.save(tmp_path / "small.npy", rows)
    words = [sys.executable, str(ROOT / "lab" / "peers" / "run.py"), str(tmp_path), str(tmp_path / "out")]
    words += ["--only", "recipes", "evoc", "--workers", "1", "--repeats", "2"]
    subprocess.run(words, check=True, capture_output=True)
    fits = json.loads((tmp_path / "out" / "fits.json").read_text(encoding="utf-8"))["fits"]
    labels = dict(np.load(tmp_path / "out" / "labels.npz"))
    errors = {one["error"] for one in fits if "error" in one}
    assert errors == {"ModuleNotFoundError: No module named 'evoc'"}
    given = [one for one in fits if one["way"] == "scikit-learn, KMeans, k"]
    assert [(one["kind"], one["repeat"]) for one in given] == [("seed", 0)]
    found = labels["scikit-learn, KMeans, k|small|seed|0"]
    assert given[0]["reassigned"] == pytest.approx([nmi(classes, found), ari(classes, found)], abs=1e-5)
    noisy = next(one for one in fits if one["way"] == "scikit-learn, HDBSCAN")
    own = labels["scikit-learn, HDBSCAN|small|seed|0"]
    assert noisy["one group"] == pytest.approx([nmi(classes, own), ari(classes, own)], abs=1e-5)
    assert noisy["left out"] == (own == -1).sum()
    drawn = labels["scikit-learn, HDBSCAN|small|draw|1"]
    assert (drawn > -2).sum() == 72
    assert agreement(labels, "scikit-learn, HDBSCAN", "small", "order") == 1
    half = means(fits, labels, ("small",), {"small": 3})
    assert {row[0] for row in lines(half, told=False)} == {
        "scikit-learn, HDBSCAN",
        "scikit-learn, KMeans, k by silhouette",
    }
    again = subprocess.run(words, check=True, capture_output=True, text=True)
    assert "0 fits to do" in again.stdout


def test_agreement_is_told_of_ways_with_repeats_on_every_set():
    one = {"way": "x", "kind": "seed", "repeat": 0, "groups": 2, "left out": 0, "documents": 4, "cpu": 1, "memory": 1}
    one |= {noise: [1.0, 1.0] for noise in ("one group", "alone", "reassigned")}
    fits = [one | {"name": name} for name in ("a", "b")]
    labels = {f"x|{name}|seed|{r}": np.array([0, 0, 1, 1]) for name, r in (("a", 0), ("a", 1), ("b", 0))}
    classes = {"a": 2, "b": 2}
    assert means(fits, labels, ("a",), classes)["x"]["seed"] == 1
    half = means(fits, labels, ("a", "b"), classes)
    assert np.isnan(half["x"]["seed"])
    assert lines(half, told=False)[0][6:9] == [None, None, None]


@pytest.mark.parametrize(
    ("told", "text"), [(False, "not told the number of groups"), (True, "told the number of classes")]
)
def test_figures_of_others_are_read_as_they_were_written(told, text):
    rows = recorded(f"Means over the confirming half, {text}")
    assert len(rows) >= 4
    written = [[None if cell == "–" else cell for cell in row] for row in rows]
    assert lines({row[0]: figures(row) for row in rows}, told) == written
