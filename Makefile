.PHONY: help demo test bench lint docs site fuzz sanitize faults soak dist
.DEFAULT_GOAL := help

help:            ## List what can be made
	@grep -hE '^[a-z]+: .*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

# Without Parquet, Arrow and Excel, which take two of five minutes to build and which the demo does not need.
demo:            ## Build, then train and use a classifier of 2,400 classes on built-in data
	cargo run --release --quiet -p memoir-xc-cli --no-default-features --features serve -- demo

# Property tests draw the same cases every time here; plain `cargo test` draws new ones.
test: export PROPTEST_RNG_SEED ?= 1
test:            ## Run all tests
	cargo test --workspace
	bash bindings/python/test.sh
	python3 tools/check_docs.py

bench:           ## Measure speed and quality (minutes; DATA=FOLDER adds the peers)
	cargo build --release --quiet --bin memoir
	bash experiments/bench.sh
	cargo bench --quiet -p memoir-xc-experiments

lint:            ## Check formatting, lints, line lengths and CI workflows
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	bash tools/lint.sh

docs:            ## Build the library's documentation
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

site:            ## Build the documentation site into target/site (installs mdBook there once)
	bash tools/site.sh

fuzz:            ## Feed hostile input to every reader (MINUTES=n, 10 by default; needs cargo-fuzz)
	bash tools/fuzz.sh

sanitize:        ## Run the library's unit tests under the address sanitizer
	bash tools/sanitize.sh

faults:          ## Run every verb with little memory, failing files and 200 kills (an hour)
	cargo build --release --quiet --bin memoir
	python3 tools/faults.py target/release/memoir

soak:            ## Train, continue, compact and compare in a loop (HOURS=n, 1 by default)
	cargo build --release --quiet --bin memoir
	python3 tools/soak.py target/release/memoir --minutes $$(( 60 * $${HOURS:-1} ))

dist:            ## Build wheels, programs, licences and checksums into target/dist (CHECK=1 builds twice)
	bash tools/dist.sh
