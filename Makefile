# `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test test-slow walls kernel kernel-wheel formal docs notebooks lint format speed results clean

demo: $(READY)
	@mkdir -p demo
	$(BIN)/krohn explain examples/turnstile.dot -T 64
	$(BIN)/krohn compile examples/turnstile.dot -T 64 -o demo/turnstile.safetensors
	$(BIN)/krohn verify demo/turnstile.safetensors --proof --exhaustive 6 --sample 500 --html demo/turnstile.html --html-effort normal
	$(BIN)/krohn run demo/turnstile.safetensors coin push push coin card push
	$(BIN)/krohn draw examples/turnstile.dot -o demo/turnstile.png
	$(BIN)/krohn draw demo/turnstile.safetensors -o demo/network.png
	$(BIN)/krohn draw demo/turnstile.safetensors -o demo/network.html
	$(BIN)/krohn decompose examples/turnstile.dot -o demo/decomposition.png
	@echo "Look at the pictures in demo/: turnstile, network, decomposition; and at the pages: turnstile.html, the verdict; network.html, which runs the network."

# Modules are compiled once, and not by every process that tests start.
test: $(READY)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 2 --dist loadfile -m "not slow"

# Hours; `make test-slow TESTS=tests/verify` runs a part.
test-slow: $(READY)
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -q -n 2 -m slow $(TESTS)

# Each slice is deleted in turn, in a copy: the rest must go on. Then the quick tests of the
# core, and of each slice, where all others are deleted. It takes as long as `make test` twice.
walls: $(READY)
	$(BIN)/python tests/delete_slices.py
	$(BIN)/python tests/delete_slices.py --alone

# The kernel, from what Coq has extracted; `krohn verify` finds it.
kernel:
	@command -v ocamlfind >/dev/null || { echo "ocamlfind is missing: install Debian's packages ocaml-findlib and libzarith-ocaml-dev"; exit 2; }
	$(MAKE) -s -C verify/kernel/ocaml

# The kernel as a wheel with a static program, in dist/, installed in a new environment and
# asked whether it runs.
kernel-wheel: $(READY) kernel
	cd verify/kernel/wheel && $(CURDIR)/$(BIN)/python -m hatchling build -t wheel -d $(CURDIR)/dist
	rm -rf build/kernel && $(PYTHON) -m venv build/kernel
	build/kernel/bin/pip install -q --no-index --find-links dist krohn-kernel
	build/kernel/bin/krohn-kernel --version

# Theorems for Coq: the library is proved and extracted again, and theorems about files.
# It needs Debian's packages coq and libcoq-flocq as well.
formal: $(READY) kernel
	@command -v coqc >/dev/null || { echo "coqc is missing: install Debian's packages coq and libcoq-flocq"; exit 2; }
	$(BIN)/python -m pytest -q tests/instruments/formal tests/verify/kernel/test_extraction.py

# The pages, in site/: tutorials are executed, every link and anchor is followed, and
# nothing is fetched.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The tutorials as notebooks beside their scripts, not executed.
notebooks: $(READY)
	$(BIN)/python docs/site/tutorials.py

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# Hot paths beside plain references, in a minute: fails, with a line for each path, where
# one has become slower by more than a third than results/hot_paths says.
speed: $(READY)
	$(BIN)/python benchmarks/hot_paths.py

# Every table of results/, made again; some take hours. `make results TABLES=bounds`
# makes those of one script, FILES=FOLDER also those of machine files.
results: $(READY)
	$(BIN)/python benchmarks/regenerate.py $(TABLES) $(if $(FILES),--files $(FILES))

$(READY): pyproject.toml constraints.txt
	command -v $(PYTHON) >/dev/null || { echo "Krohn needs Python 3.11 or newer; name it: make PYTHON=python3"; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) demo dist site
