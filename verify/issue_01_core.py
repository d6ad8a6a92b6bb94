"""Part 1: the repository, the walking skeleton and the Gram core."""

from __future__ import annotations

import re

import numpy as np

from verify import Figure, line
from verify.commands import clone_and, run_tests

TESTS = ("tests", "verify/commands.py")
BUILD = ("Makefile", "pyproject.toml", "requirements", "verify/commands.py")


@line(
    1,
    "clean-clone",
    "git clone into an empty folder, then make demo and make test, both pass.",
    timeout=3600,
    watches=("tests", "docs", *BUILD),
)
def clean_clone() -> Figure:
    return clone_and("make demo", "make test")


@line(
    1,
    "wheel",
    "The wheel, built and installed into an empty environment, runs grampus demo.",
    timeout=1200,
    watches=BUILD,
)
def wheel() -> Figure:
    return clone_and("make wheel-test")


@line(
    1,
    "lowest-versions",
    "The lowest supported versions of the dependencies pass the tests.",
    timeout=3600,
    watches=("tests", *BUILD),
)
def lowest() -> Figure:
    return clone_and("make test-lowest")


@line(
    1,
    "conformance",
    "Every Gram, every transform, and nestings at least three deep pass check_gram; it sees planted faults.",
    watches=TESTS,
)
def conformance() -> Figure:
    return run_tests("tests/contract/test_grams.py", needs=230)


@line(
    1,
    "take",
    "take is right for centre and map, where pushing it inside is wrong, and keeps a fitted shift.",
    watches=TESTS,
)
def take() -> Figure:
    return run_tests("tests/property/test_transforms.py", "-k", "take", needs=2)


@line(
    1,
    "normalised-properties",
    "K^t satisfies properties 1–8, is PSD for random t in (0, 100] and ∞, tends to the cosine; t < 0 is refused; "
    "0.8 and 0.5 at γ = 2.",
    watches=TESTS,
)
def normalised() -> Figure:
    return run_tests("tests/property/test_normalised_kernels.py", needs=15)


@line(
    1,
    "shift-map-centre",
    "A shift by σ changes every objective by σ(n−k′); map equals dense R Rᵀ; a centred Gram has zero row sums.",
    watches=TESTS,
)
def transforms() -> Figure:
    return run_tests("tests/property/test_transforms.py", needs=10)


def _memory(kernel: str, documents: int) -> Figure:
    from tests import memory
    from tests.unit.test_memory import TERMS, WORK

    ratios = {}
    for dtype in ("float32", "float64"):
        found = memory.rise(TERMS.format(n=documents, dtype=dtype, kernel=kernel), WORK.format(kernel=kernel))
        ratios[dtype] = found["rise"] / found["input"]
    text = ", ".join(f"{ratio:.2f} × the input ({dtype} V)" for dtype, ratio in ratios.items())
    return Figure(text, max(ratios.values()) < 2.5)


@line(
    1,
    "memory-product",
    "(linear|normalise|shift) @ V, 200,000 × 50,000 sparse float32, 20 columns: rise below 2.5 × the input.",
    watches=TESTS,
)
def memory_product() -> Figure:
    return _memory("linear|normalise|shift", 200_000)


@line(1, "memory-map", "map at 20,000 rows, norms included: rise below 2.5 × the input.", watches=TESTS)
def memory_map() -> Figure:
    return _memory("linear|map", 20_000)


@line(
    1,
    "spelling",
    "parse_kernel(str(k)) == k for thousands of generated kernels; 50 malformed spellings are pointed at.",
    watches=TESTS,
)
def spelling() -> Figure:
    from tests.property.test_spelling import MALFORMED

    found = run_tests("tests/property/test_spelling.py", needs=len(MALFORMED) + 15)
    return Figure(f"3000 generated kernels; {len(MALFORMED)} malformed spellings", found.passed, found.detail)


@line(1, "dominance-ratio", "dominance_ratio of bbc ((1+ln tf)(1+ln(n/df)), cosine) is 26.6 ± 0.1.", needs_data=True)
def dominance() -> Figure:
    from scipy.io import mmread
    from scipy.sparse import csr_array

    from grampus.gram import dominance_ratio
    from grampus.kernels import parse_kernel
    from grampus.text import Weighting
    from verify.registry import corpora

    counts = csr_array(mmread(corpora() / "bbc.mtx.gz"))
    ratio = dominance_ratio(parse_kernel("cosine").gram(Weighting("dominance").fit_transform(counts)))
    return Figure(f"{ratio:.2f}", bool(np.abs(ratio - 26.6) <= 0.1), "published: 24.18")


@line(1, "layers", "No upward import, no circle, no file over 500 lines; planted ones are found.", watches=TESTS)
def layers() -> Figure:
    return run_tests("tests/contract/test_layers.py", needs=5)


@line(
    1,
    "bad-input",
    "NaN, inf, complex, object, non-square, asymmetric, zero rows, negative entries, empty.",
    watches=TESTS,
)
def bad_input() -> Figure:
    return run_tests("tests/unit/test_bad_input.py", needs=100)


SHOWN = {
    "clusters": r"│ 0 │ +\d+ │",
    "keywords": r"words",
    "NMI and ARI": r"NMI \d\.\d+, ARI \d\.\d+",
    "version": r"Grampus \d+\.\d+",
    "hash": r"labels [0-9a-f]{16}",
}


@line(1, "demo", "grampus demo prints clusters, keywords, NMI/ARI, version and hash, in under 10 s.", watches=TESTS)
def demo() -> Figure:
    import subprocess
    import sys
    import time

    times = []
    for _ in range(3):
        began = time.perf_counter()
        shown = subprocess.run([sys.executable, "-m", "grampus", "demo"], capture_output=True, text=True, check=True)
        times.append(time.perf_counter() - began)
    agreement = next((text for text in shown.stdout.splitlines() if text.startswith("Agreement")), "no agreement shown")
    missing = [what for what, mark in SHOWN.items() if not re.search(mark, shown.stdout)]
    text = f"{np.median(times):.1f} s (median of 3); {agreement}; missing: {', '.join(missing) or 'nothing'}"
    return Figure(text, float(np.median(times)) < 10 and not missing)
