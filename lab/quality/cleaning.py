"""What cleaning and languages do for clusters: raw mail, escaped markup, manual pages of many languages."""

from __future__ import annotations

import html
import time
import warnings
from collections import Counter
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_mutual_info_score

from grampus import read_corpus
from grampus.documents import default_terms
from grampus.metrics import nmi
from grampus.text import Cleaning, detect_language
from grampus.text.clean.mail import QUOTED, drop_quotes
from lab import Found, Table, Task, data, row
from lab.clusterer import document_clusterer
from lab.manuals import documentation, pages

RESTS_ON = ("text", "documents")
LANGUAGES = ("cs", "da", "de", "en", "es", "fr", "ja", "no", "pl", "ru", "sv", "tr", "uk", "vi", "zh")
SECTIONS = ("man1", "man2", "man3", "man5", "man8")
REMAINS = frozenset(("lt", "gt", "fullquote", "href", "amp", "quot", "nbsp", "http", "div", "span", "li", "td"))


def fitted(texts: list[str], k: int, seed: int = 0, **options: Any) -> Any:
    """Return DocumentClusterer with other terms."""
    return document_clusterer(k, seed, terms=default_terms(len(texts)).set_params(**options)).fit(texts)


def mean_nmi(task: Task, texts: list[str], labels: Any, k: int, **options: Any) -> float:
    """Return the mean NMI over the seeds."""
    seeds = range(task.trials(5, 1))
    return float(np.mean([nmi(labels, fitted(texts, k, seed, **options).labels_) for seed in seeds]))


@row(
    "quality",
    "cleaning-mail",
    "20ng with its headers, k = 20: NMI with and without cleaning, and what each part of it does.",
    rests_on=RESTS_ON,
    conditions=("cleaning-mail",),
    data=True,
    timeout=4 * 3600,
)
def mail(task: Task) -> Found:
    warnings.simplefilter("ignore")
    texts, labels = data.texts("20ng")
    kept = slice(0, None, 6 if task.quick else 1)
    posts, groups = list(texts[kept]), labels[kept]
    nothing = dict.fromkeys(("headers", "signatures", "addresses", "attachments", "markup", "lines"), False)
    began = time.process_time()
    headless = Cleaning().learn(posts).clean_all(posts)
    seconds = time.process_time() - began
    ways: dict[str, tuple[list[str], Any]] = {
        "--no-clean": (posts, False),
        "headers": (posts, Cleaning(**{**nothing, "headers": True})),
        "headers and addresses": (posts, Cleaning(**{**nothing, "headers": True, "addresses": True})),
        "all, the default": (posts, True),
        "all, and quotations": ([drop_quotes(text) for text in headless], False),
    }
    found = {
        name: task.step(name, partial(mean_nmi, task, given, groups, 20, clean=clean))
        for name, (given, clean) in ways.items()
    }
    gain = found["all, the default"] - found["--no-clean"]
    quoted = sum(bool(QUOTED.search(text)) for text in posts)
    rows = [(name, f"{value:.3f}") for name, value in found.items()]
    text = f"{gain:+.3f} NMI; {seconds:.1f} CPU s for {len(posts)} posts, {quoted} with quotations"
    return Found(text, {"gain": gain, "seconds": seconds}, [Table("Dropped, and NMI", ("dropped", "NMI"), rows)])


@row(
    "quality",
    "cleaning-markup",
    "2,000 snippets of bbc, three of four in escaped or plain markup: NMI next to that of the plain ones, and clusters "
    "named by markup, also of agnews.",
    rests_on=RESTS_ON,
    conditions=("cleaning-markup", "cleaning-markup-nmi", "cleaning-markup-split"),
    data=True,
)
def markup(task: Task) -> Found:
    warnings.simplefilter("ignore")
    articles, labels = data.texts("bbc")
    rng = np.random.default_rng(0)
    chosen = np.sort(rng.permutation(len(articles))[: task.trials(2000, 500)])
    plain = [articles[int(i)][:300] for i in chosen]
    ways = (
        lambda text: html.escape(f'<p class="lead"><b>{text}</b></p><br/>'),
        lambda text: html.escape(html.escape(f'<div><a href="http://news.example/read?id=1">{text}</a></div>')),
        lambda text: f"<table><tr><td>{html.escape(text)}&nbsp;&quot;</td></tr></table>",
        lambda text: text,
    )
    wrapped = [ways[int(at) % len(ways)](text) for at, text in enumerate(plain)]
    k = len(np.unique(labels))
    scores, remains, splits = {}, {}, {}
    for name, texts, clean in (("plain", plain, True), ("cleaned", wrapped, True), ("not cleaned", wrapped, False)):
        model = fitted(texts, k, clean=clean)
        scores[name] = float(nmi(labels[chosen], model.labels_))
        remains[name] = _remains(model)
        kinds = np.arange(len(texts)) % len(ways)
        splits[name] = float(adjusted_mutual_info_score(kinds, model.labels_))
    news = list(data.texts("dev/agnews8000")[0])
    remains["agnews"], before = _remains(fitted(news, 4)), _remains(fitted(news, 20, clean=False))
    remains["agnews, k = 20"] = _remains(fitted(news, 20))
    loss = scores["plain"] - scores["cleaned"]
    text = (
        f"NMI {scores['plain']:.3f} plain, {scores['cleaned']:.3f} wrapped, {scores['not cleaned']:.3f} not cleaned; "
        f"names with remains {remains}, agnews with k = 20 before {before}; clusters and kinds of markup share "
        f"{splits['cleaned']:.3f}, {splits['not cleaned']:.3f} not cleaned"
    )
    bad = remains["cleaned"] + remains["agnews"] + remains["agnews, k = 20"]
    return Found(text, {"remains": bad, "loss": loss, "split": splits["cleaned"]})


@row(
    "quality",
    "cleaning-html",
    "HTML pages (GRAMPUS_HTML), every other one with its tags and the others as they are read, k = 12: clusters named "
    "or split by markup.",
    rests_on=RESTS_ON,
    conditions=("cleaning-markup", "cleaning-markup-split"),
    data=True,
)
def html_pages(task: Task) -> Found:
    warnings.simplefilter("ignore")
    files = documentation()[:: 4 if task.quick else 1]
    mixed = [
        file.read_text(encoding="utf-8") if at % 2 else "\n\n".join(read_corpus(file).texts)
        for at, file in enumerate(files)
    ]
    kinds = np.arange(len(files)) % 2
    found = {}
    for name, clean in (("cleaned", True), ("not cleaned", False)):
        model = fitted(mixed, 12, clean=clean)
        found[name] = _remains(model), float(adjusted_mutual_info_score(kinds, model.labels_))
    (bad, split), (before, split_before) = found.values()
    text = f"{bad} names with remains, {before} not cleaned; clusters and markup share {split:.3f}, {split_before:.3f}"
    return Found(text, {"remains": bad, "split": split})


def _remains(model: Any) -> int:
    """Count clusters whose name or first terms hold remains of markup."""
    shown = (
        {*cluster.label.replace(",", "").split(), *(t.text for t in cluster.terms[:5])} for cluster in model.clusters_
    )
    return sum(bool(words & REMAINS) for words in shown)


@row(
    "quality",
    "languages-manuals",
    "Language found for translated manual pages of fifteen languages (GRAMPUS_MANUALS): share of right ones.",
    rests_on=("text.languages",),
    conditions=("languages-right",),
    data=True,
)
def languages(task: Task) -> Found:
    rows, right, all_pages, seconds = [], 0, 0, 0.0
    for code in LANGUAGES:
        texts = [_body(page.text) for page in pages(code)][:: 5 if task.quick else 1]
        began = time.process_time()
        found = Counter(detect_language(text) for text in texts)
        seconds += time.process_time() - began
        wrong = {name or "none": count for name, count in found.items() if name != code}
        rows.append(
            (code, len(texts), f"{found[code] / len(texts):.4f}", ", ".join(f"{n} {c}" for n, c in wrong.items()))
        )
        right, all_pages = right + found[code], all_pages + len(texts)
    share = right / all_pages
    table = Table("Language found", ("language", "pages", "right", "instead"), rows)
    return Found(f"{share:.4f} of {all_pages}, {1000 * seconds / all_pages:.2f} ms a page", {"right": share}, [table])


@row(
    "quality",
    "languages-gibberish",
    "Language found for texts of none: random letters, accents, numbers, hexadecimal digits, signs and product codes.",
    rests_on=("text.languages",),
    conditions=("languages-gibberish",),
)
def gibberish(task: Task) -> Found:
    rng = np.random.default_rng(task.seed)

    def letters(alphabet: str, least: int, most: int) -> str:
        return "".join(rng.choice(list(alphabet), rng.integers(least, most + 1)))

    alphabets = {
        "letters": ("abcdefghijklmnopqrstuvwxyz", 2, 9),
        "consonants": ("bcdfghjklmnpqrstvwxz", 3, 9),
        "numbers": ("0123456789.,-", 1, 8),
        "hexadecimal": ("0123456789abcdef", 8, 32),
        "signs": ("!?#$%&/()=*+-_<>[]{}|", 1, 6),
        "codes": ("ABCDEFGHJKLMNPQRSTUVWXYZ0123456789-", 5, 12),
        "accents": ("abcdeéèàüöäßñçøåæłşğ", 4, 10),
    }
    rows, told = [], 0
    for name, (alphabet, least, most) in alphabets.items():
        texts = [" ".join(letters(alphabet, least, most) for _ in range(60)) for _ in range(task.trials(300, 50))]
        found = Counter(detect_language(text) for text in texts)
        wrong = {code: count for code, count in found.items() if code}
        told += sum(wrong.values())
        rows.append((name, len(texts), found[""], ", ".join(f"{code} {count}" for code, count in wrong.items())))
    return Found(f"{told} told", {"told": told}, [Table("Texts", ("of", "texts", "cannot tell", "told"), rows)])


def _body(text: str) -> str:
    return Cleaning(lines=False).learn([text])(text)


@row(
    "quality",
    "languages-sections",
    "Sections of manual pages as classes (k = 5): NMI in English, German, Russian, Japanese and Chinese, on pages that "
    "English has too.",
    rests_on=RESTS_ON,
    conditions=("languages-worst",),
    data=True,
    timeout=4 * 3600,
)
def sections(task: Task) -> Found:
    warnings.simplefilter("ignore")
    rows, worst = [], 1.0
    english = {page.name: page for page in pages("en")}
    for code in ("de", "ru", "ja", "zh"):
        both = [page for page in pages(code) if page.section in SECTIONS]
        both = [page for page in both if page.name.partition("/")[2] in english][:: 3 if task.quick else 1]
        labels = np.array([page.section for page in both])
        k = len(np.unique(labels))
        texts = [page.text for page in both]
        same = [english[page.name.partition("/")[2]].text for page in both]
        score = partial(mean_nmi, task, labels=labels, k=k)
        ours = task.step(code, partial(score, texts))
        theirs = task.step(f"{code} in English", partial(score, same))
        plain = task.step(f"{code} as English", partial(score, texts, stop_words="smart", stemmer="english"))
        names = ", ".join(cluster.label.split(",")[0] for cluster in fitted(texts, k).clusters_)
        rows.append((code, len(both), k, f"{ours:.3f}", f"{theirs:.3f}", f"{plain:.3f}", names))
        worst = min(worst, ours - theirs)
    heads = ("language", "pages", "k", "NMI", "the same in English", "as if English", "first words of the names")
    return Found(f"worst difference {worst:+.3f}", {"worst": worst}, [Table("Sections", heads, rows)])
