#!/usr/bin/env bash
# Puts a Rust compiler and the sources of its standard library into target/debian-rust: packages of Debian.
#
# tools/dist.sh builds the standard library with it for targets that rustup has not installed. It needs
# Debian 12 and no rights: packages are unpacked and not installed, and apt's lists have their own folder.
set -euo pipefail
cd "$(dirname "$0")/.."
folder="$(realpath -m "${CARGO_TARGET_DIR:-target}")/debian-rust"
rm -rf "$folder"
mkdir -p "$folder"/{packages,lists/partial,cache}

apt=(-qq -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder/cache" -o Debug::NoLocking=1)
apt-get "${apt[@]}" update

# The libraries that rustc loads are among the packages that it depends on.
depends() {
    apt-cache "${apt[@]}" depends --recurse --important "$1" | grep '^[a-z]'
}
mapfile -t rust < <(depends rustc-web | grep -E '^lib(std-rust|llvm)')
llvm=$(printf '%s\n' "${rust[@]}" | grep '^libllvm')
mapfile -t libraries < <(depends "$llvm" | grep -vE '^(libc6|libgcc|gcc)')
(cd "$folder/packages" && apt-get "${apt[@]}" download rustc-web rust-web-src "${rust[@]}" "${libraries[@]}")
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
rm -rf "$folder"/{packages,lists,cache}

cat > "$folder/rustc" << EOF
#!/bin/sh
LD_LIBRARY_PATH=$(dirname "$folder"/usr/lib/*/librustc_driver-*.so) exec $folder/usr/bin/rustc "\$@"
EOF
chmod 755 "$folder/rustc"
"$folder/rustc" --version
