#!/usr/bin/env bash
# Builds the documentation site into target/site. mdBook is compiled once, from crates.io, into target/tools.
set -euo pipefail
cd "$(dirname "$0")/.."
target="${CARGO_TARGET_DIR:-target}"
version=0.5.4

if ! "$target/tools/bin/mdbook" --version 2> /dev/null | grep -qF "$version"; then
    cargo install mdbook --version "$version" --locked --no-default-features --features search \
        --root "$target/tools" --target-dir "$target/tools/build"
    rm -rf "$target/tools/build"
fi
python3 tools/site.py "$target/site-source"
rm -rf "$target/site"
"$target/tools/bin/mdbook" build "$target/site-source" --dest-dir "$PWD/$target/site"
python3 tools/site.py --check "$target/site"
