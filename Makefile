# `make` alone lists the targets. Everything is installed into .venv, and only where something has changed.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP_INSTALL = $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
INPUTS := pyproject.toml constraints.txt
FREEZE_VENV := build/constraints-venv

# With uv it takes six tenths of the time. uv doesn't read pip's configuration: where that names an index, or uv fails,
# pip does it.
INSTALL = { ! $(BIN)/python -m pip config list | grep index > /dev/null && $(PIP_INSTALL) uv && \
  $(BIN)/uv pip install --quiet --python $(BIN)/python --compile-bytecode --constraint constraints.txt $(1); } || \
  { echo "pip installs it, without uv." >&2; $(PIP_INSTALL) $(1); }

# A test that fails because of the environment runs once more, and is listed as a rerun: a server that could not start, a
# request without an answer in time, a precondition that a `settle` did not reach, so that nothing was measured, or a
# client that its broker counts twice (docs/findings/). A test that fails for anything else fails at once.
ONCE_MORE := -r aR --reruns 1 --only-rerun 'EnvironmentNotReady|RemotingTimeoutException|RemotingTooMuchRequestException' \
  --only-rerun 'not reached within [0-9.]+ s|has several connections'

# Imports are compiled once, whatever the shell says: in a shell that forbids it, every command would compile 600 files.
unexport PYTHONDONTWRITEBYTECODE

# Each part collects its own folders alone, which takes a fraction of collecting all; tests/conftest.py sees to it that
# marks and folders agree.
REPORTS := tests/unit/spark_reports
UNITS := tests/unit --ignore $(REPORTS)
PACKAGES := tests/packaging
CLUSTERS := tests/embedded
SPARKS := tests/spark tests/browser $(REPORTS)
ENGINES := tests/containers

.PHONY: help
help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(VENV)/.runtime ## reproduce the bug on a real RocketMQ, here and now
	@$(BIN)/rocketchaos reproduce same-group-different-tags

# Experiments in which clients differ, and one in which nothing may happen; with two clients on two versions 16 cells.
DEMO := build/demo-report
DEMO_SCENARIOS := tags/same-group-different-tags tags/mixed-tags-a-quarter-arrives \
                  kills/kill-flips-the-subscription tags/same-group-same-tags
REPEAT ?= 20

# The reports show how runs end; only wrong usage, a defect or an interruption (2, 70, 130, 143) stops this target.
.PHONY: demo-report
demo-report: $(VENV)/.reports ## 320 real runs with two clients on two versions, then the reports; REPEAT=2 for fewer
	@rm -rf $(DEMO) && mkdir -p $(DEMO)
	@echo "Runs: $(words $(DEMO_SCENARIOS)) scenarios x 2 clients x 2 versions x $(REPEAT) ..." >&2
	@code=0; $(BIN)/rocketchaos run $(DEMO_SCENARIOS:%=scenarios/%.scenario.yaml) --repeat $(REPEAT) \
	  --matrix clients=java,python rocketmq=4.9.4,5.5.0 --runs $(DEMO)/runs > $(DEMO)/runs.txt || code=$$?; \
	  case $$code in 0 | 1 | 3 | 4) grep -E -A 1 '^[0-9]+ runs: ' $(DEMO)/runs.txt || true ;; *) exit $$code ;; esac
	@$(BIN)/rocketchaos report all $(DEMO)/runs --store $(DEMO)/store --out $(DEMO)/reports
	@printf 'The pages, to be opened in a browser:\n'; ls $(DEMO)/reports/*.html; \
	  printf 'How each run ended: $(DEMO)/runs.txt\n'

.PHONY: test
test: test-unit test-embedded ## tests of the harness that need no container engine; the embedded ones start real RocketMQs
	@echo "Left out: more on real RocketMQs, and the wheel, \`make test-extended\`; ingest and reports, \`make test-spark\`;"
	@echo "where a container engine answers, \`make test-containers\`; every shipped scenario and long tests,"
	@echo "\`make test-scenarios\`."

.PHONY: test-unit
test-unit: $(VENV)/.dev ## tests without a cluster: units, except those of reports
	@$(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -p no:rerunfailures -m "not nightly" $(UNITS)

.PHONY: test-spark
test-spark: $(VENV)/.dev ## tests of ingest and reports: on a Spark of this machine, of statistics, and of pages in a Chromium
	@$(BIN)/python -m pytest -q -n 2 --dist loadfile --no-loadscope-reorder --durations 10 -m "not nightly" $(SPARKS)

# What the two have in common. With four at a time sends run into their timeout, on two cores.
EMBEDDED = $(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(ONCE_MORE) --durations 15 $(CLUSTERS) \
  -m "not shipped and not nightly and $(1)"

.PHONY: test-embedded
test-embedded: $(VENV)/.dev ## tests on real RocketMQs, as processes on this machine: those of every change
	@$(call EMBEDDED,not extended)

.PHONY: test-extended
test-extended: $(VENV)/.dev ## the other tests on real RocketMQs as processes, and those of the wheel; CI runs them too
	@$(BIN)/python -m pytest -q -n auto --dist loadfile -p no:rerunfailures -m "not nightly" $(PACKAGES)
	@$(call EMBEDDED,extended)

.PHONY: test-scenarios
test-scenarios: $(VENV)/.dev ## every shipped scenario on real RocketMQs 4.9.4, many also on 5.5.0; and other long tests
	@$(BIN)/python -m pytest -q $(ONCE_MORE) -m "shipped or nightly" tests
	@EXAMPLES=many $(BIN)/python -m pytest -q -n auto --dist loadfile --no-loadscope-reorder -m "not nightly" $(PACKAGES) tests/unit

.PHONY: test-containers
test-containers: images ## tests on containers; they need a container engine
	@$(BIN)/python -m pytest -q -n 3 --dist loadfile --no-loadscope-reorder $(ONCE_MORE) --durations 15 \
	  -m "not nightly" $(ENGINES)

.PHONY: images
images: $(VENV)/.runtime ## build the container images that are missing; VERSIONS="4.9.3 5.3.3" DASHBOARD=1.0.0=FILE.jar
	@$(BIN)/python docker/build_images.py $(VERSIONS) $(foreach each,$(DASHBOARD),--dashboard $(each))

.PHONY: lint
lint: $(VENV)/.dev ## ruff, mypy, import-linter (rooms import downwards only), and plain words in all that is read
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@mkdir -p build; $(BIN)/lint-imports > build/layers.txt || { cat build/layers.txt >&2; exit 1; }
	@$(BIN)/python .ci/plain_words.py

.PHONY: docs
docs: $(VENV)/.dev ## the documentation as a site in build/site, every link and anchor checked
	@mkdir -p build; NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build > build/docs.txt 2>&1 || { cat build/docs.txt >&2; exit 1; }
	@echo "Open build/site/index.html." >&2

.PHONY: readability
readability: $(VENV)/.dev ## how easy README and guides are to read, into docs/readability.md; fails below 55
	@mkdir -p build; $(BIN)/python .ci/readability.py > build/readability.md; cp build/readability.md docs/readability.md

.PHONY: pictures
pictures: $(VENV)/.dev ## the pictures of the README, from what `make demo-report` made
	@PYTHONPATH=. $(BIN)/python -m tests.browser.make_pictures

.PHONY: format
format: $(VENV)/.dev ## let ruff put the code in form
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

.PHONY: bench-spark
bench-spark: $(VENV)/.dev ## measure ingest and reports at scale, and DuckDB for comparison (BENCH="--reports 1e6 1e7 1e8"), into docs/benchmarks.md
	@$(BIN)/python -m tests.benchmarks.spark.run $(BENCH)

.PHONY: bench-diagnose
bench-diagnose: $(VENV)/.dev ## how right `rocketchaos diagnose` is: planted maladies (BENCH="--repetitions 1" for a part; all: 3 h)
	@$(BIN)/python -m tests.benchmarks.diagnose.run $(BENCH)

.PHONY: bench
bench: $(VENV)/.dev ## measure how long things take on this machine, into docs/benchmarks.md (BENCH="--only soak" for a part; all: 4 h)
	@$(BIN)/python -m tests.benchmarks.run $(BENCH)

.PHONY: spark-zip
spark-zip: $(VENV)/.reports ## package the reports for spark-submit on any cluster, into dist/
	@$(BIN)/rocketchaos report package --out dist/rocketchaos-spark.zip

.PHONY: matrix-table
matrix-table: $(VENV)/.dev ## write into docs/guides/clients-and-versions.md where clients and versions differ; by the runs in RUNS=FOLDER, or new ones
	@$(BIN)/python -m tests.benchmarks.matrix_table $(RUNS)

.PHONY: golden
golden: $(VENV)/.dev ## record the golden runs of the tests again, on a real RocketMQ; NAMES="…" for some
	@$(BIN)/python -m tests.golden.record $(NAMES)

.PHONY: dist
dist: $(VENV)/.dev ## build wheel and source distribution into dist/
	@$(BIN)/python -m build --no-isolation --outdir dist .

.PHONY: venv
venv: $(VENV)/.dev ## make .venv with all that development needs

.PHONY: constraints
constraints: ## resolve all dependencies again, and pin them in constraints.txt
	@echo "Resolving all dependencies in a clean environment ..." >&2
	@rm -rf $(FREEZE_VENV)
	@$(PYTHON) -m venv $(FREEZE_VENV)
	@$(FREEZE_VENV)/bin/python -m pip install --quiet --disable-pip-version-check '.[dev,java]'
	@{ echo "# Every dependency of rocketchaos and of its development, exactly. Made by \`make constraints\`."; \
	   $(FREEZE_VENV)/bin/python -m pip freeze | grep -v ' @ '; } > constraints.txt
	@rm -rf $(FREEZE_VENV)
	@echo "constraints.txt pins $$(grep -c == constraints.txt) packages." >&2

.PHONY: clean
clean: ## remove what make has made; runs/ stays
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps say what is installed already. Whether Java has to come from PyPI is asked before anything is.

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Python 3.11 or newer is needed, and \`$(PYTHON)\` is none. Name another: make PYTHON=python3.12 ..." >&2; exit 4; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo "\`$(PYTHON)\` can't make virtual environments. On Debian and Ubuntu: apt install python3-venv" >&2; exit 4; }
	@echo "Making $(VENV) ..." >&2
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.made $(INPUTS)
	@if $(PYTHON) harness/jars/java_home.py > /dev/null 2>&1; then \
	  echo "Installing rocketchaos into $(VENV) (15 MB; half a minute) ..." >&2; \
	  $(call INSTALL,--editable .); \
	else \
	  echo "Installing rocketchaos into $(VENV), with a Java of its own (80 MB; a minute) ..." >&2; \
	  $(call INSTALL,--editable '.[java]'); \
	fi
	@$(BIN)/python -m compileall -q harness assertions spark_reports
	@touch $@

$(VENV)/.reports: $(VENV)/.runtime $(INPUTS)
	@echo "Installing Spark and what reports need into $(VENV) (770 MB, of which 430 MB are fetched once; minutes) ..." >&2
	@$(call INSTALL,--editable '.[reports]')
	@touch $@

$(VENV)/.dev: $(VENV)/.reports $(INPUTS)
	@echo "Installing what development needs into $(VENV) (450 MB; a minute) ..." >&2
	@$(call INSTALL,--editable '.[dev]')
	@touch $@
