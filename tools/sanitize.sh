#!/usr/bin/env bash
# Runs the library's unit tests under the address sanitizer: its kernels, mapped files and products of
# matrices have code that the compiler does not check. Each kernel's test runs it with AVX2, where the
# machine has that, and in plain Rust. Arguments are names of tests; without any, all run.
set -euo pipefail
cd "$(dirname "$0")/.."
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/sanitize"
# Sanitizers need options that only nightly compilers allow; a stable one obeys this.
export RUSTC_BOOTSTRAP=1
export RUSTFLAGS="-Zsanitizer=address"
export PROPTEST_RNG_SEED="${PROPTEST_RNG_SEED:-1}"
# Leaks are not looked for: pools of threads live as long as the program.
export ASAN_OPTIONS="detect_leaks=0:${ASAN_OPTIONS:-}"
# With a target, programs that only build others go without the sanitizer.
host=$(rustc -vV | sed -n 's/^host: //p')
cargo test --package memoir-xc --lib --target "$host" -- "$@"
