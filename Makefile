# Everything runs in .venv, which each target sets up as far as it needs: pip and venv, nothing else.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# modules are compiled once, and not by every process that a test starts
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-python check lint docs format bench quality reproduce clean help

help:
	@echo "make demo    audit the example data, and draw the report"
	@echo "make test    run all tests"
	@echo "make test-python PYTHON=python3.12  run tests on the installed wheel, in a new environment of that version"
	@echo "make check   lint, types, import rules, docs"
	@echo "make lint    the same without the tests of the docs, which are in make test too"
	@echo "make docs    build the site into site/"
	@echo "make bench   measure speed and recovery again, and regenerate the docs pages from the results"
	@echo "make quality compare with the peers on the same wrong labels (hours; continues where it stopped)"
	@echo "make reproduce  repeat the paper's experiments (hours; continues where it stopped)"
	@echo "make format  format the code"
	@echo "make clean   remove what the other targets made"

demo: $(VENV)/.cli
	$(BIN)/python examples/demo.py

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile --no-loadscope-reorder

test-python:
	tools/test_python.sh $(PYTHON)

check: lint
	$(BIN)/python -m pytest tests/test_docs.py tests/test_site.py -k "not code_runs"  # what takes long runs in make test

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

format: $(VENV)/.dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.dev
	$(BIN)/noisybayes bench speed
	$(BIN)/noisybayes bench recovery

quality: $(VENV)/.dev
	$(BIN)/noisybayes bench quality --datasets all --methods all --seeds 5

reproduce: $(VENV)/.dev
	for name in table1 table2 roc impact newsgroups livestream; do \
	  $(BIN)/noisybayes reproduce $$name --methods bayes || exit 1; done
	@if $(BIN)/python -c 'import torch' 2>/dev/null; then \
	  for name in table1 table2 roc livestream newsgroups; do \
	    $(BIN)/noisybayes reproduce $$name --methods neural --reps 10 || exit 1; done; \
	else echo "the neural methods are left out: torch is not installed (pip install '.[neural]')"; fi

clean:
	rm -rf $(VENV) site demo-audit .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "noisybayes needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
