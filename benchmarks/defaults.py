"""Where DocumentClusterer's defaults come from, and whether they hold elsewhere.

``python -m benchmarks.defaults choose`` measures candidates on bbc, classic3 and r52_raw_9052 and on parts of them, the
only documents that the choice looks at. ``python -m benchmarks.defaults confirm [SEEDS [SET …]]`` runs the chosen
defaults on five other sets beside scikit-learn's own recipe for texts. Both write Markdown into benchmarks/results.
"""

from __future__ import annotations

import hashlib
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.derived import parts
from grampus import DocumentClusterer
from grampus.metrics import ari, nmi
from grampus.text import TermVectorizer, Weighting
from reproductions.data import counts, texts

RESULTS = Path(__file__).parent / "results"
GUIDE = Path(__file__).parents[1] / "docs" / "guide" / "documents.md"
CHOICE = {
    "bbc": ("bbc", None),
    "classic3": ("classic4", ("cisi", "cran", "med")),
    "r52_raw_9052": ("r52_raw_9052", None),
}
CONFIRMATION: dict[str, tuple[str, tuple[str, ...] | None]] = {
    "bbcsport": ("bbcsport", None),
    "ng3": ("20ng", ("comp.graphics", "sci.space", "talk.politics.mideast")),
    "ng17-19": ("20ng", ("talk.politics.guns", "talk.politics.mideast", "talk.politics.misc")),
    "reviews": ("reviews", None),
    "ohsumed_single23": ("ohsumed_single23", None),
}
DEFAULT = "cosine|principal(30)|normalise"
# One table for each decision: everything else is as in the first row.
KERNELS = (
    "cosine|principal(100)|normalise",
    "cosine",
    "cosine|principal(20)|normalise",
    "cosine|principal(50)|normalise",
    "cosine|power(0.6)|map",
)
WEIGHTING = "lec"
WEIGHTINGS = ("lfc", "dominance", "tfidf")
START, STARTS = "auto", ("random", "spectral", "pddp")
SLOW = {"cosine|power(0.6)|map"}  # n³: left out on whole sets
WHOLE = 5000  # a set of more documents takes minutes, so it is clustered for the first row and the first two kernels


@dataclass(frozen=True)
class Row:
    """One candidate on one set."""

    decision: str
    candidate: str
    name: str
    nmi: float
    ari: float
    seconds: float


@dataclass(frozen=True)
class Data:
    """Texts, or counts where only these are to be had, and classes."""

    texts: tuple[str, ...] | None
    counts: Any
    labels: Any

    @classmethod
    def of(cls, source: str, classes: tuple[str, ...] | None) -> Data:
        if source == "reviews":
            x, labels = counts(source)
            return cls(None, x, labels)
        found, labels = texts(source, classes)
        return cls(found, None, labels)

    @property
    def k(self) -> int:
        return len(np.unique(self.labels))

    def part(self, index: Any) -> Data:
        assert self.texts is not None
        return Data(tuple(self.texts[int(i)] for i in index), None, self.labels[index])


def weighted(data: Data, weighting: str) -> Any:
    """Return the weighted terms as DocumentClusterer makes them."""
    if data.texts is not None:
        fewest = min(3, 1 + len(data.texts) // 100)
        return TermVectorizer(weighting, min_df=fewest, dtype=np.float64).fit_transform(data.texts)
    often = np.bincount(data.counts.indices, minlength=data.counts.shape[1]) >= 3
    return Weighting(weighting, dtype=np.float64).fit_transform(data.counts[:, np.flatnonzero(often)])


def measure(data: Data, x: Any, options: dict[str, Any]) -> tuple[float, float, float]:
    """Return NMI, ARI and the seconds of this process, the kernel's own work and the descriptions included."""
    began = time.process_time()
    found = DocumentClusterer(data.k, stability=False, random_state=0, **options).fit(x).labels_
    return nmi(data.labels, found), ari(data.labels, found), time.process_time() - began


def candidates() -> list[tuple[str, str, str, dict[str, Any]]]:
    """Return every decision and candidate: (decision, name, weighting, options)."""
    found: list[tuple[str, str, str, dict[str, Any]]] = [("–", DEFAULT, WEIGHTING, {"kernel": DEFAULT})]
    kernels = [("kernel", name, WEIGHTING, {"kernel": name}) for name in KERNELS]
    found += kernels[:2]
    found += [("start", init, WEIGHTING, {"kernel": DEFAULT, "init": init}) for init in STARTS]
    found += kernels[2:]
    found += [("weighting", name, name, {"kernel": DEFAULT}) for name in WEIGHTINGS]
    return [*found, ("polish", "without", WEIGHTING, {"kernel": DEFAULT, "polish": False})]


def choose(tell: Callable[[Sequence[Row]], None]) -> list[Row]:
    """Measure every candidate on the sets that the choice may look at, whole and in harder parts."""
    rows: list[Row] = []
    whole = {name: Data.of(*source) for name, source in CHOICE.items()}
    made = {name: [data.part(index) for index in parts(name, data.labels)] for name, data in whole.items()}
    rest = []
    terms = cache(lambda name, number, weighting: weighted(made[name][number], weighting))
    for number, (decision, candidate, weighting, options) in enumerate(candidates()):
        for name, tasks in made.items():
            scores = [measure(task, terms(name, i, weighting), options) for i, task in enumerate(tasks)]
            measured = np.mean(scores, axis=0)
            rows.append(Row(decision, candidate, f"{len(tasks)} parts of {name}", *map(float, measured)))
        for name, data in whole.items():
            if options["kernel"] in SLOW or (len(data.labels) > WHOLE and number > 2):
                continue
            if len(data.labels) > WHOLE:
                rest.append((decision, candidate, name, data, weighting, options))
                continue
            rows.append(Row(decision, candidate, name, *measure(data, weighted(data, weighting), options)))
        tell(rows)
    for decision, candidate, name, data, weighting, options in rest:
        rows.append(Row(decision, candidate, name, *measure(data, weighted(data, weighting), options)))
        tell(rows)
    return rows


def choice_table(rows: Sequence[Row]) -> str:
    """Return the candidates as a Markdown table: NMI / ARI / seconds, and the mean NMI and ARI of the parts."""
    names = [*dict.fromkeys(row.name for row in rows if " parts of " in row.name), *CHOICE]
    lines = [
        f"| decision | candidate | {' | '.join(names)} | parts: mean NMI | mean ARI |",
        f"|---|---|{'---|' * (len(names) + 2)}",
    ]
    first, bar = f"{WEIGHTING}, {START}, 10, polish; {DEFAULT}", chr(92) + "|"
    for decision, candidate in dict.fromkeys((row.decision, row.candidate) for row in rows):
        found = {row.name: row for row in rows if (row.decision, row.candidate) == (decision, candidate)}
        cells = [
            f"{found[n].nmi:.3f} / {found[n].ari:.3f} / {found[n].seconds:.1f} s" if n in found else "–" for n in names
        ]
        means = [
            f"{np.mean([getattr(row, score) for name, row in found.items() if ' parts of ' in name]):.3f}"
            for score in ("nmi", "ari")
        ]
        shown = f"**{first}**" if decision == "–" else candidate
        lines.append(f"| {decision} | {shown.replace('|', bar)} | {' | '.join([*cells, *means])} |")
    return "\n".join(lines)


# -- confirmation -----------------------------------------------------------------------------------------------------


def ours(data: Data, seed: int) -> Any:
    """Return the labels of DocumentClusterer with its defaults, the true k given."""
    model = DocumentClusterer(data.k, stability=False, random_state=seed)
    return model.fit(list(data.texts) if data.texts is not None else weighted(data, WEIGHTING)).labels_


def tfidf(data: Data) -> Any:
    """Return scikit-learn's TF-IDF as its own example of clustering texts makes it."""
    from sklearn.feature_extraction.text import TfidfTransformer, TfidfVectorizer

    if data.texts is not None:
        return TfidfVectorizer(max_df=0.5, min_df=5, stop_words="english").fit_transform(data.texts)
    frequency = np.bincount(data.counts.indices, minlength=data.counts.shape[1])
    kept = np.flatnonzero((frequency >= 5) & (frequency <= 0.5 * data.counts.shape[0]))
    return TfidfTransformer().fit_transform(data.counts[:, kept])


def kmeans(data: Data, x: Any, seed: int) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(data.k, n_init=10, random_state=seed).fit_predict(x)


def svd_kmeans(data: Data, x: Any, seed: int) -> Any:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import Normalizer

    return kmeans(
        data, make_pipeline(TruncatedSVD(100, random_state=seed), Normalizer(copy=False)).fit_transform(x), seed
    )


def kept(name: str, x: Any, make: Callable[[], Any]) -> Any:
    """Return labels of an earlier run of the same terms, versions and this file, or make and keep them."""
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for part in (x.data, x.indices, x.indptr):
        digest.update(np.ascontiguousarray(part).tobytes())
    digest.update(" ".join(f"{p} {version(p)}" for p in ("numpy", "scipy", "scikit-learn")).encode())
    place = Path(tempfile.gettempdir()) / "grampus-confirmation" / f"{name}-{digest.hexdigest()[:16]}.npy"
    if not place.exists():
        place.parent.mkdir(exist_ok=True)
        np.save(place, np.asarray(make(), dtype=np.int32))
    return np.load(place)


@dataclass(frozen=True)
class Confirmed:
    """Mean scores on one set: ours, TF-IDF + KMeans, SVD(100) + KMeans; and what was found with k chosen."""

    name: str
    k: int
    ours: tuple[float, float]
    tfidf: tuple[float, float]
    svd: tuple[float, float]
    chosen: int
    chosen_nmi: float

    def gain(self, score: int) -> float:
        """Ours less the better of the two; 0 is NMI, 1 is ARI."""
        return self.ours[score] - max(self.tfidf[score], self.svd[score])


def confirm(name: str, seeds: int = 10, tell: Callable[[str], None] = print) -> Confirmed:
    """Measure the defaults and scikit-learn's recipes on one set that the choice did not look at."""
    data = Data.of(*CONFIRMATION[name])
    x = tfidf(data)
    ways: dict[str, Callable[[int], Any]] = {
        "ours": lambda seed: ours(data, seed),
        "tfidf": lambda seed: kept(f"{name}-tfidf-{seed}", x, lambda: kmeans(data, x, seed)),
        "svd": lambda seed: kept(f"{name}-svd-{seed}", x, lambda: svd_kmeans(data, x, seed)),
    }
    means = {}
    for way, run in ways.items():
        found = []
        for seed in range(seeds):
            labels = run(seed)
            found.append((nmi(data.labels, labels), ari(data.labels, labels)))
        scores = np.mean(found, axis=0)
        means[way] = (float(scores[0]), float(scores[1]))
        tell(f"{name} {way}: NMI {means[way][0]:.3f} ARI {means[way][1]:.3f}")
    model = DocumentClusterer(stability=False)
    model.fit(list(data.texts) if data.texts is not None else weighted(data, WEIGHTING))
    chosen = float(nmi(data.labels, model.labels_))
    tell(f"{name} k chosen: {model.n_clusters_} ({data.k}), NMI {chosen:.3f}")
    return Confirmed(name, data.k, means["ours"], means["tfidf"], means["svd"], model.n_clusters_, chosen)


def confirmation_table(rows: Sequence[Confirmed], seeds: int = 10) -> str:
    """Return the confirmation as a Markdown table, losses included."""
    lines = [
        f"Mean over {seeds} seeds; the gain is over the better of the two.",
        "",
        "| set | k | ours NMI / ARI | TF-IDF + KMeans | SVD(100) + KMeans | gain NMI / ARI | k chosen | its NMI |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        cells = [f"{pair[0]:.3f} / {pair[1]:.3f}" for pair in (row.ours, row.tfidf, row.svd)]
        gain = f"{row.gain(0):+.3f} / {row.gain(1):+.3f}"
        lines.append(f"| {row.name} | {row.k} | {' | '.join([*cells, gain])} | {row.chosen} | {row.chosen_nmi:.3f} |")
    means = [float(np.mean([row.gain(score) for row in rows])) for score in (0, 1)]
    lines.append(f"| mean | | | | | {means[0]:+.3f} / {means[1]:+.3f} | | |")
    return "\n".join(lines)


def put(name: str, table: str) -> None:
    """Write a table to the results and between its marks in the guide."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(table + "\n", encoding="utf-8")
    text = GUIDE.read_text(encoding="utf-8")
    before, rest = text.split(f"<!-- {name} -->\n")
    _, after = rest.split(f"<!-- end of {name} -->\n")
    marked = f"<!-- {name} -->\n{table}\n<!-- end of {name} -->\n"
    GUIDE.write_text(before + marked + after, encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    warnings.simplefilter("ignore")
    if arguments[:1] == ["choose"]:
        choose(lambda rows: put("defaults", choice_table(rows)))
    elif arguments[:1] == ["confirm"]:
        seeds = int(arguments[1]) if len(arguments) > 1 else 10
        rows: list[Confirmed] = []
        for name in arguments[2:] or CONFIRMATION:
            rows.append(confirm(name, seeds))
            put("confirmation", confirmation_table(rows, seeds))
    else:
        sys.exit("Say 'choose' or 'confirm'.")


if __name__ == "__main__":
    main(sys.argv[1:])
