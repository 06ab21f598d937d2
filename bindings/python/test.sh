#!/usr/bin/env bash
# Builds the wheel, installs it into a virtual environment of its own and runs the Python tests there.
# Arguments are handed to pytest. The environment is made anew when what it holds should change.
set -euo pipefail
cd "$(dirname "$0")"
root=$(cd ../.. && pwd)
work="$root/target/python"
environment="$work/venv"
needs=(maturin pytest numpy scipy scikit-learn pandas polars pyarrow matplotlib)

wanted="$(python3 --version) ${needs[*]}"
if [ "$(cat "$environment/made-for" 2>/dev/null)" != "$wanted" ]; then
    python3 -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${needs[@]}"
    echo "$wanted" > "$environment/made-for"
fi

# The profile of the Rust tests, so that the library is not compiled twice.
export CARGO_TARGET_DIR="$root/target"
cargo build --quiet --manifest-path "$root/Cargo.toml" --bin memoir
rm -rf "$work/wheels"
PATH="$environment/bin:$PATH" maturin build --quiet --profile dev --out "$work/wheels"
"$environment/bin/python" -m pip install --quiet --disable-pip-version-check --force-reinstall --no-deps \
    "$work"/wheels/memoir_xc-*.whl
MEMOIR_PROGRAM="$root/target/debug/memoir" "$environment/bin/python" -m pytest "$@"
