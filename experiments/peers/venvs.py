"""Virtual environments for the peers, made on first use."""

import subprocess
import sys
from pathlib import Path

# One environment per peer, because their needs differ: libpecos 1.2.8 fails
# with scipy 1.14 and later. Each entry is a list of `pip install` argument
# lists. libpecos goes in without its dependencies, because it also asks for
# torch and transformers (gigabytes), which its linear model never imports.
ENVIRONMENTS = {
    "pecos": [
        ["--no-deps", "libpecos==1.2.8"],
        ["numpy<2", "scipy<1.14", "scikit-learn"],
    ],
    "omikuji": [
        ["omikuji==0.5.2", "numpy", "scipy", "scikit-learn"],
    ],
}

# The environment that prepares vectors and scores predictions.
TOOLS = "omikuji"


def python_of(name: str, folder: Path) -> Path:
    """Path of the interpreter of environment `name`, which is made if absent."""
    home = folder / name
    python = home / "bin" / "python"
    done = home / "complete"  # written last: a broken installation is redone
    if not done.exists():
        print(f"making the environment {name} in {home}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(home)], check=True)
        for arguments in ENVIRONMENTS[name]:
            command = [str(python), "-m", "pip", "install", "--quiet", *arguments]
            subprocess.run(command, check=True)
        freeze = [str(python), "-m", "pip", "freeze"]
        done.write_bytes(subprocess.run(freeze, check=True, capture_output=True).stdout)
    return python
