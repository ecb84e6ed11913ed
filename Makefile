# Everything runs in .venv, which each target sets up as needed, with pip and venv only.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# compile modules once, not in every process that a test starts
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-python check lint gate house docs format bench quality reproduce clean help

help:
	@echo "make demo    audit the example data and write the report"
	@echo "make test    run all tests"
	@echo "make test-python PYTHON=python3.12  test the installed wheel in a new environment with that Python version"
	@echo "make check   lint, types, import rules, docs"
	@echo "make lint    the same without the tests of the docs"
	@echo "make gate    does the audit still give what it gave? AP, accuracy, corrections, seconds against stored rows"
	@echo "make house   lines, modules, constants, options, the walk of one row, words: counted"
	@echo "make docs    build the site into site/"
	@echo "make bench   measure speed and recovery, and regenerate the pages"
	@echo "make quality compare with other packages (hours; can be interrupted)"
	@echo "make reproduce  repeat the paper's experiments (hours; can be interrupted)"
	@echo "make format  format the code"
	@echo "make clean   remove everything the other targets created"

demo: $(VENV)/.cli
	$(BIN)/python examples/demo.py

# The workers occupy all cores: threads of OpenMP and BLAS would only spin while they wait for each other.
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: $(VENV)/.dev
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-python:
	tools/test_python.sh $(PYTHON)

check: lint
	$(BIN)/python -m pytest tests/test_docs.py tests/test_site.py -k "not code_runs"  # the slow ones run in make test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/hadolint Dockerfile

gate: $(VENV)/.dev
	$(BIN)/python -m benchmarks.gate

house: $(VENV)/.dev
	$(BIN)/python -m benchmarks.house

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks speed
	$(BIN)/python -m benchmarks recovery

quality: $(VENV)/.dev
	$(BIN)/python -m benchmarks quality

reproduce: $(VENV)/.dev $(VENV)/.paper
	for name in table1 table2 matrices starts roc impact newsgroups by-date livestream published; do \
	  $(BIN)/python -m paper $$name || exit 1; done
	$(BIN)/python -m paper page

clean:
	rm -rf $(VENV) site demo-audit .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "noisybayes needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
