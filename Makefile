# Every target sets up what it needs (Debian packages, Rust, tools); see scripts/setup.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export CARGO_TERM_COLOR ?= always
CACHE := $(or $(LANDFALL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/landfall)
DENY := $(CACHE)/cargo-deny-0.20.2/bin/cargo-deny
MDBOOK := $(CACHE)/mdbook-0.5.4/bin/mdbook
FUZZ_SECONDS ?= 30
NODE_TARGET ?= x86_64-unknown-linux-musl
NODE := target/$(NODE_TARGET)/release/landfall-node

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the landfall program (release).
	scripts/setup build
	cargo build --release --locked --package landfall

.PHONY: node
node: ## Build the landfall-node program, static (release); NODE_TARGET chooses the machines.
	NODE_TARGET=$(NODE_TARGET) scripts/setup build node
	CC_powerpc64le_unknown_linux_gnu=powerpc64le-linux-gnu-gcc \
	CARGO_TARGET_POWERPC64LE_UNKNOWN_LINUX_GNU_LINKER=powerpc64le-linux-gnu-gcc \
	CARGO_TARGET_POWERPC64LE_UNKNOWN_LINUX_GNU_RUSTFLAGS="-C target-feature=+crt-static" \
	cargo build --release --locked --package landfall-node --bin landfall-node --target $(NODE_TARGET)

.PHONY: demo
demo: build ## Install a cluster on a simulated oVirt engine, and remove it again.
	target/release/landfall demo

.PHONY: demo-real
demo-real: build node tools ## The same on real hosts, with a real Kubernetes (needs root).
	cp $(NODE) target/release/landfall-node
	target/release/landfall demo --hosts real --workers 1

.PHONY: e2e
e2e: build node tools ## Install on real hosts, break things, measure, destroy (needs root). E2E='words' chooses scenarios.
	cargo test --locked --package landfall-simulator --test guests -- --ignored hosts
	cargo build --release --locked --package landfall-e2e
	target/release/landfall-e2e --node-agent $(NODE) $(E2E)

.PHONY: test
test: ## Run all tests.
	scripts/setup build test
	cargo test --workspace --locked
	LANDFALL_BIN=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug/landfall conformance/ovirt/run
	LANDFALL_BIN=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug/landfall conformance/dns/run
	LANDFALL_BIN=$(or $(CARGO_TARGET_DIR),$(CURDIR)/target)/debug/landfall conformance/powervm/run
	scripts/fuzz $(FUZZ_SECONDS)

.PHONY: tools
tools: ## Build what real hosts are made of: Kubernetes, etcd, containerd, a Debian, images (once; needs root).
	scripts/setup tools
	scripts/build-tools

.PHONY: conformance
conformance: ## Let other people's clients judge the simulators.
	scripts/setup build
	conformance/ovirt/run
	conformance/dns/run
	conformance/powervm/run

.PHONY: lint
lint: ## Check formatting, lints, layers and dependencies.
	scripts/setup build lint
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	cargo run --quiet --locked --package xtask -- layers
	$(DENY) --workspace --offline check bans licenses sources

.PHONY: advisories
advisories: ## Check dependencies for known vulnerabilities (needs the network).
	scripts/setup build lint
	$(DENY) --workspace check advisories

.PHONY: bench
bench: build ## Measure, next to peers: Ansible modules, and those that OPENSHIFT_INSTALL and TERRAFORM name.
	scripts/setup bench
	bench/create target/release/landfall
	bench/install target/release/landfall
	cargo bench --locked --package landfall-engine --bench overhead
	cargo bench --locked --package landfall-simulator --bench ovirt_load
	cargo bench --locked --package landfall-node --bench serving
	cargo bench --locked --package landfall-platform-powervm --bench feed

.PHONY: docs
docs: ## Build the book into target/book.
	scripts/setup build docs
	cargo run --quiet --locked --package landfall -- docs --dir docs/reference
	$(MDBOOK) build
