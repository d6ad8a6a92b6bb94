"""Time ours and a peer by turns, each in a fresh process with the same threads, and compare the answers.

The comparisons are in peers.toml; here are their inputs, and how the answers of both sides must agree.
"""

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from grampus.kernels import parse_kernel
from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer, Weighting
from lab import Found, Task, data, program, row
from lab.environments import environment
from lab.harness import ROOT

Arrays = Mapping[str, NDArray[Any]]
SIDES = Path(__file__).parent / "sides"
REQUIREMENTS = ROOT / "requirements" / "bench.txt"
THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "2", "MKL_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "2"}


@dataclass(frozen=True)
class Side:
    """A function of a script in sides/; a script in R defines ``run`` and perhaps ``prepare``.

    `peers` means the pinned environment of other packages. A side may do a part of the work: its seconds are
    multiplied by `extrapolate`. `packages` are those whose versions are reported.
    """

    script: str
    function: str = "run"
    name: str = ""
    peers: bool = False
    warmups: int = 0
    extrapolate: float = 1.0
    packages: Sequence[str] = ("numpy", "scipy")


def interpreter(side: Side) -> str:
    """Return the program that runs a side; build the environment of the peers when it is missing."""
    if side.script.endswith(".R"):
        return program("Rscript", "Debian: r-base-core, r-cran-kernlab, r-cran-fpc")
    return environment("peers", REQUIREMENTS) if side.peers else sys.executable


def run(side: Side, inputs: Arrays) -> tuple[float, dict[str, Any], dict[str, str]]:
    """Time a side once, after its warm-ups, in a fresh process; return seconds, outputs and versions."""
    in_r = side.script.endswith(".R")
    with TemporaryDirectory() as name:
        given, got, report = (Path(name) / part for part in ("inputs", "outputs", "report.json"))
        given.mkdir()
        got.mkdir()
        for key, array in inputs.items():
            if in_r:
                np.savetxt(given / f"{key}.csv", np.atleast_1d(array), delimiter=",", fmt="%.17g")
            else:
                np.save(given / f"{key}.npy", array)
        worker = SIDES / ("worker.R" if in_r else "worker.py")
        places = (worker, SIDES / side.script, given, got, report)
        words = [interpreter(side), *map(str, places), str(side.warmups)]
        words += [*side.packages] if in_r else [side.function, *side.packages]
        environment = dict(os.environ) | THREADS
        if side.peers:
            environment.pop("PYTHONPATH", None)
        done = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{side.script}, exit status {done.returncode}: {done.stderr.strip()[-300:]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        outputs = {file.stem: np.loadtxt(file, delimiter=",") for file in got.glob("*.csv")}
        outputs |= {file.stem: np.load(file) for file in got.glob("*.npy")}
    return told["seconds"] * side.extrapolate, outputs, told["versions"]


Agreement = Callable[[Arrays, Arrays], tuple[str, bool]]


def compare(task: Task, inputs: Arrays, ours: str, peer: Side, agree: Agreement, repeats: int) -> Found:
    """Time both sides by turns and compare their last answers."""
    mine = Side("ours.py", ours, warmups=1, packages=("numpy", "scipy", "grampus"))
    pairs = [(run(mine, inputs), run(peer, inputs)) for _ in range(task.trials(repeats, 1))]
    # Neighbours in time share the state of the machine: the ratio is taken pair by pair.
    times = [(a[0], b[0]) for a, b in pairs]
    figures = {"ratio": [b / a for a, b in times], "ours": [a for a, _ in times], "peer": [b for _, b in times]}
    spread = {k: f"{median(v):.3g} ({min(v):.3g}–{max(v):.3g})" for k, v in figures.items()}
    told, agrees = agree(pairs[-1][0][1], pairs[-1][1][1])
    versions = ", ".join(f"{name} {version}" for name, version in (pairs[-1][0][2] | pairs[-1][1][2]).items())
    extrapolated = f", extrapolated ×{peer.extrapolate:.3g}" if peer.extrapolate != 1 else ""
    notes = [f"Ours {spread['ours']} s, theirs {spread['peer']} s{extrapolated}; {told}; {versions}."]
    measures = {k: median(v) for k, v in figures.items()} | {"agrees": float(agrees)}
    return Found(f"{spread['ratio']} × {peer.name}{extrapolated}", measures, notes=notes)


def same_labels(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when all labels but one in a thousand are equal."""
    share = float(np.mean(ours["labels"] == theirs["labels"]))
    return f"{share:.4%} equal", share >= 0.999


def not_worse(ours: Arrays, theirs: Arrays, slack: float) -> tuple[str, bool]:
    """Agree when our mean objective is at most the share `slack` above theirs."""
    mine, other = float(np.mean(ours["objective"])), float(np.mean(theirs["objective"]))
    return f"objective {mine:.5g} against {other:.5g}", mine <= other * (1 + slack)


STARTS, FEW = 250, 5  # the papers' starts, and those that slow peers get
KERNLAB = 60  # documents that kernlab gets; its time is scaled to all pairs of the 757


def rows(x: Any, k: int) -> dict[str, Any]:
    """Return sparse rows in pieces that any environment reads."""
    return {"data": x.data, "indices": x.indices, "indptr": x.indptr, "shape": np.array(x.shape), "k": np.array(k)}


def points(documents: Any) -> Arrays:
    """Return texts as code points end to end, and where each ends."""
    joined = "".join(documents).encode("utf-32-le", "surrogatepass")
    return {"points": np.frombuffer(joined, np.uint32).astype(np.int64), "ends": np.cumsum(list(map(len, documents)))}


def bbc(quick: bool) -> Arrays:
    """Return the cosine Gram of bbc in float32, and random partitions to start from."""
    counts, _ = data.counts("bbc")
    x = Weighting("dominance").fit_transform(counts[:: 4 if quick else 1])
    matrix = parse_kernel("cosine").gram(x).dense().astype(np.float32)
    starts = np.random.default_rng(0).integers(0, 5, (FEW if quick else STARTS, len(matrix)))
    return {"matrix": matrix, "starts": starts}


def newsgroups(quick: bool) -> Arrays:
    """Return unit rows of weighted terms of 20ng in float64, and one random partition."""
    texts = data.texts("20ng")[0][:: 20 if quick else 1]
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(list(texts))
    start = np.random.default_rng(0).integers(0, 20, x.shape[0])
    return {**rows(x, 20), "start": start, "iterations": np.array(20)}


def components(quick: bool) -> Arrays:
    """Return 100 components of the posts of 20ng, rows of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import normalize

    texts = list(data.texts("20ng")[0][:: 20 if quick else 1])
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(texts)
    return {"x": normalize(TruncatedSVD(100, random_state=0).fit_transform(x))}


def partition(quick: bool) -> Arrays:
    """Return the components, and a partition of them by the nearest of 50 rows."""
    x = components(quick)["x"]
    drawn = np.random.default_rng(0).choice(len(x), 50, replace=False)
    return {"x": x, "start": (x @ x[drawn].T).argmax(axis=1)}


def posts(quick: bool) -> Arrays:
    """Return the texts of 20ng."""
    return points(data.texts("20ng")[0][:: 20 if quick else 1])


def shuffled_reuters(quick: bool) -> Arrays:
    """Return documents that end in a newline, in random order: the first are as long as any."""
    documents = data.strings().x
    order = np.random.default_rng(0).permutation(len(documents))[: KERNLAB if quick else None]
    return points([documents[i] + "\n" for i in order])


def part_of_modapte(quick: bool) -> Arrays:
    """Return documents of MODAPTE drawn at random, weighted by themselves."""
    texts, _ = data.texts("r52_raw_9052")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: 600 if quick else 3000])
    return rows(TermVectorizer("lfc", min_df=2, dtype=np.float64).fit_transform([texts[i] for i in chosen]), 20)


def sample(quick: bool, size: list[int]) -> Arrays:
    """Return a seeded sample of 20ng, weighted by itself."""
    texts, labels = data.texts("20ng")
    chosen = np.sort(np.random.default_rng(0).permutation(len(texts))[: size[not quick]])
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform([texts[i] for i in chosen])
    return {**rows(x, 20), "truth": np.unique(labels[chosen], return_inverse=True)[1]}


def same_matrix(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when two sparse matrices are equal to 1e-6."""
    mine, other = (sp.csr_array((s["data"], s["indices"], s["indptr"]), tuple(s["shape"])) for s in (ours, theirs))
    if mine.shape != other.shape:
        return f"shapes {mine.shape} and {other.shape}", False
    gap = float(abs(mine - other).max())
    return f"largest difference {gap:.1e}", gap <= 1e-6


def leading_block(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when the peer's matrix is the corner of ours."""
    few = len(theirs["gram"])
    gap = float(np.max(np.abs(ours["gram"][:few, :few] - theirs["gram"]) / theirs["gram"]))
    return f"largest relative difference {gap:.1e} on {few} documents", gap <= 1e-12


def near_classes(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
    """Agree when both partitions have an NMI of 0.9, or ours is nearer to the classes."""
    a, b, truth = ours["labels"], theirs["labels"], ours["truth"]
    between, mine, other = nmi(a, b), nmi(truth, a), nmi(truth, b)
    text = f"NMI {between:.3f}, ARI {ari(a, b):.3f} between both; to the classes {mine:.3f} against {other:.3f}"
    return text, between >= 0.9 or mine >= other - 0.02


AGREE: dict[str, Agreement] = {
    "labels": same_labels, "sparse matrix": same_matrix, "leading block": leading_block, "classes": near_classes,
    "objective": partial(not_worse, slack=0.01), "objective, 5 %": partial(not_worse, slack=0.05),
}  # fmt: skip


def measure(task: Task, entry: dict[str, Any]) -> Found:
    """Make the inputs of a comparison, and compare."""
    given = globals()[entry["inputs"]](task.quick, **{key: entry[key] for key in ("size",) if key in entry})
    truth = {"truth": given["truth"]} if "truth" in given else {}

    def agree(ours: Arrays, theirs: Arrays) -> tuple[str, bool]:
        return AGREE[entry["agree"]]({**ours, **truth}, theirs)

    return compare(task, given, entry["ours"], Side(**entry["peer"]), agree, entry.get("repeats", 5))


for _name, _entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items():
    _how = {key: _entry[key] for key in ("shows", "rests_on")} | {"data": True, "hours": 2.0}
    _conditions = ["answers-agree", *_entry.get("conditions", ())]
    row("speed", _name, conditions=_conditions, **_how)(partial(measure, entry=_entry))
