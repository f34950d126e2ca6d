# Two commands on a fresh machine with python3: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# A process more than there are cores: some tests wait for a clock, a signal or a browser.
PARALLEL := -n $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)') --dist worksteal
# Modules are compiled by whoever imports them first, and kept: most of what is installed is never imported here.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-all test-data lint types prepare tests faults fuzz browser docs docs-check oracle coverage mutants test-lowest bench clean

# Tables of any kind can be measured next, so what reads them is installed, too.
demo: $(VENV)/.installed-plot,report,frames
	$(BIN)/geodim demo --output demo

# All at once: linters take one core while kernels are compiled on another.  There are workers for all cores, so that
# further threads of linear algebra only wait for one another; test-all has them.  Those that a test asks for wait asleep.
test: export OMP_NUM_THREADS = 1
test: export OPENBLAS_NUM_THREADS = 1
test: export OMP_WAIT_POLICY = passive
test:
	@+$(MAKE) --no-print-directory --jobs=3 lint types docs-check tests

# The tests that are too slow for every run, too, before a release: other sizes and seeds of what the rest tests once,
# all cases of families that take turns, and more examples.
test-all: EVERY := -m 'not published'
test-all: export HYPOTHESIS_PROFILE = release
test-all: lint types docs-check tests

# The tests that read Cora, CiteSeer and PubMed as they were published, from the folder GEODIM_DATA; files that are missing
# there are downloaded first.  No other test needs a file from outside the repository.
test-data: export GEODIM_DATA ?= $(CURDIR)/build/data
test-data: prepare
	for name in cora citeseer pubmed; do $(BIN)/geodim datasets fetch $$name || exit 1; done
	$(BIN)/python -m pytest -m published

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.installed-dev
	nice $(BIN)/mypy

# Matplotlib's list of fonts is kept with this environment: one made by another could name fonts that are gone.
prepare docs-check tests: export MPLCONFIGDIR = $(CURDIR)/$(VENV)/matplotlib
tests: prepare browser
	$(BIN)/python -m pytest $(PARALLEL) $(EVERY)

# What several processes would otherwise make at the same time.
prepare: $(VENV)/.installed-dev
	$(BIN)/python tests/prepare.py

# Signals, full disks, memory limits and two at once, on every command that writes; takes minutes.
faults: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m faults.inject --kills 100 --seed 0 --log docs/results/faults.log

# A million damaged files, each read or refused by name; NUMBER and SEED change that.  Takes an hour on two cores.
fuzz: NUMBER ?= 1000000
fuzz: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m fuzz.run --number $(NUMBER) --seed $(or $(SEED),0) --processes 2 --log docs/results/fuzz.log

# A browser for the tests of the report, where one can be installed; where not, they are skipped with a reason.
browser:
	@if ! command -v chromedriver >/dev/null 2>&1 && command -v apt-get >/dev/null 2>&1 && [ "$$(id -u)" = 0 ]; then \
	  echo "installing chromium for the tests of the report"; \
	  export DEBIAN_FRONTEND=noninteractive; \
	  (apt-get -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=20 update && apt-get -qq -o Acquire::http::Timeout=20 install -y --no-install-recommends chromium chromium-driver) \
	    >/dev/null 2>&1 || echo "no browser could be installed: the tests of the report in a browser are skipped"; \
	fi

# The documentation site with its gallery executed, and all that is tested of it: open build/docs/index.html.
docs: $(VENV)/.installed-dev browser
	$(BIN)/python docs/build.py build/docs
	GEODIM_SITE=build/docs $(BIN)/python -m pytest tests/docs tests/browser/test_site.py

# The examples in docstrings and pages, run as they stand.  PyTorch Geometric warns while it is imported.
docs-check: export MPLBACKEND = agg
docs-check: prepare
	PYTHONPATH=tests $(BIN)/python -m pytest -p garbage --quiet --doctest-modules --doctest-glob='*.md' -o doctest_optionflags=ELLIPSIS \
	  -W 'ignore:`torch.jit:DeprecationWarning' src README.md docs --ignore=docs/tutorials --ignore=docs/_extensions \
	  --ignore=docs/conf.py --ignore=docs/build.py

# A million results against independent oracles; NUMBER, SEED and OPTIONS (see --help) change that.  Writes its log.
oracle: NUMBER ?= 1000000
oracle: $(VENV)/.installed-dev
	PYTHONPATH=tests $(BIN)/python -m oracles.campaign --number $(NUMBER) $(if $(SEED),--seed $(SEED)) \
	  --output docs/results/oracle $(OPTIONS)

# Branch coverage of everything but GPU code, children included.  Kernels are compiled afresh, so that what generates their
# code is measured, and once more interpreted, on a selection that is quick enough, so that they are measured themselves.
INTERPRETED := tests/engine/test_contracts.py tests/engine/test_contracts_of_bounds.py tests/features/test_operators.py
coverage: export COVERAGE_FILE = $(CURDIR)/build/coverage/data
coverage: export NUMBA_CACHE_DIR = $(CURDIR)/build/coverage/numba
coverage: $(VENV)/.installed-dev
	rm -rf build/coverage && mkdir -p build/coverage
	$(BIN)/python -m coverage run -m pytest $(PARALLEL) -m 'not published' --ignore=tests/gpu --ignore-glob='*/test_cuda_*'
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m coverage run -m pytest $(INTERPRETED) -k 'not dask and not frames and not thousand'
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report --fail-under=95 > docs/results/coverage.txt; status=$$?; tail -1 docs/results/coverage.txt; exit $$status

# Small changes of kernels, bounds and hops that the suite should notice; docs/results/mutants.md judges what it did not.
mutants: $(VENV)/.installed-dev,mutation
	$(BIN)/python tests/mutants.py $(OPTIONS)

# The suite with the lowest version of every dependency that pyproject.toml allows, in an environment of its own: 7 GB, since
# that torch comes with its CUDA packages.  Writes the versions and the counts; not if TESTS are but some of the tests.
LOWEST := $(VENV)-lowest
test-lowest:
	test -x $(LOWEST)/bin/python || $(PYTHON) -m venv $(LOWEST)
	$(LOWEST)/bin/python tests/lowest.py > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet --force-reinstall --no-deps .
	$(LOWEST)/bin/python -m pip --disable-pip-version-check install --quiet \
	  --constraint $(LOWEST)/lowest.txt '.[test,oracles]'
	MPLCONFIGDIR=$(CURDIR)/$(LOWEST)/matplotlib $(LOWEST)/bin/python -m pytest $(PARALLEL) --junitxml=$(LOWEST)/outcome.xml $(TESTS)
	$(if $(TESTS),,$(LOWEST)/bin/python tests/lowest.py $(LOWEST)/outcome.xml > docs/results/lowest.txt)

bench: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/engine.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

# One stamp per set of extras, renewed when the requirements change.
$(VENV)/.installed-%: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python .ci/install.py '$*'
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) demo build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
