.PHONY: help demo test bench lint docs
.DEFAULT_GOAL := help

help:            ## List what can be made
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo:            ## Build, then train and use a classifier of 2,400 classes on built-in data
	cargo run --release --quiet --bin memoir -- demo

# Property tests draw the same cases every time here; plain `cargo test` draws new ones.
test: export PROPTEST_RNG_SEED ?= 1
test:            ## Run all tests
	cargo test --workspace
	bash bindings/python/test.sh

bench:           ## Measure speed and quality (minutes; DATA=FOLDER adds the peers)
	cargo build --release --quiet --bin memoir
	bash experiments/bench.sh

lint:            ## Check formatting and lints
	cargo fmt --check
	cargo clippy --workspace --all-targets -- -D warnings
	if command -v ruff > /dev/null; then ruff check --config bindings/python/pyproject.toml bindings/python experiments/python; fi

docs:            ## Build the library's documentation
	cargo doc --workspace --no-deps
