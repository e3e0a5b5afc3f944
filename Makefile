# make try     sets up, and grades the reference FlashAttention: a look at what a learner gets
# make test    sets up, and runs every check: ruff, mypy and the tests
# make slow    the proofs that take minutes
# make lint    ruff and mypy only
# make clean   removes what builds and checks leave behind; make clean-all removes .venv too
#
# PYTHON    the Python to make .venv with (3.10 or newer): make try PYTHON=python3.12
# JOBS      how many processes run the tests; each takes about 2 GB
# PIP_ARGS  further arguments for pip, e.g. where to find a CPU build of torch

SHELL := /bin/sh
PYTHON ?= python3
PIP_ARGS ?=
PYTEST_ARGS ?=
JOBS ?= 2
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt $(PIP_ARGS)
SOLUTION := solutions/tlpuzzles_solutions/flash_attention.py
METADATA := pyproject.toml solutions/pyproject.toml constraints.txt

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help try test lint slow clean clean-all

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

try: $(VENV)/ready
	@printf '\n$$ tlpuzzles grade 6 %s\n\n' '$(SOLUTION)'
	@$(BIN)/tlpuzzles grade 6 $(SOLUTION)
	@printf '%s\n' '' \
	  'That was the reference solution. Now yours:' \
	  '' \
	  '  . $(BIN)/activate         makes tlpuzzles known' \
	  '  tlpuzzles init my-kernels    copies the exercises' \
	  '  cd my-kernels' \
	  '  tlpuzzles show 1             the first lesson' \
	  '  edit 01_vector_add/vector_add.py' \
	  '  tlpuzzles grade 1            checks it' \
	  '' \
	  'If something does not work: tlpuzzles doctor'

test: lint
	$(BIN)/python -m pytest -m "not slow" -n $(JOBS) --dist worksteal $(PYTEST_ARGS)
	@echo 'Of the wrong kernels in tests/mutants, every second was graded; `make slow` grades the others.'

lint: $(VENV)/ready-to-develop
	$(BIN)/ruff check .
	$(BIN)/mypy

slow: $(VENV)/ready-to-develop
	$(BIN)/python -m pytest -m slow $(PYTEST_ARGS)

clean-all: clean
	rm -rf $(VENV)

clean:
	rm -rf dist build .pytest_cache .mypy_cache .ruff_cache
	find . -path ./$(VENV) -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

# What is installed is remembered in two files, so that it is done once, and again when a version changes.

$(VENV)/ready: $(METADATA) $(BIN)/python
	@ls -d $(VENV)/lib/python3*/site-packages/torch >/dev/null 2>&1 || printf '%s\n' '' \
	  'Now PyTorch 2.13 and TileLang 0.1.15 are downloaded into $(VENV), with what they need:' \
	  '  with the CUDA build of PyTorch (what pip takes on Linux, if not told otherwise) about 2.8 GB, 5 GB on disk;' \
	  '  with its CPU build about 0.4 GB, 1.5 GB on disk. For that one, tell pip where it is: "Get started" on pytorch.org' \
	  '  has the address, for make try PIP_ARGS="--extra-index-url ADDRESS".' ''
	$(PIP) -e . -e solutions
	@touch $@

$(VENV)/ready-to-develop: $(VENV)/ready
	$(PIP) -e '.[dev]' -e solutions
	@touch $@

$(BIN)/python:
	@command -v '$(PYTHON)' >/dev/null || { \
	  echo 'There is no $(PYTHON). On Debian and Ubuntu: sudo apt install python3 python3-venv'; exit 1; }
	@'$(PYTHON)' -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
	  echo "Python 3.10 or newer is needed; $(PYTHON) is $$('$(PYTHON)' --version 2>&1)."; \
	  echo 'Install a newer one and name it: make try PYTHON=python3.12'; exit 1; }
	@'$(PYTHON)' -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo 'This Python cannot make virtual environments. On Debian and Ubuntu: sudo apt install python3-venv'; exit 1; }
	@command -v "$${CXX:-g++}" >/dev/null || command -v clang++ >/dev/null || command -v c++ >/dev/null || { \
	  echo 'There is no C++ compiler; kernels on the CPU need one. On Debian and Ubuntu: sudo apt install g++'; exit 1; }
	@'$(PYTHON)' -m venv $(VENV)
