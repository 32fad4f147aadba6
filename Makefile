# Two commands do everything on a fresh Debian with Python 3.11 and make: `make demo`, `make test`.
# Each sets up what it needs and skips what is there.

PYTHON ?= python3
ARGS ?=
# More than there are cores: a test of an engine waits half its time.
WORKERS ?= 3
BIN := .venv/bin
export PYTHON
export TESTCONTAINERS_RYUK_DISABLED := true

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup local engine image demo test test-user check lint types floors format \
	attack clients conformance bench chaos kills fuzz lock clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.setup ## make the virtual environment .venv
.venv/.setup: requirements.lock pyproject.toml .ci/setup
	@.ci/setup
	@touch $@

local: .venv/.local ## add the small local model; go on without where it cannot be had
.venv/.local: .venv/.setup requirements-local.lock
	@if .ci/setup local; then touch $@; else echo "setup: no local model; the rest works without" >&2; fi

engine: ## find a container engine; as root, install and start one where none answers
	@sh sandbox-image/setup-engine.sh

image: setup engine ## build the sandbox image where its content changed
	@$(BIN)/glovebox image build >/dev/null

demo: image local ## see the whole thing work, with no key
	@$(BIN)/glovebox demo $(ARGS)

test: image local check ## run every check and every test, WORKERS at a time; ARGS go to pytest
	@test -e .venv/.local || { echo "test: the tests of the local model need it; run make local" >&2; exit 1; }
	@.ci/pytest -n $(WORKERS) --dist worksteal $(ARGS)

test-user: image local ## run the tests that need the engine again as a plain user (asks for root)
	@WORKERS=$(WORKERS) .ci/test-user $(ARGS)

check: lint types floors ## run ruff, mypy and import-linter

lint: setup
	@$(BIN)/ruff check
	@$(BIN)/ruff format --check

types: setup
	@$(BIN)/mypy
	@$(BIN)/mypy sandbox-image/toolserver sandbox-image/*.py

floors: setup
	@$(BIN)/lint-imports

format: setup ## let ruff write the code's form
	@$(BIN)/ruff check --fix --select I
	@$(BIN)/ruff format

attack: image ## make every known attack in a box; ARGS name public scripts to run too
	@$(BIN)/python -m tests.attack $(ARGS)

clients: image ## wrap real agents, installed for it, in front of a mock; ARGS name some of them
	@$(BIN)/python -m tests.clients $(ARGS)

conformance: image ## try every engine and runtime that can run here; ARGS name some of them
	@$(BIN)/python -m tests.conformance $(ARGS)

bench: image local ## measure what the documents claim
	@$(BIN)/python -m benchmarks $(ARGS)

chaos: image ## strike at 200 sessions and count what is lost or left; ARGS=--own-engine as root
	@$(BIN)/python -m tests.chaos $(ARGS)

kills: image ## kill a long run at 100 of its writes and compare what it comes to; ARGS=--points N
	@$(BIN)/python -m tests.chaos.kills $(ARGS)

fuzz: setup ## put 200,000 random inputs each through the gate and the proxy; ARGS=COUNT SEED
	@$(BIN)/python -m tests.property.fuzz $(ARGS)
	@$(BIN)/python -m tests.property.fuzz_egress $(ARGS)

lock: setup ## write the hash locks anew; UPGRADE=1 takes the newest versions
	@UPGRADE=$(UPGRADE) .ci/lock
	@touch .venv/.setup

clean: ## remove what make made here; images stay (glovebox image prune)
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
