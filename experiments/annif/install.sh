#!/usr/bin/env bash
# Installs Annif with omikuji and MLLM into a virtual environment, from PyPI alone. Annif's analyzers need
# NLTK's sentence splitter `punkt_tab`, which NLTK loads from its own host; the same files are part of the
# package llama-index-core, of which nothing else is used.
#
#   bash experiments/annif/install.sh [FOLDER]      default: experiments/externals/environments/annif
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
home=${1:-$here/../externals/environments/annif}

python3 -m venv --clear "$home"
"$home/bin/python" -m pip install -q annif==1.4.3 omikuji==0.5.2 numpy==2.2.6 nltk==3.9.4 scikit-learn==1.7.2
"$home/bin/python" -m pip download -q --no-deps -d "$home/wheels" llama-index-core==0.14.25
"$home/bin/python" - "$home" <<'PYTHON'
import pathlib
import sys
import zipfile

home = pathlib.Path(sys.argv[1])
inside = "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/"
with zipfile.ZipFile(next((home / "wheels").glob("llama_index_core-*.whl"))) as wheel:
    for name in wheel.namelist():
        if name.startswith(inside) and not name.endswith("/"):
            out = home / "nltk_data/tokenizers/punkt_tab" / name.removeprefix(inside)
            out.parent.mkdir(parents=True, exist_ok=True)
            out.write_bytes(wheel.read(name))
PYTHON
"$home/bin/annif" --version
