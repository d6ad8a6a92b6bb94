"""Part 7: choosing k."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from verify import Figure, line
from verify.commands import run_tests
from verify.pages import provenance, rows
from verify.registry import corpora

TESTS = ("tests", "verify/commands.py")
REPRODUCTIONS = ("reproductions/results", "verify/pages.py")
FPC = (0.976, 0.671, 0.541, 0.490, 0.460)  # fpc 2.2-10, prediction.strength(iris[, 1:4], 2, 6, M = 50), set.seed(1)


@line(
    7,
    "definitions",
    "Strength from tables equals the n/2 × n/2 definition; reduction, classifier and halves equal naive twins; the "
    "same scores for every row order, batch size and n_jobs.",
    watches=TESTS,
)
def definitions() -> Figure:
    return run_tests("tests/property/test_select_properties.py", needs=13)


@line(7, "behaviour", "Answers, confidence, stability, long work and a list of bad input.", watches=TESTS)
def behaviour() -> Figure:
    return run_tests("tests/unit/test_select.py", needs=64)


def iris_strengths(n_splits: int) -> Any:
    """Return our mean uncorrected strengths on iris, k = 2 … 6, with plain k-means and centroid classification."""
    from sklearn.datasets import load_iris

    from grampus import choose_k

    x = load_iris().data
    found = choose_k(
        x - x.mean(axis=0),
        kernel="linear|shift(0)",
        ks=range(2, 7),
        scheme="KKM-S",
        n_splits=n_splits,
        init="documents",
        n_init=1,
        null=False,
        random_state=0,
    )
    return found.strength.mean(axis=0)


@line(7, "fpc", "fpc's prediction.strength on iris: uncorrected means for k = 2…6 within 0.05.")
def fpc() -> Figure:
    ours = iris_strengths(500)
    worst = float(np.abs(ours - FPC).max())
    said = ", ".join(f"{a:.3f} ({b})" for a, b in zip(ours, FPC, strict=True))
    return Figure(said, worst <= 0.05, f"largest difference {worst:.3f}; fpc in brackets")


@line(
    7,
    "table3",
    "Table 3 of `validation`, eight sets, τ = 200, k = 2…10, every pair counted once (centroid_weight=½): RED-S finds "
    "the true k first on bbc, bbcsport, classic3 and ng3; our top three beside the paper's, as committed.",
    sources=(),
    watches=REPRODUCTIONS,
)
def table3() -> Figure:
    """The run takes hours and is a reproduction's; its committed result is judged."""
    wanted, right = ("bbc", "bbcsport", "classic3", "ng3"), {}
    for suffix in ("", "-eqn4"):
        found = [row for row in rows(f"validation-table3{suffix}") if row[1] == "RED-S"]
        names = [(row[0].split(" ")[0], row[0].split("(")[1].rstrip(")"), row[2].split(" ")[0]) for row in found]
        right[suffix] = [name for name, true, first in names if name in wanted and first == true]
    said = "; ".join(f"{row[0]} {row[1]}: {row[2]} | {row[3]}" for row in rows("validation-table3"))
    told = f"with Eqn 4: {', '.join(right['-eqn4'])}; ours | paper: {said}; {provenance('validation-table3')}"
    return Figure(f"RED-S first on {', '.join(right[''])} of {', '.join(wanted)}", len(right[""]) == 4, told)


@line(
    7,
    "table1",
    "Table 1 of `validation`, every pair counted once (centroid_weight=½): 84 artificial sets from 20ng, first and "
    "top-3 rates per group beside the paper's, as committed; RED-S at least as often right as published, overall.",
    sources=(),
    watches=REPRODUCTIONS,
)
def table1() -> Figure:
    """As above."""
    found = rows("validation-table1")
    said = "; ".join(f"{row[0]} {row[2]} {row[3]}, {row[4]}" for row in found)
    (overall,) = [row for row in found if row[0] == "overall" and row[2] == "RED-S"]
    first, three = (int(cell.split(" ")[0]) for cell in overall[3:5])
    text = f"RED-S first on {first} % and among three on {three} % of {overall[1]} sets (paper 50 and 74)"
    return Figure(text, first >= 50 and three >= 74, f"{said}; {provenance('validation-table1')}")


def structureless(number: int) -> tuple[Any, str]:
    """Return a set without clusters, and its kernel: a round cloud, a stretched one, a box, or texts of one topic."""
    rng = np.random.default_rng([701, number])
    n, d = int(rng.integers(150, 400)), int(rng.integers(2, 11))
    kind = number % 4
    if kind == 0:
        return rng.normal(size=(n, d)), "linear"
    if kind == 1:
        return rng.normal(size=(n, d)) * np.exp(rng.normal(size=d)), "linear"
    if kind == 2:
        return rng.uniform(-1, 1, size=(n, d)), "linear"
    words = 1.0 / np.arange(1, 2001)
    return _weighted(
        np.array([rng.multinomial(rng.integers(40, 150), words / words.sum()) for _ in range(n)])
    ), "cosine"


def mixture(number: int) -> tuple[Any, str, int]:
    """Return one set of k = 2 … 8 well-separated clusters, its kernel and k: Gaussian clouds or texts of k topics."""
    rng = np.random.default_rng([702, number])
    k = 2 + number % 7
    if (number // 7) % 2 == 0:
        d = int(rng.integers(2, 11))
        while True:  # centres at least seven standard deviations apart
            centres = 8.0 * rng.normal(size=(k, d))
            apart = np.linalg.norm(centres[:, None] - centres, axis=2) + 99.0 * np.eye(k)
            if apart.min() > 7:
                break
        sizes = rng.integers(30, 80, k)
        clouds = [c + rng.normal(size=(size, d)) for c, size in zip(centres, sizes, strict=True)]
        return np.concatenate(clouds), "linear", k
    common = 1.0 / np.arange(1, 2001)
    rows = []
    for _ in range(k):
        topic = 0.7 * common / common.sum()
        topic[rng.choice(2000, 60, replace=False)] += 0.3 / 60
        rows += [rng.multinomial(rng.integers(60, 150), topic) for _ in range(50)]
    return _weighted(np.array(rows)), "cosine", k


def _weighted(counts: Any) -> sp.csr_array:
    from grampus.text import Weighting

    kept = counts[:, (counts > 0).sum(axis=0) >= 3]
    return sp.csr_array(Weighting("dominance", dtype=np.float64).fit_transform(sp.csr_array(kept)))


@line(7, "null", "Data without structure: the null says so in at least 91 of 100 draws.", timeout=7200)
def null() -> Figure:
    from grampus import choose_k

    wrong = []
    for number in range(100):
        x, kernel = structureless(number)
        found = choose_k(x, kernel=kernel, n_splits=20, random_state=number)
        if found.best != 1:
            wrong.append(f"draw {number}: {found.best}")
    return Figure(f"{100 - len(wrong)} of 100", len(wrong) <= 9, "; ".join(wrong))


@line(7, "mixtures", "Well-separated mixtures with k = 2…8: right in at least 91 of 100 draws.", timeout=7200)
def mixtures() -> Figure:
    from grampus import choose_k

    wrong = []
    for number in range(100):
        x, kernel, k = mixture(number)
        found = choose_k(x, kernel=kernel, n_splits=50, random_state=number)
        if found.best != k:
            wrong.append(f"draw {number}: {found.best} for {k}")
    return Figure(f"{100 - len(wrong)} of 100", len(wrong) <= 9, "; ".join(wrong))


@line(
    7,
    "20ng",
    "20ng (18,846 documents): RED-S with growing rate under 3 minutes and 4 GB.",
    needs_data=True,
    watches=("tests/memory.py",),
)
def newsgroups() -> Figure:
    from tests import memory

    setup = f"""
        import time
        import numpy as np
        import grampus
        from grampus import choose_k
        from grampus.text import ReadOptions, TermVectorizer, read_corpus
        corpus = read_corpus({str(corpora() / "20ng.jsonl.gz")!r}, text="text", id="id", label="label",
                             options=ReadOptions(duplicate_ids="number"))
        x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(list(corpus.texts))
        input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
        del corpus
        grampus.config(memory="4GB")
    """
    work = """
        began = time.perf_counter()
        found = choose_k(x, random_state=0)
        print("seconds", time.perf_counter() - began)
        print("prototypes", len(found.reduction))
        print("best", found.best)
    """
    found = memory.rise(setup, work)
    text = (
        f"{found['seconds']:.0f} s, {found['rise'] / 1e9:.2f} GB, {found['prototypes']:.0f} prototypes; "
        f"k = {found['best']:.0f}"
    )
    return Figure(text, found["seconds"] < 180 and found["rise"] < 4e9, "200 splits, k = 2…10, three starts, null")


@line(7, "kills", "Ten kills with resume: same results, no half-written file.", watches=TESTS)
def kills() -> Figure:
    import subprocess
    import sys
    import textwrap

    from tests.unit.test_select import KILLED, killed_and_resumed

    alone = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), "600"], capture_output=True, text=True, check=True
    ).stdout.split()[-1]
    with tempfile.TemporaryDirectory() as name:
        resumed, hit = killed_and_resumed(Path(name) / "kept", 600, 10, 0.3)
        left = sorted(file.suffix for file in (Path(name) / "kept").iterdir())
    same = resumed == alone
    whole = set(left) == {".npz", ".json"}
    return Figure(
        f"{hit} of 10 kills hit; result {'the same' if same else 'DIFFERENT'}", same and whole and hit >= 8, f"{left}"
    )


@line(
    7,
    "same",
    "Same result for n_jobs 1 and 2 and every batch size, for all four schemes on bbcsport.",
    needs_data=True,
    watches=("reproductions/data.py",),
)
def same() -> Figure:
    from grampus import choose_k
    from reproductions.data import documents

    x = documents("bbcsport").x
    order = np.random.default_rng(0).permutation(x.shape[0])
    runs, different = 0, []
    for scheme in ("RED-S", "KKM-S", "KM-S", "KM-P"):
        options: dict[str, Any] = {"scheme": scheme, "ks": (2, 5, 8), "n_splits": 12, "null": False, "random_state": 0}
        base = choose_k(x, **options).scores
        ways: list[dict[str, Any]] = [{"n_jobs": 1}, {"n_jobs": 2}, *({"batch_size": b} for b in (1, 5, 12))]
        for way in ways:
            runs += 1
            if not np.array_equal(base, choose_k(x, **options, **way).scores):
                different.append(f"{scheme} {way}")
        runs += 1
        if not np.array_equal(base, choose_k(x[order], **options).scores):
            different.append(f"{scheme} shuffled")
    return Figure(f"{runs - len(different)} of {runs} runs the same", not different, "; ".join(different))
