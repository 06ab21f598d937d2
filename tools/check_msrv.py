"""Checks that no dependency needs a newer Rust than `rust-version` in Cargo.toml promises.

    python3 tools/check_msrv.py     # exit code 1 and a line for each dependency that does

Our own code is checked by clippy, whose lint `incompatible_msrv` knows since when the standard library has a
function. Standard library only; needs cargo.
"""

import json
import subprocess
import sys


def main():
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    packages = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)[
        "packages"
    ]
    own = {package["rust_version"] for package in packages if package["source"] is None}
    if len(own) != 1 or None in own:
        sys.exit(f"every crate must have the workspace's `rust-version`; found {own}")
    (promised,) = own
    newer = [package for package in packages if as_numbers(package["rust_version"]) > as_numbers(promised)]
    for package in newer:
        needs = f"{package['name']} {package['version']} needs Rust {package['rust_version']}"
        print(f"{needs}, Cargo.toml promises {promised}", file=sys.stderr)
    sys.exit(1 if newer else 0)


def as_numbers(version):
    return [int(part) for part in (version or "1.0").split(".")] + [0] * (2 - (version or "1.0").count("."))


if __name__ == "__main__":
    main()
