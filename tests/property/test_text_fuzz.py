"""A hundred mutated files per reader, and more in the lab: a corpus or a one-line CorpusError, and soon."""

import random
import time

import pytest

from tests import fuzz
from tests.fuzz import READERS, HangError, fuzz_reader, mutate

INPUTS = {"pdf": 40, "lines": 300}  # few where each starts a process, more where almost anything is read; else 100


@pytest.mark.parametrize("name", READERS)
def test_fuzzed_files(name):
    module = {"parquet": "pyarrow", "arrow": "pyarrow", "duckdb": "duckdb", "pdf": "pypdfium2"}.get(name.split()[0])
    if module is not None:
        pytest.importorskip(module)
    inputs = INPUTS.get(name, 100)
    found = fuzz_reader(name, inputs, seed=1)
    assert found["corpora"] + found["errors"] == -(-inputs // READERS[name].batch)
    assert found["errors"] > 0 or READERS[name].batch > 1  # a folder with one good file is a corpus
    assert found["corpora"] > 0
    assert found["slowest_seconds"] < 10


@pytest.mark.parametrize(("nap", "limits"), [(0.01, (10, 0.2)), (0.0, (0.05, 300))], ids=["waiting", "computing"])
def test_a_hang_is_seen_through_a_reader_that_catches_everything(monkeypatch, nap, limits):
    pytest.importorskip("pyarrow")

    def hang(*_, **__):
        while True:
            time.sleep(nap)

    monkeypatch.setattr("pyarrow.parquet.ParquetFile", hang)
    monkeypatch.setattr(fuzz, "no_longer_than", lambda _, before=fuzz.no_longer_than: before(*limits))
    with pytest.raises(HangError):
        fuzz_reader("parquet", 1)


def test_a_folder_that_is_cleaned_away_is_made_anew(tmp_path):
    path = tmp_path / "gone" / "x.csv"
    fuzz._write(path, b"x")
    assert path.read_bytes() == b"x"


def test_mutation_changes_files():
    rng = random.Random(0)
    data = bytes(range(256))
    assert sum(mutate(data, rng) != data for _ in range(200)) > 150
