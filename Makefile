# `make run` lists the URLs of the demo site, `make test` runs all tests; both set up what they need, in .venv here.
#
#   make run SITES=https://docs.apify.com       real sites, separated by commas
#   make run ARGS="-a maxUrls=5"                further spider arguments
#   make test TESTS=tests/jobs                  some of the tests
#   make monitor                                the demo site on two days, and what changed
#   make bench                                  speed and memory, beside other tools; ten minutes to an hour
#   make lint                                   ruff and mypy
#   make fuzz FUZZ_SECONDS=600                  coverage-guided fuzzing of what reads foreign bytes

PYTHON ?= python3
SITES ?=
ARGS ?=
TESTS ?=
FUZZ_SECONDS ?= 600

VENV := .venv
PY := $(VENV)/bin/python
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
RUNTIME := $(VENV)/.runtime-installed
DEVELOPMENT := $(VENV)/.development-installed
NODE_PACKAGES := node_modules/.installed

.PHONY: run monitor test lint fuzz bench format setup browser clean
.DELETE_ON_ERROR:

run: $(RUNTIME)
	@$(PY) -m sitemap_actor.demo run $(if $(SITES),--sites "$(SITES)") $(ARGS)

monitor: $(RUNTIME)
	@$(PY) -m sitemap_actor.demo monitor $(ARGS)

test: setup
	$(PY) -m pytest -n auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder $(TESTS)

lint: $(DEVELOPMENT)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy

# Each harness grows a corpus of its own under build/fuzz from the files of the tests; a crash ends it, and its input is left there.
fuzz: $(DEVELOPMENT)
	$(PIP) atheris==3.0.0
	@for harness in sitemaps robots lastmod; do \
		mkdir -p build/fuzz/$$harness; \
		$(PY) fuzz/$$harness.py -max_total_time=$(FUZZ_SECONDS) -artifact_prefix=build/fuzz/$$harness- \
			build/fuzz/$$harness tests/corpus/$$([ $$harness = robots ] && echo robots || echo sitemaps) || exit 1; \
	done

# Beside other tools, which it installs below build/bench; the tables go to docs/benchmarks.md. See benchmarks/__main__.py.
bench: $(DEVELOPMENT)
	$(PY) -m benchmarks $(ARGS)

format: $(DEVELOPMENT)
	$(PY) -m ruff check --fix .
	$(PY) -m ruff format .

setup: $(DEVELOPMENT) $(NODE_PACKAGES) browser

$(RUNTIME): requirements.txt
	@test -x $(PY) || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Python's venv is missing; on Debian: apt-get install python3-venv" >&2; exit 1; }
	$(PIP) -r requirements.txt
	@touch $@

$(DEVELOPMENT): $(RUNTIME) requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

# Apify's own validators, for tests/actor/test_definition.py. By name, without a lock file: see package.json.
$(NODE_PACKAGES): package.json
	@command -v npm >/dev/null || sh .ci/apt nodejs npm
	npm install --ignore-scripts --no-package-lock --no-audit --no-fund --loglevel=error
	@touch $@

# A browser looks at REPORT.html in tests/page.
browser:
	@! ls tests/page/test_*.py >/dev/null 2>&1 || command -v chromium >/dev/null || sh .ci/apt chromium

clean:
	rm -rf out build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
