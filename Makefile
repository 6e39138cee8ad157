# Everything a developer does here; `make help` lists it.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PORT ?= 8000
HOST ?= 127.0.0.1
WORKERS ?= auto
EXAMPLES ?= 500
CASES ?= 20000
SEED ?= 10
SIZES ?= 100k,1M
UPLOAD_MIB ?= 200
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

.PHONY: help setup run test check generated migration browser parity uploads growth bench wrk format lock

help:  ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready  ## Make .venv with every pinned dependency

$(VENV)/.ready: requirements.lock pyproject.toml
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

run: setup  ## Serve on http://127.0.0.1:8000 with demo data (PORT=9000 changes the port)
	@$(BIN)/duograph serve --demo --host $(HOST) --port $(PORT)

test: setup browser  ## Run every test, on SQLite and on a real PostgreSQL
	@$(BIN)/python -m pytest -n $(WORKERS) $(TESTS)

check: setup  ## Lint, type-check, compare generated files and audit dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/duograph schema export --check
	@$(BIN)/duograph openapi export --check
	@$(BIN)/duograph docs export --check
	@$(BIN)/python -m tests.project.audit

generated: setup  ## Write the files that follow from the declarations
	@$(BIN)/duograph schema export
	@$(BIN)/duograph openapi export
	@$(BIN)/duograph docs export

migration: setup  ## Write the revision for changed tables (NAME="what changes")
	@$(BIN)/python -m storage.migrations.revise $(NAME)

browser:  ## Install the Chromium that the browser tests drive, where there is none (Debian)
	@command -v chromium > /dev/null || { \
		command -v apt-get > /dev/null || { echo "Install Chromium: the browser tests drive it." >&2; exit 1; }; \
		echo "Installing Chromium for the browser tests"; \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install --yes -qq chromium > /dev/null; }

parity: setup  ## Compare the surfaces over many more generated inputs (EXAMPLES=500)
	@EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -n $(WORKERS) tests/surfaces/test_parity.py tests/surfaces/test_openapi_fuzz.py tests/metrics

uploads: setup  ## Upload 200 MiB by the scripts of docs/uploads.md, through a gateway that is killed (UPLOAD_MIB=200)
	@UPLOAD_MIB=$(UPLOAD_MIB) $(BIN)/python -m pytest --durations=4 tests/files/test_scripts.py

growth: setup  ## Grow documents and bodies, and compare what they cost with their size (CASES=20000, SEED=10)
	@CASES=$(CASES) SEED=$(SEED) $(BIN)/python -m pytest -n 0 --capture=sys tests/growth

bench: setup wrk  ## Measure everything against its targets (ONLY=http, ROUNDS=5, SIZES=100k,1M,5M)
	@missed=0; \
	for each in $(if $(ONLY),$(ONLY),http peers growth_of_lists metrics graphql_lists start operations soak); do \
		case $$each in \
			metrics) options="--sizes $(SIZES) $(if $(ROUNDS),--rounds $(ROUNDS))";; \
			soak) options="";; \
			*) options="$(if $(ROUNDS),--rounds $(ROUNDS))";; \
		esac; \
		echo "bench.$$each" >&2; \
		$(BIN)/python -m bench.$$each $$options || missed=1; \
	done; \
	exit $$missed

wrk:
	@command -v wrk > /dev/null || { echo "Install wrk, for instance by: $(SUDO) apt-get install wrk" >&2; exit 1; }

format: setup  ## Format the code
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format --quiet .

lock: setup  ## Renew requirements.lock with the newest versions
	@$(BIN)/pip install --quiet uv && $(BIN)/uv pip compile --quiet --all-extras --no-annotate --no-header --no-emit-index-url --python-version 3.11 pyproject.toml -o requirements.lock --upgrade
