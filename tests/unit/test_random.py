"""How random_state is read: one rule, and the streams that results depend on."""

import numpy as np
import pytest

import grampus
from grampus._random import generator, generators, random_source, seed_words
from grampus.cluster import bisecting_kernel_kmeans, kernel_kmeans
from grampus.errors import InputError
from grampus.gram import LinearGram, nystrom
from grampus.select import Splits, reduce_gram, stability

GRAM = LinearGram(np.random.default_rng(0).random((12, 3)))


def test_streams_are_those_of_numpys_random_state():
    """Saved runs and published labels rest on these numbers."""
    words = np.random.RandomState(7).randint(0, 2**31 - 1, size=4).tolist()
    assert seed_words(7) == seed_words(np.int64(7)) == seed_words(np.random.RandomState(7)) == words
    assert generator(7).random() == np.random.default_rng(words).random()
    spawned = np.random.SeedSequence(words).spawn(3)
    wanted = [np.random.default_rng(seed).random() for seed in spawned]
    assert [rng.random() for rng in generators(7, 3)] == wanted
    assert [rng.random() for rng in generators(7, 2)] == wanted[:2]


def test_one_word_is_one_draw():
    source = np.random.RandomState(7)
    assert [seed_words(source, 1)[0] for _ in range(4)] == seed_words(7)


def test_a_source_is_continued_and_none_is_numpys_own():
    for source in (np.random.RandomState(3), np.random.default_rng(3)):
        assert random_source(source) is source
        assert seed_words(source) != seed_words(source)
    assert seed_words(np.random.default_rng(3)) == seed_words(np.random.default_rng(3))
    assert random_source(None) is random_source(None)  # NumPy keeps one


CALLS = {
    "kernel_kmeans": lambda state: kernel_kmeans(GRAM, 2, random_state=state),
    "bisecting": lambda state: bisecting_kernel_kmeans(GRAM, 2, random_state=state),
    "nystrom": lambda state: nystrom(GRAM, 3, random_state=state),
    "choose_k": lambda state: grampus.choose_k(
        GRAM, kernel=None, ks=[2, 3], splits=Splits(2), null=False, random_state=state
    ),
    "stability": lambda state: stability(GRAM, [0, 1] * 6, splits=Splits(2), random_state=state),
    "reduce_gram": lambda state: reduce_gram(GRAM, 2, seeds="random", random_state=state),
    "DocumentClusterer": lambda state: grampus.DocumentClusterer(2, random_state=state).fit(
        ["blue whale", "grey whale", "bird nest"]
    ),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
@pytest.mark.parametrize(
    ("state", "message"),
    [
        ("seven", "random_state must be an int, a numpy RandomState or Generator, or None; got 'seven'"),
        (0.5, "random_state must be an int, a numpy RandomState or Generator, or None; got 0.5"),
        (-1, "random_state must be between 0 and 4294967295; got -1"),
        (2**32, "random_state must be between 0 and 4294967295; got 4294967296"),
    ],
)
def test_every_function_refuses_the_same_values(call, state, message):
    with pytest.raises(InputError, match=message):
        call(state)


@pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))
def test_every_function_takes_a_generator(call):
    call(np.random.default_rng(0))
