# make reproduce   run the shipped experiments: out/report/index.html and the scoreboard
#                  (ARGS="--only qsnet/ping")
# make test        all quick tests of Rust and Python
# make build       leaves .venv/bin/elanite
# make test-all    the slow tests too          make lint    formatting, clippy, ruff, types
# make fuzz        the worm mover against the flit mover, SECONDS=60 from SEED=0 on; RUNS=100 of
#                  production size, too
# make swarm       random machines, programs of all libraries and faults, SECONDS=60 from SEED=0 on;
#                  CASE='...' for one
# make fuzz-libraries    random programs for OpenSHMEM and Elanlib against an oracle, SECONDS=60
#                  from SEED=0 on
# make fuzz-mpi    random MPI programs natively and simulated, SECONDS=60 from SEED=0 on
# make fuzz-inputs   spoilt files and traces, hostile ranks and spoilt stores, each for SECONDS=60
#                  from SEED=0 on
# make fuzz-coverage    files of strangers (GOAL, machines, experiments), guided by coverage, each
#                  for SECONDS=60; nightly Rust
# make miri        the kernel's tests in an interpreter that finds undefined behaviour; nightly Rust
#                  with miri
# make bench       packets per processor-second and peak memory, in bench.json; instructions per
#                  packet, in the history
# make instructions   instructions per packet against the last entry of benches/bench-history.json,
#                  and what listed faults cost that do not occur; needs valgrind
# make endurance   ten million messages through a network with bit errors and failing cables
#                  (COUNT=100000 for fewer)
# make speed       the same, and the tables of docs/speed*.md from it
# make docs        docs/validation.md from the scoreboard, docs/ablations.md from the shipped
#                  ablations, the table of docs/io.md, the pictures of the pages, and the results
#                  that quick reports show pale
# make recording   the moving picture of README, docs/watch.webp; needs Chromium
# make site        the documentation site, in out/site, with the results of the notebooks; the
#                  gallery has what `make reproduce` has simulated
# make paper       the paper about Elanite, in out/paper.pdf, with the figures of the tables of docs
# make wheel       a wheel for this kind of machine in out/wheel, which needs neither this folder
#                  nor Rust
# make release     the files of a release in out/release: wheels for x86-64 and aarch64, sources,
#                  bills of materials, checksums; needs rustup target add x86_64-unknown-linux-gnu
#                  aarch64-unknown-linux-gnu
# make web         the page of `elanite explore` and its engine (WebAssembly); needs the target
#                  wasm32-unknown-unknown of Rust, and Node.js
# make lock        requirements*.lock from pyproject.toml
# make audit       vulnerabilities, licences and sources of all that is linked or installed
# make mutants     small changes in the judging Python code and the Rust crates: a test finds each?
# make soak        all fuzzers in turn for HOURS=1, with new seeds each time; benches/soak.tsv keeps
#                  them
#
# Everything is installed in .venv; a second run builds nothing. Needs Python >= 3.11 with venv,
# Rust, a C compiler.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# What ranks of MPI programs load, and the program that starts them, where `elanite mpirun` looks
# for both.
NETWORK := python/elanite/libelanite-fi.so python/elanite/elanite-mpiexec
OUT ?= out
ARGS ?=
SECONDS ?= 60
SEED ?= 0
RUNS ?=
COUNT ?=
BEFORE_PYTHON ?=
CASE ?=
MODULES ?=
HOURS ?= 1

# The same interpreter for every build of the extension module, so that none undoes another's work.
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Where pip finds maturin, which it runs by name.
export PATH := $(CURDIR)/$(BIN):$(PATH)

ifneq ($(words $(CURDIR)),1)
$(error this folder's path has a blank, which MPICH's compiler scripts refuse: move the folder)
endif

RUST := Cargo.toml Cargo.lock $(shell find crates -name '*.rs' -o -name Cargo.toml)

.PHONY: build fortran reproduce test test-rust test-python test-all fuzz swarm endurance fuzz-mpi
.PHONY: fuzz-libraries fuzz-inputs fuzz-coverage miri bench instructions speed lint docs recording
.PHONY: site paper web web-engine wheel release crates lock audit mutants mutants-python
.PHONY: mutants-rust soak clean tools
.DELETE_ON_ERROR:

build: $(BIN)/elanite

reproduce: build
	$(BIN)/elanite reproduce --out $(OUT) $(ARGS)

# Side by side, since most of the tests take one core each. Those of Python are the longer ones, and
# go first. What is checked besides (make test lint) takes the core that is free.
ifneq ($(filter test,$(MAKECMDGOALS)),)
MAKEFLAGS += --jobs=2
endif

test: test-python test-rust

# The tests run the same cases on every host: a shell's variables that choose others are left out
# (make fuzz and others set them). So is Python's variable that forbids to keep compiled modules: a
# tenth of the tests' processor time would compile them again and again.
SETTLED := env $(patsubst %,-u %,$(filter ELANITE_% PROPTEST_% RUST_%,$(.VARIABLES))) \
	-u PYTHONDONTWRITEBYTECODE LC_ALL=C.UTF-8 TZ=UTC

# Tests of one file stay together as long as no process is idle, since they share what they have
# built. More than four processes would build the programs of the fixtures more often than they save
# time.
SIDE_BY_SIDE := --numprocesses=logical --maxprocesses=4 --dist=worksteal

# Needs no released build and no packages: the tests of Rust are compiled meanwhile. Cargo shares
# out cores by itself.
test-rust: $(BIN)/python
	MAKEFLAGS= $(SETTLED) nice cargo test --workspace --locked --quiet </dev/null

test-python: build $(BEFORE_PYTHON)
	$(SETTLED) $(BIN)/python -m pytest $(SIDE_BY_SIDE) </dev/null

# Fortran's part of the MPI of .venv, where gfortran is: its tests are skipped without.
# BEFORE_PYTHON=fortran installs it while the tests of Rust are compiled.
fortran: build
	$(BIN)/elanite install-mpifort || echo "the tests of Fortran are skipped"

test-all: build
	cargo test --workspace --locked --quiet -- --include-ignored
	$(BIN)/python -m pytest -m ''
	@$(MAKE) --no-print-directory endurance

fuzz: tools
	ELANITE_FUZZ_SECONDS=$(SECONDS) ELANITE_FUZZ_SEED=$(SEED) ELANITE_PRODUCTION_RUNS=$(RUNS) \
		cargo test --release --locked --quiet --package elanite-fabric \
		--test differential $(if $(RUNS),--test production) -- --include-ignored --nocapture

swarm: tools
	cargo run --release --locked --quiet --package elanite-swarm -- \
		--seed $(SEED) --threads $$(nproc) \
		$(if $(CASE),--case '$(CASE)',$(if $(COUNT),--count $(COUNT),--seconds $(SECONDS)))

endurance: tools
	cargo run --release --locked --quiet --package elanite-swarm --bin endurance -- $(COUNT)

fuzz-mpi: build
	$(BIN)/python -m tests.mpi_fuzz --seconds $(SECONDS) --seed $(SEED)

fuzz-libraries: build
	$(BIN)/python -m tests.library_fuzz --programs 1000000 --seconds $(SECONDS) --seed $(SEED)

fuzz-inputs: export ELANITE_FUZZ_SECONDS = $(SECONDS)
fuzz-inputs: export ELANITE_FUZZ_SEED = $(SEED)
fuzz-inputs: build
	cargo test --locked --quiet --package elanite-experiment --test inputs -- --nocapture
	PROPTEST_CASES=$$(($(SECONDS) * 500)) cargo test --locked --quiet --package elanite-goal \
		--test all reading::a_damaged_file
	cargo test --locked --quiet --package elanite-link --test all hostile::whatever -- --nocapture
	cargo test --locked --quiet --package elanite-mpirun --lib hostile::whatever -- --nocapture
	$(BIN)/python -m pytest \
		tests/test_inputs.py tests/test_trace_inputs.py tests/test_mpirun_hostile.py

# Inputs that have reached new code stay in out/fuzz, and begin the next run.
FUZZED := goal machine experiment
fuzz-coverage:
	$(call need,cargo +nightly fuzz --version,cargo-fuzz was not found; \
		rustup toolchain install nightly; cargo install --locked cargo-fuzz)
	@mkdir -p $(addprefix $(OUT)/fuzz/,$(FUZZED))
	for each in $(FUZZED); do \
		case $$each in goal) kept=fuzz/seeds ;; *) kept=$${each}s ;; esac; \
		find $$kept -type f -size -64k -exec cp -n {} $(OUT)/fuzz/$$each/ \; ; \
		cargo +nightly fuzz run --target-dir target/fuzz $$each $(abspath $(OUT))/fuzz/$$each -- \
			-max_total_time=$(SECONDS) -seed=$$(($(SEED) % 4294967295 + 1)) \
			-rss_limit_mb=4096 -timeout=20 -verbosity=0 || exit 1; done

# The allocator, and what has no tests of a million draws or steps, for which the interpreter takes
# hours.
miri:
	$(call need,cargo +nightly miri --version,Miri was not found; \
		rustup toolchain install nightly --component miri --component rust-src)
	cargo +nightly miri test --target-dir target/miri --locked --package elanite-kernel --test memory
	PROPTEST_CASES=2 MIRIFLAGS=-Zmiri-disable-isolation \
		cargo +nightly miri test --target-dir target/miri --locked \
		--package elanite-kernel --test all -- digest executor label limits queue signal --skip livelock

bench: tools
	$(call need,command -v valgrind,valgrind was not found; on Debian: apt-get install valgrind)
	$(PYTHON) benches/bench.py bench.json
	$(PYTHON) benches/instructions.py --add

instructions: tools
	$(call need,command -v valgrind,valgrind was not found; on Debian: apt-get install valgrind)
	$(PYTHON) benches/instructions.py

speed: build bench
	$(BIN)/python docs/speed.py bench.json docs

lint: build
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache --no-logo

# A missed claim is an exit code of 1, and what the page is there to tell. A failed point is an exit
# code of 1, too, and leaves claims that are not run: no page then.
docs: build
	$(BIN)/elanite reproduce --out $(OUT) >/dev/null || [ $$? = 1 ]
	@$(BIN)/elanite claims --out $(OUT) --format json | $(BIN)/python -c 'import json, sys; \
		lacking = [claim["id"] for claim in json.load(sys.stdin) if claim["state"] == "not run"]; \
		sys.exit("error: not run: " + ", ".join(lacking) if lacking else 0)'
	$(BIN)/elanite claims --out $(OUT) --format markdown >docs/validation.md || [ $$? = 1 ]
	$(BIN)/python docs/ablations.py
	$(BIN)/python docs/readme_figure.py $(OUT)
	$(BIN)/python docs/figures.py $(OUT)
	$(BIN)/python docs/io.py $(OUT) docs/io.md
	$(BIN)/python docs/reference.py $(OUT)
	$(BIN)/python docs/crates.py
	$(BIN)/python paper/build.py

recording: build
	$(call need,command -v chromium,chromium was not found; on Debian: apt-get install chromium)
	$(BIN)/python docs/recording.py

# The essays of modules name the private modules below them, which the pages show as plain text.
site: build
	$(BIN)/python website/build.py $(OUT)/site $(if $(wildcard $(OUT)/store),--store $(OUT)/store)
	RUSTDOCFLAGS='--deny warnings --allow rustdoc::private-intra-doc-links' \
		cargo doc --workspace --no-deps --locked --quiet
	rm -rf $(OUT)/site/rust && cp -r $${CARGO_TARGET_DIR:-target}/doc $(OUT)/site/rust
	@echo "site: $(OUT)/site/index.html"

# The paper about Elanite, with the figures of the pages' tables.
paper: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --require-hashes --requirement requirements-paper.lock
	$(BIN)/python paper/build.py $(OUT)/paper.pdf
	@ls $(OUT)/paper.pdf

web: web-engine
	$(call need,command -v npm,npm was not found; \
		the explorer's page needs Node.js 20 or newer: https://nodejs.org)
	cd web && npm ci --no-audit --no-fund --silent && npm run --silent build

# The module, and the JavaScript around it. Only these targets need Rust's target for WebAssembly.
WASM := wasm32-unknown-unknown
ENGINE := web/engine/built/elanite_web_bg.wasm

web-engine: $(ENGINE)

$(ENGINE): $(RUST) $(wildcard machines/*.toml packaging/bindgen/*.toml packaging/bindgen/src/*.rs)
$(ENGINE): | tools
	$(call need,test -d "$$(rustc --print target-libdir --target $(WASM))",\
		Rust's target $(WASM) is not installed: rustup target add $(WASM))
	@echo "Compiling the engine for pages; this takes some minutes the first time."
	cargo build --profile web --target $(WASM) --locked --quiet --package elanite-web
	cargo run --locked --quiet --package elanite-bindgen --features bindgen -- \
		$${CARGO_TARGET_DIR:-target}/$(WASM)/web/elanite_web.wasm $(@D)
	@touch $@

wheel: $(VENV)/.installed
	$(BIN)/python -m pip wheel --quiet --no-build-isolation --no-deps --wheel-dir $(OUT)/wheel .
	@ls $(OUT)/wheel

# Wheels have the page of the explorer, which the script builds by `make web`.
# Linked by Zig in an environment of its own, as its linker must not serve the other targets.
release: | tools
	@$(PYTHON) -m venv $(OUT)/release-venv
	@$(OUT)/release-venv/bin/python -m pip install --quiet --require-hashes \
		--requirement requirements-release.lock
	PATH="$(CURDIR)/$(OUT)/release-venv/bin:$$PATH" \
		$(OUT)/release-venv/bin/python packaging/release.py $(OUT)/release

# The crates that other simulators can use, and the crates that those use, as packages in
# target/package. Each is compiled from the packages alone. A later crate finds the earlier ones
# since Cargo 1.90.
PACKED := derive units kernel fabric elan rails libelan goal
crates: | tools
	cargo package --locked $(addprefix --package elanite-,$(PACKED)) $(PACK)

# What the container installs has the versions of the tests.
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
		--no-annotate --custom-compile-command 'make lock'
lock: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet uv
	$(COMPILE) --group dev --upgrade pyproject.toml --output-file requirements.lock
	$(COMPILE) --extra mpi --extra pandas --upgrade --constraint requirements.lock pyproject.toml \
		--output-file requirements-container.lock
	$(COMPILE) --group pyproject.toml:build --upgrade --constraint requirements.lock \
		--output-file requirements-build.lock
	$(COMPILE) --group pyproject.toml:paper --upgrade --output-file requirements-paper.lock
	$(COMPILE) --group pyproject.toml:programs --upgrade --output-file requirements-programs.lock
	$(COMPILE) --group pyproject.toml:release --upgrade --constraint requirements-build.lock \
		--output-file requirements-release.lock

# Known vulnerabilities, licences, sources and duplicates. Needs the network, cargo-deny and
# pip-audit.
audit:
	$(call need,command -v cargo-deny,cargo-deny was not found; cargo install --locked cargo-deny)
	$(call need,command -v pip-audit,pip-audit was not found; pipx install pip-audit)
	cargo deny check
	for each in requirements.lock $(addprefix requirements-,$(addsuffix .lock,container build \
		paper programs release)); do \
		pip-audit --strict --disable-pip --require-hashes --requirement $$each || exit 1; done

# Mutants of the Python code that judges, all of them, and of the Rust crates whose code enters
# results, a sample. Each half alone: make mutants-python MODULES='results.numbers', and
# make mutants-rust CRATES="kernel goal" SEED=7 EACH=200.
mutants: mutants-python mutants-rust
mutants-python: build
	$(BIN)/python -m tests.mutants $(MODULES)
mutants-rust: $(VENV)/.installed
	$(BIN)/python -m tests.mutants.rust --seed $(SEED) $(if $(EACH),--each $(EACH)) $(CRATES)

# Every fuzzer for HOURS in all, in turns of ten minutes with seeds that no earlier turn has had,
# and a line for each in benches/soak.tsv.
soak: build
	$(BIN)/python -m tests.soak $(HOURS)

clean:
	rm -rf $(VENV) target python/elanite/_core*.so $(NETWORK)

# Installing the package builds the extension module and what ranks load (packaging/backend.py); the
# command is a small script.
$(BIN)/elanite $(NETWORK) &: $(VENV)/.installed pyproject.toml packaging/backend.py $(RUST)
	@echo "Compiling the simulator; this takes a minute or two the first time."
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m pip install --quiet \
		--no-build-isolation --no-deps --editable .
	@touch $(BIN)/elanite $(NETWORK)

# Not compiled: Python compiles the modules that are used when they are used, which are few of them.
$(VENV)/.installed: requirements.lock $(BIN)/python
	@echo "Setting up $(VENV) from requirements.lock."
	@$(BIN)/python -m pip install --quiet --no-compile --require-hashes --requirement requirements.lock
	@touch $@

$(BIN)/python: | tools
	@$(PYTHON) -m venv $(VENV)

define need
	@$(1) >/dev/null 2>&1 || { echo "error: $(strip $(2))" >&2; exit 1; }
endef

tools:
	$(call need,command -v $(PYTHON),$(PYTHON) was not found; \
		Python 3.11 or newer is needed (make PYTHON=/path/to/python3))
	$(call need,$(PYTHON) -c 'import sys; assert sys.version_info >= (3$(comma) 11)',\
		$(PYTHON) is older than 3.11; name a newer one: make PYTHON=python3.12)
	$(call need,$(PYTHON) -c 'import ensurepip',$(PYTHON) cannot make virtual environments; \
		on Debian: apt-get install python3-venv)
	$(call need,command -v cargo,cargo was not found; install Rust: https://rustup.rs)
	$(call need,command -v cc,no C compiler (cc) was found; on Debian: apt-get install build-essential)

comma := ,
