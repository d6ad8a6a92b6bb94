"""Word vectors in a text file, mean vectors of documents, and static models; broken and hostile files."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from grampus.errors import InputError
from grampus.text import MeanVectors
from grampus.text.embed.mean import leading
from grampus.text.embed.static import StaticTable, static_files
from grampus.text.embed.word_vectors import look_up_vectors

WORDS = {"whale": [1.0, 0.25, -0.5], "bird": [0.0, 1.0, 0.0], "naïve": [0.5, 0.5, 0.5], "NATO": [0.0, 0.0, 2.0]}


def text(words, *, header: bool) -> bytes:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in words.items()]
    start = [f"{len(words)} {len(next(iter(words.values())))}"] if header else []
    return ("\n".join(start + lines) + "\n").encode()


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
}


@pytest.mark.parametrize("name", FILES)
def test_every_writer_of_text_gives_the_same_vectors(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    found = look_up_vectors(path, ["bird", "unknown", "naïve", "nato", "Whale"])
    assert found.known.tolist() == [True, False, True, True, True]
    assert found.rows.tolist() == [WORDS["bird"], WORDS["naïve"], WORDS["NATO"], WORDS["whale"]]
    assert found.sha256 != look_up_vectors(_changed(path), []).sha256


def _changed(path):
    path.write_bytes(path.read_bytes().replace(b"0.25", b"0.26"))
    return path


def test_words_with_blanks_and_repeated_words(tmp_path):
    path = tmp_path / "glove.txt"
    path.write_text("a 1 2\n. . . 3 4\na 5 6\n")
    found = look_up_vectors(path, ["a", "."])
    assert (found.known.tolist(), found.rows.tolist()) == ([True, True], [[1, 2], [3, 4]])


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
    found = StaticTable(static_model(tmp_path / "model", matrix))
    assert found.encode(["Whales", "bird", "xyz"]).tolist() == [[0.5, 1.0], [0.0, 1.0], [0.0, 0.0]]


def test_a_static_model_of_fewer_rows_and_other_types(tmp_path):
    matrix, mapping = np.array([[1, 0], [0, 2]], np.float16), np.array([0, 0, 1, 1])
    folder = static_model(tmp_path / "model", matrix, mapping=mapping, weights=np.array([1, 2, 3, 0.5], np.float32))
    rows = StaticTable(folder).encode(["whale", "bird"])
    assert rows.tolist() == [[2.0, 0.0], [0.0, 1.0]]
    half = (np.array([[1.0, -2.0]] * 4, np.float32).view(np.uint32) >> 16).astype(np.uint16)  # bfloat16
    rows = StaticTable(static_model(tmp_path / "half", half)).encode(["bird"])
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
    "none.vec": b"9 0\n",
    "huge.vec": b"99999999999 3\nwhale 1 2 3\n",
    "wide.vec": b"1 99999999999\nwhale 1 2 3\n",
    "word2vec.bin": b"1 1\nwhale \0\0\x80?",
    "wink.json": b'{"size": 4, "dimensions": 3, "vectors": {"whale": [1, 2, 3]}}',
    "glove.txt.gz": b"\x1f\x8b" + b"\0" * 40,
    "gensim.kv": b"\x80\x04\x95" + b"\0" * 40,
    "glove.zip": b"PK\x03\x04" + b"\0" * 40,
    "noise.dat": bytes(range(256)) * 20,
    "zeros.dat": b"\0" * 10_000,
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_files_are_refused_in_one_line(tmp_path, name):
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(InputError) as caught:
        look_up_vectors(tmp_path / name, ["whale", "bird"])
    assert "\n" not in str(caught.value)
    assert name in str(caught.value)


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
        assert static_files(folder) == []
    with pytest.raises(InputError, match="each of the 4 tokens"):
        StaticTable(static_model(tmp_path / "few", np.zeros((2, 2), np.float32)))
    (good / "tokenizer.json").write_text('{"model": {}}')
    with pytest.raises(InputError, match="tokeniser"):
        StaticTable(good)
    infinite = StaticTable(static_model(tmp_path / "nan", np.full((4, 2), np.nan, np.float32)))
    with pytest.raises(InputError, match="finite"):
        infinite.encode(["bird"])


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs here")
def test_devices_and_fifos_do_not_hang(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/null", "/dev/zero"):
        with pytest.raises(OSError, match="regular"):
            look_up_vectors(path, ["whale"])


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
