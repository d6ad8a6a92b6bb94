"""``inspect``: what is in a source before it is clustered."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from .command import argument, command, given, names_of, option, refuse, repeat_line
from .options import MachineOptions, OutputOptions, SourceOptions, TermOptions, default_vectorizer
from .show import LINE, clean, console, notes, one_step, pair, print_json, progress_bars, say

if TYPE_CHECKING:
    from rich.console import Console

    from ..text import Corpus, TermVectorizer
    from ..text.terms.prepare import Prepared

MOST_LINES = 10
EXAMPLES = 3
READS = {
    "terms": "weighted terms or rows of numbers",
    "text": "texts as strings",
    "gram": "a Gram matrix",
    "embedding": "embeddings",
}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of ``inspect``."""

    source: str | None = argument(required=False)
    documents: SourceOptions
    terms: TermOptions
    machine: MachineOptions
    output: OutputOptions
    lines: int = option(f"Most frequent lines to show. [{MOST_LINES}]", default=MOST_LINES, metavar="N")


@command(Options, "inspect", "Show what is in documents, or explain a kernel.")
def inspect(options: Options) -> None:
    """Show what SOURCE holds, and what of it will be counted, without clustering it.

    Without SOURCE, explain --kernel, such as 'cosine|shift': a kernel, then transforms, each after a bar. Kernels add
    (+), multiply (*), take a weight (0.5 *) and the name of an input (@embedding); parentheses group.

    \b
    Examples:
      grampus inspect news/
      grampus inspect news.csv --text body --json
      grampus inspect --kernel 'cosine|power(0.6)|map'
      grampus inspect --kernel 'cosine|principal(auto) + 0.5 * cosine@embedding'
    """
    if options.source is None:
        if not given(("kernel",)):
            raise click.UsageError("Give documents to inspect, or a --kernel to explain.")
        refuse({*names_of(SourceOptions, TermOptions), "lines"} - {"kernel"}, "without SOURCE")
        explain_kernel(options.terms.kernel, options.output)
        return
    options.documents.check(options.source)
    options.terms.check()
    options.machine.apply()
    with progress_bars(options.output.silent) as progress:
        corpus = options.documents.read(options.source, progress)
        with one_step(progress, "reading terms"):
            vectorizer = options.terms.vectorizer(len(corpus)) or default_vectorizer(len(corpus))
            found = survey(corpus, vectorizer, options.lines)
        found["predicted"] = _predicted(corpus, options)
    if options.output.as_json:
        print_json({**found, "command": repeat_line()})
    elif not options.output.quiet:
        _show(found, console())


def explain_kernel(spelling: str, output: OutputOptions) -> None:
    """Print a kernel in words and formulas."""
    from ..kernels import parse_kernel
    from ..kernels.explain import explain

    explained = explain(parse_kernel(spelling))
    if output.as_json:
        print_json({**explained, "command": repeat_line()})
    elif not output.quiet:
        out = console()
        reads = ", ".join(READS.get(name, f"the input {name}") for name in explained["inputs"])
        out.print(clean(f"{explained['spelling']}: takes {reads}", LINE))
        for entry in explained["parts"]:
            out.print(clean(f"{entry['number']}. {entry['spelling']}: {entry['words']}", LINE))
            pair(out, "", entry["formula"], 3)
        say(out, f"Again: {repeat_line()}")


def survey(corpus: Corpus, vectorizer: TermVectorizer, most_lines: int = MOST_LINES) -> dict[str, Any]:
    """Return what a corpus holds as plain values.

    Examples
    --------
    >>> from grampus.cli.inspect import survey
    >>> from grampus.text import Corpus, TermVectorizer
    >>> found = survey(Corpus(["whale song", "whale song", "bird <b>nest</b>"]), TermVectorizer(clean=True))
    >>> found["documents"], found["copies"], found["terms"]["different"]
    (3, 1, 4)
    """
    import numpy as np

    from ..errors import InputError

    prepared = vectorizer.prepare(corpus)
    try:
        counts = vectorizer.fit_transform(prepared)
    except InputError as error:  # no term remains
        terms: dict[str, Any] = {"different": 0, "reason": str(error)}
    else:
        frequency = np.bincount(counts.indices, minlength=counts.shape[1])
        names = vectorizer.get_feature_names_out()
        order = np.lexsort((np.arange(len(names)), -frequency))[:10]
        terms = {
            "different": int(counts.shape[1]),
            "each": float(np.median(np.diff(counts.indptr))),
            "without": int((np.diff(counts.indptr) == 0).sum()),
            "frequent": {str(names[at]): int(frequency[at]) for at in order},
        }
    lengths = [len(text.split()) for text in corpus.texts]
    return {
        "source": corpus.source,
        "documents": len(corpus),
        "bytes": corpus.texts.nbytes,
        "files": dict(Counter(file.reader for file in corpus.files if file.documents).most_common()),
        "skipped": dict(corpus.skipped),
        "columns": [name for name in ("labels", "titles", "dates") if getattr(corpus, name) is not None],
        "languages": prepared.counts(),
        "words": {name: int(np.percentile(lengths, share)) for name, share in _SHARES.items()},
        "terms": terms,
        "copies": len(corpus) - len(set(corpus.texts)),
        "lines": _lines(corpus, most_lines),
        "dropped": _dropped(corpus, vectorizer, prepared),
        "notes": [*corpus.notes, *prepared.notes()],
    }


def _predicted(corpus: Corpus, options: Options) -> dict[str, Any]:
    """Return what clustering the documents is predicted to cost, k chosen; nothing where they cannot be."""
    from ..documents import DocumentClusterer, predict_cost
    from ..errors import GrampusError

    try:
        model = DocumentClusterer(kernel=options.terms.kernel, terms=options.terms.vectorizer(len(corpus)))
        found = predict_cost(model, corpus)
    except GrampusError:
        return {}
    return {"memory": found.memory, "seconds": round(found.seconds, 1), "text": str(found)}


_SHARES = {"shortest": 0, "quarter": 25, "median": 50, "three quarters": 75, "longest": 100}


def _lines(corpus: Corpus, most: int) -> list[dict[str, Any]]:
    """Return the lines with a word that most documents have, if at least two do."""
    counts: Counter[str] = Counter()
    for text in corpus.texts:
        if "\n" in text:
            counts.update({line.strip() for line in text.split("\n")})
    frequent = ((line, count) for line, count in counts.items() if count > 1 and any(map(str.isalpha, line)))
    ranked = sorted(frequent, key=lambda found: (-found[1], found[0]))[: max(most, 0)]
    return [{"line": line[:200], "documents": count} for line, count in ranked]


def _dropped(corpus: Corpus, vectorizer: TermVectorizer, prepared: Prepared) -> list[dict[str, Any]]:
    """Return what cleaning dropped, with the most frequent pieces of each kind."""
    from ..text.clean import Cleaner, Dropped, as_cleaning

    cleaning = as_cleaning(vectorizer.clean)
    if cleaning is None or not prepared.dropped.documents:
        return []
    report = Dropped(examples={})
    Cleaner(cleaning, prepared.preparation.shared).clean_all(corpus.texts, report)
    examples = report.examples or {}
    return [
        {
            "kind": kind,
            "pieces": report.pieces[kind],
            "documents": documents,
            "examples": [piece for piece, _ in sorted(examples[kind].items(), key=lambda e: (-e[1], e[0]))[:EXAMPLES]],
        }
        for kind, documents in report.documents.most_common()
    ]


def _show(found: dict[str, Any], out: Console) -> None:
    """Print a survey within the width of the terminal."""
    from .._config import format_size
    from ..text.languages.table import LANGUAGES

    pair(out, "source", f"{found['source']}: {found['documents']:,} documents, {format_size(found['bytes'])}")
    if found["files"]:
        pair(out, "files", ", ".join(f"{count:,} {kind}" for kind, count in found["files"].items()))
    if found["columns"]:
        pair(out, "also read", ", ".join(found["columns"]))
    languages = ", ".join(f"{LANGUAGES[code].name} {count:,}" for code, count in found["languages"].items())
    pair(out, "languages", languages or "not looked for")
    pair(out, "words", ", ".join(f"{name} {count:,}" for name, count in found["words"].items()))
    terms = found["terms"]
    if terms["different"]:
        without = f"; in {terms['without']:,} none" if terms["without"] else ""
        pair(out, "terms", f"{terms['different']:,} different, {terms['each']:g} in a document{without}")
        pair(out, "frequent", ", ".join(f"{name} {count:,}" for name, count in terms["frequent"].items()))
    else:
        pair(out, "terms", terms["reason"])
    pair(out, "copies", f"{found['copies']:,}")
    if found["predicted"]:
        pair(out, "predicted", f"{found['predicted']['text']} of processor time to cluster them")
    if found["lines"]:
        say(out, "", "Most frequent lines (documents)")
        for entry in found["lines"]:
            out.print(f"{entry['documents']:9,}  {clean(entry['line'], out.width - 11)}", soft_wrap=True)
    if found["dropped"]:
        say(out, "", "Not counted (pieces, documents); [terms] clean = false counts it, too")
        for entry in found["dropped"]:
            out.print(f"{entry['pieces']:9,}  {entry['documents']:9,}  {entry['kind']}", soft_wrap=True)
            for example in entry["examples"]:
                out.print(f"{'':22}{clean(example, out.width - 22)}", soft_wrap=True)
    remarks = [note for note in found["notes"] if not note.startswith(("Not counted:", "Languages:", "Language:"))]
    if remarks:
        say(out, "")
        notes(out, remarks)
