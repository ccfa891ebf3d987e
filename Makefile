# The book's commands. `make help` lists them. Everything made here stays in this folder: .venv and _build.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

# The first Python that is 3.11, 3.12 or 3.13; `make PYTHON=/path/to/python …` chooses another.
RIGHT := import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))
PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11,$(shell $(p) -c '$(RIGHT)' 2>/dev/null && echo $(p))) no-python)

BIN := .venv/bin
PY := $(BIN)/python
DPLIB := $(shell find dplib -type f -not -path '*/__pycache__/*' | sort)
CLAIMS := tests/conftest.py $(wildcard tests/claims/*.py)
CHAPTERS := $(wildcard chapters/*)
NOTEBOOKS := $(wildcard chapters/*.ipynb)
WEBSITE := _config.yml _toc.yml $(shell find website -type f -not -path '*/__pycache__/*' -not -name readme-figure.png | sort)
DPLIB_HASH := $(shell cat $(DPLIB) requirements.txt | cksum | cut -d' ' -f1)

# An environment made with another Python than the one asked for by name is made anew.
VERSION := import sys; print(sys.version_info[:2])
VERSION_HERE = $(shell $(PY) -c '$(VERSION)' 2>/dev/null)
VERSION_ASKED = $(shell $(PYTHON) -c '$(VERSION)' 2>/dev/null)
ifeq ($(origin PYTHON),command line)
ifneq ($(VERSION_HERE),$(VERSION_ASKED))
.venv/.packages: another-python
endif
endif

# pip's three hundred lines as one that counts.
COUNT := awk '/^(Collecting|Processing)/ { n++; printf "\r  %d packages found", n; fflush() } /^Installing/ { printf "\n  installing them\n"; fflush() }'

# Nothing is written to the home folder, and nothing of the reader's own Jupyter set-up leaks into the build.
HERE := $(CURDIR)/_build/home
export JUPYTER_CONFIG_DIR := $(HERE)/jupyter/config
export JUPYTER_DATA_DIR := $(HERE)/jupyter/data
export JUPYTER_RUNTIME_DIR := $(HERE)/jupyter/runtime
export JUPYTER_PREFER_ENV_PATH := 1
export IPYTHONDIR := $(HERE)/ipython
export MPLCONFIGDIR := $(HERE)/matplotlib
export HYPOTHESIS_STORAGE_DIRECTORY := $(CURDIR)/_build/.hypothesis
export PYTEST_DEBUG_TEMPROOT := $(CURDIR)/_build/tmp
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYTHONPATH :=
unexport PYTHONHOME

.PHONY: another-python help book site test quick lab notebooks bench readme-figure clean

help: ## list the commands
	@echo "Private query release. Commands:"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1@\2/p' $(firstword $(MAKEFILE_LIST)) | column -t -s@ 2>/dev/null \
	  || sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1  \2/p' $(firstword $(MAKEFILE_LIST))

book: _build/site.stamp ## build the book and serve it on localhost
	@$(PY) website/serve.py _build/html

site: _build/site.stamp ## build the book into _build/html

# Claims run first and always, because the claims index prints what they measured; the site is then built from that.
test: .venv/.dplib ## run every test: unit, claims, notebooks, and the site in a real browser
	@$(PY) website/browser.py
	@rm -f _build/claims.stamp && mkdir -p $(PYTEST_DEBUG_TEMPROOT)
	@$(MAKE) --no-print-directory _build/site.stamp
	@echo "== unit tests"
	@$(PY) -m pytest -q --doctest-modules dplib tests/unit
	@echo "== notebooks: fresh kernel, committed outputs, hygiene"
	@$(PY) -m pytest -q tests/notebooks
	@echo "== the site in a browser"
	@$(PY) -m pytest -q -n auto --maxprocesses 4 tests/site
	@echo "All tests passed."

quick: .venv/.dplib ## run the unit and claim tests only, without a browser
	@mkdir -p $(PYTEST_DEBUG_TEMPROOT)
	@$(PY) -m pytest -q --doctest-modules dplib tests/unit tests/claims

lab: .venv/.dplib ## open the notebooks in JupyterLab
	@$(BIN)/jupyter lab --notebook-dir=chapters $(if $(filter 0,$(shell id -u)),--allow-root)

notebooks: .venv/.dplib ## run the notebooks afresh and write them back clean
	@$(PY) website/notebooks.py run

bench: .venv/.dplib ## measure the speed of the figures
	@$(PY) tests/bench/explore.py

readme-figure: _build/site.stamp ## take the picture of the README from the built site
	@$(PY) website/browser.py picture website/readme-figure.png

clean: ## remove everything that was made here
	rm -rf .venv _build .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.packages: requirements.txt
	@$(PYTHON) -c '$(RIGHT)' 2>/dev/null || { \
	  echo "This book needs Python 3.11, 3.12 or 3.13: '$(PYTHON)' is none of them, or does not start." >&2; \
	  echo "Install one of them, or name it: make PYTHON=/path/to/python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@echo "== virtual environment in .venv with $$($(PYTHON) --version) (a few minutes the first time)"
	@test "$(VERSION_HERE)" = "$(VERSION_ASKED)" || $(PYTHON) -m venv --clear .venv || { \
	  echo "Python's venv module did not work. On Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@$(PY) -m pip install -r requirements.txt | $(COUNT) || { \
	  echo "Installing the pinned packages failed: see above. A network or a full pip cache is needed the first time." >&2; exit 1; }
	@touch $@

# dplib itself, in place: the chapters and tests import the files of this folder.
.venv/.dplib: .venv/.packages pyproject.toml
	@$(PY) -m pip install -q --no-deps --no-build-isolation -e .
	@touch $@

# All claims green, and what their tests measured in _build/witness.json. The stamp is touched by a whole run that passed, and by nothing else.
_build/claims.stamp: .venv/.dplib $(DPLIB) $(CLAIMS)
	@echo "== claims: every theorem against its bound"
	@rm -f _build/witness.json $@ && mkdir -p $(PYTEST_DEBUG_TEMPROOT)
	@$(PY) -m pytest -q tests/claims || { echo "A claim failed, so the book is not built." >&2; exit 1; }
	@test -s _build/witness.json || { echo "The claim tests wrote no _build/witness.json: see tests/conftest.py" >&2; exit 1; }
	@touch $@

_build/extra.stamp: .venv/.dplib website/fetch.py
	@rm -rf _build/extra && mkdir -p _build
	@$(PY) website/fetch.py _build/extra
	@touch $@

# The cache of executed notebooks knows the notebooks' code only, so it goes when the library changes (and in CI).
_build/cache-$(DPLIB_HASH).stamp: .venv/.dplib
	@rm -rf _build/.jupyter_cache _build/cache-*.stamp && mkdir -p _build
	@touch $@

_build/site.stamp: _build/cache-$(DPLIB_HASH).stamp _build/extra.stamp _build/claims.stamp $(CHAPTERS) $(WEBSITE)
	@echo "== site, warnings as errors"
	@mkdir -p $(IPYTHONDIR)/profile_default  # the kernel's own note on local sockets would read like a warning of the book
	@echo 'get_config().IPKernelApp.log_level = "ERROR"' > $(IPYTHONDIR)/profile_default/ipython_kernel_config.py
	@if [ -n "$${CI:-}" ]; then rm -rf _build/.jupyter_cache; fi
	@rm -rf _build/html
	@$(BIN)/jupyter-book build . --all -W -n --keep-going
	@touch $@
