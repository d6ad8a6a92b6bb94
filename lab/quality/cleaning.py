"""What cleaning and languages do for clusters: raw mail, manual pages of many languages."""

import re
import time
import warnings
from collections import Counter
from functools import partial
from typing import Any

import numpy as np

from grampus.documents import default_terms
from grampus.metrics import nmi
from grampus.text import Cleaning, detect_language
from lab import Found, Table, Task, data, row
from lab.clusterer import document_clusterer
from lab.manuals import pages

LANGUAGES = ("cs", "da", "de", "en", "es", "fr", "ja", "no", "pl", "ru", "sv", "tr", "uk", "vi", "zh")
QUOTED = re.compile(r"^[ \t]*(?:[A-Za-z]{0,3}>|\|>?[ \t])", re.MULTILINE)  # a line of another message


def drop_quotes(text: str) -> str:
    """Drop lines that quote another message; not a step of cleaning, since quotations say what an answer is about."""
    return "\n".join(line for line in text.split("\n") if QUOTED.match(line) is None)


def fitted(texts: list[str], k: int, seed: int = 0, **options: Any) -> Any:
    """Return DocumentClusterer with other terms."""
    return document_clusterer(k, seed, terms=default_terms(len(texts)).set_params(**options)).fit(texts)


def mean_nmi(seeds: int, texts: list[str], labels: Any, clean: Any) -> float:
    """Return the mean NMI over the seeds."""
    k = len(np.unique(labels))
    return float(np.mean([nmi(labels, fitted(texts, k, seed, clean=clean).labels_) for seed in range(seeds)]))


@row("quality", "cleaning-mail")
def mail(task: Task) -> Found:
    warnings.simplefilter("ignore")
    texts, labels = (values[:: task.trials(1, 6)] for values in data.texts("20ng"))
    posts = list(texts)
    none = dict.fromkeys(("headers", "signatures", "addresses", "attachments", "markup", "lines"), False)
    began = time.process_time()
    headless = Cleaning().learn(posts).clean_all(posts)
    seconds = time.process_time() - began
    ways: dict[str, tuple[list[str], Any]] = {
        "--no-clean": (posts, False),
        "headers": (posts, Cleaning(**{**none, "headers": True})),
        "headers and addresses": (posts, Cleaning(**{**none, "headers": True, "addresses": True})),
        "all, the default": (posts, True),
        "all, and quotations": ([drop_quotes(text) for text in headless], False),
    }
    seeds, found = task.trials(5, 1), {}
    for name, (given, clean) in ways.items():
        found[name] = task.step(name, partial(mean_nmi, seeds, given, labels, clean))
    gain, quoted = found["all, the default"] - found["--no-clean"], sum(bool(QUOTED.search(text)) for text in posts)
    rows = [(name, f"{value:.3f}") for name, value in found.items()]
    text = f"{gain:+.3f} NMI; {seconds:.1f} CPU s for {len(posts)} posts, {quoted} with quotations"
    return Found(text, {"gain": gain, "seconds": seconds}, [Table("Dropped, and NMI", ("dropped", "NMI"), rows)])


@row("quality", "languages-manuals")
def languages(task: Task) -> Found:
    rows, right, count, seconds = [], 0, 0, 0.0
    for code in LANGUAGES:
        texts = [Cleaning(lines=False).learn([page.text])(page.text) for page in pages(code)][:: task.trials(1, 5)]
        began = time.process_time()
        found = Counter(detect_language(text) or "none" for text in texts)
        seconds += time.process_time() - began
        wrong = ", ".join(f"{name} {times}" for name, times in found.items() if name != code)
        rows.append((code, len(texts), f"{found[code] / len(texts):.4f}", wrong))
        right, count = right + found[code], count + len(texts)
    table = Table("Language found", ("language", "pages", "right", "instead"), rows)
    text = f"{right / count:.4f} of {count}, {1000 * seconds / count:.2f} ms a page"
    return Found(text, {"right": right / count}, [table])


ALPHABETS = {
    "letters": ("abcdefghijklmnopqrstuvwxyz", 2, 9),
    "numbers": ("0123456789.,-", 1, 8),
    "hexadecimal": ("0123456789abcdef", 8, 32),
    "codes": ("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789-", 5, 12),
    "accents": ("abcdeéèàüöäßñçøåæłşğ", 4, 10),
}


@row("quality", "languages-gibberish")
def gibberish(task: Task) -> Found:
    rng, told = np.random.default_rng(task.seed), Counter[str]()
    for name, (alphabet, least, most) in ALPHABETS.items():
        for _ in range(task.trials(300, 50)):
            words = ("".join(rng.choice(list(alphabet), rng.integers(least, most + 1))) for _ in range(60))
            told[name] += bool(detect_language(" ".join(words)))
    return Found(f"{told.total()} told", {"told": told.total()}, notes=[f"{name}: {told[name]}." for name in +told])
