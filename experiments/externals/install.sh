#!/usr/bin/env bash
# Installs the programs that `memoir compare` measures beside our own: LIBLINEAR from Debian, the others from
# PyPI, each into a virtual environment of its own, because their needs contradict each other. Versions are
# fixed, so that a comparison repeated later compares the same programs.
#
#   bash experiments/externals/install.sh [NAME...]      all of them, or only those named
#
# What cannot be installed is named at the end, with the log that says why; the others are usable all the
# same.
set -uo pipefail
here=$(cd "$(dirname "$0")" && pwd)
environments=${MEMOIR_ENVIRONMENTS:-$here/environments}
mkdir -p "$environments"
failed=()

liblinear() {
    command -v liblinear-train >/dev/null && return
    local root=()
    [ "$(id -u)" = 0 ] || root=(sudo)
    "${root[@]}" apt-get install -y -q liblinear-tools
}

environment() { # NAME REQUIREMENT... : a virtual environment with these packages
    local home=$environments/$1
    shift
    [ -e "$home/complete" ] && return
    # `complete` is written last: a broken installation is made anew.
    python3 -m venv --clear "$home" && "$home/bin/python" -m pip install -q "$@" &&
        "$home/bin/python" -m pip freeze >"$home/complete"
}

omikuji() { environment omikuji omikuji==0.5.2 numpy; }
vowpalwabbit() { environment vowpalwabbit vowpalwabbit==9.11.9; }
napkinxc() { environment napkinxc napkinxc==0.7.1 numpy scipy; }
fasttext() { environment fasttext fasttext-wheel==0.9.2 'numpy<2'; }
scikit_learn() { environment scikit-learn scikit-learn==1.7.2 numpy scipy; }
pecos() {
    # libpecos 1.2.8 fails with scipy 1.14 and later; its torch and transformers, gigabytes, serve models not
    # used here.
    environment pecos 'numpy<2' 'scipy<1.14' scikit-learn &&
        "$environments/pecos/bin/python" -m pip install -q --no-deps libpecos==1.2.8
}

names=("$@")
[ $# -gt 0 ] || names=(liblinear vowpalwabbit omikuji pecos napkinxc fasttext scikit-learn)
for name in "${names[@]}"; do
    log=$environments/$name.log
    if "${name//-/_}" >"$log" 2>&1; then
        echo "$name: installed"
    else
        echo "$name: FAILED: $(tail -1 "$log") (see $log)"
        failed+=("$name")
    fi
done
[ ${#failed[@]} = 0 ]
