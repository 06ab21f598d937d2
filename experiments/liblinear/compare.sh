#!/usr/bin/env bash
# Our `ovr` and `msvm` against LIBLINEAR's -s 1 and -s 4 on the very same vectors: objective, accuracy, CPU
# time and peak memory. One thread each, one after the other, so that a busy machine is busy for both.
#
#   experiments/liblinear/compare.sh TRAIN TEST     (libsvm files with counts; needs Debian's liblinear-tools
#   and time)
set -euo pipefail
train=$1
test=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# BIN names a folder with programs that are built already.
if [ -z "${BIN:-}" ]; then
    cargo build --quiet --release -p memoir-xc-cli
    cargo build --quiet --release -p memoir-xc-experiments --bin write_vectors --bin objective
fi
bin=${BIN:-target/release}
"$bin/write_vectors" "$train" "$test" "$work/train.svm" "$work/test.svm"

measured() { # NAME COMMAND... : runs it, and notes CPU seconds and peak memory
    local name=$1
    shift
    /usr/bin/time -f "$name: %U s CPU, %M KB" -o "$work/$name.time" "$@" >"$work/$name.log"
    cat "$work/$name.time"
}

for pair in 1:ovr 4:msvm; do
    solver=${pair%%:*}
    ours=${pair##*:}
    bias=() parameters=()
    [ "$ours" = ovr ] && bias=(--bias 0) parameters=(bias=0)
    measured "liblinear-s$solver" liblinear-train -s "$solver" -c 1 "$work/train.svm" "$work/liblinear.model"
    liblinear-predict "$work/test.svm" "$work/liblinear.model" "$work/predictions"
    echo "objective: $("$bin/objective" liblinear "$work/train.svm" "$work/liblinear.model")"
    measured "$ours" "$bin/memoir" train "$work/train.svm" --model "$work/$ours.memoir" --algorithm "$ours" \
        "${bias[@]}" --weighting raw --threads 1 --quiet
    "$bin/memoir" evaluate "$work/$ours.memoir" "$work/test.svm" --json | grep '"accuracy"'
    echo "objective: $("$bin/objective" "$ours" "$work/train.svm" "${parameters[@]}")"
done
