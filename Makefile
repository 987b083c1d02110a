# Each target sets up what it needs: .venv is built once from the lock file, and anew when the lock file changes.
# Usage: make reproduce [CONFIG=mine.yaml] [CORES=2]

PYTHON ?= python3
CORES ?= 2
CONFIG ?=
MINUTES ?= 60
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
BROWSER := $(VENV)/browser
PEERS := .venv-peers
AUDIT := $(VENV)/audit/ready
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser)
SNAKEMAKE = $(BIN)/snakemake --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG))

.DEFAULT_GOAL := help
.PHONY: help demo reproduce test test-faults fuzz test-report test-wheel test-slurm lint audit format docs docs-outputs seed-spread publish bench bench-scale lock clean

help:  ## say what there is
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(READY): envs/requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "error: $(PYTHON) is older than 3.11; say which to use: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "setting up $(VENV) from envs/requirements.lock (once; one or two minutes)"
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.lock
	@touch $@

demo: $(READY)  ## the running example, the paper from its published ranks, and MovieLens 100K: no download site needed
	$(BIN)/snakemake --cores $(CORES) --configfile examples/demo.yaml
	@echo "the report is results/report.html"

reproduce: $(READY)  ## the whole study, from the archive to results/report.html
	$(SNAKEMAKE)
	@echo "the report is results/report.html"

test: $(READY)  ## all tests
	$(BIN)/pytest

test-faults: $(READY)  ## every fault, the slow ones too, and docs/reliability.md from what came of them
	$(BIN)/pytest tests/faults -m 'slow or not slow' --reliability docs/reliability

fuzz: $(READY)  ## any input to every parser, for so long, and docs/reliability.md from what came of it: MINUTES=60
	$(BIN)/pytest tests/faults/test_fuzz.py --minutes $(MINUTES) --reliability docs/reliability

test-report: $(READY)  ## the report, and the docs if they are built, in headless Chromium (Debian: apt-get install chromium)
ifeq ($(CHROMIUM),)
	@echo "make test-report: skipped, there is no chromium here (Debian: apt-get install chromium)"
else
	@test -f results/report.html || $(MAKE) --no-print-directory demo
	@$(MAKE) --no-print-directory $(BROWSER)
	CHROMIUM=$(CHROMIUM) $(BIN)/pytest -rs tests/browser
endif

$(BROWSER): $(READY) envs/browser.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/browser.lock
	@touch $@

test-wheel: $(READY)  ## build the wheel, and use it in an empty environment of every Python that is here
	$(BIN)/python tests/packaging/wheel.py

# the plugin beside what .venv has, in the same versions of all that both need
$(VENV)/slurm: envs/slurm.lock $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/slurm.lock
	@touch $@

test-slurm: $(VENV)/slurm  ## the study on a real Slurm of one node on this machine (skipped where there can be none)
	SLURM_TEST=1 $(BIN)/pytest tests/slurm -vv -s -rs

lint: $(READY)  ## ruff, mypy, snakefmt, snakemake --lint, and an audit of the dependencies where there is a network
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/snakemake --lint
	@$(MAKE) --no-print-directory $(AUDIT) || echo "pip-audit cannot be installed"
	$(BIN)/python .ci/audit.py --or-say

$(AUDIT): $(READY) envs/audit.lock
	@rm -rf $(dir $@) && $(BIN)/python -m venv $(dir $@)
	@$(dir $@)bin/pip install --quiet --disable-pip-version-check --require-hashes -r envs/audit.lock
	@touch $@

audit: $(AUDIT)  ## known vulnerabilities of what the lock files name; fails where nobody can be asked
	$(BIN)/python .ci/audit.py

format: $(READY)  ## bring the code into its format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

docs: $(READY)  ## the documentation, docs/_build/html/index.html; a warning is an error
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "the documentation is docs/_build/html/index.html"

docs-outputs: $(READY)  ## what the code blocks of the documentation print, into its pages
	PYTHONPATH=src $(BIN)/python tests/docs_blocks.py

seed-spread: $(READY)  ## docs/seed-spread.csv: recommender X from many random starts (two minutes)
	$(BIN)/snakemake results/ml-1m/seed-spread.csv --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG))
	cp results/ml-1m/seed-spread.csv docs/seed-spread.csv

publish: reproduce  ## docs/reproduction/ and the tables in README.md, from the results
	$(BIN)/python docs/publish.py

# other tools, in an environment of their own: RecBole needs numpy < 2 (several GB, for its torch)
$(PEERS)/ready: envs/peers.lock
	@echo "setting up $(PEERS) from envs/peers.lock (once; a few minutes)"
	@rm -rf $(PEERS) && $(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/pip install --quiet --disable-pip-version-check --require-hashes -r envs/peers.lock
	@touch $@

bench: reproduce $(PEERS)/ready  ## ranking beside other tools and the limit, as it grows, and the study by rule: docs/reproduction/
	$(BIN)/python benchmarks/ranking.py --peers $(PEERS)/bin/python --output docs/reproduction/ranking.md
	OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/growth.py --output docs/reproduction/growth
	$(BIN)/python benchmarks/study.py --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG)) --output docs/reproduction/time.md

bench-scale: $(READY)  ## the study at the shape of MovieLens 32M, on synthetic events (a quarter of an hour or more): docs/reproduction/scale.md
	$(BIN)/python benchmarks/scale.py --cores $(CORES) --output docs/reproduction/scale.md

COMPILE = uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock:  ## envs/*.lock anew, from pyproject.toml and envs/*.in (needs uv)
	$(COMPILE) --fork-strategy fewest --all-extras pyproject.toml -o envs/requirements.lock
	$(COMPILE) envs/browser.in -o envs/browser.lock
	$(COMPILE) --constraint envs/requirements.lock envs/slurm.in -o envs/slurm.lock
	$(COMPILE) envs/peers.in -o envs/peers.lock
	$(COMPILE) envs/audit.in -o envs/audit.lock

clean:  ## remove results, downloads and environments
	rm -rf results/* data .snakemake $(VENV) $(PEERS)
	git checkout --quiet -- results 2>/dev/null || true
