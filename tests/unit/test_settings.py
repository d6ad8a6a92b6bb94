"""``--settings``: every key is the library's own, whatever is wrong is one line, and options win."""

import os
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import click
import pytest

from grampus import _names
from grampus.cli import grampus as group
from grampus.cli.command import MOVED, names_of
from grampus.cli.settings import LARGEST, known_tables, read_settings
from grampus.cluster.trees.cuts import CUTS
from grampus.describe import NameCommand
from grampus.documents import Effort, Guide, default_terms
from grampus.documents.find.methods import METHODS, ConsensusMethod
from grampus.persist import Run
from grampus.report.page import Embed
from grampus.text import Cleaning, ReadLimits, ReadOptions, Tokenizer
from tests.command import command

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "settings.md"


@pytest.fixture
def write(tmp_path):
    def write(text):
        place = tmp_path / "rare.toml"
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(place)

    return write


@pytest.fixture
def source(tmp_path):
    place = tmp_path / "lines.txt"
    topics = ("whale sea ocean fish deep water", "bird nest tree wing feather sky", "judge court law trial crime jury")
    lines = (" ".join(topics[i % 3].split()[i % 2 : 4 + i % 3]) + f" word{i}" for i in range(60))
    place.write_text("\n".join(lines))
    return str(place)


def known_keys():
    """Return the keys of every table."""
    return {name: table[0] for name, table in known_tables().items()}


def example():
    """Return the example of the guide, which has every key."""
    return re.search(r"```toml\n(.*?)```", GUIDE.read_text(encoding="utf-8"), re.DOTALL)[1]


def test_the_example_of_the_guide_sets_every_key(write):
    known, content = known_keys(), tomllib.loads(example())
    assert read_settings(write(example())).effort["ks"] == tuple(range(2, 41))
    assert {name: sorted(keys) for name, keys in known.items()} == {name: sorted(content[name]) for name in content}
    parts = {"limits": ReadLimits, "tokenizer": Tokenizer, "clean": Cleaning, **METHODS}
    for table in ("reading", "terms", "methods"):
        for name, keys in content[table].items():
            if isinstance(keys, dict):
                assert sorted(keys) == sorted(field.name for field in fields(parts[name])), name


def test_the_example_of_the_guide_shows_the_defaults():
    defaults = {
        "reading": ReadOptions(), "reading.limits": ReadLimits(), "terms": default_terms(1000), "effort": Effort(),
        "terms.tokenizer": Tokenizer(), "terms.clean": Cleaning(), "guide": Guide(), "naming": NameCommand(""),
        **{f"methods.{name}": method() for name, method in METHODS.items()},
    }  # fmt: skip
    compared = 0
    for line in example().splitlines():
        if line.startswith("["):
            table = line.partition("]")[0][1:]
        elif line.strip():
            assert " # " in line  # says what it is
            if "for example" not in line:
                ((key, value),) = tomllib.loads(line).items()
                default = getattr(defaults[table], key)
                assert (list(map(list, default)) if key == "graphs" else list(default) if isinstance(default, tuple)
                        else default) == value, line  # fmt: skip
                compared += 1
    assert compared > 40


def test_values_become_what_the_library_takes(write):
    read = read_settings(
        write(
            "[reading]\nencoding = 'latin1'\nnumbers = ['year']\nlimits.max_ratio = 1000\n"
            "[terms]\nstemmer = 'none'\nstop_words = ['the', 'of']\nngram_range = [1, 2]\nclean = {lines = false}\n"
            "min_df = 2\nmax_df = 0.5\n[effort]\nks = [2, 4]\n[methods.consensus]\nranks = [5, 9]\n"
            "[guide]\nmust_link = [['a', 'b']]\nlabels = {a = 'Sea'}\n[naming]\ntimeout = 2.5\n"
        )
    )
    assert read.reading["numbers"] == ["year"]
    assert read.reading["limits"].max_ratio == 1000
    assert (read.terms["stemmer"], read.terms["stop_words"]) == (None, ["the", "of"])
    assert (read.terms["ngram_range"], read.terms["min_df"], read.terms["max_df"]) == ([1, 2], 2, 0.5)
    assert (read.terms["clean"].lines, read.terms["clean"].headers) == (False, True)
    assert read.effort == {"ks": [2, 4]}
    assert read.methods == {"consensus": ConsensusMethod(ranks=(5, 9))}
    assert read.guide == {"must_link": [["a", "b"]], "labels": {"a": "Sea"}}
    assert read.naming == {"timeout": 2.5}


WRONG = {
    "[effort]\nscheem = 'auto'": "[effort] has no key 'scheem'; did you mean 'scheme'? Its keys: ks, scheme,",
    "[efort]\nks = [2]": "there is no table [efort]; did you mean 'effort'? The tables: reading, terms, effort,",
    "ks = [2]": "ks must be in the table [effort].", "effort = 3": "[effort] must be a table of keys; got 3.",
    "[reading]\nencoding = 3": "[reading] encoding must be a text; got 3.",
    "[reading]\nencoding = 'klingon'": "[reading] encoding must",
    "[reading]\nheader = 1": "[reading] header must be true or false; got 1.",
    "[reading]\nday_first = 2024-01-01": "[reading] day_first must be true or false; got",
    "[reading.limits]\nmax_ratio = 0": "[reading.limits] max_ratio must be a positive number; got 0.",
    "[reading.limits]\nmax_rate = 1": "[reading.limits] has no key 'max_rate'; did you mean 'max_ratio'?",
    "[reading]\nlimits = 5": "[reading] limits must be a table; got 5.",
    "[terms]\nclean = 'no'": "[terms] clean must be true or false or a table; got 'no'.",
    "[terms]\nstemmer = 'klingon'": "[terms] stemmer must be", "[terms]\nweighting = 'zzz'": "[terms] weighting must",
    "[terms]\nstop_words = 'nothere'": "[terms] ",
    "[terms]\nngram_range = [1, 2, 3]": "[terms] ngram_range must be a list of 2 (a whole number each); got [1, 2, 3].",
    "[terms]\nmin_df = true": "[terms] min_df must be a number; got True.",
    "[terms]\nmax_df = nan": "[terms] max_df must be", "[terms]\ntokenizer = '['": "[terms] ",
    "[terms]\ndtype = 'int8'": "[terms] has no key 'dtype'",
    "[effort]\nks = '9-2'": "[effort] ks: '9-2' must be numbers such as 2-10 or 2,4,8.",
    "[effort]\nks = [0]": "[effort] Each value of ks must be at least 1; got 0.",
    "[effort]\nn_init = 0": "[effort] n_init must",
    "[methods.consensus]\nranks = []": "[methods.consensus] ranks must",
    "[methods.consensus]\nranks = [1.5]": "[methods.consensus] ranks must be a list (a whole number each); got [1.5].",
    "[methods.kernel-kmeans]\ninit = 'best'": "[methods.kernel-kmeans] init must be one of 'auto',",
    "[methods]\nkmeans = {}": "[methods] has no key 'kmeans'; did you mean 'kernel-kmeans'?",
    "[guide]\nmust_link = [['a']]": "[guide] must_link must be a text or a list (a list of 2 (a text each) each);",
    "[naming]\ntimeout = 0": "[naming] timeout must be greater than 0",
    "[naming]\ntimeout = inf": "[naming] timeout must be greater than 0", "ks = ": "must be TOML in UTF-8",
    "[effort]\n[effort]": "must be TOML in UTF-8", b"\xff\xfe": "must be TOML in UTF-8",
    "x = " + "[" * 5000: "must be TOML in UTF-8", "x = " + "9" * 5000: "must be TOML in UTF-8",
    "'\x1b[2J'.a = 1": "must be TOML in UTF-8",
}  # fmt: skip


@pytest.mark.parametrize("text", WRONG, ids=[str(text)[:40] for text in WRONG])
def test_whatever_is_wrong_is_one_line_that_names_file_and_key(text, write, capsys):
    place = write(text)
    assert command("tree", "nowhere", "--settings", place) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"Error: {place}")
    assert WRONG[text] in error
    assert len(error.splitlines()) == 1


def test_only_a_regular_file_of_bounded_size_is_read(tmp_path, write, capsys):
    os.mkfifo(tmp_path / "pipe")
    assert command("tree", "nowhere", "--settings", tmp_path / "pipe") == 1
    assert "not a regular file" in capsys.readouterr().err
    assert command("tree", "nowhere", "--settings", tmp_path) == 2
    place = write("")
    os.truncate(place, LARGEST + 1)
    assert command("tree", "nowhere", "--settings", place) == 1
    assert "file too large" in capsys.readouterr().err


def test_settings_reach_the_run_and_its_line_repeats_it(source, write, tmp_path, capsys):
    place = write(
        "[terms]\nmin_df = 1\nngram_range = [1, 2]\nstop_words = ['whale']\n[effort]\nn_init = 2\n"
        "stability = false\n[methods.consensus]\nranks = [4, 8]\n[methods.pddp]\ncut = 'full'\n"
    )
    words = ("cluster", source, "-k", 3, "--settings", place, "-q", "--out")
    assert command(*words, tmp_path / "run") == 0
    first = Run.load(tmp_path / "run")
    given = first.provenance.parameters
    assert given["terms"]["ngram_range"] == [1, 2]
    assert given["terms"]["stop_words"] == ["whale"]
    assert given["method"]["ranks"] == [4, 8]
    assert (given["effort"]["n_init"], given["effort"]["stability"]) == (2, False)
    assert f"--settings {place}" in first.provenance.command
    again = first.provenance.command.split()[1:]
    assert command(*again, "--out", tmp_path / "again") == 0
    assert Run.load(tmp_path / "again").evidence.labels.tolist() == first.evidence.labels.tolist()
    assert capsys.readouterr().err == ""


def test_an_option_wins_over_the_setting_of_the_same_thing(source, write, capsys):
    place = write("[reading]\nsplit = 'file'\non_error = 'skip'\n[terms]\nstop_words = 'none'\n[effort]\nks = [7]\n")
    assert command("tree", source, "-k", 2, "--settings", place) == 1  # one document
    capsys.readouterr()
    assert command("tree", source, "-k", 2, "--settings", place, "--split", "lines", "-q") == 0
    assert command("choose-k", source, "--settings", place, "--split", "lines", "--ks", "2-3", "--json") == 0
    assert '"ks": [\n  2,\n  3\n ]' in capsys.readouterr().out


def test_a_file_of_settings_is_not_overwritten(source, write, capsys):
    place = write("")
    assert command("cluster", source, "--settings", place, "--report", place) == 2
    assert "is an input" in capsys.readouterr().err


def test_options_that_moved_are_settings_now():
    known = known_keys()
    for flag, place in MOVED.items():
        options = {option for param in group.commands["cluster"].params for option in param.opts}
        assert flag not in options
        if place.startswith("--"):
            option, value = place.split()
            assert option in options
            assert option != "--texts" or value in _names.EMBEDS
            continue
        table, key = re.fullmatch(r"\[([\w.-]+)\] (\w+)", place).groups()
        name, _, method = table.partition(".")
        assert key in (METHODS[method].__dataclass_fields__ if method else known[name]), flag


def test_the_words_of_the_help_are_those_of_the_library():
    assert tuple(METHODS) == _names.METHODS
    assert tuple(CUTS) == _names.CUTS
    assert Embed.__args__ == _names.EMBEDS


def test_refusing_an_option_that_does_not_exist_is_a_bug_that_shows():
    from grampus.cli.cluster import cluster
    from grampus.cli.command import refuse
    from grampus.cli.options import SourceOptions

    with click.Context(cluster, info_name="cluster"):
        refuse(names_of(SourceOptions), "with anything")
        with pytest.raises(LookupError, match="'cluster' has no parameter called ks"):
            refuse(("ks", "level"), "with -k")
