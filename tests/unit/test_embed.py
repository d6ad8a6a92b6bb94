"""Embeddings: models of every kind, pieces, the cache; matrices from files; broken and hostile ones."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import threading
import types

import numpy as np
import pytest

import grampus
from grampus.errors import InputError, MemoryBudgetError, MissingExtraError
from grampus.text import Corpus, Embedder, read_embeddings
from grampus.text.cache import cache_folder, clear_cache
from grampus.text.embed import store
from grampus.text.embed.embedder import pieces
from grampus.text.embed.model import _offline, find_model

from .test_vectors import safetensors, static_model, tokenizer


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def letters(texts):
    return np.array([[text.count(letter) for letter in "abc"] for text in texts], float)


# -- pieces and batches


def test_rows_have_unit_length_and_blank_texts_are_zero():
    rows = Embedder(letters).embed(["ab", " \n", "ccc"])
    np.testing.assert_allclose(rows, [[0.5**0.5, 0.5**0.5, 0], [0, 0, 0], [0, 0, 1]], atol=1e-7)
    assert Embedder(letters).embed([]).shape[0] == 0
    assert Embedder(letters).embed(["", " "]).shape[0] == 2


def test_long_texts_are_the_mean_of_pieces():
    text = "a a a a b b b c"
    assert pieces(text, 3) == ["a a a", "a b b", "b c"]
    assert pieces(text, 8) == [text]
    assert [len(piece.split()) for piece in pieces("x " * 1001, 100)] == [91] * 11
    rows = Embedder(letters, longest=3).embed([text])
    units = [row / np.linalg.norm(row) for row in letters(pieces(text, 3))]
    np.testing.assert_allclose(rows[0], np.mean(units, axis=0) / np.linalg.norm(np.mean(units, axis=0)), atol=1e-7)


def test_each_distinct_text_is_computed_once_and_order_does_not_matter():
    asked: list[list[str]] = []

    def count(texts):
        asked.append(list(texts))
        return letters(texts)

    texts = ["abc", "a", "abc", "b", "a"]
    progress: list[tuple] = []
    rows = Embedder(count, batch_size=2).embed(Corpus(texts), lambda *step: progress.append(step))
    assert asked == [["a", "b"], ["abc"]]
    assert progress == [("embedding", 0, 3), ("embedding", 2, 3), ("embedding", 3, 3)]
    np.testing.assert_array_equal(Embedder(letters).embed(texts[::-1]), rows[::-1])


@pytest.mark.parametrize(("rows", "message"), [
    (lambda texts: np.zeros((1, 2)), "a row for each of 2 texts"),
    (lambda texts: np.zeros(2), "a row for each of 2 texts"),
    (lambda texts: np.zeros((2, 0)), "a row for each"),
    (lambda texts: np.full((2, 2), np.nan), "finite"),
    (lambda texts: [["x"], ["y"]], "array of numbers"),
    (lambda texts: None, "embed must give"),
])  # fmt: skip
def test_wrong_answers_of_a_function(rows, message):
    with pytest.raises(InputError, match=message):
        Embedder(rows).embed(["a", "b"])


def test_rows_of_several_lengths():
    with pytest.raises(InputError, match="one length"):
        Embedder(lambda texts: np.ones((len(texts), len(texts[0]))), batch_size=1).embed(["a", "bb"])


@pytest.mark.parametrize("options", [{"batch_size": 0}, {"longest": 0}, {"key": 3}])
def test_options_are_checked(options):
    with pytest.raises(InputError, match="must be"):
        Embedder(letters, **options)
    with pytest.raises(InputError, match="identified by content"):
        Embedder("model", key="x")


# -- the cache


def test_a_second_run_computes_nothing(monkeypatch):
    first = Embedder(letters, key="letters 1")
    rows = first.embed(["abc", "a", "b" * 100_000])

    def never(texts):
        raise AssertionError(texts)

    np.testing.assert_array_equal(Embedder(never, key="letters 1").embed(["b" * 100_000, "abc"]), rows[[2, 0]])
    with pytest.raises(AssertionError):
        Embedder(never, key="letters 2").embed(["abc"])
    with pytest.raises(AssertionError):
        Embedder(never).embed(["abc"])  # without a key there is nothing to find it by
    clear_cache()
    with pytest.raises(AssertionError):
        Embedder(never, key="letters 1").embed(["abc"])


def test_what_was_computed_before_an_error_is_kept():
    def fails(texts):
        if "bb" in texts:
            raise KeyboardInterrupt
        return letters(texts)

    with pytest.raises(KeyboardInterrupt):
        Embedder(fails, key="x", batch_size=1).embed(["a", "bb"])
    seen: list[str] = []
    Embedder(lambda texts: seen.extend(texts) or letters(texts), key="x").embed(["a", "bb"])
    assert seen == ["bb"]


def test_a_damaged_cache_is_not_used():
    place = cache_folder() / "embeddings" / "rows.sqlite"
    place.parent.mkdir(parents=True)
    place.write_bytes(b"no database" * 100)
    notes: list[str] = []
    rows = Embedder(letters, key="x").embed(["abc"], notes=notes)
    assert rows.shape == (1, 3)
    assert "doctor --clear-cache" in notes[0]
    clear_cache()
    Embedder(letters, key="x").embed(["abc", "b"])
    with sqlite3.connect(place) as base:
        base.execute("UPDATE rows SET row = x'00' WHERE rowid = 1")
    base.close()
    np.testing.assert_array_equal(Embedder(letters, key="x").embed(["abc"]), rows)


def test_the_cache_is_bounded(monkeypatch):
    monkeypatch.setattr(store, "LARGEST", 20_000)
    for start in range(0, 400, 50):
        Embedder(letters, key="x").embed([f"a{number}" + "b" * 20 for number in range(start, start + 50)])
    with sqlite3.connect(cache_folder() / "embeddings" / "rows.sqlite") as base:
        count = base.execute("SELECT count(*) FROM rows").fetchone()[0]
    base.close()
    assert 0 < count < 400
    seen: list[str] = []
    Embedder(lambda texts: seen.extend(texts) or letters(texts), key="x").embed(["a399" + "b" * 20, "a0" + "b" * 20])
    assert seen == ["a0" + "b" * 20]  # the oldest went


# -- models


def test_a_static_model(tmp_path):
    folder = static_model(tmp_path / "model", np.array([[9, 9], [1, 0], [0, 2], [0, 1]], np.float32))
    model = Embedder(folder)
    np.testing.assert_allclose(model.embed(["bird whale", "xyz"]), [[0.5**0.5, 0.5**0.5], [0, 0]], atol=1e-7)
    assert model.found.kind == "static"
    inner = tmp_path / "outer" / "0_StaticEmbedding"
    inner.parent.mkdir()
    folder.rename(inner)
    assert Embedder(inner.parent).sha256 == model.sha256


def field(number: int, value) -> bytes:
    """Encode a field of a protocol buffer."""

    def varint(n: int) -> bytes:
        out = b""
        while n > 127:
            out, n = out + bytes([n & 127 | 128]), n >> 7
        return out + bytes([n])

    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def onnx_model(table: np.ndarray, inputs=("input_ids", "attention_mask")) -> bytes:
    """Return an ONNX model that looks up a row for each token."""

    def value(name: str, kind: int, axes: list[str]) -> bytes:
        shape = b"".join(field(1, field(2, axis)) for axis in axes)
        return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))

    node = field(1, "table") + field(1, inputs[0]) + field(2, "states") + field(4, "Gather")
    tensor = b"".join(field(1, axis) for axis in table.shape)
    tensor += field(2, 1) + field(8, "table") + field(9, table.astype("<f4").tobytes())
    graph = field(1, node) + field(2, "g") + field(5, tensor)
    graph += b"".join(field(11, value(name, 7, ["n", "t"])) for name in inputs)
    graph += field(12, value("states", 1, ["n", "t", "d"]))
    return field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 13))


def onnx_folder(folder, table=((9, 9), (1, 0), (0, 2), (0, 1)), **options):
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer(["whale", "##s", "bird"]), encoding="utf-8")
    (folder / "model.onnx").write_bytes(onnx_model(np.array(table, np.float32), **options))
    return folder


def test_an_onnx_model_is_the_mean_over_tokens(tmp_path):
    pytest.importorskip("onnxruntime")
    folder = onnx_folder(tmp_path / "model")
    model = Embedder(folder)
    expected = np.array([[1, 2], [0, 1], [2, 1]]) / np.sqrt([[5], [1], [5]])
    np.testing.assert_allclose(model.embed(["whales", "bird", "whale bird whale"]), expected, atol=1e-6)
    assert (model.found.kind, model.found.longest) == ("onnx", 179)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first = Embedder(folder / "model.onnx")
    np.testing.assert_allclose(first.embed(["whale bird", "bird"]), [[1, 0], [0, 1]], atol=1e-6)
    assert first.sha256 != model.sha256


def test_limits_come_from_the_settings(tmp_path):
    pytest.importorskip("onnxruntime")
    folder = onnx_folder(tmp_path / "model")
    settings = {
        "config.json": {"max_position_embeddings": 100},
        "tokenizer_config.json": {"model_max_length": 50},
        "sentence_bert_config.json": {"max_seq_length": 10},
    }
    for name, data in settings.items():
        (folder / name).write_text(json.dumps(data))
        assert find_model(folder).longest == int(0.7 * next(iter(data.values())))
    (folder / "sentence_bert_config.json").write_text("[" * 100_000)  # settings that cannot be read are not used
    assert find_model(folder).longest == 35


def test_broken_onnx_models(tmp_path):
    pytest.importorskip("onnxruntime")
    folder = onnx_folder(tmp_path / "model")
    whole = (folder / "model.onnx").read_bytes()
    for data in (b"", whole[:50], b"noise" * 100):
        (folder / "model.onnx").write_bytes(data)
        with pytest.raises(InputError, match="onnxruntime can load") as caught:
            Embedder(folder).embed(["bird"])
        assert "\n" not in str(caught.value)
    onnx_folder(folder, inputs=("input_ids", "pixels"))
    with pytest.raises(InputError, match="it takes input_ids, pixels"):
        Embedder(folder).embed(["bird"])
    onnx_folder(folder, table=((9, 9), (1, 0)))  # fewer rows than tokens
    with pytest.raises(InputError, match="must run on texts"):
        Embedder(folder).embed(["bird"])
    (folder / "other.onnx").write_bytes(whole)
    with pytest.raises(InputError, match="Name one of them"):
        Embedder(folder).embed(["bird"])
    (folder / "tokenizer.json").unlink()
    with pytest.raises(InputError, match=r"tokenizer\.json"):
        Embedder(folder / "model.onnx").embed(["bird"])


@pytest.fixture
def sentence(tmp_path, monkeypatch):
    """A sentence-transformers model, and a stand-in for the library that notes what it was asked for."""
    folder = tmp_path / "sentence"
    folder.mkdir()
    (folder / "modules.json").write_text("[]")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 10}')
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "README.md").write_text("read me")
    library = types.ModuleType("sentence_transformers")
    library.loaded = []

    class SentenceTransformer:
        def __init__(self, place):
            library.loaded.append((place, os.environ["HF_HUB_OFFLINE"]))

        def encode(self, texts, **options):
            return letters(texts)

    library.SentenceTransformer = SentenceTransformer
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)
    return folder, library


def test_a_sentence_transformers_folder(sentence):
    folder, library = sentence
    model = Embedder(folder)
    rows = model.embed(["a " * 20 + "b", "c"])
    assert rows.shape == (2, 3)
    assert model.found.longest == 7
    assert library.loaded == [(str(folder), "1")]
    assert "HF_HUB_OFFLINE" not in os.environ
    np.testing.assert_array_equal(Embedder(folder).embed(["c"]), rows[1:])
    assert len(library.loaded) == 1  # from the cache, without loading
    (folder / "README.md").write_text("other")
    assert Embedder(folder).sha256 == model.sha256
    (folder / "model.safetensors").write_bytes(b"other weights")
    assert Embedder(folder).sha256 != model.sha256


def test_a_model_by_name_is_looked_for_on_this_machine_only(sentence, monkeypatch):
    folder, _ = sentence
    asked = []
    hub = types.ModuleType("huggingface_hub")

    def snapshot_download(name, local_files_only):
        asked.append((name, local_files_only))
        if name.endswith("absent"):
            raise FileNotFoundError("not here\nat all")
        return str(folder)

    hub.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    assert Embedder("tiny").embed(["abc"]).shape == (1, 3)
    with pytest.raises(InputError, match="Grampus downloads nothing by itself") as caught:
        Embedder("someone/absent").embed(["abc"])
    assert "\n" not in str(caught.value)
    monkeypatch.setenv("HF_HUB_OFFLINE", "0")
    assert Embedder("tiny").found.kind == "sentence-transformers"
    monkeypatch.delenv("HF_HUB_OFFLINE")
    assert Embedder("tiny", download=True).name == "tiny"
    assert asked == [("sentence-transformers/tiny", True), ("someone/absent", True),
                     ("sentence-transformers/tiny", False), ("sentence-transformers/tiny", False)]  # fmt: skip


def test_missing_extras_are_named(sentence, tmp_path, monkeypatch):
    folder, _ = sentence
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtraError, match=r"grampus\[sentence-transformers\]"):
        Embedder(folder).embed(["a"])
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(MissingExtraError, match=r"grampus\[sentence-transformers\]"):
        Embedder("tiny").embed(["a"])
    other = onnx_folder(tmp_path / "model")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"grampus\[embed\]"):
        Embedder(other).embed(["a"])
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    static = tmp_path / "static"
    static.mkdir()
    (static / "tokenizer.json").write_text("{}")
    (static / "model.safetensors").write_bytes(safetensors({"embeddings": np.zeros((4, 2), np.float32)}))
    with pytest.raises(MissingExtraError, match=r"grampus\[embed\]"):
        Embedder(static).embed(["a"])


@pytest.mark.parametrize("model", [3, None, "", "no such/model/here", "/no/such/folder", "bad name"])
def test_what_is_no_model(model):
    with pytest.raises(InputError, match="embed must be"):
        Embedder(model).embed(["a"])


def test_folders_and_files_without_a_model(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="must hold a static model"):
        Embedder(tmp_path / "empty").embed(["a"])
    (tmp_path / "model.bin").write_bytes(b"x")
    with pytest.raises(InputError, match=r"\.onnx"):
        Embedder(tmp_path / "model.bin").embed(["a"])


# -- matrices


ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


def parquet_file(path, columns):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table(columns), path)
    return path


def matrix_files(folder):
    np.save(folder / "a.npy", ROWS)
    np.save(folder / "fortran.npy", np.asfortranarray(ROWS.astype(np.float32)))
    np.save(folder / "whole.npy", ROWS.astype(np.int16))
    np.savez(folder / "b.npz", ROWS)
    np.savez_compressed(folder / "c.npz", embeddings=ROWS, other=np.eye(4))
    (folder / "d.safetensors").write_bytes(safetensors({"rows": ROWS, "bias": np.zeros(3)}))
    (folder / "half.safetensors").write_bytes(safetensors({"embeddings": ROWS.astype(np.float16)}))
    parquet_file(folder / "e.parquet", {"text": ["x", "y", "z"], "embedding": ROWS.tolist()})
    parquet_file(folder / "f.parquet", {"text": ["x", "y", "z"], "x": ROWS[:, 0], "y": ROWS[:, 1].astype(np.float32)})
    return sorted(path for path in folder.iterdir() if path.is_file())


def test_matrices_of_every_format(tmp_path):
    files = matrix_files(tmp_path)
    assert len(files) == 9
    for path in files:
        assert read_embeddings(path, ids=["1", "2", "3"]).tolist() == ROWS.tolist(), path.name
        with pytest.raises(InputError, match="each of the 2 documents; it has 3"):
            read_embeddings(path, ids=["1", "2"])


def test_rows_are_matched_by_id(tmp_path):
    np.savez(tmp_path / "a.npz", embeddings=ROWS, ids=np.array(["x", "y", "z"]))
    parquet_file(tmp_path / "b.parquet", {"id": ["x", "y", "z"], "embedding": ROWS.tolist()})
    parquet_file(tmp_path / "c.parquet", {"id": ["x", "y", "z"], "v0": ROWS[:, 0], "v1": ROWS[:, 1]})
    np.savez(tmp_path / "numbers.npz", embeddings=ROWS, id=np.array([7, 8, 9]))
    for name in ("a.npz", "b.parquet", "c.parquet"):
        assert read_embeddings(tmp_path / name, ids=["z", "x"]).tolist() == [[5, 6], [1, 2]]
        with pytest.raises(InputError, match="1 of 2 have none, such as 'w'"):
            read_embeddings(tmp_path / name, ids=["z", "w"])
        assert read_embeddings(tmp_path / name).shape == (3, 2)
    assert read_embeddings(tmp_path / "numbers.npz", ids=["9"]).tolist() == [[5, 6]]
    np.savez(tmp_path / "twice.npz", embeddings=ROWS, ids=np.array(["x", "y", "x"]))
    with pytest.raises(InputError, match="'x' occurs more than once"):
        read_embeddings(tmp_path / "twice.npz", ids=["x"])
    np.savez(tmp_path / "fewer.npz", embeddings=ROWS, ids=np.array(["x", "y"]))
    with pytest.raises(InputError, match="an id for each"):
        read_embeddings(tmp_path / "fewer.npz", ids=["x"])


class Bomb:
    def __reduce__(self):
        return os.mkdir, ("exploded",)


def test_bad_matrices_are_refused_in_one_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("object.npy", np.array([Bomb()], dtype=object), allow_pickle=True)
    np.savez("object.npz", embeddings=np.array([[Bomb()]], dtype=object))
    np.save("nan.npy", np.array([[1.0], [np.nan]]))
    np.save("flat.npy", np.arange(3.0))
    np.save("cube.npy", np.zeros((2, 2, 2)))
    np.save("empty.npy", np.zeros((0, 3)))
    np.save("letters.npy", np.array([["a"]]))
    np.save("complex.npy", np.array([[1j]]))
    np.savez("two.npz", a=ROWS, b=ROWS)
    np.savez("none.npz", a=np.zeros(3))
    good = (tmp_path / "nan.npy").read_bytes()
    others = {
        "cut.npy": good[:-3], "short.npy": good[:20], "noise.npy": b"x" * 100, "nothing.npy": b"",
        "huge.npy": good.replace(b"(2, 1)", b"(9**99, 1)"), "negative.npy": good.replace(b"(2, 1)", b"(-2,1)"),
        "noise.npz": b"x" * 100, "cut.npz": (tmp_path / "two.npz").read_bytes()[:-30],
        "noise.safetensors": b"x" * 100, "two.safetensors": safetensors({"a": ROWS, "b": ROWS}),
        "nan.safetensors": safetensors({"a": ROWS * np.nan}), "noise.parquet": b"PAR1" + b"x" * 100 + b"PAR1",
        "empty.parquet": b"", "rows.csv": b"1,2", "none": b"",
    }  # fmt: skip
    for name, data in others.items():
        (tmp_path / name).write_bytes(data)
    parquet_file(tmp_path / "ragged.parquet", {"embedding": [[1.0], [1.0, 2.0]]})
    parquet_file(tmp_path / "missing.parquet", {"embedding": [[1.0], None]})
    parquet_file(tmp_path / "nulls.parquet", {"embedding": [[1.0, None], [1.0, 2.0]]})
    parquet_file(tmp_path / "words.parquet", {"text": ["a", "b"]})
    parquet_file(tmp_path / "lists.parquet", {"a": [[1.0]], "b": [[1.0]]})
    for path in sorted(tmp_path.iterdir()):
        if path.is_file():
            with pytest.raises(InputError) as caught:
                read_embeddings(path)
            assert "\n" not in str(caught.value), path.name
            assert path.name in str(caught.value)
    assert not (tmp_path / "exploded").exists()


def test_a_matrix_beyond_the_budget_is_refused(tmp_path):
    header = {"descr": "<f8", "fortran_order": False, "shape": (10**7, 10**4)}
    with (tmp_path / "large.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
    np.savez_compressed(tmp_path / "bomb.npz", np.zeros((2000, 1000)))
    with grampus.config(memory="4MB"):
        for name in ("large.npy", "bomb.npz"):
            with pytest.raises(MemoryBudgetError):
                read_embeddings(tmp_path / name)


def test_two_threads_leave_the_environment_as_it_was(monkeypatch):
    monkeypatch.setenv("TRANSFORMERS_OFFLINE", "0")
    before, both = dict(os.environ), threading.Barrier(2)

    def load():
        both.wait()
        for _ in range(200):
            with _offline():
                assert os.environ["TRANSFORMERS_OFFLINE"] == "1"

    threads = [threading.Thread(target=load) for _ in range(2)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert dict(os.environ) == before
