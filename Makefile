# Every command of the project. `make` lists them. Needs Python >= 3.11 (with venv and pip), git and make; nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
STAMP  := $(VENV)/.installed
# Two OpenBLAS threads can be far slower than one on small machines; the library limits them itself,
# the tools around it are held to the same rule.
export OPENBLAS_NUM_THREADS ?= 1
# Processes that share the tests.
JOBS   ?= 2

.PHONY: help setup demo test test-all browser check pictures format test-lowest wheel-test lab docs quickstart lock clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(STAMP)  ## create .venv with the pinned development tools and Grampus itself

$(STAMP): requirements/dev.lock pyproject.toml native/CMakeLists.txt $(wildcard src/grampus/_native/*.?pp)
	@echo "Setting up $(VENV) with the pinned tools and compiling the loops; the first time this takes two or three minutes."
	$(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --require-hashes -r requirements/dev.lock
	CXX=$$(sh native/compiler.sh $(PY)) PATH="$(abspath $(BIN)):$$PATH" $(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP)  ## the main job: cluster texts about countries; levels, names, and a page (demo.html)
	$(BIN)/grampus demo --report demo.html

test: $(STAMP)  ## units, contracts, properties, references and docstrings, in parallel; under five minutes
	$(PY) -m pytest -n $(JOBS) -m "not slow" $(PYTEST_ARGS) tests/unit tests/contract tests/property tests/reference src/grampus

test-all: $(STAMP)  ## the rest: slow tests, commands and pages end to end, every code block of the documentation
	$(PY) -m pytest -n $(JOBS) -m slow $(PYTEST_ARGS) tests/unit tests/property tests/reference
	$(PY) -m pytest -n $(JOBS) $(PYTEST_ARGS) tests/end_to_end docs README.md

browser: $(STAMP)  ## what tests of the report need: Debian's chromium (as root) and axe-core
	command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation > /dev/null; }
	$(PY) -m tests.axe

check: $(STAMP)  ## lint, format, types, spelling, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell src docs lab README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CITATION.cff
	$(PY) -m pytest -q tests/contract/test_layers.py

format: $(STAMP)  ## rewrite the sources in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-lowest:  ## the tests against the lowest supported versions of the dependencies
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet -r requirements/lowest.txt
	PATH="$(CURDIR)/.venv-lowest/bin:$$PATH" .venv-lowest/bin/python -m pip install --quiet --no-deps --no-build-isolation .
	.venv-lowest/bin/python -m pytest -q -n $(JOBS) -p no:cacheprovider $(PYTEST_ARGS) -m "not slow" tests/unit tests/contract tests/property src/grampus

wheel-test: $(STAMP)  ## build the wheel, install it into an empty environment, run its demo
	rm -rf dist .venv-wheel
	$(PY) -m build --no-isolation --wheel --outdir dist . > /dev/null
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/python -m pip install --quiet dist/*.whl
	.venv-wheel/bin/python -m pip list --format=freeze
	cd dist && ../.venv-wheel/bin/grampus demo

lab: $(STAMP)  ## measure: promises, speed, quality, papers (ARGS="speed --quick"; resumable; --save keeps the results)
	$(PY) -m lab $(ARGS)

docs: $(STAMP)  ## build the site into docs/_build/html; a warning is an error
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html

quickstart: $(STAMP)  ## follow docs/quickstart.md word for word in an empty environment
	$(PY) -m docs.follow $(ARGS)

pictures: $(STAMP)  ## draw the pictures of the guide anew
	$(PY) docs/pictures/make.py

lock:  ## pin the development tools anew (needs uv: `pip install uv`)
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links \
	  --no-header --extra parquet --extra duckdb --extra plots pyproject.toml requirements/dev.in -o requirements/dev.lock

clean:  ## remove everything that was made
	rm -rf .venv .venv-* .axe dist build demo.html docs/_build docs/api/generated .lab .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf native/CMake[CFI][ai]* native/build.ninja native/*.cmake native/*.a native/.[a-z]* src/grampus/_native/*.so
