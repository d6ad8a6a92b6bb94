"""Random numbers: the only place that reads ``random_state``."""

from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from ._check import check_integer
from .errors import InputError

Source: TypeAlias = "np.random.RandomState | np.random.Generator"


def random_source(random_state: Any) -> Source:
    """Return the source that a ``random_state`` names; passing it on continues its stream.

    As in scikit-learn, None is NumPy's global state and an int starts a new stream. A Generator is accepted, too.
    """
    from sklearn.utils import check_random_state

    if isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, Integral):
        random_state = check_integer(int(random_state), "random_state", low=0, high=2**32 - 1)
    try:
        return check_random_state(random_state)
    except ValueError:
        kinds = "an int, a numpy RandomState or Generator, or None"
        raise InputError(f"random_state must be {kinds}; got {random_state!r}.") from None


def seed_words(random_state: Any, count: int = 4) -> list[int]:
    """Draw the integers that seed everything random in one call; the same ones for the same int.

    Examples
    --------
    >>> from grampus._random import seed_words
    >>> seed_words(0) == seed_words(0) != seed_words(1)
    True
    """
    source = random_source(random_state)
    draw = source.integers if isinstance(source, np.random.Generator) else source.randint
    return [int(word) for word in draw(0, 2**31 - 1, size=count)]


def generator(random_state: Any) -> np.random.Generator:
    """Return a generator seeded by a ``random_state``."""
    return np.random.default_rng(seed_words(random_state))


def generators(random_state: Any, count: int) -> list[np.random.Generator]:
    """Return independent generators; the first ones do not depend on how many there are."""
    return [np.random.default_rng(seed) for seed in np.random.SeedSequence(seed_words(random_state)).spawn(count)]
