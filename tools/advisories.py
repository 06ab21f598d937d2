"""Known problems of the crates in Cargo.lock, by a copy of the RustSec database.

    python3 tools/advisories.py FOLDER

For machines on which cargo-deny or cargo-audit cannot fetch it. FOLDER is a clone of rustsec/advisory-db.
Advisories that deny.toml ignores are named, and no reason to end with 1.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tomllib

ROOT = pathlib.Path(__file__).parent.parent
LOCKS = ("Cargo.lock", "fuzz/Cargo.lock")


def numbers(version: str) -> tuple[int, int, int]:
    """A version to compare; one before a release counts as the release."""
    parts = re.match(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?", version.strip())
    if parts is None:
        raise ValueError(f"{version!r} is no version")
    major, minor, patch = (int(part or 0) for part in parts.groups())
    return major, minor, patch


def fits(requirement: str, version: tuple[int, int, int]) -> bool:
    """Whether a version is one of those that a requirement such as ``>=1.2, <2`` names."""
    for part in requirement.split(","):
        operator, wanted = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~)?\s*(\S+)\s*", part).groups()
        least = numbers(wanted)
        above = {
            "~": (least[0], least[1] + 1, 0),
            "=": (least[0], least[1], least[2] + 1),
        }.get(operator, next_breaking(least))
        is_fitting = {
            ">=": version >= least,
            "<=": version <= least,
            ">": version > least,
            "<": version < least,
        }.get(operator, least <= version < above)
        if not is_fitting:
            return False
    return True


def next_breaking(version: tuple[int, int, int]) -> tuple[int, int, int]:
    major, minor, patch = version
    if major:
        return major + 1, 0, 0
    return (0, minor + 1, 0) if minor else (0, 0, patch + 1)


def main(database: str) -> int:
    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", database, *words], check=True, capture_output=True, text=True
        ).stdout

    locked: dict[str, set[str]] = {}
    for lock in LOCKS:
        for package in tomllib.loads((ROOT / lock).read_text())["package"]:
            if "source" in package:
                locked.setdefault(package["name"], set()).add(package["version"])
    rules = tomllib.loads((ROOT / "deny.toml").read_text())
    ignored = {entry["id"] for entry in rules["advisories"].get("ignore", [])}
    paths = git("ls-tree", "-r", "--name-only", "HEAD", "crates").splitlines()
    paths = [path for path in paths if path.endswith(".md") and path.split("/")[1] in locked]
    found = 0
    for path in paths:
        about = tomllib.loads(re.search(r"```toml\n(.*?)```", git("show", f"HEAD:{path}"), re.S)[1])
        advisory, versions = about["advisory"], about.get("versions", {})
        sound = versions.get("patched", []) + versions.get("unaffected", [])
        for version in sorted(locked[advisory["package"]]):
            if "withdrawn" in advisory or any(fits(requirement, numbers(version)) for requirement in sound):
                continue
            is_ignored = advisory["id"] in ignored
            found += not is_ignored
            note = " (ignored by deny.toml)" if is_ignored else ""
            print(f"{advisory['package']} {version}: {advisory['id']}{note}")
    count = sum(map(len, locked.values()))
    print(f"{count} crates, {len(paths)} advisories for their names, {found} problems")
    return 1 if found else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
