"""Part 3: string kernels."""

from __future__ import annotations

import gzip
import json
import random
import time
from pathlib import Path

import numpy as np

from grampus import parse_kernel
from tests import memory
from tests.reference import naive_strings as naive
from verify import Figure, corpora, line

HERE = Path(__file__).parents[1]
NAIVE = ("tests/reference/naive_strings.py",)
CLASSES = ("crude", "interest", "coffee")


def read(folder: Path, name: str, labels: tuple[str, ...] | None = None) -> list[str]:
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        records = [json.loads(text) for text in lines]
    return [record["text"] for record in records if labels is None or record["label"] in labels]


@line(
    issue=3,
    name="kernlab",
    text="All 2,464 recorded values of kernlab's stringdot to 1e-9.",
    watches=("tests/reference/kernlab_stringdot.json",),
)
def kernlab() -> Figure:
    stored = json.loads((HERE / "tests/reference/kernlab_stringdot.json").read_text(encoding="utf-8"))
    worst, count = 0.0, 0
    for record in stored["records"]:
        name = {"sequence": "subsequence"}.get(record["type"], record["type"])
        given = [] if record["length"] is None else [str(record["length"])]
        given += [] if record["lambda"] is None else [f"decay={record['lambda']!r}"]
        kernel = parse_kernel(f"{name}({', '.join(given)})" if given else name)
        end = "\n" if record["type"] in ("spectrum", "boundrange", "constant", "exponential") else ""
        pair = [record["x"] + end, record["y"] + end]
        value = float(kernel.gram(pair).block([0], [1])[0, 0])
        new = float(kernel.cross(pair[:1], pair[1:])[0, 0])
        for got in (value, new):
            worst = max(worst, abs(got - record["value"]) / max(abs(record["value"]), 1.0))
        count += 1
    return Figure(f"{count} values, largest difference {worst:.1e}", count == 2464 and worst <= 1e-9)


@line(
    issue=3,
    name="string-twins",
    text="Each string kernel equals its naive twin on 300 random collections and new strings (1e-12).",
    watches=NAIVE,
)
def twins() -> Figure:
    rng = random.Random(0)
    alphabets = ["a", "ab", "abcd", "a\n ", "a\U0001f600\U00010348\n"]
    worst = 0.0
    for _ in range(300):
        alphabet = rng.choice(alphabets)
        strings = ["".join(rng.choices(alphabet, k=rng.randint(0, 12))) for _ in range(rng.randint(1, 7))]
        new = ["".join(rng.choices(alphabet + "z", k=rng.randint(0, 12))) for _ in range(3)]
        n, decay = rng.randint(1, 5), rng.choice([0.5, 0.9, 1.0, 1.3])
        for name in ("spectrum", "boundrange", "constant", "exponential", "string", "fullstring", "subsequence"):
            given = [] if name in ("constant", "exponential") else [str(n)]
            given += [] if name in ("constant", "spectrum", "boundrange") else [f"decay={decay}"]
            kernel = parse_kernel(f"{name}({', '.join(given)})")

            def twin(x: str, y: str, name: str = name, n: int = n, decay: float = decay) -> float:
                if name == "subsequence":
                    return naive.subsequence_kernel(x, y, n, decay)
                return naive.substring_kernel(x, y, naive.weight(name, n, decay))

            gram = kernel.gram(strings)
            for got, left in ((gram.dense(), strings), (kernel.extend(new, gram)[0], new)):
                wanted = naive.matrix(left, strings, twin)
                worst = max(worst, float(np.max(np.abs(got - wanted) / np.maximum(np.abs(wanted), 1.0))))
    return Figure(f"largest difference {worst:.1e}", worst <= 1e-12)


@line(
    issue=3,
    name="constant-twin",
    text="`constant` on 50 bbcsport documents equals the sum of all common prefixes.",
    needs_data=True,
    watches=NAIVE,
)
def constant_twin() -> Figure:
    texts = read(corpora(), "bbcsport")[:50]
    got = parse_kernel("constant").gram(texts).dense()
    worst = 0.0
    for i, x in enumerate(texts):
        for j in range(i, len(texts)):
            wanted = float(naive.common_prefixes(x, texts[j]).sum())
            worst = max(worst, abs(got[i, j] - wanted) / wanted)
    return Figure(f"largest relative difference {worst:.1e}", bool(worst <= 1e-12))


def _rise(kernel: str, name: str, labels: tuple[str, ...] | None) -> int:
    setup = f"""
        import pathlib, grampus
        from verify.issue_03_strings import read
        texts = read(pathlib.Path({str(corpora())!r}), {name!r}, {labels!r})
        grampus.parse_kernel({kernel!r}).gram(texts[:40]).dense()
        input_bytes = sum(map(len, texts))
    """
    work = f"""
        K = grampus.parse_kernel({kernel!r}).gram(texts).dense()
        assert K.shape == (len(texts), len(texts))
    """
    return memory.rise(setup, work)["rise"]


@line(issue=3, name="constant-memory", text="`constant` on all of bbcsport under 500 MB.", needs_data=True)
def constant_memory() -> Figure:
    rise = _rise("constant", "bbcsport", None)
    return Figure(f"{rise / 1e6:.0f} MB", rise < 500e6)


@line(
    issue=3,
    name="boundrange-memory",
    text="`boundrange(25)` of the 757 crude, interest and coffee documents under 500 MB.",
    needs_data=True,
)
def boundrange_memory() -> Figure:
    rise = _rise("boundrange(25)", "r52_stemmed", CLASSES)
    return Figure(f"{rise / 1e6:.0f} MB", rise < 500e6)


@line(
    issue=3,
    name="spectrum-counts",
    text="`spectrum(4)|normalise` on bbcsport equals counted substrings with cosine to 1e-12.",
    needs_data=True,
)
def spectrum_counts() -> Figure:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.metrics.pairwise import cosine_similarity

    texts = read(corpora(), "bbcsport")
    counts = CountVectorizer(analyzer=lambda s: [s[i : i + 4] for i in range(len(s) - 3)]).fit_transform(texts)
    gap = float(np.abs(parse_kernel("spectrum(4)|normalise").gram(texts).dense() - cosine_similarity(counts)).max())
    return Figure(f"largest difference {gap:.1e}", gap <= 1e-12)


@line(
    issue=3,
    name="strings-new",
    text="New strings: the cross block of 100 held-out bbcsport documents is that of the whole Gram (1e-12).",
    needs_data=True,
)
def new_strings() -> Figure:
    texts = read(corpora(), "bbcsport")
    worst = 0.0
    for spelling in ("spectrum(5)", "boundrange(12)", "constant", "exponential(1.1)"):
        kernel = parse_kernel(spelling + "|normalise")
        whole = kernel.gram(texts).block(slice(0, 100), slice(100, len(texts)))
        got, _ = kernel.extend(texts[:100], kernel.gram(texts[100:]))
        worst = max(worst, float(np.abs(got - whole).max()))
    return Figure(f"largest difference {worst:.1e}", worst <= 1e-12)


@line(
    issue=3,
    name="strings-large",
    text="One document of 10 MB, and a million documents of one character, each within two minutes and 2 GB.",
)
def large() -> Figure:
    setup = "import numpy as np, grampus, random; input_bytes = 1; grampus.parse_kernel('constant').gram(['ab', 'b'])"
    words = """
        rng = random.Random(0)
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(20_000)]
        text = " ".join(rng.choices(words, k=1_700_000))[:10_000_000]
        assert len(text) == 10_000_000
        assert abs(grampus.parse_kernel("constant|normalise").gram([text]).dense()[0, 0] - 1) < 1e-12
    """
    letters = """
        gram = grampus.parse_kernel("constant|normalise").gram([chr(97 + i % 26) for i in range(1_000_000)])
        assert round((gram @ np.ones(1_000_000))[0]) == 38462
    """
    figures, good = [], True
    for work in (words, letters):
        start = time.perf_counter()
        rise = memory.rise(setup, work)["rise"]
        seconds = time.perf_counter() - start
        figures.append(f"{seconds:.0f} s, {rise / 1e6:.0f} MB")
        good = good and seconds < 120 and rise < 2e9
    return Figure("; ".join(figures), good)


if __name__ == "__main__":
    import sys

    from verify.__main__ import main

    sys.exit(main(["--only", "3", *sys.argv[1:]]))
