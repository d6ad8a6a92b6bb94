"""What a model for embedding texts is, and which kind a folder or a name stands for."""

import json
import os
import re
import threading
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..._files import open_regular
from ...errors import InputError
from ..cache import files_digest
from ..meaning.encoder import encoder_digest, load_encoder
from ..meaning.files import not_installed
from ..readers.tables import import_extra
from .static import TOKENIZER, StaticTable, static_files

Encode = Callable[[list[str]], Any]
MEANING = "auto"  # the encoder of the extra [meaning], as a source
_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
_MOST_JSON = 50_000_000  # bytes of a configuration
_TOKENS, _MOST_TOKENS = 256, 8192  # of a text that a model takes: if it does not say, and at most
_WORDS_PER_TOKEN = 0.7  # English text has about 1.3 tokens a word; the rest is a reserve
_ENVIRONMENT = threading.RLock()  # held while variables of the environment are changed
_OTHER_FORMATS = {"onnx", "openvino", ".git", "__pycache__"}


@dataclass(frozen=True)
class Model:
    """A model that has been found, but not loaded.

    Attributes
    ----------
    name : str
        As it was given.
    kind : "function", "static", "onnx", "sentence-transformers" or "meaning"
    sha256 : str or None
        Digest of its files; None for a function, whose rows are not cached.
    longest : int or None
        Words that it takes at a time.
    load : callable
        Returns the function that turns texts into rows.
    anywhere : bool
        Whether a row has the same bits in any batch, process and computer, so that a runner may compute it.
    """

    name: str
    kind: str
    sha256: str | None
    longest: int | None
    load: Callable[[], Encode]
    anywhere: bool = False


def find_model(source: Any, *, download: bool = False) -> Model:
    """Return the model of a function, a folder, an ``.onnx`` file, or a name; "auto" is the encoder of ``[meaning]``.

    Parameters
    ----------
    source : callable, path or str
    download : bool
        Whether a name that is not on this machine may be downloaded.
    """
    if callable(source):
        name = getattr(source, "__name__", type(source).__name__)
        return Model(name, "function", None, None, lambda: source)
    if not isinstance(source, str | os.PathLike) or not str(source):
        raise InputError(f"embed must be a function, a folder, a file or a name; got {source!r}.")
    if source == MEANING:
        return _meaning()
    path = Path(source)
    if path.is_file():
        if path.suffix.lower() != ".onnx":
            raise InputError(f"embed must be a folder with a model, or an .onnx file; got the file {path.name}.")
        return _onnx(str(source), path)
    if path.is_dir():
        return _in_folder(str(source), path)
    if path.is_absolute() or not _NAME.fullmatch(str(source)):
        raise InputError(f"embed must be a model; there is no {str(source)[:200]!r}.")
    return _in_folder(str(source), _snapshot(str(source), download or _online()))


def _meaning() -> Model:
    """Return the encoder; MissingExtraError with the way to get it if it is not installed."""
    sha256 = encoder_digest()
    if sha256 is None:
        raise not_installed()
    return Model("multilingual sentence encoder", "meaning", sha256, None, _load_meaning, anywhere=True)


def _load_meaning() -> Encode:
    return load_encoder().encode


def _in_folder(name: str, folder: Path) -> Model:
    """Return the model in a folder; the kind depends on its files alone, not on what is installed."""
    static = static_files(folder) or static_files(folder / "0_StaticEmbedding")
    if static:
        place = static[0].parent
        return Model(name, "static", files_digest(static, place), None, lambda: StaticTable(place).encode)
    found = sorted(folder.glob("*.onnx"))
    if found:
        if len(found) > 1:
            held = f"{folder.name} holds {len(found)} .onnx files"
            raise InputError(f"embed must be one model; {held}. Name one of them.")
        return _onnx(name, found[0])
    if (folder / "modules.json").is_file() or (folder / "config.json").is_file():
        files = [file for file in folder.rglob("*") if file.is_file() and _matters(file.relative_to(folder))]
        sha256 = files_digest(files, folder)
        return Model(name, "sentence-transformers", sha256, _words(folder), lambda: _load_sentence(folder))
    raise InputError(
        f"{folder.name} must hold a static model (tokenizer.json and .safetensors), an ONNX model (.onnx and "
        "tokenizer.json) or a sentence-transformers model (modules.json); it does not."
    )


def _matters(file: Path) -> bool:
    hidden = any(part in _OTHER_FORMATS or part.startswith(".") for part in file.parts)
    return not hidden and file.suffix != ".md"


def _words(folder: Path) -> int:
    """Return how many words a model takes at a time, from its configuration."""
    tokens = next((number for number in _limits(folder) if isinstance(number, int) and 8 <= number < 10**6), _TOKENS)
    return int(_WORDS_PER_TOKEN * min(tokens, _MOST_TOKENS))


def _limits(folder: Path) -> list[Any]:
    bert, settings = _json(folder / "sentence_bert_config.json"), _json(folder / "tokenizer_config.json")
    cut = _json(folder / TOKENIZER).get("truncation")
    limit = cut.get("max_length") if isinstance(cut, dict) else None
    return [bert.get("max_seq_length"), limit, settings.get("model_max_length"),
            _json(folder / "config.json").get("max_position_embeddings")]  # fmt: skip


def _json(path: Path) -> dict[str, Any]:
    """Return a file of settings; an empty dict if there is none that can be read."""
    with suppress(OSError, ValueError, RecursionError), open_regular(path, _MOST_JSON) as file:
        found = json.loads(file.read())
        return found if isinstance(found, dict) else {}
    return {}


# -- ONNX


def _onnx(name: str, path: Path) -> Model:
    folder = next((place for place in (path.parent, path.parent.parent) if (place / TOKENIZER).is_file()), None)
    if folder is None:
        raise InputError(f"{path.name} must have its tokenizer.json in the same folder or the one above; it has none.")
    settings = [place for place in (folder / TOKENIZER, folder / "1_Pooling" / "config.json") if place.is_file()]
    outside = sorted(path.parent.glob(f"{path.name}?data"))  # weights of a large model
    sha256 = files_digest([path, *outside, *settings], folder)

    def load() -> Encode:
        from .onnx import OnnxEncoder

        pooling = _json(folder / "1_Pooling" / "config.json")
        tokens = round(_words(folder) / _WORDS_PER_TOKEN)
        return OnnxEncoder(path, folder / TOKENIZER, tokens, first=bool(pooling.get("pooling_mode_cls_token"))).encode

    return Model(name, "onnx", sha256, _words(folder), load)


# -- sentence-transformers


def _load_sentence(folder: Path) -> Encode:
    with _offline():
        library: Any = import_extra("sentence_transformers", "sentence-transformers")
        try:
            encode = partial(library.SentenceTransformer(str(folder)).encode, show_progress_bar=False)
            return lambda texts: encode(texts, batch_size=len(texts), convert_to_numpy=True)
        except Exception as error:  # of torch, transformers or the model's own files
            why = " ".join(str(error).split())[:200]
            raise InputError(f"{folder.name} must be a model that sentence-transformers can load ({why}).") from error


def _online() -> bool:
    """Return whether the user has allowed downloads by setting ``HF_HUB_OFFLINE=0``."""
    return os.environ.get("HF_HUB_OFFLINE", "1").lower() in ("0", "false", "no", "off")


@contextmanager
def _offline() -> Any:
    """Keep the libraries of Hugging Face from the network inside the block; they read these at import.

    One thread at a time: of two, the second would take the setting of the first for the user's, and leave it.
    """
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
    with _ENVIRONMENT:
        before = {name: os.environ.get(name) for name in names}
        os.environ.update(dict.fromkeys(names, "1"))
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _snapshot(name: str, download: bool) -> Path:
    """Return the folder of a model by name: on this machine, or downloaded if that is allowed."""
    whole = name if "/" in name else f"sentence-transformers/{name}"
    hub: Any = import_extra("huggingface_hub", "sentence-transformers")
    try:
        return Path(hub.snapshot_download(whole, local_files_only=not download))
    except Exception as error:  # many kinds, and other ones from version to version
        missing = "it is not on this machine, and Grampus downloads nothing by itself"
        way = "it could not be downloaded" if download else missing
        raise InputError(
            f"embed must be a folder or a model on this machine; {way} ({whole}). Download it first, name its folder, "
            "or set HF_HUB_OFFLINE=0."
        ) from error
