"""The browser that tests of pages share."""

import pytest

from tests.browser import browser as start_browser
from tests.browser import chromium


@pytest.fixture(scope="module")
def chrome():
    if chromium() is None:
        pytest.skip("no Chromium here: the report is not tested in a browser (make browser)")
    with start_browser() as made:
        yield made
