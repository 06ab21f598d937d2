"""Prints a list of all crates that the program and the Python package hold, in the form CycloneDX 1.5.

The time in it is SOURCE_DATE_EPOCH, so that the same sources give the same bytes.
"""

from __future__ import annotations

import datetime
import json
import os
import tomllib

from licences import ROOT, bundled


def main() -> None:
    lock = tomllib.loads((ROOT / "Cargo.lock").read_text())
    sums = {(crate["name"], crate["version"]): crate.get("checksum") for crate in lock["package"]}
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]
    components = []
    for package in bundled():
        name, version = package["name"], package["version"]
        purl = f"pkg:cargo/{name}@{version}"
        component = {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}
        if checksum := sums.get((name, version)):
            component["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if package["license"]:
            # Some crates write `/` where the standard has `OR`.
            component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
        components.append(component)
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", 0))
    time = datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "name": "memoir", "version": workspace["version"]},
        },
        "components": components,
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
