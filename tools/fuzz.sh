#!/usr/bin/env bash
# Runs every fuzz target for MINUTES (default 10) minutes in all, beginning with a corpus made of models of
# every kind and samples of every format, and says how often each was executed. TARGETS names some only,
# LENGTH is the most bytes of an input: short ones are tried more often.
# cargo-fuzz comes from crates.io: cargo install cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/../fuzz"
minutes="${MINUTES:-10}"
all="container model reader answer vocabulary checkpoint text experiment tables stored prepared"
read -r -a targets <<< "${TARGETS:-$all}"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$(cd .. && pwd)/target}/fuzz"
# Sanitizers need options that only nightly compilers allow; a stable one obeys this.
export RUSTC_BOOTSTRAP=1
export RUST_BACKTRACE=1
# Some targets write files: in memory they take a tenth of the time.
[ -w /dev/shm ] && export TMPDIR=/dev/shm

command -v cargo-fuzz > /dev/null || { echo "cargo-fuzz is missing: cargo install cargo-fuzz" >&2; exit 2; }
cargo fuzz build --fuzz-dir .
host=$(rustc -vV | sed -n 's/^host: //p')
programs="$CARGO_TARGET_DIR/$host/release"
[ -d corpus/prepared ] || "$programs/seeds" corpus

seconds=$((minutes * 60 / ${#targets[@]}))
failed=0
for target in "${targets[@]}"; do
    mkdir -p "corpus/$target" "artifacts/$target"
    log="artifacts/$target.log"
    code=0
    # The smallest model has about 2,000 bytes, and half a model is always refused. Leaks are not looked for:
    # readers have a thread of their own, which makes libFuzzer search all memory after every run.
    length=1024
    [ "$target" = container ] && length=4096
    # The first run of some targets trains all models, which takes longer than any other.
    "$programs/$target" "corpus/$target" -max_total_time="$seconds" -rss_limit_mb=3000 -timeout=120 \
        -max_len="${LENGTH:-$length}" -detect_leaks=0 -print_final_stats=1 \
        -artifact_prefix="artifacts/$target/" > "$log" 2>&1 || code=$?
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    echo "$target: ${count:-?} executions in $seconds s, exit code $code"
    if [ "$code" -ne 0 ]; then
        failed=1
        grep -E "panicked|ERROR|SUMMARY" "$log" | head -5
        ls "artifacts/$target"
    fi
done
exit "$failed"
