# Perdure: `make start` runs it, `make test` tests it; both set up what they need.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PROTOS := $(sort $(shell find proto -name '*.proto'))
PYTEST := $(BIN)/python -m pytest

help: ## Show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Perdure needs Python 3.11 or newer; point PYTHON at one: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.local: $(VENV)/.made pyproject.toml constraints.txt
	@echo "Installing Perdure into $(VENV) (first time: a minute or two) ..."
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[local]'
	@touch $@

$(VENV)/.dev: $(VENV)/.local
	@echo "Installing the tools for tests and checks ..."
	@$(PIP) install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

setup: $(VENV)/.local ## Create .venv and install pinned dependencies

start: setup ## Set up, then run every service in the foreground (Ctrl-C stops)
	@exec $(BIN)/perdure up

stop: setup ## Stop services that were started in the background
	@$(BIN)/perdure down

proto: $(VENV)/.dev ## Regenerate the gRPC code from proto/
	@$(BIN)/python -m grpc_tools.protoc -Iproto --python_out=services --pyi_out=services --grpc_python_out=services $(PROTOS)

lint: $(VENV)/.dev ## Style, formatting, protocol, generated code in step
	@$(BIN)/ruff check --quiet services tests
	@$(BIN)/ruff format --quiet --check services tests
	@cd proto && ../$(BIN)/buf lint .
	@$(BIN)/python tests/support/generated_code.py

types: $(VENV)/.dev ## mypy --strict
	@$(BIN)/mypy

imports: $(VENV)/.dev ## Import contracts
	@$(BIN)/lint-imports --no-logo 2>/dev/null || $(BIN)/lint-imports

check: lint types imports ## Everything static, then unit, property and contract tests
	@$(PYTEST) -q -n 2 --dist worksteal tests/unit tests/properties tests/contract

test: $(VENV)/.dev ## Every test of the default suite
	@$(PYTEST) -q -n 2 --dist worksteal

bench: $(VENV)/.dev ## Benchmarks: one table, ratios and medians of one run
	@$(BIN)/python -m tests.bench $(BENCH)

quality: $(VENV)/.dev ## Recall quality: tables by category and arm
	@$(BIN)/python -m tests.quality $(QUALITY)

compose-test: ## Build and run the containers, save and find a memory from outside
	@bash tests/e2e/compose.sh

mcp-tools: $(VENV)/.dev ## MCP Inspector, conformance suite and Claude Code against a running Perdure (needs npm)
	@bash tests/e2e/mcp_tools.sh $(MCP_TOOLS)

mcpb: $(VENV)/.made ## Build the extension for Claude Desktop into build/ (needs npm)
	@PYTHON=$(BIN)/python bash deploy/mcpb/build.sh

hosts: $(VENV)/.dev ## Claude Code, Codex, Gemini CLI, Copilot CLI and opencode, one memory among them (needs npm)
	@bash tests/hosts/run.sh $(HOSTS)

docs: $(VENV)/.dev ## Check that the documentation is in step with the code
	@$(PYTEST) -q tests/docs

lock: ## Rewrite constraints.txt from a fresh environment
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/python -m pip --disable-pip-version-check install --quiet --editable '.[dev]'
	@build/lock/bin/python -m pip --disable-pip-version-check freeze --exclude-editable --exclude perdure \
	  | grep -E '^[A-Za-z0-9._-]+==[^ ]+$$' | LC_ALL=C sort -f > constraints.txt
	@rm -rf build/lock && wc -l constraints.txt

clean: ## Remove what was built; your memories stay
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.PHONY: help setup start stop proto lint types imports check test bench quality compose-test mcp-tools mcpb hosts docs lock clean
