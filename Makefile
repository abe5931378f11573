.DEFAULT_GOAL := help
.PHONY: help demo test test-slow check fix fuzz kills audit bench readme
SHELL := /bin/bash
BIN := .venv/bin

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

# Modules are compiled when they are first imported: most of them never are. Tests start many
# processes, which must find them compiled.
INSTALL = python3 -m venv .venv && \
    $(BIN)/pip install --quiet --no-compile --constraint constraints.txt --editable

.venv/ready: pyproject.toml constraints.txt
	$(INSTALL) '.[all,dev]'
	@touch $@

.venv/demo: pyproject.toml constraints.txt
	$(INSTALL) '.[demo]'
	@touch $@

demo: .venv/demo ## Set up, then run every stage on the embedded corpus, and make its page
	$(BIN)/numerate demo

test: check ## Set up, check, and run the tests (what CI runs)
	env -u PYTHONDONTWRITEBYTECODE OMP_NUM_THREADS=1 $(BIN)/pytest -n 2

test-slow: .venv/ready ## The tests that take minutes, the page in a real browser among them
	@command -v chromium > /dev/null || { \
	    echo "Installing chromium for the tests of the page"; \
	    sudo=$$(command -v sudo || true); \
	    $$sudo apt-get update -qq && $$sudo apt-get install -y -qq chromium; }
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest -m slow

check: .venv/ready ## Format, lint, types and the order of rooms, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fix: .venv/ready ## Format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

fuzz: .venv/ready ## A million texts and ten thousand damaged files (SHARE=0.1 for a tenth)
	NUMERATE_FUZZ=$(or $(SHARE),1) OMP_NUM_THREADS=1 $(BIN)/pytest tests/fuzz

kills: .venv/ready ## Kill every stage at random moments, resume, compare (KILLS=20 a signal)
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.kills --kills $(or $(KILLS),20)

audit: .venv/ready ## Known vulnerabilities of the pinned packages (needs the network); licences
	$(BIN)/pip install --quiet --constraint constraints.txt pip-audit
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip
	$(BIN)/python -m tools.list_licences

bench: .venv/ready ## Measure every stage against its peers (CORPUS=FILE for other text)
	$(BIN)/python -m benchmarks.text
	$(BIN)/python -m benchmarks.fit
	$(BIN)/python -m benchmarks.pretrain
	$(BIN)/python -m benchmarks.variants
	$(BIN)/python -m benchmarks.embed
	$(BIN)/python -m benchmarks.sentences
	$(BIN)/python -m benchmarks.tune
	$(BIN)/python -m benchmarks.precision
	$(BIN)/python -m benchmarks.probe

readme: .venv/ready ## Run the commands in the README and put their output below them
	$(BIN)/numerate extract almanac: --out build/counts.json --quiet
	$(BIN)/numerate fit build/counts.json --scale ln --out build/anchors.json \
	    --plot docs/figures/anchors.svg --quiet
	$(BIN)/python -m tools.render_docs
