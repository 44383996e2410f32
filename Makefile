# Every target sets up what it needs (Debian packages, Rust, tools); see scripts/setup.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export CARGO_TERM_COLOR ?= always
CACHE := $(or $(LANDFALL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/landfall)
DENY := $(CACHE)/cargo-deny-0.20.2/bin/cargo-deny
MDBOOK := $(CACHE)/mdbook-0.5.4/bin/mdbook
FUZZ_SECONDS ?= 30
TARGET := $(or $(CARGO_TARGET_DIR),$(CURDIR)/target)
# `make e2e PROFILE=dev` takes what the tests have built, and runs slower.
PROFILE ?= release
BUILT := $(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
programs = cargo $(if $(filter dev,$(PROFILE)),test --workspace --no-run,build --profile $(PROFILE) $(1:%=--package %)) --locked
NODE_TARGET ?= x86_64-unknown-linux-musl
NODE := $(TARGET)/$(NODE_TARGET)/$(BUILT)/landfall-node
# Each has a folder in conformance/ with a program `run`.
# The one that takes longest begins first.
SUITES := nova ovirt dns upi packet powervm powervs

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
demo: build ## Install a cluster on a simulated oVirt engine, and remove it again.
	$(TARGET)/$(BUILT)/landfall demo

.PHONY: demo-real
demo-real: build node tools ## The same on real hosts, with a real Kubernetes (needs root).
	cp $(NODE) $(TARGET)/$(BUILT)/landfall-node
	$(TARGET)/$(BUILT)/landfall demo --hosts real --workers 1

.PHONY: e2e
e2e: build node tools ## Install on real hosts, break things, measure, destroy (needs root). E2E='words' chooses scenarios.
	cargo test --workspace --locked --test guests -- --ignored hosts
	$(call programs,landfall-e2e)
	$(TARGET)/$(BUILT)/landfall-e2e --node-agent $(NODE) $(E2E)

.PHONY: test
test: ## Run all tests.
	scripts/setup build test
	cargo test --workspace --locked --no-fail-fast
	LANDFALL_BIN=$(TARGET)/debug/landfall $(MAKE) --jobs 2 --output-sync=target $(SUITES:%=conformance-%)
	scripts/fuzz $(FUZZ_SECONDS)

.PHONY: tools
tools: ## Build what real hosts are made of: Kubernetes, etcd, containerd, a Debian, images (once; needs root).
	scripts/setup tools
	scripts/build-tools

.PHONY: conformance
conformance: ## Let other people's clients judge the simulators, and other people's servers the kit of upi.
	scripts/setup build test
	cargo build --locked --package landfall
	LANDFALL_BIN=$(TARGET)/debug/landfall $(MAKE) $(SUITES:%=conformance-%)

.PHONY: $(SUITES:%=conformance-%)
$(SUITES:%=conformance-%): conformance-%:
	conformance/$*/run

.PHONY: lint
lint: ## Check formatting, lints, layers and dependencies.
	scripts/setup build lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo clippy --package landfall-node --features controller --locked -- -D warnings
	cargo run --quiet --locked --package xtask -- layers
	$(DENY) --workspace --offline check bans licenses sources

.PHONY: advisories
advisories: ## Check dependencies for known vulnerabilities (needs the network).
	scripts/setup build lint
	$(DENY) --workspace check advisories

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
