"""Modules that are loaded when they are used, and modules that others do without."""

import subprocess
import sys

# A package of the test's own: what a module of Python's loads, another tool in the process may have loaded before.
ZOO = {
    "__init__.py": "",
    "sea/__init__.py": "from . import depth\nfish = 'cod'",
    "sea/depth.py": "",
    "sea/reef.py": "from . import coral\nsponge = 'yellow'",
    "sea/coral.py": "",
}
STAND_IN = """
import sys
sys.path.insert(0, sys.argv[1])
from grampus._later import load_later
load_later("zoo.sea", "zoo.sea.reef")
import zoo.sea as sea
import zoo
print("zoo.sea.depth" in sys.modules, zoo.sea is sea, hasattr(sea, "__wrapped__"))
print(sea.fish, "zoo.sea.depth" in sys.modules, "zoo.sea.coral" in sys.modules)
from zoo.sea.reef import sponge
print(sponge, zoo.sea is sys.modules["zoo.sea"] is not sea)
"""
COMMAND = """
import sys
from grampus.cli import main
try:
    main()
finally:
    wanted = {"scipy.stats._stats_py", "numpy.f2py.f2py2e", "asyncio.events", "pandas.core", "_ssl"}
    print(sorted(wanted & set(sys.modules)))
"""
HIDDEN = """
import json
from grampus._later import hidden
with hidden("colorsys", "json"):
    try:
        import colorsys
    except ImportError:
        print("colorsys is missing")
    import json  # loaded before
    print(json.loads("1"))
import colorsys
print(colorsys.rgb_to_hsv(0, 0, 0))
"""


def printed(program, *words):
    return subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True).stdout


def test_a_module_is_loaded_with_its_first_use_and_takes_the_place_of_its_stand_in(tmp_path):
    (tmp_path / "zoo" / "sea").mkdir(parents=True)
    for name, text in ZOO.items():
        (tmp_path / "zoo" / name).write_text(text, encoding="utf-8")
    assert printed(STAND_IN, str(tmp_path)).splitlines() == ["False True False", "cod True False", "yellow True"]


def test_the_command_does_without_what_it_hardly_uses(tmp_path):
    texts = tmp_path / "texts.txt"
    texts.write_text("\n".join(f"whale song {n}\nbird nest {n}" for n in range(20)), encoding="utf-8")
    assert printed(COMMAND, "cluster", str(texts), "-k", "2", "-q").splitlines()[-1] == "[]"


def test_what_is_hidden_is_missing_inside_the_block_alone():
    assert printed(HIDDEN).splitlines() == ["colorsys is missing", "1", "(0.0, 0.0, 0)"]
