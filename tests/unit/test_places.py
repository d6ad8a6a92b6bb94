"""Where documents are drawn, and in which colours."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy.spatial import cKDTree
from sklearn.manifold import trustworthiness

from grampus.report.build import asset
from grampus.report.colours import HUES, INK, SHADES, STAGE, differences, group_marks
from grampus.report.places import Places, places_of


def blobs(n, groups, seed=0, spread=0.4):
    """Documents in dense groups, far from each other."""
    rng = np.random.default_rng(seed)
    middles = 8 * rng.normal(size=(groups, 2))
    labels = np.arange(n) % groups
    return (middles[labels] + spread * rng.normal(size=(n, 2))).astype(np.float32), labels


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ([[0, 0], [4, 2]], [[0, 0.25], [1, 0.75]]),
        ([[3, 3], [3, 3]], [[0.5, 0.5], [0.5, 0.5]]),
        ([[np.nan, np.nan], [np.nan, 1]], [[0.5, 0.5], [0.5, 0.5]]),
        ([[np.inf, 0], [1, 0], [2, 0]], [[0.5, 0.5], [0, 0.5], [1, 0.5]]),
    ],
)
def test_a_few_documents_go_on_a_square(places, expected):
    np.testing.assert_allclose(places_of(np.array(places, dtype=np.float32)).at, expected, atol=1e-4)


@pytest.mark.parametrize(("n", "groups"), [(60, 3), (300, 1), (300, 12), (700, 5)])
@pytest.mark.parametrize("seed", range(3))
def test_documents_of_a_small_pile_can_be_told_apart(n, groups, seed):
    layout, _ = blobs(n, groups, seed)
    layout[: n // 20] = layout[0]  # copies
    at = places_of(layout).at
    assert at.min() >= 0
    assert at.max() <= 1
    extent = np.ptp(at, axis=0)
    pixels = cKDTree(at).query(at, 2)[0][:, 1] * min(877 / extent[0], 590 / extent[1])  # of a page of 1440 × 900
    assert (pixels > 6).mean() >= 0.95
    middle = (np.abs(at - (at.min(axis=0) + at.max(axis=0)) / 2) / extent < 0.5**0.5 / 2).all(axis=1)
    assert middle.mean() <= 0.8
    assert trustworthiness(layout[n // 20 :], at[n // 20 :], n_neighbors=10) > 0.98


@pytest.mark.parametrize("n", [400, 6000])
def test_a_far_islet_is_drawn_in_and_told(n):
    layout, _ = blobs(n, 3, 1)
    layout[:5] = [[300, 300]] + 0.1 * np.arange(10).reshape(5, 2)
    found = places_of(layout)
    rest = np.ptp(found.at[5:], axis=0)
    assert rest.max() > 0.6  # and not a speck in a corner
    ((x, y, times),) = found.islets
    assert times > 5
    assert np.abs(found.at[:5] - [x, y]).max() < 0.15


def test_places_do_not_depend_on_what_was_drawn_before():
    layout, _ = blobs(200, 3)
    first = places_of(layout)
    assert places_of(layout) is first
    places_of(blobs(100, 2)[0])
    np.testing.assert_array_equal(places_of(layout.copy()).at, first.at)


def test_errors_of_rounding_do_not_grow():
    """Another computer may have the last bit otherwise, and must draw the same page."""
    layout, _ = blobs(2000, 4)
    layout = layout.astype(np.float64)
    off = layout * (1 + 4e-16 * np.random.default_rng(1).choice([-1, 1], layout.shape))
    assert (off != layout).any()
    np.testing.assert_allclose(places_of(off).at, places_of(layout).at, rtol=0, atol=1e-14)


def test_the_colours_are_those_of_the_style_sheet():
    found = {
        name: tuple(pair)
        for name, *pair in re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", asset("colours.css"))
    }
    assert tuple(found[f"c{i}"] for i in range(len(HUES))) == HUES
    assert (found["ink"], found["stage"]) == (INK, STAGE)
    assert f"const SHADES = [{', '.join(map(str, SHADES))}];" in asset("palette.js")


# Two groups at least so far apart: neighbours on the map and in the legend, and any two; to the eyes that see it least.
@pytest.mark.parametrize(
    ("groups", "neighbours", "any_two"),
    [
        (2, 0.1, 0.1),
        (8, 0.1, 0.1),
        (14, 0.075, 0.06),
        (20, 0.065, 0.05),
        (24, 0.065, 0),
        (60, 0.065, 0),
        (150, 0.06, 0),
    ],
)
def test_neighbours_have_colours_that_all_eyes_tell_apart(groups, neighbours, any_two):
    layout, labels = blobs(20 * groups, groups, groups)
    places = places_of(layout)
    at, marks = places.at, group_marks(labels, groups, places)
    assert len(set(marks)) >= 0.95 * min(groups, len(HUES) * len(SHADES))  # one that is used twice is far away
    assert groups > len(HUES) or len({hue for hue, _ in marks}) == groups
    middles = np.array([np.median(at[labels == c], axis=0) for c in range(groups)])
    near = cKDTree(middles).query(middles, min(4, groups))[1][:, 1:]
    apart = differences(marks)
    assert min(apart[c, other] for c in range(groups) for other in near[c]) >= neighbours
    assert np.diag(apart, 1).min() >= neighbours
    assert (apart + np.eye(groups)).min() >= any_two


def test_groups_that_mix_on_the_map_have_colours_far_apart():
    """One group lies among five others, wherever its median is."""
    layout, labels = blobs(600, 15, 3)
    at = places_of(layout).at
    among = np.flatnonzero(labels < 5)[::3]
    labels, places = np.append(labels, np.full(len(among), 15)), Places(np.append(at, at[among] + 1e-3, axis=0))
    apart = differences(group_marks(labels, 16, places))
    assert apart[15, :5].min() >= 0.1


def test_gaps_of_a_large_map_are_measured_in_whole_cells(monkeypatch):
    """In fractions of the map, gaps of equal width differ in their last bit, and differently on each processor."""
    given = []
    monkeypatch.setattr("grampus.report.places.cKDTree", lambda points: given.append(points) or cKDTree(points))
    layout, _ = blobs(3000, 12)
    assert np.isfinite(places_of(layout).at).all()
    assert len(given) > 2
    assert all((points == np.rint(points)).all() for points in given)
