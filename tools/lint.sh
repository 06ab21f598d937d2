#!/usr/bin/env bash
# Lints all but Rust code: Python by ruff, the page of the service by tsc, workflows by their schema,
# dependencies by the Rust they need, line lengths. The tools come from PyPI into an environment under
# target/, made anew when their list changes.
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
# Both tools come from crates.io: cargo install cargo-deny cargo-audit.
if command -v cargo-deny > /dev/null; then
    cargo deny --log-level error check licenses bans sources
    cargo deny --log-level error check advisories || echo "advisories were not checked: see above" >&2
fi
