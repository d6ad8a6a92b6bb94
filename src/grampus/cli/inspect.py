"""``inspect``: what is in a source before it is clustered."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import click

from .._names import number_of
from .command import argument, command, given, names_of, option, refuse, repeat_line
from .options import MachineOptions, OutputOptions, SourceOptions, TermOptions, default_vectorizer
from .show import LINE, clean, console, notes, one_step, pair, print_json, progress_bars, say

if TYPE_CHECKING:
    from rich.console import Console

    from ..text import Corpus, TermVectorizer
    from ..text.terms.prepare import Prepared

MOST_LINES = 10
EXAMPLES = 3
SAMPLE = 2_000  # documents that are looked at, of more
ROWS = 200  # of a table
FREQUENT = 10  # words
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
            found["table"] = _table_columns(options.source, options.documents)
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

    whole, corpus = corpus, _sample(corpus)
    prepared = vectorizer.prepare(corpus)
    try:
        counts = vectorizer.fit_transform(prepared)
    except InputError as error:  # no term remains
        terms: dict[str, Any] = {"different": 0, "reason": str(error)}
    else:
        terms = {
            "different": int(counts.shape[1]),
            "each": float(np.median(np.diff(counts.indptr))),
            "without": int((np.diff(counts.indptr) == 0).sum()),
            "frequent": _frequent(corpus, vectorizer),
        }
    lengths = [len(text.split()) for text in corpus.texts]
    return {
        "source": corpus.source,
        "documents": len(whole),
        "sample": len(corpus),
        "bytes": whole.texts.nbytes,
        "files": dict(Counter(file.reader for file in corpus.files if file.documents).most_common()),
        "skipped": dict(corpus.skipped),
        "columns": [name for name in ("labels", "titles", "dates") if getattr(corpus, name) is not None],
        "languages": prepared.counts(),
        "unknown": prepared.unknown,
        "words": {name: int(np.percentile(lengths, share)) for name, share in _SHARES.items()},
        "terms": terms,
        "copies": len(whole) - len(set(whole.texts)),
        "lines": _lines(corpus, most_lines),
        "dropped": _dropped(corpus, vectorizer, prepared),
        "notes": [*corpus.notes, *prepared.notes()],
    }


def _sample(corpus: Corpus) -> Corpus:
    """Return the documents that are looked at: all, or some from the whole of a large collection."""
    if len(corpus) <= SAMPLE:
        return corpus
    every = -(-len(corpus) // SAMPLE)
    columns: dict[str, Any] = {name: getattr(corpus, name) for name in ("texts", "ids", "labels", "titles", "dates")}
    rows = range(0, len(corpus), every)
    some: dict[str, Any] = {name: values and [values[at] for at in rows] for name, values in columns.items()}
    return replace(corpus, **some, inputs={})


def _frequent(corpus: Corpus, vectorizer: TermVectorizer) -> dict[str, int]:
    """Return the words that most documents have, as they are written: no stems, no numbers."""
    import numpy as np
    from sklearn.base import clone

    words = clone(vectorizer).set_params(stemmer=None, ngram_range=(1, 1), weighting="txx")
    counts = words.fit_transform(corpus)
    names = words.get_feature_names_out()
    frequency = np.bincount(counts.indices, minlength=len(names))
    order = (int(at) for at in np.lexsort((np.arange(len(names)), -frequency)))
    return dict(islice(((str(names[at]), int(frequency[at])) for at in order if str(names[at]).isalpha()), FREQUENT))


def _table_columns(source: str, options: SourceOptions) -> list[dict[str, str]]:
    """Return the columns of a table, each with how much of it is filled and an example; none for other sources."""
    from ..errors import GrampusError
    from ..text.readers.guess import Columns
    from ..text.readers.log import Log
    from ..text.readers.read import named_reader, open_table
    from ..text.readers.registry import Record

    if source == "-":
        return []
    try:
        with ExitStack() as cleanup:
            reader = named_reader(options.format)
            opened, _ = open_table(source, reader, Columns(), options.query, options.options, Log(), cleanup)
            if opened.of_files:
                return []
            records = [one.values for one in islice(opened.records, ROWS) if isinstance(one, Record)]
            names = opened.columns or tuple(dict.fromkeys(name for values in records for name in values))
    except GrampusError:
        return []
    if len(names) < 2:
        return []
    filled = {name: [str(one[name]) for one in records if str(one.get(name) or "").strip()] for name in names}
    return [
        {
            "name": name,
            "filled": f"{len(filled[name]) / max(len(records), 1):.0%}",
            "example": (filled[name] or [""])[0],
        }
        for name in map(str, names)
    ]


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


def _languages(found: dict[str, Any]) -> str:
    """Return the languages in words, and how many documents are in none or too short to tell."""
    from ..text.languages.table import LANGUAGES

    names = [f"{LANGUAGES[code].name} {count:,}" for code, count in found["languages"].items()]
    if names and found["unknown"] == found["sample"]:
        names = [f"unknown (read as {LANGUAGES[code].name})" for code in found["languages"]]
    elif names and found["unknown"]:
        names.append(f"of which {found['unknown']:,} too short to tell")
    return ", ".join(names) or "not looked for"


def _show_columns(columns: list[dict[str, str]], out: Console) -> None:
    """Print the columns of a table, each with an example."""
    say(out, "", "Columns (filled, example); --text NAME reads one as the text")
    wide = min(max(len(clean(one["name"])) for one in columns), out.width // 3)
    for one in columns:
        name = f"{clean(one['name'], wide):{wide}}  {one['filled']:>4}"
        out.print(f"  {name}  {clean(one['example'], out.width - len(name) - 4)}", soft_wrap=True)


def _show_dropped(dropped: list[dict[str, Any]], out: Console) -> None:
    """Print what cleaning drops, with examples."""
    say(out, "", "Not counted (pieces, documents); [terms] clean = false counts it, too")
    for entry in dropped:
        out.print(f"{entry['pieces']:9,}  {entry['documents']:9,}  {entry['kind']}", soft_wrap=True)
        for example in entry["examples"]:
            out.print(f"{'':22}{clean(example, out.width - 22)}", soft_wrap=True)


def _show(found: dict[str, Any], out: Console) -> None:
    """Print a survey within the width of the terminal."""
    from .._config import format_size

    count = number_of(found["documents"], "document")
    pair(out, "source", f"{found['source']}: {count}, {format_size(found['bytes'])}")
    if found["files"]:
        pair(out, "files", ", ".join(f"{count:,} {kind}" for kind, count in found["files"].items()))
    if found["columns"]:
        pair(out, "also read", ", ".join(found["columns"]))
    if found["sample"] < found["documents"]:
        pair(out, "looked at", f"{found['sample']:,} of them, from the whole; what follows is about these")
    pair(out, "languages", _languages(found))
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
    if found.get("table"):
        _show_columns(found["table"], out)
    if found["lines"]:
        say(out, "", "Most frequent lines (documents)")
        for entry in found["lines"]:
            out.print(f"{entry['documents']:9,}  {clean(entry['line'], out.width - 11)}", soft_wrap=True)
    if found["dropped"]:
        _show_dropped(found["dropped"], out)
    remarks = [note for note in found["notes"] if not note.startswith(("Not counted:", "Languages:", "Language:"))]
    if remarks:
        say(out, "")
        notes(out, remarks)
