"""All pairs of options and kinds of input of ``grampus cluster``: the table, rows that cover it, and what runs them."""

from __future__ import annotations

import contextlib
import csv
import faulthandler
import io
import json
import os
import random
import shlex
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations, groupby, product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from grampus import _config
from grampus.cli import main
from grampus.persist import Run
from tests.fuzz import HangError, no_longer_than
from tests.kinds import SOURCES, TEXTS, write_inputs, write_shared

Case = Mapping[str, str]  # from parameters to names of values
PROCESSOR, CLOCK = 60.0, 300.0  # seconds after which a command hangs
PYTHON = shlex.quote(sys.executable)

# -- what follows

# What is run on every run, and what by the row's `then`; ``*kernel`` stands for the words of the row's kernel.
ALWAYS = (
    ("report", "{run}"),
    ("assign", "{run}", "{near}.new.jsonl", "--outliers", "--results", "{out}/new.csv"),
    ("tree", "{run}", "--as", "json"),
    ("trends", "{run}", "--by", "quarter"),
    ("evaluate", "{run}"),
)
AGAIN = ("*source", "*columns", "*kernel", "*terms", "*beside")
THEN: dict[str, tuple[tuple[str, ...], ...]] = {
    "update": (
        ("update", "{run}", "{near}.new.jsonl", "--out", "{out}/updated", "--report", "{out}/updated.html"),
        ("compare", "{run}", "{out}/updated", "--results", "{out}/moved.csv"),
        ("edit", "{out}/updated", "--rename", "0=Updated"),
        ("update", "{out}/updated", "--delete", "{near}.ids.txt"),
    ),
    "forget": (
        ("update", "{run}", "--delete", "{near}.ids.txt", "--json"),
        ("tree", "{run}"),
        ("assign", "{run}", "{near}.new.jsonl", "--json"),
        ("update", "{run}", "{near}.new.jsonl", "--results", "-"),
    ),
    "rename": (
        ("edit", "{run}", "--rename", "0=Sea & <b>sky</b>", "--merge", "0,1", "--out", "{out}/edited"),
        ("report", "{out}/edited", "--texts", "full", "--out", "{out}/edited.html"),
        ("update", "{out}/edited", "{near}.new.jsonl"),
        ("edit", "{out}/edited", "--undo"),
    ),
    "split": (
        ("edit", "{run}", "--split", "0", "--into", "2", "--json", "--out", "{out}/split"),
        ("assign", "{out}/split", "{near}.new.jsonl"),
        ("update", "{out}/split", "{near}.new.jsonl", "--delete", "{near}.ids.txt"),
        ("compare", "{run}", "{out}/split", "--json"),
    ),
    "move": (
        ("edit", "{run}", "--noise", "{near}.ids.txt", "--results", "{out}/rows.csv"),
        ("edit", "{run}", "--move", "{near}.ids.txt:0"),
        ("edit", "{run}", "--exclude", "{near}.ids.txt"),
        ("edit", "{run}", "--undo"),
        ("update", "{run}", "{near}.new.jsonl"),
    ),
    "within": (
        ("cluster", "{run}", "--within", "0", "--no-stability", "--out", "{out}/within"),
        ("edit", "{out}/within", "--split", "0"),
        ("report", "{out}/within", "--json"),
        ("cluster", "{run}", "--within", "1", "-k", "2", "--no-stability", "--report", "{out}/one.html", "--json"),
    ),
    "keep": (
        ("cluster", *AGAIN, "*k", "*method", "*outliers", "*guide", "--no-stability", "--keep", "{run}", "--out",
         "{out}/kept"),
        ("compare", "{run}", "{out}/kept"),
        ("compare", "{out}/kept", "{run}", "--json"),
    ),
    "choose": (
        ("inspect", "*source", "*columns", "*terms"),
        ("inspect", "{run}"),
        ("choose-k", *AGAIN, "[effort] n_splits = 3", "--json"),
        ("inspect", "--kernel", "cosine|shift + 0.5 * linear@embedding"),
        ("tree", *AGAIN[:-1], "-k", "4", "--refine"),
    ),
    "show": (
        ("tree", "{run}", "--as", "newick"),
        ("tree", "{run}", "--as", "dot"),
        ("compare", "{run}", "{run}"),
        ("report", "{run}", "--texts", "none", "--out", "{out}/other.html", "--json"),
        ("trends", "{run}", "--by", "month", "--results", "{out}/trends.csv"),
        ("trends", "{run}", "--by", "label", "--json"),
        ("evaluate", "{run}", "--json"),
    ),
}  # fmt: skip

# -- the table: a parameter, its values, and the words of the command that each stands for
#
# In braces, files of the case; words in brackets go into the file of settings, GRAMPUS_… into the environment.

TABLE: dict[str, dict[str, tuple[str, ...]]] = {
    "source": {name: source.words for name, source in SOURCES.items()},
    "texts": dict.fromkeys(TEXTS, ()),
    "kernel": {
        "default": (),
        "cosine": ("--kernel", "cosine"),
        "shift": ("--kernel", "cosine|shift"),
        "map": ("--kernel", "cosine|power(0.6)|map"),
        "polynomial": ("--kernel", "polynomial(2)|normalise"),
        "nystrom": ("--kernel", "gaussian(1)|nystrom(40)"),
        "selftuning": ("--kernel", "selftuning(5)"),
        "sum": ("--kernel", "0.5 * cosine + linear|centre"),
        "strings": ("--kernel", "spectrum(3)"),
        "inputs": ("--kernel", "cosine|principal(8)|normalise + 0.5 * cosine@embedding"),
    },
    "k": {
        "chosen": (),
        "2": ("-k", "2"),
        "5": ("-k", "5"),
        "coarse": ("--level", "coarse"),
        "fine": ("--level", "fine", "[effort] ks = '2-8'"),
        "sizes": ("--levels", "2,4,7", "--level", "fine"),
        "halves": ("[effort] scheme = 'auto'", "[effort] ks = '2,4'", "[effort] null = true"),
    },
    "method": {
        "consensus": (),
        "kernel-kmeans": ("--method", "kernel-kmeans"),
        "starts": (
            "--method",
            "kernel-kmeans",
            "[methods.kernel-kmeans] init = 'k-means++'",
            "[effort] n_init = 3",
            "[effort] polish = false",
        ),
        "pddp": ("--method", "pddp"),
        "bisecting": ("--method", "bisecting"),
        "spectral": ("--method", "spectral"),
        "kernel-pca": ("--method", "kernel-pca"),
    },
    "beside": {
        "none": (),
        "npy": ("--embeddings", "{near}.npy"),
        "npz": ("--embeddings", "{near}.npz"),
        "vectors": ("--embed", "vectors.txt"),
        "embed": ("--embed", "model"),
        "meaning": ("--meaning", "on"),
        "words": ("--meaning", "off"),
    },
    "guide": {
        "none": (),
        "seeds": ("--topics", "seeds.json"),
        "names": ("--topics", "Harbour, Law, Bread, Taxes", "--only-topics"),
        "labels": ("[guide] labels = '{near}.known.json'", "[guide] fixed = true"),
        "links": ("[guide] must_link = '{near}.must.csv'", "[guide] cannot_link = '{near}.cannot.json'"),
    },
    "columns": {
        "none": (),
        "label": ("--label", "{section}"),
        "all": (
            "--label",
            "section",
            "--title",
            "title",
            "--date",
            "date",
            "--id",
            "id",
            "[reading] duplicate_ids = 'number'",
        ),
    },
    "outliers": {"off": (), "auto": ("--outliers", "auto"), "share": ("--outliers", "0.05")},
    "terms": {
        "default": (),
        "pairs": ("[terms] ngram_range = [1, 2]", "[terms] weighting = 'lfc'", "[terms] min_df = 1"),
        "german": ("--language", "de", "[terms] clean = false"),
        "all": ("--stop-words", "none", "[terms] stemmer = 'none'"),
    },
    "stability": {"off": ("--no-stability",), "on": ("[effort] n_splits = 3",)},
    "place": {"memory": (), "scratch": ("--scratch", "{out}/scratch"), "tables": ("--tables", "{out}/tables")},
    "names": {
        "own": (),
        "file": ("[naming] names = '{near}.names.json'",),
        "program": ("--name-with", f"{PYTHON} names.py", "[naming] timeout = 60"),
    },
    "output": {
        "quiet": ("-q",),
        "shown": (),
        "json": ("--json",),
        "page": ("--report", "{out}/page.html", "--texts", "full"),
        "no-text": ("--report", "{out}/page.html", "--texts", "none"),
        "csv": ("--results", "{out}/rows.csv", "--lossless"),
        "jsonl": ("--results", "{out}/rows.jsonl", "--texts", "none"),
        "stdout": ("--results", "-"),
        "predicted": ("--dry-run",),
    },
    "machine": {
        "default": (),
        "one": ("--threads", "1", "--seed", "7"),
        "limits": ("--max-memory", "64GB", "--timeout", "1000", "--device", "auto"),
        "little": ("GRAMPUS_MEMORY=2MB", "--skip-errors"),
    },
    "then": dict.fromkeys(THEN, ()),
}
# Options of `cluster` that are in no row above, and why.
LEFT_OUT = {
    "--dask": "in a few rows of its own: workers take seconds to start",
    "--keep": "in what follows",
    "--within": "in what follows",
    "--out": "in every row",
    "--settings": "the words of the table that begin with a bracket",
}
MORE = {"place": {"dask": ("--dask", "local", "--tables", "{out}/tables")}}  # values of rows of their own
# What the command says of words it does not know: a row of this file must follow it.
OUTDATED = (
    "No such option", "No such command", "is not one of", "Missing argument", "unexpected extra argument",
    "has no key", "there is no table", "must be in the table",
)  # fmt: skip
# Pairs that the command refuses on purpose. None is in a row, and each is refused in a test of its own.
CLASHES = (
    ("columns=label,all", "source=zip,tar,mbox,lines"),
    ("columns=all", "source=folder,html,markdown,docx,mail"),
    ("kernel=strings", "terms=german,all"),
    ("kernel=strings", "beside=npy,npz"),
    ("kernel=strings", "guide=seeds,names"),
    ("kernel=cosine,shift,map,polynomial,nystrom,selftuning,sum,strings", "beside=vectors,embed,meaning"),
    ("kernel=inputs", "beside=words"),
    ("place=scratch", "source=stdin"),
)


def clashing() -> set[frozenset[tuple[str, str]]]:
    """Return the pairs of values that do not go together."""

    def values(words: str) -> list[tuple[str, str]]:
        name, _, listed = words.partition("=")
        return [(name, value) for value in listed.split(",")]

    return {frozenset(pair) for one, other in CLASHES for pair in product(values(one), values(other))}


def pairs_of(case: Case) -> set[frozenset[tuple[str, str]]]:
    """Return the pairs of values in a row."""
    return {frozenset(pair) for pair in combinations(case.items(), 2)}


def cover(table: Mapping[str, Iterable[str]], clashes: set[frozenset[tuple[str, str]]], seed: int = 0) -> list[Case]:
    """Return rows that hold every pair of values but those that clash: greedily, the same for the same seed.

    Each row begins with a pair that is in none yet; the other parameters, in a random order, take the value that adds
    most pairs.
    """
    rng = random.Random(seed)
    values = [[(name, value) for value in listed] for name, listed in table.items()]
    every = [frozenset(pair) for one, other in combinations(values, 2) for pair in product(one, other)]
    left = dict.fromkeys(pair for pair in every if pair not in clashes)
    rows = []
    while left:
        row = list(next(iter(left)))
        names = {name for name, _ in row}
        for listed in rng.sample(values, len(values)):
            if listed[0][0] in names:
                continue
            fitting = [one for one in listed if not any(frozenset((one, other)) in clashes for other in row)]
            gains = [sum(frozenset((one, other)) in left for other in row) for one in fitting]
            row.append(rng.choice([one for one, gain in zip(fitting, gains, strict=True) if gain == max(gains)]))
        case = {name: value for name in table for key, value in row if key == name}
        for pair in pairs_of(case):
            left.pop(pair, None)
        rows.append(case)
    return rows


# -- commands


@dataclass(frozen=True)
class Line:
    """A command line in a folder."""

    folder: Path
    words: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stdin: str = ""

    def __str__(self) -> str:
        settings = "".join(f"{name}={value} " for name, value in self.environment.items())
        stream = f" < {shlex.quote(self.stdin)}" if self.stdin else ""
        return f"cd {shlex.quote(str(self.folder))} && {settings}grampus {shlex.join(self.words)}{stream}"

    @property
    def outputs(self) -> list[Path]:
        """The files and folders that the command is to write."""
        flags = ("--out", "--report", "--results", "--tables")
        places = [place for flag, place in zip(self.words, self.words[1:], strict=False) if flag in flags]
        return [self.folder / place for place in places if place != "-"]


@dataclass(frozen=True)
class Outcome:
    """What became of a command: its status (None for a hang), what it printed, and warnings that are not for people."""

    line: Line
    status: Any
    out: str
    err: str
    warnings: tuple[str, ...]
    seconds: float


def run(line: Line) -> Outcome:
    """Run a command in this process, as a fresh one would."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    stdin = io.TextIOWrapper(io.BytesIO((line.folder / line.stdin).read_bytes() if line.stdin else b""))
    status: Any = None
    faulthandler.dump_traceback_later(2 * CLOCK, exit=True)  # for what cannot even be interrupted
    start = time.process_time()
    with (
        contextlib.chdir(line.folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        patch.object(sys, "stdin", stdin),
        patch.dict(os.environ, {"COLUMNS": "100", **line.environment}),
        patch.object(_config, "_settings", None),  # from the environment, and restored
        warnings.catch_warnings(record=True) as raised,
    ):
        warnings.simplefilter("always")
        try:
            with no_longer_than(PROCESSOR, CLOCK):
                main(list(line.words))
        except SystemExit as stop:
            status = stop.code
        except HangError as hang:
            err.write(f"{hang}\n")
        except BaseException:  # what a person would see as a stack trace
            status = "traceback"
            traceback.print_exc(file=err)
    faulthandler.cancel_dump_traceback_later()
    out.flush(), err.flush()
    shown = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))  # type: ignore[attr-defined]
    kinds = (RuntimeWarning, DeprecationWarning, FutureWarning)
    foreign = tuple(f"{one.category.__name__}: {one.message}" for one in raised if issubclass(one.category, kinds))
    return Outcome(line, status, *shown, foreign, time.process_time() - start)


def faults(outcome: Outcome) -> list[str]:
    """Return what is wrong with how a command ended: nothing if it did its work, or refused it in one line."""
    line, status, err = outcome.line, outcome.status, outcome.err
    if status is None:
        return ["hangs"]
    wrong = list(outcome.warnings)
    wrong += [words for words in ("Traceback", "bug in Grampus") if words in err or words in outcome.out]
    if status not in (0, 1, 2):
        wrong.append(f"ends with status {status}")
    if status and [one.startswith("Error: ") for one in err.splitlines()].index(True) != len(err.splitlines()) - 1:
        wrong.append("is not refused in one line")
    wrong += [f"the table of tests/pairs.py is out of date: {words}" for words in OUTDATED if status and words in err]
    wanted = status == 0 and "--dry-run" not in line.words
    for place in line.outputs:
        if place.exists() != wanted:
            wrong.append(f"writes no {place.name}" if wanted else f"leaves {place.name} behind")
    if "--scratch" in line.words and (line.folder / line.words[line.words.index("--scratch") + 1]).exists():
        wrong.append("leaves its scratch folder behind")
    if status == 0 and "--json" in line.words and not _is_json(outcome.out):
        wrong.append("does not print one JSON document")
    runs = [place for place in (line.folder / line.words[1], *line.outputs) if (place / "manifest.json").exists()]
    sizes = [_size(place) for place in runs]
    wrong += [f"leaves a run that does not load: {size}" for size in sizes if isinstance(size, str)]
    for place in line.outputs:
        if place.name.startswith("rows.") and place.exists() and _rows(place) != sizes[0]:
            wrong.append(f"writes {_rows(place)} rows for {sizes[0]} documents")
    return wrong


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _size(place: Path) -> int | str:
    """Return how many documents a saved run has, or why it does not load."""
    try:
        return len(Run.load(place))
    except Exception as error:
        return repr(error)


def _rows(place: Path) -> int:
    with place.open(encoding="utf-8", newline="") as file:
        return sum(1 for _ in csv.reader(file)) - 1 if place.suffix == ".csv" else sum(1 for _ in file)


@dataclass
class Net:
    """Rows of the table run in a folder: what became of each command.

    Parameters
    ----------
    folder : Path
    """

    folder: Path
    outcomes: list[Outcome] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        write_shared(self.folder)

    def run(self, line: Line) -> Outcome:
        """Run a command, and note what is wrong with it."""
        outcome = run(line)
        self.outcomes.append(outcome)
        last = outcome.err.strip().splitlines()[-1:]
        self.faults += [f"{line}\n    {fault}; {' '.join(last)}" for fault in faults(outcome)]
        return outcome

    def cast(self, case: Case, number: int) -> Outcome:
        """Cluster as a row of the table says, and run what follows on the run that was saved."""
        source = SOURCES[case["source"]]
        near = f"{case['texts']}-{case['source']}"
        if not (self.folder / f"{near}.new.jsonl").exists():
            write_inputs(self.folder, case["source"], case["texts"])
        (self.folder / f"{number}").mkdir()
        places = {
            "source": case["texts"] + source.suffix,
            "near": near,
            "out": f"{number}",
            "run": f"{number}/run",
            "section": "folder" if source.columns == "folder" else "section",
        }
        line = self._line(case, places, ("cluster", *(f"*{name}" for name in case), "--out", "{run}"))
        first = self.run(line)
        if (self.folder / places["run"]).exists():
            for words in (*ALWAYS, *THEN[case["then"]]):
                line = self._line(case, places, words)
                if all((self.folder / word).exists() for word in line.words[1:3] if word.startswith(f"{number}/")):
                    self.run(line)  # else the command that was to make its run was refused
        return first

    def _line(self, case: Case, places: Mapping[str, str], words: Iterable[str]) -> Line:
        """Fill in a command, and write its settings: ``*kernel`` stands for the words of the case's kernel."""
        values = {name: TABLE[name] | MORE.get(name, {}) for name in case}
        expanded = [one for word in words for one in (values[word[1:]][case[word[1:]]] if word[:1] == "*" else (word,))]
        filled = [word.format(**places) for word in expanded]
        environment = dict(word.split("=", 1) for word in filled if word.startswith("GRAMPUS_"))
        settings = sorted(word for word in filled if word.startswith("["))  # by table
        plain = [word for word in filled if not word.startswith(("GRAMPUS_", "["))]
        if settings:
            file = f"{places['out']}/{len(self.outcomes)}.toml"
            tables = groupby((word.partition("] ") for word in settings), key=lambda parts: parts[0])
            lines = [line for head, some in tables for line in (f"{head}]", *(setting for _, _, setting in some))]
            (self.folder / file).write_text("\n".join(lines), encoding="utf-8")
            plain += ["--settings", file]
        return Line(self.folder, tuple(plain), environment, places["source"] if plain[1] == "-" else "")
