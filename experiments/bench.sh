#!/usr/bin/env bash
# Speed, memory and quality of the built-in methods on made-up data (nothing is downloaded), at one and two
# threads. With DATA=FOLDER (one folder per data set), also the comparisons of main/ with the data sets that
# are there.
set -euo pipefail
cd "$(dirname "$0")/.."
memoir=${CARGO_TARGET_DIR:-target}/release/memoir
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$memoir" synth --like lshtc1 --scale 0.1 --out "$work/train.svm" --test-out "$work/test.svm" --quiet
for algorithm in centroid softmax; do
    for threads in 1 2; do
        echo "== $algorithm, $threads thread(s)"
        "$memoir" train "$work/train.svm" --model "$work/model" --algorithm "$algorithm" --threads "$threads"
    done
    "$memoir" evaluate "$work/model" "$work/test.svm" | head -5
done

echo "== growth: training time with the number of classes, rows fixed"
for classes in 1000 10000 100000; do
    "$memoir" synth --classes "$classes" --rows 100000 --features 50000 --row-length 16 \
        --out "$work/growth.svm" --quiet
    echo "$classes classes:"
    "$memoir" train "$work/growth.svm" --model "$work/model" --threads 1 | tail -1
done

if [ -n "${DATA:-}" ]; then
    for experiment in experiments/main/*.toml; do
        name=$(basename "$experiment" .toml)
        [ -d "$DATA/$name" ] && "$memoir" compare "$experiment" --data "$DATA" --out "experiments/work/$name"
    done
fi
