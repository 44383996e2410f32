# Every target sets up what it needs (Debian packages, Rust, tools); see scripts/setup.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export CARGO_TERM_COLOR ?= always
# Finds Rust in the same run that installed it.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
CACHE := $(or $(LANDFALL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/landfall)
DENY := $(CACHE)/cargo-deny-0.20.2/bin/cargo-deny
MDBOOK := $(CACHE)/mdbook-0.5.4/bin/mdbook
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
# Tier of the tests, the same for every runner; docs/testing.md says what each has.
export LANDFALL_TIER ?= gate
export LANDFALL_RESULTS ?= $(TARGET)/results
# One build serves all tests: features are chosen for all packages together, and those of the agent include its controller.
WORKSPACE := --workspace --locked --features landfall-node/controller
# nextest's own place for results, which does not follow CARGO_TARGET_DIR.
JUNIT = target/nextest/$(LANDFALL_TIER)/junit.xml
NEXTEST := $(CACHE)/cargo-nextest-0.9.140/bin/cargo-nextest nextest
# `make e2e PROFILE=dev` takes what the tests have built, and runs slower.
PROFILE ?= release
BUILT := $(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
programs = cargo $(if $(filter dev,$(PROFILE)),test $(WORKSPACE) --no-run,build --locked --profile $(PROFILE) $(1:%=--package %))
NODE_TARGET ?= x86_64-unknown-linux-musl
NODE := $(TARGET)/$(NODE_TARGET)/$(BUILT)/landfall-node
# Each has a folder in conformance/ with a program `run`.
SUITES := nova ovirt upi powervs powervm packet dns
# What `make test` runs side by side once everything is built, the longest first.
STAGES := conformance-nova hosts tests $(filter-out conformance-nova,$(SUITES:%=conformance-%)) fuzz

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the landfall program (release).
	scripts/setup build
	$(call programs,landfall)

.PHONY: node
node: ## Build the landfall-node program, static (release); NODE_TARGET chooses the machines.
	NODE_TARGET=$(NODE_TARGET) scripts/setup build node
	CC_powerpc64le_unknown_linux_gnu=powerpc64le-linux-gnu-gcc \
	CARGO_TARGET_POWERPC64LE_UNKNOWN_LINUX_GNU_LINKER=powerpc64le-linux-gnu-gcc \
	CARGO_TARGET_POWERPC64LE_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static" \
	cargo build --profile $(PROFILE) --locked --package landfall-node --features controller --bin landfall-node --target $(NODE_TARGET)

.PHONY: landfall-static
landfall-static: ## Build the landfall program, static, for the image that Containerfile describes.
	NODE_TARGET=$(NODE_TARGET) scripts/setup build node
	cargo build --release --locked --package landfall --target $(NODE_TARGET)

.PHONY: image
image: landfall-static ## Build the image that Containerfile describes, and look whether it is right.
	scripts/setup image
	scripts/build-image $(TARGET)/$(NODE_TARGET)/release/landfall

.PHONY: wheel
wheel: ## Build the wheel of the Nova driver for PowerVM into target/wheels (release).
	scripts/setup build test
	cd python/nova-landfall && "$$(../../conformance/nova/venv 2026)/bin/maturin" build --release --locked --out $(TARGET)/wheels

.PHONY: demo
demo: ## Install a cluster on a simulated oVirt engine, and remove it again.
	scripts/setup build
	@echo "demo: building landfall without optimisation; the first time this takes about five minutes on two cores" >&2
	cargo build --locked --profile demo --package landfall
	$(TARGET)/demo/landfall demo

.PHONY: demo-real
demo-real: build node tools ## The same on real hosts, with a real Kubernetes (needs root).
	cp $(NODE) $(TARGET)/$(BUILT)/landfall-node
	$(TARGET)/$(BUILT)/landfall demo --hosts real --workers 1

.PHONY: e2e
e2e: build node tools ## Install on real hosts, break things, measure, destroy (needs root). E2E='words' chooses scenarios.
	$(call programs,landfall-e2e)
	$(TARGET)/$(BUILT)/landfall-e2e --node-agent $(NODE) --tier full $(E2E)

.PHONY: test
test: ## Run everything that must hold at each merge (needs root; half an hour on two cores).
	scripts/setup build
	rm -rf $(LANDFALL_RESULTS)
	scripts/stage --needed setup scripts/setup test tools lint
	scripts/stage tools scripts/build-tools
	scripts/stage --needed build $(NEXTEST) run $(WORKSPACE) --no-run --timings
	scripts/stage lint $(MAKE) --no-print-directory checks
	$(MAKE) --no-print-directory --jobs 4 --keep-going $(STAGES:%=stage-%) || true
	scripts/report setup tools build lint $(STAGES)

.PHONY: test-full
test-full: ## Run `make test` with all repetitions, and both README commands on a new machine (needs root; several hours).
	status=0; \
	$(MAKE) test LANDFALL_TIER=full || status=$$?; \
	$(MAKE) e2e || status=$$?; \
	scripts/fresh-machine || status=$$?; \
	exit $$status

# A stage that fails keeps no other one from running.
.PHONY: $(STAGES:%=stage-%)
$(STAGES:%=stage-%): stage-%:
	@scripts/stage $* $(MAKE) --no-print-directory $*

.PHONY: tests
tests:
	cargo build --quiet $(WORKSPACE) --bin control-planes --example operate
	rm -f $(JUNIT)
	status=0; $(TARGET)/debug/control-planes $(NEXTEST) run $(WORKSPACE) --profile $(LANDFALL_TIER) || status=$$?; \
	cp $(JUNIT) $(LANDFALL_RESULTS)/tests.xml; exit $$status

.PHONY: quick
quick: ## Run the tests of a platform crate, or of another one with a test `it`. CRATE=platform-packet
	scripts/setup build
	$(NEXTEST) run $(WORKSPACE) --lib --test it $(if $(filter platform-powervm,$(CRATE)),--test powervm_platform) \
		-E 'package(landfall-$(CRATE))'

.PHONY: hosts
hosts:
	cargo build --quiet $(WORKSPACE) --bin landfall-e2e --bin landfall-node --bin landfall --example operate
	$(TARGET)/debug/landfall-e2e --node-agent $(TARGET)/debug/landfall-node --logs $(LANDFALL_RESULTS)/hosts --junit $(LANDFALL_RESULTS)/hosts.xml

.PHONY: profile
profile: ## Write the profile of the last `make test` into docs/testing.md.
	scripts/report --write docs/testing.md

.PHONY: fuzz
fuzz: ## Fuzz each target for a bounded time.
	scripts/fuzz

.PHONY: tools
tools: ## Build what real hosts are made of: Kubernetes, etcd, containerd, a Debian, images (once; needs root).
	scripts/setup tools
	scripts/build-tools

.PHONY: conformance
conformance: ## Let other people's clients judge the simulators, and other people's servers the kit of upi.
	scripts/setup build test
	$(MAKE) $(SUITES:%=conformance-%)

.PHONY: $(SUITES:%=conformance-%)
$(SUITES:%=conformance-%): conformance-%:
	conformance/$*/run

.PHONY: lint
lint: ## Check formatting, lints, layers and dependencies.
	scripts/setup build lint
	$(MAKE) checks

.PHONY: checks
checks:
	cargo fmt --all --check
	cargo clippy $(WORKSPACE) --all-targets -- -D warnings
	cargo build --quiet $(WORKSPACE) --bin xtask --example operate
	$(TARGET)/debug/xtask layers
	$(TARGET)/debug/xtask waits
	$(DENY) --workspace --offline check bans licenses sources
	scripts/advisories
	shellcheck --shell=bash scripts/setup scripts/stage scripts/advisories scripts/fresh-machine scripts/fuzz scripts/build-* $(wildcard conformance/*/run) conformance/prepare

.PHONY: advisories
advisories: ## Check dependencies for known vulnerabilities (needs the network).
	scripts/setup build lint
	scripts/advisories

.PHONY: bench
bench: build ## Measure, next to peers: Ansible modules, and those that OPENSHIFT_INSTALL and TERRAFORM name.
	scripts/setup test bench
	bench/create target/release/landfall
	bench/install target/release/landfall
	bench/install-packet target/release/landfall
	bench/install-powervs target/release/landfall
	cargo build --release --locked --package landfall-platform-powervm --example operate
	bench/compute-powervm target/release/landfall target/release/examples/operate
	cargo bench --locked --package landfall-engine --bench overhead
	cargo bench --locked --package landfall-simulator --bench ovirt_load
	cargo bench --locked --package landfall-node --bench serving
	cargo bench --locked --package landfall-node --bench failover
	$(MAKE) e2e E2E=install
	cargo bench --locked --package landfall-machines --bench fleet
	cargo bench --locked --package landfall-platform-powervm --bench feed

.PHONY: docs
docs: ## Build the book into target/book.
	scripts/setup build docs
	cargo run --quiet --locked --package landfall -- docs --dir docs/reference
	$(MDBOOK) build
