"""The quickstart: what the page tells to type works, and shows what the page shows. Here in the present environment;
`python -m docs.follow` and the acceptance line 10.quickstart do it in an empty one."""

import pytest

from docs.follow import EXTRAS, INSTALL, PAGE, ROOT, Step, first_steps, follow, script_of, steps_of, written
from docs.samples import write_samples

TEXT = """# A page

```console
$ python3 -m venv there
$ pip install "grampus[files,meaning]"
```

```python
# hello.py
print("hello")
```

```console
$ python hello.py
hello
$ echo "<html>" > page.html
```
"""


def test_the_page_works_and_shows_what_comes():
    followed = follow(PAGE.read_text(encoding="utf-8"), here=True)
    assert followed.failed == ()
    assert followed.other == ()
    assert set(followed.reports) == {"report.html", "seven.html"}
    assert min(followed.reports.values()) > 100_000


@pytest.mark.slow
def test_the_readme_works_in_an_empty_environment(tmp_path):
    write_samples(tmp_path)
    followed = follow(first_steps((ROOT / "README.md").read_text(encoding="utf-8"), tmp_path / "papers"))
    assert followed.failed == ()
    assert set(followed.reports) == {"demo.html", "papers.html"}


def test_the_readme_installs_what_the_checkout_holds():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    commands = [step.text for step in steps_of(first_steps(readme, PAGE))]
    assert f'$ pip install ".{EXTRAS}"' in readme  # works today, in a clone
    assert INSTALL in readme  # and from the index, once it is there
    assert commands[-2:] == ["grampus demo --report demo.html", "grampus cluster papers/ --report papers.html"]


def test_the_page_begins_with_an_empty_environment():
    commands = [step.text for step in steps_of(PAGE.read_text(encoding="utf-8")) if not step.file]
    assert commands.index(INSTALL) == 2
    assert commands[0].startswith("python3 -m venv ")


def test_steps_are_commands_with_what_they_show_and_files():
    assert steps_of(TEXT) == [
        Step("python3 -m venv there"),
        Step(INSTALL),
        Step('# hello.py\nprint("hello")\n', file="hello.py"),
        Step("python hello.py", "hello"),
        Step('echo "<html>" > page.html'),
    ]
    with pytest.raises(ValueError, match="name of its file"):
        steps_of("```python\nprint(1)\n```")


def test_only_the_installation_is_replaced():
    script = script_of(steps_of(TEXT), "out", "guard", "a.whl")
    assert "pip install a.whl" in script
    assert INSTALL not in script
    assert script.index("pip install a.whl") < script.index("export PYTHONPATH=guard") < script.index("hello.py")
    assert "venv there" in script


@pytest.mark.parametrize(
    ("old", "new", "failed"),
    [
        ("hello.py\nhello", "hello.py\ngood day", ()),
        ("$ python hello.py", "$ python other.py", ("`python other.py` failed", "page.html was not written")),
        ('$ echo "<html>" > page.html', "$ rm -f page.html", ("page.html was not written",)),
        ('print("hello")', 'import urllib.request as u; u.urlopen("http://192.0.2.1")', ("`python hello.py` failed",)),
    ],
    ids=["other output", "a command that fails", "no report", "a network"],
)
def test_what_is_wrong_is_found(old, new, failed):
    from importlib.metadata import version

    page = TEXT.replace(old, new) + f"\nSciPy {version('scipy')}"
    assert page.count(new) == 1
    followed = follow(page, here=True)
    assert len(followed.failed) >= len(failed)
    assert all(text.startswith(start) for text, start in zip(followed.failed, failed, strict=False))
    assert followed.other or failed


def test_what_came_is_put_into_the_page():
    page = TEXT.replace("hello.py\nhello", "hello.py\nsomething else")
    assert written(page, follow(page, here=True)) == TEXT
