# `make demo` and `make test` are all that a newcomer needs; both set up .venv by themselves.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_FLAGS ?=
# Each of the thousand processes of the tests would compile everything anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test faults behaviour check types docs site wheel release bench slow fuzz mutants promises clean

demo: $(VENV)/.runtime ## see a real session become notes, in a throw-away store
	@PATH="$(CURDIR)/$(BIN):$$PATH" sh docs/demo/run.sh

test: $(VENV)/.development ## run the tests
	@$(BIN)/pytest -n auto --dist worksteal $(PYTEST_FLAGS)

faults: $(VENV)/.development ## the tests that kill whole commands, let disks fail and bring in hostile pages
	@$(BIN)/pytest -n auto --dist worksteal -m 'faults and not slow and not sweep' $(PYTEST_FLAGS)

behaviour: $(VENV)/.development ## the tests that use commands and the public API alone
	@$(BIN)/pytest -n auto --dist worksteal -m 'not slow and not sweep' tests/behaviour $(PYTEST_FLAGS)

check: $(VENV)/.development ## format, lint, types, import contracts, generated pages
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy src tests bench fuzz mutants docs
	$(BIN)/lint-imports
	$(BIN)/python docs/generate.py --check

types: $(VENV)/.types ## a second opinion on the types: pyright, strict
	$(BIN)/pyright --project pyproject.toml

docs: $(VENV)/.development ## write the generated pages anew
	@$(BIN)/python docs/generate.py

site: $(VENV)/.site ## build the documentation as a site, into dist/site
	$(BIN)/zensical build --clean --strict

wheel: $(VENV)/.development ## build the wheel, install it into an empty environment, run the demo from it
	sh .ci/wheel

HOMEPAGE = $(shell sed -n 's/^Homepage = "\(.*\)"/\1/p' pyproject.toml)
release: wheel ## write wheel, sdist and recipes into dist/, as docs/contributing/release.md says
	$(if $(HOMEPAGE),,$(error add the address of the repository to pyproject.toml: [project.urls], Homepage = "…"))
	rm -f dist/agent_memory-* && $(BIN)/python -m build --outdir dist .
	hash=$$(openssl dgst -sha256 -r dist/*.tar.gz | cut -d ' ' -f 1) && for recipe in packaging/*/*; do \
	sed "s|@HOMEPAGE@|$(HOMEPAGE)|; s|@SHA256@|$$hash|" "$$recipe" > "dist/$${recipe##*/}" || exit 1; done

bench: $(VENV)/.development ## figures, each beside a baseline of the same run
	$(BIN)/python -m bench

slow: $(VENV)/.development ## the tests that take long
	$(BIN)/pytest -m slow $(PYTEST_FLAGS)
	$(BIN)/pytest --hypothesis-profile=thorough -m 'hypothesis and not slow and not sweep' $(PYTEST_FLAGS)

promises: $(VENV)/.development ## the faults, power cuts and crowds that were promised to do no harm; some of it as root
	$(BIN)/pytest -n auto --dist loadfile tests/promises -m 'faults or slow or sweep' -rs $(PYTEST_FLAGS)

fuzz: $(VENV)/.development ## look for inputs that break a parser: make fuzz [MINUTES=60] [TARGETS="note section"]
	@$(BIN)/python -m fuzz $(if $(MINUTES),--minutes $(MINUTES)) $(TARGETS)

mutants: $(VENV)/.development ## change the code where it matters most, and see whether a test notices: make mutants [SUBJECTS="ids splice"]
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check 'mutmut>=3.8,<3.9'
	@$(BIN)/python -m mutants $(SUBJECTS)

clean:
	rm -rf $(VENV) dist .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "agent-memory needs Python 3.11 or newer; say which with: make PYTHON=python3.12 …" >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/.runtime: pyproject.toml | $(BIN)/python
	@echo "Setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.development: pyproject.toml | $(BIN)/python
	@echo "Setting up $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable . --group dev
	@touch $@ $(VENV)/.runtime

$(VENV)/.types: pyproject.toml | $(VENV)/.development
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group types
	@touch $@

$(VENV)/.site: pyproject.toml | $(VENV)/.development
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --group docs
	@touch $@
