# Two commands on a fresh machine with python3: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint types tests docs-check bench clean

demo: $(VENV)/.installed-plot
	$(BIN)/geodim demo --output demo

test: lint types tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

tests: $(VENV)/.installed-dev
	$(BIN)/python -m pytest

# The examples in docstrings and pages, run as they stand.
docs-check: $(VENV)/.installed-dev
	$(BIN)/python -m pytest --doctest-modules --doctest-glob='*.md' --override-ini='doctest_optionflags=ELLIPSIS' src README.md docs

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/engine.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, renewed when the requirements change.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(PIP) --editable '.[$*]'
	touch $@

clean:
	rm -rf $(VENV) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
