# `make run` and `make test` are all a newcomer needs: each builds its own environment first.
# A stamp file per environment makes the second run start at once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash

# Two pytest workers on two cores: one BLAS thread each, or they fight over the cores.
TEST_ENV := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1

.PHONY: run test lint types unit slow bench picture format clean

run: $(VENV)/ready-to-run
	$(BIN)/python -m streamlit run app.py

test: lint types unit

lint: $(VENV)/ready-to-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready-to-test
	$(BIN)/mypy

unit: $(VENV)/ready-to-test
	@bash .ci/chromium
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 -m "not slow"

# Statistical sweeps too long for every push.
slow: $(VENV)/ready-to-test
	$(TEST_ENV) $(BIN)/python -m pytest -n 2 -m slow

bench: $(VENV)/ready-to-test
	$(BIN)/python -m benchmarks

# The README's picture, from the running dashboard.
picture: $(VENV)/ready-to-test
	@bash .ci/chromium
	$(BIN)/python -m tests.browser.picture

format: $(VENV)/ready-to-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV)

# uv where it is installed (seconds), the standard library's venv and pip otherwise (a minute).
define install
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Collab Explorer needs Python 3.11 or newer: make PYTHON=/path/to/python3.11"; exit 1; }
	@if command -v uv >/dev/null; then \
		{ [ -x $(BIN)/python ] || uv venv --quiet --python $(PYTHON) $(VENV); } && \
		uv pip install --quiet --python $(BIN)/python -r $(1); \
	else \
		{ [ -x $(BIN)/pip ] || $(PYTHON) -m venv --clear $(VENV); } && \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check -r $(1); \
	fi
	@touch $@
endef

$(VENV)/ready-to-run: requirements.txt
	@echo "Installing what the dashboard needs into $(VENV) ..."
	$(call install,requirements.txt)

$(VENV)/ready-to-test: requirements-dev.txt requirements.txt
	@echo "Installing what the tests need into $(VENV) ..."
	$(call install,requirements-dev.txt)
