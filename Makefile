# Two commands on a fresh machine with python3: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --quiet --constraint constraints.txt

.PHONY: demo test lint types tests faults browser docs-check bench clean

demo: $(VENV)/.installed-plot,report
	$(BIN)/geodim demo --output demo

test: lint types tests

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# Matplotlib's list of fonts is kept with this environment: one made by another could name fonts that are gone.
tests: export MPLCONFIGDIR = $(CURDIR)/$(VENV)/matplotlib
tests: $(VENV)/.installed-dev browser
	@$(BIN)/python -c 'import matplotlib.font_manager'
	$(BIN)/python -m pytest

# Signals, full disks, memory limits and two at once, on every command that writes; takes minutes.
faults: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m faults.inject --kills 100 --seed 0 --log docs/results/faults.log

# A browser for the tests of the report, where one can be installed; where not, they are skipped with a reason.
browser:
	@if ! command -v chromedriver >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	  echo "installing chromium for the tests of the report"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  (apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update && apt-get -qq -o Acquire::http::Timeout=20 install -y --no-install-recommends chromium chromium-driver) \
	    >/dev/null 2>&1 || echo "no browser could be installed: the tests of the report in a browser are skipped"; \
	fi

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
