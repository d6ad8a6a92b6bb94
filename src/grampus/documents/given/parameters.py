"""The parameters of a DocumentClusterer as plain values in a run, and back."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..._check import check_integer
from ..._random import seed_words
from ...kernels import parse_kernel
from ...persist import Run
from ...text.embed.model import MEANING
from ..find.method import Method
from ..find.methods import restore_method
from ..tell.naming import PLACE
from .effort import Effort
from .inputs import Inputs


def plain_values(given: Mapping[str, Any], method: Method, effort: Effort, seed: int, inputs: Inputs) -> dict[str, Any]:
    """Return parameters as JSON values; the vectorizer is saved with the model.

    Parameters
    ----------
    given : dict
        What ``get_params`` returns.
    method, effort, seed
        As they were checked.
    inputs : Inputs
    """
    k, outliers = given["n_clusters"], given["outliers"]
    return {
        "n_clusters": np.asarray(k).tolist(),
        "kernel": str(parse_kernel(given["kernel"])),
        "method": method.options(),
        "inputs": {name: maker.record() for name, maker in inputs.makers.items()},
        "outliers": np.asarray(outliers).tolist(),
        "level": given["level"],
        "effort": {name: list(value) if isinstance(value, tuple) else value for name, value in vars(effort).items()},
        "random_state": seed,
    }


def restored(run: Run) -> tuple[dict[str, Any] | None, bool, dict[str, Any]]:
    """Return the vectorizer's parameters of a run, whether it was polished, and the other parameters."""
    given = dict(run.provenance.parameters)
    for name in (PLACE, "guide"):  # names that were asked for, and what the clustering was told
        given.pop(name, None)
    words, effort, method = given.pop("terms"), dict(given.pop("effort")), dict(given.pop("method"))
    given.setdefault("level", effort.pop("level", "middle"))  # a part of the effort up to 0.2
    polished = bool(effort["polish"]) and method["name"] == "kernel-kmeans" and method.get("rule") != "cosine"
    made = given.pop("inputs", {}).get("embedding", {})  # since 0.2; a function has no name to find it by
    given["embed"] = {"function": None, "meaning": MEANING}.get(made.get("kind"), made.get("name"))
    return words, polished, given | {"effort": Effort(**effort), "method": restore_method(method)}


def check_seed(random_state: Any) -> int:
    """Return a seed that can be saved with the run."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return check_integer(random_state, "random_state", low=0, high=2**32 - 1)
    return seed_words(random_state, 1)[0]
