#!/usr/bin/env bash
# Builds what a release has for Linux into target/dist: wheels, programs, licences, an SBOM, checksums.
#
# Builds for every wanted target whose standard library is installed (rustup target add TARGET). Those of
# other targets are compiled by the Rust of tools/debian_rust.sh, if that was run; else these targets are
# named and left out. maturin, cargo-zigbuild and zig come from PyPI; zig links an old glibc or musl.
# CHECK=1 builds all a second time, in another folder, and compares the bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
work="${CARGO_TARGET_DIR:-$root/target}/dist-work"
out="${CARGO_TARGET_DIR:-$root/target}/dist"
debian_rust="${CARGO_TARGET_DIR:-$root/target}/debian-rust"
environment="$work/venv"
needs=(maturin==1.16.0 cargo-zigbuild==0.24.0 ziglang==0.16.0)
linux=({x86_64,aarch64}-unknown-linux-{gnu,musl})
read -r -a wanted <<< "${TARGETS:-${linux[*]}}"

if [ "$(cat "$environment/made-for" 2>/dev/null)" != "${needs[*]}" ]; then
    python3 -m venv --clear "$environment"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check "${needs[@]}"
    echo "${needs[*]}" > "$environment/made-for"
fi
export PATH="$environment/bin:$PATH"

# The same bytes wherever and whenever it is built: no paths, no times.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

has_target() {
    [ -d "$(rustc --print sysroot)/lib/rustlib/$1/lib" ]
}

# use_rust TARGET: the compiler that has a standard library for it.
use_rust() {
    RUSTFLAGS="${maps[*]/#/--remap-path-prefix=}"
    unset RUSTC RUSTC_BOOTSTRAP CARGO_UNSTABLE_BUILD_STD
    if ! has_target "$1"; then
        export RUSTC="$debian_rust/rustc" RUSTC_BOOTSTRAP=1 CARGO_UNSTABLE_BUILD_STD=std
        # musl's own start files come from zig: Debian has none.
        case $1 in *-musl) RUSTFLAGS+=" -Clink-self-contained=no" ;; esac
    fi
    export RUSTFLAGS
}

# build FOLDER: everything for all targets, with FOLDER for what is compiled, into FOLDER/out.
build() {
    local folder=$1 target libc
    mkdir -p "$folder/out"
    export CARGO_TARGET_DIR="$folder/cargo"
    local maps=("$root=/memoir" "${CARGO_HOME:-$HOME/.cargo}=/cargo" "$debian_rust=/rust" "$folder=/build")
    export CFLAGS="${maps[*]/#/-ffile-prefix-map=}"
    for target in "${targets[@]}"; do
        case $target in
            *-gnu) libc=manylinux_2_17 program=$target.2.17 ;;
            *) libc=musllinux_1_2 program=$target ;;
        esac
        use_rust "$target"
        (cd bindings/python && maturin build --quiet --release --zig --target "$target" \
            --compatibility "$libc" --sbom-include "$work/memoir.cdx.json" --out "$folder/out")
        if [ "${WHEELS_ONLY:-}" = "" ]; then
            cargo zigbuild --quiet --release --bin memoir --target "$program"
            install -m 755 "$CARGO_TARGET_DIR/$target/release/memoir" "$folder/out/memoir-$target"
        fi
    done
}

targets=()
for target in "${wanted[@]}"; do
    if has_target "$target" || [ -x "$debian_rust/rustc" ]; then
        targets+=("$target")
    else
        echo "left out: $target (rustup target add $target, or on Debian: bash tools/debian_rust.sh)"
    fi
done

rm -rf "$work/first/out" "$work/second" "$out"
python3 tools/sbom.py > "$work/memoir.cdx.json"
build "$work/first"
if [ "${CHECK:-}" != "" ]; then
    build "$work/second"
    diff -r "$work/first/out" "$work/second/out" && echo "two builds gave the same bytes"
    rm -rf "$work/second"
fi
mkdir -p "$out"
cp "$work"/first/out/* "$out"
unset RUSTFLAGS RUSTC RUSTC_BOOTSTRAP CARGO_UNSTABLE_BUILD_STD CFLAGS CARGO_TARGET_DIR
# What zig links beside the crates: musl, and what unwinds the stack.
zig=$("$environment/bin/python" -c 'import ziglang; print(*ziglang.__path__)')/lib
python3 tools/licences.py musl="$zig/libc/musl/COPYRIGHT" libunwind="$zig/libunwind/LICENSE.TXT" \
    > "$out/THIRD-PARTY-LICENCES.txt"
cp "$work/memoir.cdx.json" "$out"
(cd "$out" && sha256sum -- * > SHA256SUMS && ls -l)
