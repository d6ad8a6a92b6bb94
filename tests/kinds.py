"""Small collections of documents in every kind of input, and the files that options of ``cluster`` name.

``python -m tests.kinds FOLDER`` writes all of them, so that the lines that tests/pairs.py reports can be pasted.
"""

from __future__ import annotations

import contextlib
import csv
import gzip
import json
import sqlite3
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from grampus.text import CorpusWarning, ReadOptions, read_corpus
from tests import samples

TOPICS = {
    "sea": "whale sea ocean fish deep water song ship sail wave krill fluke harbour tide coral",
    "air": "bird nest tree wing feather sky branch egg fly leaf hatch flock beak perch migrate",
    "law": "judge court law trial crime police jury lawyer guilty case verdict appeal witness prison sentence",
    "food": "bread oven flour butter sugar recipe bake kitchen dough salt yeast cake taste cook spice",
}
GERMAN = {
    "See": "Wal Meer Ozean Fisch tief Wasser Lied Schiff Segel Welle Hafen Flut Koralle Boot Küste",
    "Recht": "Richter Gericht Gesetz Urteil Polizei Anwalt schuldig Zeuge Gefängnis Strafe Klage Fall Prozess Akte",
}
CHINESE = {
    "海": "鲸鱼 海洋 大海 鱼类 深水 歌声 轮船 帆船 波浪 港口 潮汐 珊瑚",
    "法": "法官 法院 法律 审判 犯罪 警察 陪审团 律师 有罪 案件 判决 证人",
    "食": "面包 烤箱 面粉 黄油 白糖 食谱 烘焙 厨房 面团 食盐 酵母 蛋糕",
}
ODD = (
    "=1+1", "a b", "-k", "../x", "ид", "x,y", "q\"u'o", "😀", "<b>", "0", "１", "null", "a\tb", "a\nb", " c", "n" * 200
)  # fmt: skip
Record = dict[str, str]


def _records(
    n: int, topics: Mapping[str, str] = TOPICS, seed: int = 0, *, glue: str = " the ", length: int = 12
) -> list[Record]:
    """Return n documents on topics in turn, with a few words of any."""
    rng = np.random.default_rng(seed)
    every = " ".join(topics.values()).split()
    made = []
    for number in range(n):
        topic = list(topics)[number % len(topics)]
        words = [*rng.choice(topics[topic].split(), length), *rng.choice(every, 2)]
        date = f"{2020 + number % 3}-{1 + number % 12:02}-06"
        made.append(
            {"id": f"d{seed}-{number}", "section": topic, "title": f"{topic} {number}", "date": date,
             "text": glue.join(words) + "."}
        )  # fmt: skip
    return made


def _blanks(n: int) -> list[Record]:
    texts = ("", " ", "", "\u200b", "the of and", "", "!?")
    return [{**one, "text": texts[at // 9] if at % 9 == 0 else one["text"]} for at, one in enumerate(_records(n))]


def _odd_ids(n: int) -> list[Record]:
    names = [*ODD, *(f"{name}{name}" for name in ODD)]
    records = _records(n)
    odd = [one | {"id": name, "section": name[:9], "title": name} for one, name in zip(records, names, strict=False)]
    return [*odd, *records[len(odd) :]]


TEXTS: dict[str, Callable[[], list[Record]]] = {
    "plain": lambda: _records(72),
    "many": lambda: _records(140),
    "blank": lambda: _blanks(63),
    "copies": lambda: [{**one, "id": f"{one['id']}-{copy}"} for copy in range(3) for one in _records(20)],
    "languages": lambda: _records(32) + _records(32, GERMAN, 1, glue=" und die "),
    "chinese": lambda: _records(60, CHINESE, glue="", length=8),
    "odd-ids": lambda: _odd_ids(60),
    "words": lambda: [{**one, "text": one["text"].split()[0]} for one in _records(60)],
}


def _table(records: Sequence[Record]) -> list[list[str]]:
    return [list(records[0]), *(list(one.values()) for one in records)]


def _separated(delimiter: str) -> Callable[[list[Record], Path], None]:
    def write(records: list[Record], path: Path) -> None:
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, delimiter=delimiter).writerows(_table(records))

    return write


def _lines(records: Iterable[Record]) -> str:
    return "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records)


def _some_files(records: list[Record], path: Path) -> None:
    path.mkdir()
    for part in range(3):
        (path / f"{part}.jsonl").write_text(_lines(records[part::3]), encoding="utf-8")


def _files(suffix: str, make: Callable[[Record], str | bytes]) -> Callable[[list[Record]], dict[str, str | bytes]]:
    """Return what makes a file of each document; folders have numbers, as sections may not be names of folders."""
    return lambda records: {f"{at % 4}/{at}{suffix}": make(one) for at, one in enumerate(records)}


def _folder(suffix: str, make: Callable[[Record], str | bytes]) -> Callable[[list[Record], Path], None]:
    def write(records: list[Record], path: Path) -> None:
        for name, content in _files(suffix, make)(records).items():
            (path / name).parent.mkdir(parents=True, exist_ok=True)
            (path / name).write_bytes(content.encode() if isinstance(content, str) else content)

    return write


_plain = _files(".txt", lambda one: one["text"])


def _message(one: Record) -> str:
    head = f"From: a@example.org\nSubject: {' '.join(one['title'].split())}\nDate: Mon, 6 Jan 2020 10:00:00 +0000\n"
    return f"{head}Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n{one['text']}\n"


def _envelope(one: Record) -> str:
    return f"From a@example.org Mon Jan  6 10:00:00 2020\n{_message(one)}\n"


def _sqlite(records: list[Record], path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE news ({', '.join(f'{name} TEXT' for name in records[0])})")
        database.executemany("INSERT INTO news VALUES (?, ?, ?, ?, ?)", [tuple(one.values()) for one in records])


def _duckdb(records: list[Record], path: Path) -> None:
    import duckdb

    with duckdb.connect(str(path)) as database:
        database.execute(f"CREATE TABLE news ({', '.join(f'{name} VARCHAR' for name in records[0])})")
        database.executemany("INSERT INTO news VALUES (?, ?, ?, ?, ?)", [list(one.values()) for one in records])


def _parquet(records: list[Record], path: Path) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(records), path)


def _arrow(records: list[Record], path: Path) -> None:
    import pyarrow

    table = pyarrow.Table.from_pylist(records)
    with pyarrow.ipc.new_file(str(path), table.schema) as file:
        file.write_table(table)


@dataclass(frozen=True)
class Source:
    """A kind of input: how it is written, and the words of the command that read it."""

    suffix: str
    write: Callable[[list[Record], Path], Any]
    words: tuple[str, ...] = ("{source}",)
    columns: str = "all"  # or folder, or none
    read: Mapping[str, Any] = field(default_factory=dict)  # how the library reads the same documents


def _saved(make: Callable[[list[Record]], bytes]) -> Callable[[list[Record], Path], Any]:
    return lambda records, path: path.write_bytes(make(records))


QUERY = "SELECT * FROM news"
SOURCES = {
    "jsonl": Source(".jsonl", _saved(lambda records: _lines(records).encode())),
    "csv": Source(".csv", _separated(",")),
    "semicolons": Source("-semicolons.csv", _separated(";"),
                         ("{source}", "[reading] delimiter = ';'", "--text", "text")),
    "tsv": Source(".tsv", _separated("\t")),
    "json": Source(".json", _saved(lambda records: json.dumps(records).encode("utf-8"))),
    "gz": Source(".jsonl.gz", _saved(lambda records: gzip.compress(_lines(records).encode()))),
    "stdin": Source(".stdin", _saved(lambda records: _lines(records).encode()), ("-", "--format", "jsonl"),
                    read={"format": "jsonl"}),
    "pattern": Source("-files", _some_files, ("{source}/*.jsonl",)),
    "xlsx": Source(".xlsx", _saved(lambda records: samples.xlsx({"news": _table(records)}))),
    "ods": Source(".ods", _saved(lambda records: samples.ods(_table(records)))),
    "sqlite": Source(".sqlite", _sqlite),
    "query": Source(".db", _sqlite, ("{source}", "--query", QUERY, "--text", "title", "--text", "text"),
                    read={"query": QUERY, "text": ["title", "text"]}),
    "parquet": Source(".parquet", _parquet),
    "arrow": Source(".arrow", _arrow),
    "duckdb": Source(".duckdb", _duckdb, ("{source}", "--query", QUERY), read={"query": QUERY}),
    "folder": Source("-txt", _folder(".txt", lambda one: one["text"]), columns="folder"),
    "html": Source("-html", _folder(".html", lambda one: f"<html><title>{one['section']}</title><p>{one['text']}</p>"),
                   ("{source}", "--pattern", "*.html"), "folder"),
    "markdown": Source("-md", _folder(".md", lambda one: f"# {one['section']}\n\n{one['text']}\n"), columns="folder"),
    "docx": Source("-docx", _folder(".docx", lambda one: samples.docx([one["text"]], title="x")), columns="folder"),
    "mail": Source("-mail", _folder(".eml", _message), columns="folder"),
    "zip": Source(".zip", _saved(lambda records: samples.zipped(_plain(records))), columns="none"),
    "tar": Source(".tar.gz", _saved(lambda records: samples.tarred(_plain(records), "gz")), columns="none"),
    "mbox": Source(".mbox", _saved(lambda records: "".join(map(_envelope, records)).encode()), columns="none"),
    "lines": Source(".txt", _saved(lambda records: "\n".join(one["text"] for one in records).encode()),
                    ("{source}", "--split", "lines"), "none", {"options": ReadOptions(split="lines")}),
}  # fmt: skip


def _ids(kind: str, place: Path, records: Sequence[Record]) -> list[str]:
    """Return the ids that documents are read with."""
    if kind == "pattern":
        return [f"{at % 3}.jsonl:{one['id']}" for at, one in enumerate(records)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CorpusWarning)
        if kind == "stdin":
            with place.open("rb") as stream:
                return list(read_corpus(stream, **SOURCES[kind].read).ids)
        return list(read_corpus(place, **SOURCES[kind].read).ids)


def write_inputs(folder: Path, kind: str, texts: str) -> None:
    """Write the documents of a case, new ones, and what is known about them."""
    records, source, near = TEXTS[texts](), SOURCES[kind], f"{texts}-{kind}"
    place = folder / f"{texts}{source.suffix}"
    source.write(records, place)
    ids = _ids(kind, place, records)
    rows = np.abs(np.random.default_rng(0).standard_normal((len(ids), 6)))
    np.save(folder / f"{near}.npy", rows)
    np.savez(folder / f"{near}.npz", embeddings=rows[::-1], ids=np.array(ids[::-1]))
    fresh = _records(9, CHINESE, 5, glue="") if texts == "chinese" else _records(8, seed=5) + _records(1, GERMAN, 6)
    files = {
        "known.json": json.dumps({name: f"topic {at % 2}" for at, name in enumerate(ids[:12])}),
        "must.csv": json.dumps([[ids[0], ids[4]], [ids[1], ids[9]]]),
        "cannot.json": json.dumps([[ids[0], ids[1]], [ids[2], ids[5]]]),
        "names.json": json.dumps({"First": [ids[0], ids[4]], "<b>Second</b>": [ids[1], ids[5]]}),
        "ids.txt": "\n".join(ids[3:40:7]),
        "new.jsonl": _lines(fresh),
    }
    for name, content in files.items():
        (folder / f"{near}.{name}").write_text(content, encoding="utf-8")


def write_shared(folder: Path) -> None:
    """Write what all cases share: word vectors, a model, seeds, and a program that names clusters."""
    from tests.unit.test_vectors import static_model

    words = [word for topics in (TOPICS, GERMAN, CHINESE) for some in topics.values() for word in some.split()]
    rows = np.random.default_rng(1).standard_normal((len(words) + 1, 5)).astype(np.float32)
    lines = [f"{word} {' '.join(f'{x:.3f}' for x in row)}\n" for word, row in zip(words, rows, strict=False)]
    (folder / "vectors.txt").write_text("".join(lines), encoding="utf-8")
    static_model(folder / "model", rows[:4])
    seeds = {name: " ".join(some).split() for name, some in {
        "Sea": (TOPICS["sea"], GERMAN["See"], CHINESE["海"]), "Law": (TOPICS["law"], GERMAN["Recht"], CHINESE["法"])
    }.items()}  # fmt: skip
    (folder / "seeds.json").write_text(json.dumps(seeds), encoding="utf-8")
    names = "['name %d' % one['number'] for one in json.load(sys.stdin)['clusters']]"
    (folder / "names.py").write_text(f"import json, sys\nprint(json.dumps({names}))\n", encoding="utf-8")


if __name__ == "__main__":
    place = Path(sys.argv[1])
    place.mkdir(parents=True)
    write_shared(place)
    for pair in product(SOURCES, TEXTS):
        write_inputs(place, *pair)
