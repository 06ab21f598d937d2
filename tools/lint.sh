#!/usr/bin/env bash
# Lints all but Rust code: Python by ruff, the page of the service by tsc, workflows by their schema,
# dependencies by the Rust they need and by deny.toml, line lengths. The tools come from PyPI and crates.io
# into folders under target/, made anew when their versions change.
set -euo pipefail
cd "$(dirname "$0")/.."
environment="${CARGO_TARGET_DIR:-target}/lint/venv"
needs=(ruff==0.17.5 check-jsonschema==0.39.0)

wanted="$(python3 --version) ${needs[*]}"
if [ "$(cat "$environment/made-for" 2>/dev/null)" != "$wanted" ]; then
    python3 -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${needs[@]}"
    echo "$wanted" > "$environment/made-for"
fi

python_code=(--config bindings/python/pyproject.toml bindings/python experiments tools)
"$environment/bin/ruff" format --check --quiet "${python_code[@]}"
"$environment/bin/ruff" check --quiet "${python_code[@]}"
"$environment/bin/check-jsonschema" --builtin-schema vendor.github-workflows .github/workflows/*.yml
python3 tools/check_msrv.py
python3 tools/check_lines.py

# The page of the service: types in its comments, where Node is installed.
if command -v npm > /dev/null; then
    node="${CARGO_TARGET_DIR:-target}/lint/node"
    tsc="$node/node_modules/.bin/tsc"
    [ -x "$tsc" ] || npm install --silent --no-fund --no-audit --prefix "$node" typescript@5.9
    "$tsc" --project crates/memoir-serve/jsconfig.json
fi

# Licences and sources of dependencies, and known problems where the database of advisories can be reached.
# Built without optimisation, cargo-deny takes a minute of processor time once, and runs as fast.
deny_version=0.20.2
cargo_tools="$(realpath -m "${CARGO_TARGET_DIR:-target}")/lint/cargo"
if [ "$("$cargo_tools/bin/cargo-deny" --version 2>/dev/null)" != "cargo-deny $deny_version" ]; then
    CARGO_PROFILE_DEV_DEBUG=0 cargo install --quiet --locked --profile dev --root "$cargo_tools" \
        --target-dir "$cargo_tools/build" "cargo-deny@$deny_version"
    rm -rf "$cargo_tools/build"
fi
deny() {
    "$cargo_tools/bin/cargo-deny" --locked --log-level error --config deny.toml --manifest-path "$@"
}
# Nothing of the fuzz targets is given away, so their licences do not matter.
checks=(bans sources)
if deny Cargo.toml fetch db; then
    checks+=(advisories)
else
    echo "advisories were not checked: their database cannot be reached" >&2
fi
deny Cargo.toml check licenses "${checks[@]}"
deny fuzz/Cargo.toml check "${checks[@]}"
