# Everything a developer does here; `make help` lists it.
VENV := .venv
PYTHON ?= python3
BIN := $(VENV)/bin
PORT ?= 8000
HOST ?= localhost
WORKERS ?= auto
# Tests also wait: two workers more than there are processors leave none idle.
TEST_WORKERS = $(if $(filter auto,$(WORKERS)),$(shell expr $$(getconf _NPROCESSORS_ONLN) + 2),$(WORKERS))
COUNT ?= 200
MINUTES ?= 15
SIZES ?= 100k,1M
UPLOAD_MIB ?= 200
ROWS ?= 1000000
CITUS_SOURCE ?= ../shared/citus
# Without bytecode each start of `duograph`, in tests and benchmarks, compiles every library for three seconds.
export PYTHONDONTWRITEBYTECODE :=
# SEED=7 repeats an order of the tests; without it each run draws one, and tells it.
ORDER = $(if $(SEED),--randomly-seed=$(SEED))
# Of the tests marked `long`, one in so many runs; the seed draws which.
LONG_PART ?= 1
SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

.PHONY: help setup run test test-all test-times coverage test-hard check quick deploy-check release mutants generated migration browser pgbouncer postgresql pooler citus cluster cluster-share properties fuzz clients-check uploads growth online faults neighbours load bench wrk format lock

help:  ## List what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# .venv begins with what running needs (running.lock); `make setup` adds what tests and checks need.
setup: $(VENV)/.ready  ## Make .venv with every pinned dependency

$(VENV)/.running: running.lock pyproject.toml
	@test -x $(BIN)/python || { echo "Creating $(VENV)"; $(PYTHON) -m venv $(VENV); }
	@$(call install,running.lock)
	@$(PIP) --quiet --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.ready: requirements.lock $(VENV)/.running
	@$(call install,requirements.lock)
	@touch $@

# uv installs in seconds what takes pip half a minute of reading indexes. It is fetched for this if there is
# none; where it cannot be had or fails, pip installs the same. Locks are complete: nothing is resolved. Both refuse a file that no hash of the lock is of.
PIP := $(BIN)/pip install --disable-pip-version-check
install = \
	echo "Installing $$(grep -c == $(1)) packages of $(1)"; \
	own=$$(mktemp -d); trap 'rm -rf "$$own"' EXIT; \
	index=$${PIP_INDEX_URL:-$$($(BIN)/pip config get global.index-url 2> /dev/null)}; \
	uv=$$(command -v uv || { $(PIP) --quiet --target "$$own" uv 2> /dev/null; echo "$$own/bin/uv"; }); \
	UV_HTTP_RETRIES=1 "$$uv" pip install --quiet --no-deps --require-hashes --python $(BIN)/python $${index:+--index-url "$$index"} -r $(1) \
	|| $(PIP) --no-deps --no-compile --require-hashes -r $(1)

run: $(VENV)/.running  ## Serve on http://localhost:8000 with demo data (PORT=9000 changes the port)
	@$(BIN)/duograph serve --demo --host $(HOST) --port $(PORT)

test: setup browser pgbouncer postgresql  ## Run the tests but the long ones, or all of a part (TESTS=tests/shares, SEED=7)
	@$(BIN)/python -m pytest -n $(if $(and $(ONE_FILE),$(filter auto,$(WORKERS))),0,$(TEST_WORKERS)) $(ORDER) --durations=10 $(or $(TESTS),-m "not long")

test-all: setup browser pgbouncer postgresql  ## Run every test, or with LONG_PART=10 a tenth of the long ones (SEED=7)
	@$(BIN)/python -m pytest -n $(TEST_WORKERS) $(ORDER) --long-part=$(LONG_PART) --durations=10

test-times: setup browser pgbouncer postgresql  ## Run the tests, and print as Markdown what each directory of them costs
	@times=$$(mktemp); \
	$(BIN)/python -m pytest -n $(TEST_WORKERS) $(ORDER) --times=$$times $(TESTS) >&2; passed=$$?; \
	$(BIN)/python -m tests.support.plugins.table_of_times $$times; \
	exit $$passed

# Only a cluster takes the branches of storage/cluster; one process has one cluster.
coverage: setup browser pgbouncer postgresql citus  ## Run every test, and print the branches that they cover by package (TESTS=tests/shares)
	@folder=$$(mktemp -d); export COVERAGE_FILE=$$folder/data; \
	$(BIN)/coverage run -m pytest -n $(TEST_WORKERS) $(ORDER) $(TESTS) >&2; passed=$$?; \
	if [ -z "$(TESTS)" ] && $(HAS_CITUS); then \
	DUOGRAPH_TEST_CLUSTER=1 $(BIN)/coverage run -m pytest -n 0 $(ORDER) --timeout=600 tests/cluster/*.py >&2 || passed=1; fi; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage json --quiet --ignore-errors -o $$folder/report.json \
	&& $(BIN)/python -m tests.project.coverage_table $$folder/report.json || passed=1; \
	rm -rf $$folder; exit $$passed

test-hard: setup browser pgbouncer postgresql  ## Run the tests beside busy loops and at hard moments (TESTS=tests/mail, WAY=midnight)
	@WAY="$(WAY)" $(BIN)/python -m tests.hard -n $(TEST_WORKERS) $(ORDER) $(TESTS)

# Starting workers takes longer than most files.
ONE_FILE = $(and $(filter 1,$(words $(TESTS))),$(findstring .py,$(TESTS)))

check: setup  ## Lint, type-check, look columns up, compare generated files and audit dependencies
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m tests.project.columns
	@$(BIN)/python -m tests.project.catalogues --check
	@$(BIN)/python -c "import gateway.app"
	@$(BIN)/duograph schema export --check
	@$(BIN)/duograph openapi export --check
	@$(BIN)/duograph docs export --check
	@$(BIN)/python -m tests.project.audit

quick: setup  ## In 15 seconds lint, type-check and test what changed since main, nearest tests first (SECONDS=60)
	@$(BIN)/python -m tests.project.quick $(SECONDS)

deploy-check: setup  ## Show what the files of docs/deploy/ protect, and fail where a protection is missing
	@$(BIN)/python -m tests.deploy

release: setup  ## Commit and tag a version, and build what is published of it (VERSION=0.2.0)
	@$(BIN)/python -m tests.project.release $(VERSION)

mutants: setup  ## Change 200 places of the product by a little, and count which changes the tests notice (COUNT=200, SEED=10)
	@COUNT=$(COUNT) SEED=$(or $(SEED),10) WORKERS=$(filter-out auto,$(WORKERS)) $(BIN)/python -m tests.mutants

generated: setup  ## Write the files that follow from the declarations
	@$(BIN)/python -m tests.support.callers.answers
	@$(BIN)/duograph schema export
	@$(BIN)/duograph openapi export
	@$(BIN)/duograph docs export
	@$(BIN)/python -m tests.project.catalogues

migration: setup  ## Write the revision for changed tables (NAME="what changes")
	@$(BIN)/python -m storage.migrations.revise $(NAME)

browser:  ## Install the Chromium that the browser tests drive, where there is none (Debian)
	@command -v chromium-headless-shell > /dev/null || { \
		command -v apt-get > /dev/null || command -v chromium > /dev/null || { echo "Install Chromium: the browser tests drive it." >&2; exit 1; }; \
		command -v apt-get > /dev/null || exit 0; \
		echo "Installing Chromium for the browser tests"; \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install --yes -qq chromium-headless-shell > /dev/null \
		|| command -v chromium > /dev/null || $(SUDO) apt-get install --yes -qq chromium > /dev/null; }

pgbouncer:  ## Install the PgBouncer that tests connect through, where there is none (Debian)
	@PATH="$$PATH:/usr/sbin" command -v pgbouncer > /dev/null || { \
		command -v apt-get > /dev/null || { echo "Install PgBouncer: tests connect through it." >&2; exit 1; }; \
		echo "Installing PgBouncer for the tests"; \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install --yes -qq pgbouncer > /dev/null; }

postgresql:  ## Install the PostgreSQL whose extensions tests need, where there is none (Debian)
	@ls /usr/lib/postgresql/*/bin/initdb > /dev/null 2>&1 || { \
		command -v apt-get > /dev/null || { echo "Install PostgreSQL: searches are tested on its extensions." >&2; exit 1; }; \
		echo "Installing PostgreSQL for the tests"; \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install --yes -qq postgresql > /dev/null; }

pooler: setup pgbouncer  ## Run the tests of PostgreSQL through PgBouncer in transaction mode (TESTS=tests/shares)
	@DUOGRAPH_TEST_POOLER=1 $(BIN)/python -m pytest -n $(TEST_WORKERS) $(ORDER) -k postgresql $(TESTS)

cluster: setup citus  ## Build a cluster of Citus, and run tests of PostgreSQL on it (CITUS_SOURCE=folder, TESTS=tests/shares)
	@$(BIN)/python -m tests.support.servers.citus "$(CITUS_SOURCE)"
	@DUOGRAPH_TEST_CLUSTER=1 $(BIN)/python -m pytest -n $(if $(filter auto,$(WORKERS)),2,$(WORKERS)) $(ORDER) --timeout=600 -k "$(NAMES_ON_A_CLUSTER)" $(NOT_ON_A_CLUSTER) $(or $(TESTS),$(ON_A_CLUSTER))

citus: setup  ## Build Citus where its source is, and install what building needs (Debian; CITUS_SOURCE=folder)
	@if $(HAS_CITUS); then \
	! command -v apt-get > /dev/null || dpkg-query --show $(CITUS_PACKAGES) > /dev/null 2>&1 || { \
		echo "Installing what Citus is built with"; \
		$(SUDO) apt-get update -qq && $(SUDO) apt-get install --yes -qq $(CITUS_PACKAGES) > /dev/null; } && \
	$(BIN)/python -m tests.support.servers.citus "$(CITUS_SOURCE)"; fi

# One process, which has one cluster: each worker would start its own.
cluster-share: citus  ## A part of `make cluster` that SEED draws, where the source of Citus is (CITUS_SOURCE=folder)
	@if $(HAS_CITUS); then \
	DUOGRAPH_TEST_CLUSTER=1 CLUSTER_SHARE=0.3 $(BIN)/python -m pytest -n 0 $(ORDER) --timeout=600 --durations=5 -k "$(NAMES_ON_A_CLUSTER)" $(SHARE_ON_A_CLUSTER); \
	else echo "There is no source of Citus in $(CITUS_SOURCE), so no test runs on a cluster: make cluster tells where to get it."; fi

CITUS_PACKAGES = build-essential flex libicu-dev libkrb5-dev liblz4-dev libpam0g-dev libreadline-dev libselinux1-dev libssl-dev libxml2-dev libxslt1-dev libzstd-dev
HAS_CITUS = ls "$(CITUS_SOURCE)"/*citus*.tar.* > /dev/null 2>&1
NAMES_ON_A_CLUSTER = postgresql or several_workspaces or distributing or lost_nodes or moved_workspaces
# Without those that stop nodes: on a machine that is busy enough, a node that works does not answer in time either.
SHARE_ON_A_CLUSTER = tests/cluster/same_answers.py tests/cluster/several_workspaces.py tests/metrics/test_packs.py::test_packs_answer_as_cells_do
# They read PostgreSQL's plans, and a coordinator shows its own.
NOT_ON_A_CLUSTER = $(addprefix --deselect=tests/,file_shares/test_range_plans.py customers/test_members.py::test_the_members_of_a_customer_are_read_once webhooks/test_plans.py::test_pending_deliveries_are_found_by_their_indexes_whatever_plan_is_kept)
ON_A_CLUSTER = $(addprefix tests/cluster/,same_answers.py several_workspaces.py distributing.py lost_nodes.py moved_workspaces.py) $(addprefix tests/,credentials customers events file_shares files metrics oauth portal shares totals workspaces) tests/webhooks tests/changes/test_feed.py

# Quietly: it takes hours, and nothing of it is about time.
properties: setup  ## Try each property on many more random cases than the tests do (CASES=5000, TESTS=tests/metrics)
	@CASES=$(or $(CASES),5000) nice -n 19 $(BIN)/python -m pytest -n $(WORKERS) $(ORDER) --timeout=0 -rP $(or $(TESTS),$(PROPERTIES))

PROPERTIES = $(shell grep -rl --include='test_*.py' measures.cases tests)

fuzz: setup  ## Send generated requests to the operations of openapi.json, and compare the answers with it (CASES=20000)
	@CASES=$(or $(CASES),20000) nice -n 19 $(BIN)/python -m pytest -n 0 $(ORDER) --timeout=0 --capture=sys tests/surfaces/test_openapi_fuzz.py

clients-check: setup  ## Generate, compile and run the clients of every generator (the tests do so with one in each language)
	@CLIENTS=all $(BIN)/python -m pytest -n 0 $(ORDER) tests/clients

uploads: setup  ## Upload 200 MiB by the scripts of docs/uploads.md, through a gateway that is killed (UPLOAD_MIB=200)
	@UPLOAD_MIB=$(UPLOAD_MIB) $(BIN)/python -m pytest --timeout=7200 --durations=4 tests/files/test_scripts.py

growth: setup  ## Grow documents and bodies, and compare what they cost with their size (CASES=20000, SEED=10)
	@CASES=$(or $(CASES),20000) SEED=$(or $(SEED),10) $(BIN)/python -m pytest -n 0 --timeout=0 --capture=sys tests/growth tests/growth/bounds.py tests/growth/passwords.py tests/answers/test_random_answers.py

online: setup  ## Migrate a million facts, events and customers while writers go on (ROWS=1000000)
	@ROWS=$(ROWS) $(BIN)/python -m pytest -n 0 --timeout=7200 -rP tests/storage/test_rows_beside_migrations.py

faults: setup  ## Break everything under writes, and count what is lost or done twice (ONLY=disk, SEED=10)
	@ONLY="$(ONLY)" SEED=$(or $(SEED),10) $(BIN)/python -m tests.faults

neighbours: setup  ## Slow filters of one tenant beside another, and 1,000 clients that do not read (ONLY=readers)
	@$(BIN)/python -m bench.neighbours $(if $(ONLY),--only $(ONLY))

load: setup  ## Mixed load on PostgreSQL through two workers, for the page docs/faults.md (MINUTES=15)
	@$(BIN)/python -m bench.mixed --page --minutes $(MINUTES)

bench: setup wrk  ## Measure everything against its targets (ONLY=http, ROUNDS=5, SIZES=100k,1M,5M)
	@missed=0; \
	for each in $(if $(ONLY),$(ONLY),http peers growth_of_lists searching metrics graphql_lists start operations soak); do \
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

# setuptools builds the project itself.
lock: setup  ## Renew requirements.lock and running.lock, a part of it, with the newest versions
	@$(PIP) --quiet uv
	@echo setuptools | $(COMPILE) --all-extras --upgrade - pyproject.toml -o requirements.lock
	@echo setuptools | $(COMPILE) --upgrade --constraint requirements.lock - pyproject.toml -o running.lock

COMPILE = $(BIN)/uv pip compile --quiet --no-annotate --no-header --no-emit-index-url --generate-hashes \
	--no-emit-package pip --python-version 3.11
