# Every target sets up what it needs (Debian packages, Rust, tools); see scripts/setup.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
export CARGO_TERM_COLOR ?= always
CACHE := $(or $(LANDFALL_CACHE),$(or $(XDG_CACHE_HOME),$(HOME)/.cache)/landfall)
DENY := $(CACHE)/cargo-deny-0.20.2/bin/cargo-deny
MDBOOK := $(CACHE)/mdbook-0.5.4/bin/mdbook
FUZZ_SECONDS ?= 30

.PHONY: help
help: ## Show this list.
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the landfall program (release).
	scripts/setup build
	cargo build --release --locked --package landfall

.PHONY: demo
demo: build ## Install a cluster on a simulated oVirt engine, and remove it again.
	target/release/landfall demo

.PHONY: test
test: ## Run all tests.
	scripts/setup build test
	cargo test --workspace --locked
	scripts/fuzz $(FUZZ_SECONDS)

.PHONY: conformance
conformance: ## Let other people's clients judge the simulators.
	scripts/setup build
	conformance/ovirt/run
	conformance/dns/run

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

.PHONY: docs
docs: ## Build the book into target/book.
	scripts/setup build docs
	mkdir -p docs/reference
	cargo run --quiet --locked --package landfall -- docs > docs/reference/cli.md
	$(MDBOOK) build
