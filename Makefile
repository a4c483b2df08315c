# make demo   installs what is missing, builds the shipped example for stm32, runs it on QEMU
#             BOARD=qemu-virt-rv32: for another board, with the tools of its core
# make test   installs the same plus test tools, runs the suite: it needs nothing beside the checkout
# make help   lists every target

PYTHON ?= python3
VENV := .venv
ENGINES := .venv-engines
BIN = $(VENV)/bin
SUDO := $(shell [ "$$(id -u)" = 0 ] || command -v sudo)
QUIETLY := $(SUDO:%=% -n) env DEBIAN_FRONTEND=noninteractive
# Of the suite's processes: on two cores a third runs while others wait for QEMU or a port.
JOBS ?= 3

# libpython3-dev: with Python's headers the planner's searches are compiled; in Python they look at less.
APT_DEMO := gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm python3-venv libpython3-dev gcc libc6-dev
APT_RISCV := gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-system-misc
# The board of `make demo`. Boards whose file names no Arm core and not this machine's take the tools for RISC-V.
BOARD ?= stm32
APT_BOARD := $(if $(wildcard boards/$(BOARD).toml),$(shell grep -qE '^cpu = "(cortex|host)' boards/$(BOARD).toml || \
	echo $(APT_RISCV)))
# Packages for which there is no wheel are built with these.
APT_BUILD := $(APT_DEMO) cmake g++
APT_TEST := $(APT_BUILD) $(APT_RISCV) cppcheck chromium arduino-builder
APT_MISSING = missing=; for p in $(1); do dpkg -s $$p >/dev/null 2>&1 || missing="$$missing $$p"; done; \
	if [ -n "$$missing" ]; then echo "installing:$$missing"; \
	$(SUDO) apt-get update -qq && DEBIAN_FRONTEND=noninteractive $(SUDO) apt-get install -y -qq --no-install-recommends $$missing; fi

# What development uses, for every Python from 3.11 on, each file by its hash. Users' installs keep the ranges of
# pyproject.toml.
LOCK := develop.lock
PIP_INSTALL = $(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation
# Installs the packages of one group of the lock; what is built from source is built by the group `build`.
LOCKED = awk -v group=$(1) '/^\#/ {on = index($$0 " ", " " group " ")} on' $(LOCK) > $(VENV)/$(1).txt && \
	$(PIP_INSTALL) $(2) --require-hashes -r $(VENV)/$(1).txt
INSTALL_LOCKED = $(call LOCKED,build,$(2)) && $(call LOCKED,$(1),$(2)) && $(PIP_INSTALL) -e .
# Modules are compiled when they are imported: of what the suite installs, it imports a small part.
UNCOMPILED := --no-compile
# labgrid brings a pyserial of its own, in files of the same names: whichever was installed last is imported.
PYSERIAL_LAST = $(call LOCKED,last,--force-reinstall)

# Where the machine keeps Python from writing bytecode, every command of the suite compiled all of codegen again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-all test-rest test-long lint style types docs lock bench engines clean python tools-demo tools-build tools-test
.PHONY: installed-test

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

demo: tools-demo $(VENV)/.demo
	$(BIN)/codegen run --board $(BOARD) -o out/digits

test: installed-test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# make test-all   the same, and what is about the public networks (CODEGEN_TESTDATA names their folder)
test-all: installed-test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --public

# make test-rest   what `make test` leaves to CI: larger numbers, all cases of sampled tests, all about public networks
test-rest: installed-test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --thorough -m thorough
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --thorough tests/public

# make test-long   every model on every board it fits, and the long sweeps
test-long: installed-test
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal --public --long

# make lint   ruff, import layers, clang-format, pyright
lint: style types

style: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run --Werror $$(git ls-files 'runtime_c/*.[ch]' 'examples/*.[ch]')

types: $(VENV)/.lint
	$(BIN)/pyright --pythonpath $(BIN)/python

# make docs   the pages of docs as a site in build/docs, every link and anchor checked; it reads offline
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "written   build/docs/index.html"

# make bench   plans and orders of the shared instances; how long planning takes; every shared model on every core, figures recorded in benchmarks/results
bench: $(VENV)/.test
	$(BIN)/python benchmarks/plan_instances.py
	$(BIN)/python benchmarks/schedules.py
	$(BIN)/python benchmarks/planning.py
	$(BIN)/python benchmarks/models.py

# make engines   the reference engines the tests compare with, in a virtual environment of their own
engines: $(ENGINES)/.done

clean:
	rm -rf $(VENV) $(ENGINES) .ccache out build dist

# What the suite needs. Its packages, the engines and the programs that only tests start know nothing of each other:
# they install side by side, behind the programs that packages may be built with.
installed-test: tools-build
	@$(MAKE) --no-print-directory -j3 tools-test $(VENV)/.test engines

# Before anything is installed: with an older Python pip would speak of versions that conflict.
python:
	@! command -v $(PYTHON) >/dev/null || $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	"codegen needs Python 3.11 or newer; $(PYTHON) is Python %d.%d. Another one: make PYTHON=python3.12" \
	% sys.version_info[:2])'

# Installs only what is missing; on a machine that has everything this asks for no password. ccache, which
# the suite can do without, is never asked a password for.
tools-demo: python
	@$(call APT_MISSING,$(APT_DEMO) $(APT_BOARD))

tools-build: python
	@$(call APT_MISSING,$(APT_BUILD))

tools-test: tools-build
	@$(call APT_MISSING,$(APT_TEST))
	@command -v ccache >/dev/null || { echo "installing: ccache"; $(QUIETLY) apt-get update -qq && \
	$(QUIETLY) apt-get install -y -qq --no-install-recommends ccache; } || \
	echo "ccache did not install: the suite runs without it, and takes longer"

$(VENV)/bin/pip: | tools-demo
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: pyproject.toml $(LOCK) | $(VENV)/bin/pip tools-demo
	$(call INSTALL_LOCKED,demo)
	touch $@

$(VENV)/.test: pyproject.toml $(LOCK) | $(VENV)/bin/pip tools-demo
	$(call INSTALL_LOCKED,test,$(UNCOMPILED))
	$(PYSERIAL_LAST)
	touch $@ $(VENV)/.demo

# pyright runs on node, which comes as a package too, as clang-format does: other versions of it format otherwise.
$(VENV)/.lint: pyproject.toml $(LOCK) | $(VENV)/bin/pip tools-demo
	$(call INSTALL_LOCKED,lint)
	$(PYSERIAL_LAST)
	touch $@ $(VENV)/.test $(VENV)/.demo

$(VENV)/.docs: pyproject.toml $(LOCK) | $(VENV)/bin/pip tools-demo
	$(call INSTALL_LOCKED,docs)
	touch $@ $(VENV)/.demo

# make lock   writes develop.lock anew: the newest versions that pyproject.toml allows, and their hashes
lock:
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/pip install -q --disable-pip-version-check pip-tools
	build/lock/bin/python .ci/lock.py build/lock

# tflite-runtime 2.14 has wheels up to Python 3.11 and needs NumPy 1; where there is none, nothing is built
# instead: the stored goldens that it wrote serve, and the tests say so.
$(ENGINES)/.done: VENV = $(ENGINES)
$(ENGINES)/.done: | tools-demo
	$(PYTHON) -m venv $(ENGINES)
	-( $(call LOCKED,engines,--only-binary :all: $(UNCOMPILED)) ) || \
	( $(call LOCKED,engines-newer,--only-binary :all: $(UNCOMPILED)) )
	touch $@
