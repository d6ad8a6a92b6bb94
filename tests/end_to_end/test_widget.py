"""The widget of a notebook in a browser: what is selected on the map comes back as row numbers, and the other way."""

import json

import pytest

from grampus.notebook import widget as module
from tests.pages import example_run

# A notebook as far as a widget sees it: a model with get, set, on and save_changes.
NOTEBOOK = """<!doctype html><meta charset=utf-8><body><div id=cell></div>
<script id=state type=application/json>STATE</script><script type=module>
const state = JSON.parse(document.getElementById('state').textContent);
const heard = [];
window.saved = [];
window.model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; for (const one of heard) one(); },
  on: (name, action) => heard.push(action),
  off: () => {},
  save_changes: () => window.saved.push([...state.selection]),
};
ESM
widget.render({ model: window.model, el: document.getElementById('cell') });
</script>"""


def test_the_selection_comes_back_as_rows(chrome, tmp_path):
    pytest.importorskip("anywidget")
    run = example_run()
    made = module.map_widget(run, 600)
    state = json.dumps({"page": made.page, "height": 600, "selection": []}).replace("<", "\\u003c")
    script = module._asset("widget.js").replace("export default", "const widget =")
    (tmp_path / "cell.html").write_text(NOTEBOOK.replace("ESM", script).replace("STATE", state))
    chrome.size(1000, 700)
    chrome.open(tmp_path / "cell.html")
    chrome.until("!!document.querySelector('iframe')")
    chrome.until("window.saved.length > 0 || (window.model.set('selection', [3, 5, 8]), false)", 20)
    assert chrome.run("window.saved.at(-1)") == [3, 5, 8]  # the frame shows them, and says so
    chrome.click("iframe")
    chrome.key("Enter")  # selects what is in view
    chrome.until("window.saved.at(-1).length > 3", 10)
    chrome.run("window.model.set('selection', []), 1")
    chrome.until("window.saved.at(-1).length === 0", 10)
    assert chrome.problems == []
