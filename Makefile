PYTHON ?= python3
BIN := .venv/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Two processes. One of them runs all tests that need Spark, and either of them whole files: see tests/conftest.py.
SPLIT := -n 2 --dist loadscope --no-loadscope-reorder
# Tests start many processes, and each compiles all that it imports where nothing may be kept.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-full check bench docs clean

demo: .venv/.base
	@$(BIN)/dither demo

test: .venv/.dev
	$(BIN)/python -m pytest $(SPLIT) -m "not full"

test-full: .venv/.dev
	$(BIN)/python -m pytest $(SPLIT) -m full

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tools/english.py

bench: .venv/.dev
	$(BIN)/python -m bench $(NAME)

docs: .venv/.dev
	$(BIN)/mkdocs build --strict

clean:
	rm -rf .venv site dist

.venv/.base: pyproject.toml constraints.txt
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq -c constraints.txt -e .
	@touch $@

.venv/.dev: .venv/.base
	@$(BIN)/python -m pip install -qq -c constraints.txt -e '.[dev]'
	@touch $@
