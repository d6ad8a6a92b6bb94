"""The map as a widget of a notebook: the whole page, an empty selection, and a hint where the extra is missing."""

import sys

import pytest

from grampus import DocumentClusterer
from grampus.errors import InputError, MissingExtraError
from grampus.notebook import widget as module
from tests.pages import example_run


@pytest.fixture
def forgotten():
    module._kind.cache_clear()
    yield
    module._kind.cache_clear()


def test_without_anywidget_there_is_one_line(monkeypatch, forgotten):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'grampus\[notebook\]'"):
        module.map_widget(example_run())


def test_the_page_is_whole_and_the_selection_empty():
    pytest.importorskip("anywidget")
    model = DocumentClusterer(2).fit(["whale song", "whales sing", "bird nest", "nests of birds"])
    made = model.widget(height=500)
    assert (made.selection, made.height) == ([], 500)
    assert "connect-src" not in made.page
    assert "default-src 'none'" in made.page
    made.selection = [1, 3]
    assert {"page", "height", "selection"} <= set(made.get_state())
    with pytest.raises(InputError, match="height must be between 200 and 4000"):
        model.widget(height=3)
