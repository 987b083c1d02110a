# Each target sets up what it needs: .venv is built once from the lock file, and anew when the lock file changes.
# Usage: make reproduce [CONFIG=mine.yaml] [CORES=2]

PYTHON ?= python3
CORES ?= 2
CONFIG ?=
MINUTES ?= 60
NUMBER ?= 50
SEED ?= 0
BASE ?= origin/main
VENV := .venv
BIN := $(VENV)/bin
LOCKED := $(VENV)/locked
READY := $(VENV)/ready
BROWSER := $(VENV)/browser
PEERS := .venv-peers
ADAPTERS := .venv-adapters
LOWEST := .venv-lowest
AUDIT := $(VENV)/audit/ready
CHROMIUM ?= $(shell command -v chromium || command -v chromium-browser || command -v google-chrome)
# jobs say themselves what they do
SNAKEMAKE = $(BIN)/snakemake --quiet host rules progress --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG))

.DEFAULT_GOAL := help
.PHONY: help demo reproduce report test test-all test-rooms mutants same-numbers test-kernels test-lowest tested-lowest test-faults fuzz test-report test-wheel test-adapters test-slurm lint audit format docs docs-outputs evidence publish bench lock clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

$(LOCKED): envs/requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	    { echo "error: $(PYTHON) is older than 3.11; say which to use: make PYTHON=python3.12 ..." >&2; exit 1; }
	@echo "setting up $(VENV) from envs/requirements.lock (once; one or two minutes)"
	@rm -rf $(VENV) && $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/requirements.lock
	@touch $@

# the project itself, which the workflow imports; an edit of src/ needs no other installation
$(READY): $(LOCKED) pyproject.toml
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)  ## run the study on published ranks and MovieLens 100K; needs no download site
	$(BIN)/snakemake --quiet host rules progress --cores $(CORES) --configfile examples/demo.yaml
	@echo "begin with results/summary.html"

reproduce: $(READY)  ## run the whole study, from the archive to results/summary.html
	$(SNAKEMAKE)
	@echo "begin with results/summary.html; make report puts all results into one file"

report: reproduce  ## put all results of the study into one file, results/report.html
	$(SNAKEMAKE) --report results/report.html

# in the order of tests/conftest.py
PYTEST = $(BIN)/pytest -n $(CORES) --dist worksteal
SLOW = -m 'slow or not slow' --hypothesis-profile thorough

# the tests of the core and of the base run in a copy that has no other package
test: $(READY)  ## the tests: about two and a half minutes on two cores
	$(PYTEST) --ignore tests/core --ignore tests/base
	$(BIN)/python tests/rooms.py --core-alone

test-rooms: $(READY)  ## take away each package of the library in a copy and run the other tests
	$(BIN)/python tests/rooms.py

mutants: $(READY)  ## change one thing in the numeric code at a time, NUMBER=50 chosen by SEED=0, and see which ones the tests notice
	$(BIN)/python tests/mutants.py --number $(NUMBER) --seed $(SEED)

same-numbers: $(READY)  ## compare the numbers of many evaluations with those of the commit BASE=origin/main
	$(BIN)/python tests/same_numbers.py $(BASE)

test-kernels: $(READY)  ## the tests of core, ranking and stages under two other kernels of OpenBLAS
	$(BIN)/python tests/kernels.py -n $(CORES) --dist worksteal tests/core tests/ranking tests/stages
	$(BIN)/pytest -rs -m slow tests/whole/test_kernels.py

test-all: $(READY)  ## all tests, the slow ones too, before a release: about 50 minutes
	$(PYTEST) $(SLOW)
	$(BIN)/python tests/rooms.py --core-alone
	$(BIN)/python tests/rooms.py

test-faults: $(READY)  ## the tests of faults, the slow ones too
	$(PYTEST) tests/faults $(SLOW)

fuzz: $(READY)  ## feed random input to every parser for MINUTES=60
	$(BIN)/pytest tests/faults/test_fuzz.py --minutes $(MINUTES)

test-report: $(READY)  ## test the report, and the docs if they are built, in headless Chromium
ifeq ($(CHROMIUM),)
	@echo "make test-report: skipped, there is no chromium here (Debian: apt-get install chromium)"
else
	@test -f results/report.html || $(MAKE) --no-print-directory report CONFIG=examples/demo.yaml
	@$(MAKE) --no-print-directory $(BROWSER)
	CHROMIUM=$(CHROMIUM) $(BIN)/pytest -rs tests/browser
endif

$(BROWSER): $(READY) envs/browser.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/browser.lock
	@touch $@

test-wheel: $(READY)  ## build the wheel and try it in a new environment of every installed Python
	$(BIN)/python tests/packaging/wheel.py

# other libraries, in environments of their own (several GB each, for their torch): RecBole needs numpy < 2
.venv-%/ready: envs/%.lock
	@echo "setting up .venv-$* from $< (once; a few minutes)"
	@rm -rf .venv-$* && $(PYTHON) -m venv .venv-$*
	@.venv-$*/bin/pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

test-adapters: $(PEERS)/ready $(ADAPTERS)/ready  ## compare the adapters with the other libraries; needs Python 3.11 or 3.12
	for each in $(PEERS) $(ADAPTERS); do OMP_NUM_THREADS=1 $$each/bin/python -m pytest --confcutdir tests/adapters -rs tests/adapters || exit 1; done

# with Python 3.11, for which all lowest versions have wheels; they use what newer packages below them deprecate
OLD = -W ignore::DeprecationWarning
$(LOWEST)/ready: PYTHON = python3.11
test-lowest:  ## tests with the lowest version of each dependency; skipped without Python 3.11
	@if python3.11 -c ''; then $(MAKE) --no-print-directory tested-lowest; \
	else echo "make test-lowest: skipped, there is no python3.11 here"; fi

tested-lowest: $(LOWEST)/ready
	@$(LOWEST)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	$(LOWEST)/bin/python -m pytest -n $(CORES) --dist worksteal $(OLD) tests/base tests/core/data tests/core/ranks tests/core/sampling tests/ranking tests/lists tests/cli

# the plugin beside what .venv has, in the same versions of all that both need
$(VENV)/slurm: envs/slurm.lock $(READY)
	@$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes -r envs/slurm.lock
	@touch $@

test-slurm: $(VENV)/slurm  ## run the study on a Slurm cluster of one node on this machine
	SLURM_TEST=1 $(BIN)/pytest tests/slurm -vv -s -rs

lint: $(READY)  ## run ruff, mypy, snakefmt and snakemake --lint, print sizes, and audit the dependencies if online
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo --no-cache
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/python .ci/lint_workflow.py
	$(BIN)/python .ci/text.py
	$(BIN)/python .ci/sizes.py
	@$(MAKE) --no-print-directory $(AUDIT) || echo "pip-audit cannot be installed"
	$(BIN)/python .ci/audit.py --or-say

$(AUDIT): $(READY) envs/audit.lock
	@rm -rf $(dir $@) && $(BIN)/python -m venv $(dir $@)
	@$(dir $@)bin/pip install --quiet --disable-pip-version-check --require-hashes -r envs/audit.lock
	@touch $@

audit: $(AUDIT)  ## look up known vulnerabilities of the locked dependencies; fails offline
	$(BIN)/python .ci/audit.py

format: $(READY)  ## format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/snakefmt Snakefile workflow

docs: $(READY)  ## build the documentation, docs/_build/html/index.html; a warning is an error
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "the documentation is docs/_build/html/index.html"

docs-outputs: $(READY)  ## run the code blocks of the documentation and write their output into its pages
	$(BIN)/python tests/docs_blocks.py
	$(BIN)/python docs/notebook.py
	$(BIN)/python docs/reference.py
	$(BIN)/python docs/architecture.py
	$(BIN)/python tests/frozen_sentences.py

evidence: $(READY)  ## make the numbers and the figure of the page on evidence again; some 25 minutes of CPU time
	$(BIN)/python docs/evidence.py printed
	$(BIN)/python docs/evidence.py ranks
	$(BIN)/python docs/evidence.py page

publish: reproduce  ## copy the figures of a run to the pages that show them
	$(BIN)/python docs/publish.py

bench: reproduce $(PEERS)/ready  ## measure ranking and the study; writes results/bench/ and the table of docs/how-to/large.md
	$(BIN)/python benchmarks/ranking.py --peers $(PEERS)/bin/python --output results/bench/ranking
	$(BIN)/python benchmarks/large.py --peers $(PEERS)/bin/python
	$(BIN)/python benchmarks/study.py --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG)) --output results/bench/time.md


COMPILE = uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header
lock:  ## renew envs/*.lock from pyproject.toml and envs/*.in (needs uv)
	$(COMPILE) --fork-strategy fewest --all-extras --group docs --group dev pyproject.toml -o envs/requirements.lock
	$(COMPILE) envs/browser.in -o envs/browser.lock
	$(COMPILE) --constraint envs/requirements.lock envs/slurm.in -o envs/slurm.lock
	echo 'numpy<2' | $(COMPILE) --override /dev/stdin envs/peers.in -o envs/peers.lock
	$(COMPILE) envs/adapters.in -o envs/adapters.lock
	$(COMPILE) envs/audit.in -o envs/audit.lock
	$(COMPILE) envs/build.in -o envs/build.lock
	$(COMPILE) --resolution lowest-direct --all-extras pyproject.toml envs/lowest.in -o envs/lowest.lock

clean:  ## remove results, downloads and environments
	rm -rf results/* data .snakemake $(VENV) $(PEERS) $(ADAPTERS) $(LOWEST)
	git checkout --quiet -- results 2>/dev/null || true
