"""Memory and time at full size, predicted and measured, each in a fresh process."""

import json
import random
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from grampus.cluster import kernel_kmeans
from grampus.gram import relative_error
from grampus.kernels import parse_kernel
from grampus.metrics import nmi
from grampus.text import TermVectorizer
from lab import Cell, Found, Table, Task, data, printed
from lab.promises import promise
from tests import memory

Case = tuple[str, str, str]  # what it is, what is there before, and the work


def measured(cases: list[Case]) -> Found:
    """Run cases; the measures are the largest rise, in bytes and as a share of the input, and what the work prints."""
    shown, every = [], list[dict[str, float]]()
    for name, setup, work in cases:
        found = memory.rise(setup, work)
        printed = {key: value for key, value in found.items() if key not in ("rise", "input")}
        ratio, size = found["rise"] / max(found["input"], 1.0), found["rise"] / 1e6
        every.append({"rise": ratio, "ratio": ratio, "rise_mb": size, "rise_gb": size / 1e3, **printed})
        told = "".join(f", {key} {value:.4g}" for key, value in printed.items())
        shown.append(f"{name}rise {size:.0f} MB, {ratio:.2f} × the input{told}")
    measures = {key: max(one[key] for one in every) for key in every[0]}
    if "nmi" in measures:
        measures["nmi"] = min(one["nmi"] for one in every)
    if "iteration" in measures:
        measures["growth"] = every[-1]["iteration"] / every[0]["iteration"]
    return Found("; ".join(shown), measures)


SPARSE = """
    import time
    import numpy as np, scipy.sparse as sp
    import grampus
    from grampus.cluster import kernel_kmeans
    rng = np.random.default_rng(0)
    n, m, row, k = {n}, 30_000, 100, 50
    step = m // row
    indices = (rng.integers(0, step, size=(n, row), dtype=np.int32) + np.arange(0, m, step, dtype=np.int32)).ravel()
    starts = np.arange(0, n * row + 1, row, dtype=np.int32)
    x = sp.csr_array((rng.random(n * row, dtype=np.float32), indices, starts), shape=(n, m))
    labels = rng.integers(0, k, n)
    input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    gram = grampus.parse_kernel("cosine|shift").gram(x)
    kernel_kmeans(gram, k, init=labels, max_iter=1)
"""
ITERATIONS = """
    began = time.perf_counter()
    result = kernel_kmeans(gram, k, init=labels, max_iter=11)
    print("iteration", (time.perf_counter() - began) / len(result.history.moves))
"""


@promise("sparse-growth")
def sparse_growth(task: Task) -> Found:
    counts = [count // task.trials(1, 10) for count in (50_000, 100_000)]
    return measured([(f"{n:,}: ", SPARSE.format(n=n), ITERATIONS) for n in counts])


WARM = """
    import numpy as np, grampus, random, time
    input_bytes = {size}
    grampus.parse_kernel("constant|normalise").gram(["ab", "b"]).dense()  # what is loaded once
"""
LARGE = {
    "one document: ": """
        rng, began = random.Random(0), time.perf_counter()
        words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(20_000)]
        text = " ".join(rng.choices(words, k={size} // 5))[:{size}]
        assert abs(grampus.parse_kernel("constant|normalise").gram([text]).dense()[0, 0] - 1) < 1e-12
        print("seconds", time.perf_counter() - began)
    """,
    "single characters: ": """
        n, began = {size} // 10, time.perf_counter()
        gram = grampus.parse_kernel("constant|normalise").gram([chr(97 + i % 26) for i in range(n)])
        assert round((gram @ np.ones(n))[0]) == -(-n // 26)
        print("seconds", time.perf_counter() - began)
    """,
}


@promise("large-strings")
def large_strings(task: Task) -> Found:
    size = task.trials(10_000_000, 300_000)
    return measured([(name, WARM.format(size=size), work.format(size=size)) for name, work in LARGE.items()])


@promise("reading-memory")
def reading(task: Task) -> Found:
    documents, length, rng = task.trials(1_000_000, 50_000), 200, random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(2, 9))) for _ in range(5000)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "large.jsonl")
        with path.open("w", encoding="utf-8") as out:
            for number in range(documents):
                text = " ".join(rng.choices(words, k=length // 4))[:length].ljust(length, "x")
                out.write(json.dumps({"id": f"document-{number}", "text": text}) + "\n")
        setup = f"from grampus.text import read_corpus; input_bytes = {documents * length}"
        return measured([("", setup, f"assert len(read_corpus({str(path)!r})) == {documents}")])


MILLION = """
    import numpy as np, scipy.linalg, sklearn.utils
    import grampus
    from grampus.cluster import kernel_kmeans, spectral_kmeans
    from grampus.metrics import nmi
    n, landmarks = {n}, 150
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 10, n)
    x = rng.standard_normal((n, 20))
    x[np.arange(n), groups] += 5.0
    kernel = grampus.parse_kernel("gaussian(6)|nystrom(150)")
    kernel_kmeans(kernel.gram(x[:2000]), 10, init=groups[:2000], max_iter=2)
    input_bytes = 8 * n * landmarks
"""
FITS = {
    "kernel k-means: ": "kernel_kmeans(kernel.gram(x), 10, init='k-means++', n_init=1, max_iter=20, random_state=0)",
    "spectral: ": "spectral_kmeans(kernel.gram(x), 10, n_init=1, max_iter=20, random_state=0)",
}


@promise("nystrom-million")
def million(task: Task) -> Found:
    setup = MILLION.format(n=task.trials(1_000_000, 30_000))
    return measured([(name, setup, f"print('nmi', nmi(groups, {fit}.labels))") for name, fit in FITS.items()])


CHOICE = """
    import time
    import numpy as np
    import grampus
    from lab import data
    from grampus.text import TermVectorizer
    x = TermVectorizer("lfc", min_df=3, dtype=np.float64).fit_transform(list(data.texts("20ng")[0])[::{step}])
    input_bytes = x.data.nbytes + x.indices.nbytes + x.indptr.nbytes
    data.texts.cache_clear()
    grampus.config(memory="4GB")
"""
CHOOSE = """
    began = time.perf_counter()
    found = grampus.choose_k(x, random_state=0)
    print("seconds", time.perf_counter() - began)
    print("prototypes", len(found.reduction))
    print("best", found.best)
"""


@promise("choose-k-20ng")
def choose_k(task: Task) -> Found:
    return measured([("", CHOICE.format(step=task.trials(1, 20)), CHOOSE)])


PLAIN = "cosine|nystrom(500, choose={choose}, seed={seed})"
CLEANED = "cosine|nystrom(500, rank=50, choose={choose}, seed={seed})|normalise"


@promise("nystrom-20ng")
def newsgroups(task: Task) -> Found:
    words, labels = (values[:: task.trials(1, 15)] for values in data.texts("20ng"))
    x = TermVectorizer("dominance", min_df=3, stemmer="porter", dtype=np.float64).fit_transform(list(words))
    starts = np.random.default_rng(0).integers(0, 20, (task.trials(20, 3), x.shape[0]))

    def scores(spelling: str) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        runs = kernel_kmeans(parse_kernel(spelling).gram(x), 20, init=starts, n_init=len(starts)).runs
        return np.array([nmi(labels, run) for run in runs.labels])

    exact, gram, rows, worst = scores("cosine"), parse_kernel("cosine").gram(x), [], np.inf
    for choose in ("uniform", "kmeans++", "leverage"):
        gap = np.mean([scores(CLEANED.format(choose=choose, seed=s)) - exact for s in range(task.trials(3, 1))], axis=0)
        plain = PLAIN.format(choose=choose, seed=0)
        gaps = [Cell.of(values) for values in (gap, scores(plain) - exact)]
        rows.append((choose, str(relative_error(gram, parse_kernel(plain).gram(x))), *gaps))
        worst = min(worst, float(gap.mean()))
    columns = ("landmarks", "relative error, full rank", "NMI less the exact one, rank 50", "the same, full rank")
    table = Table(f"{x.shape[0]} documents, exact NMI {Cell.of(exact)}", columns, rows)
    return Found(f"NMI {worst:+.3f} at worst", {"nmi": worst}, [table])


# What is clustered: the clusterer's parameters and the documents, in the words of RUN.
CASES = {
    "20ng, k = 20": "dict(n_clusters=20), texts('20ng')",
    "300,000 short documents, k = 20, no stability":
        "dict(n_clusters=20, effort=Effort(stability=False)), generated(6_000 if small else 300_000)",
    "10,000 rows, gaussian(5), k = 20": "dict(n_clusters=20, kernel='gaussian(5)'), rows(10_000, 50)",
    "r52, spectrum(5)|normalise, k = 20": "dict(n_clusters=20, kernel='spectrum(5)|normalise'), texts('r52_raw_9052')",
    "100,000 rows, gaussian(5)|nystrom(500), k = 20":
        "dict(n_clusters=20, kernel='gaussian(5)|nystrom(500)'), rows(100_000, 50)",
    "20ng, PDDP(20)": "dict(n_clusters=20, method='pddp'), texts('20ng')",
    "20ng, k = 1,000": "dict(n_clusters=50 if small else 1_000), texts('20ng')",
}  # fmt: skip
OTHERS = {  # not looked at while the model was made
    "ohsumed, k chosen": "dict(), texts('ohsumed_single23')",
    "30,000 rows of 384 numbers in single precision, cosine, k = 20":
        "dict(n_clusters=20, kernel='cosine'), rows(30_000, 384).astype(np.float32)",
}  # fmt: skip
RUN = """
import json, os, sys, tempfile, time, warnings
import numpy as np
from grampus import DocumentClusterer
from grampus.documents import Effort, predict_cost
from lab import data
from lab.speed.whole import generated as lines
small = bool(int(sys.argv[1]))
texts = lambda name: list(data.texts(name)[0])[:: 10 if small else 1]
generated = lambda count: lines(count).split("\\n")
def rows(n, m):
    rng, n = np.random.default_rng(0), n // 10 if small else n
    return rng.normal(size=(n, m)) + 2 * rng.normal(size=(20, m))[rng.integers(0, 20, n)]
parameters, documents = CASE
warnings.simplefilter("ignore")
warm = [f"whale sea n{i}" if i % 2 else f"tax law n{i}" for i in range(150)]  # what is loaded once
predict_cost(DocumentClusterer(2).fit(warm), warm)
open("/proc/self/clear_refs", "w").write("5")  # the peak from here on
model = DocumentClusterer(**parameters)
found = predict_cost(model, documents)
began = time.process_time()
model.fit(documents)
with tempfile.TemporaryDirectory() as folder:
    model.report(os.path.join(folder, "page.html"))
spent = time.process_time() - began
peak = next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM"))
figures = {"start": found.now, "predicted": found.memory, "peak": peak, "seconds": found.seconds, "spent": spent}
print(json.dumps(figures))
"""


def last_line(*words: str) -> Any:
    """Run a program in a fresh process; return what its last line says."""
    return json.loads(printed("-c", *words).splitlines()[-1])


@promise("limits-memory")
def limits_memory(task: Task) -> Found:
    rows, ratios = [], {}
    for name, case in {**CASES, **OTHERS}.items():
        program = RUN.replace("CASE", case)
        found = task.step(f"{name} {case}", partial(last_line, program, str(int(task.quick))))
        ratios[name] = found["peak"] / found["predicted"]
        cells = (f"{found[key] / 1e6:,.0f}" for key in ("start", "predicted", "peak"))
        rows.append((name, *cells, f"{ratios[name]:.2f}", f"{found['seconds']:.0f}", f"{found['spent']:.0f}"))
    worst, other = (max(abs(ratios[name] - 1.0) for name in some) for some in (CASES, OTHERS))
    columns = ("case", "start, MB", "predicted, MB", "peak, MB", "ratio", "predicted, s", "processor s")
    text = f"within {worst:.0%} of the prediction on {len(CASES)} cases, {other:.0%} on {len(OTHERS)} others"
    return Found(text, {"worst": worst, "worst other": other}, tables=[Table("Predicted and measured", columns, rows)])


SOAK = """
import io, json, os, sys, threading
from contextlib import redirect_stderr, redirect_stdout
import grampus
from grampus.cli import main
source, out, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
cluster = ["cluster", source, "-k", "3", "--out", out, "--report", out + ".html", "--timeout", "1000", "-q"]
seen = []
for number in range(count):
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), grampus.config():
        try:
            main(cluster if number % 5 or not number else ["assign", out, source, "-q"])
        except SystemExit as ended:
            assert not ended.code, ended.code
    memory = int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    seen.append((memory, len(os.listdir("/proc/self/fd")), threading.active_count()))
print(json.dumps(seen))
"""


@promise("soak")
def soak(task: Task) -> Found:
    count, words = task.trials(500, 20), ["whale sea ship harbour", "tax law court judge", "bird nest song tree"]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "texts.txt")
        source.write_text("\n".join(f"{words[i % 3]} n{i % 7} m{i % 11}" for i in range(150)), encoding="utf-8")
        seen = last_line(SOAK, str(source), f"{folder}/run", str(count))
    memory, files, threads = (last - early for early, last in zip(seen[count // 5 - 1], seen[-1], strict=True))
    text = f"{count} commands: {memory / 1e6:+.1f} MB of {seen[-1][0] / 1e6:.0f} MB, {files:+d} open files, "
    return Found(f"{text}{threads:+d} threads", {"growth": memory / 1e6, "files": abs(files) + max(threads, 0)})
