#!/bin/sh
# Each oracle on the same learned weights: recall@1, inner products, the gap and its plot.
# usage: margins.sh MODEL ROWS OUT_DIR [MEMOIR]
set -eu
model=$1; rows=$2; out=$3; memoir=${4:-target/release/memoir}
mkdir -p "$out"
ask() {
    name=$1; shift
    "$memoir" margins "$model" "$rows" --quiet --threads 1 --plot "$out/$name.svg" --json "$@" \
        > "$out/$name.json"
    python3 - "$name" "$out/$name.json" <<'PY'
import json, sys
report = json.load(open(sys.argv[2]))
share = 100 * report["inner_products"] / report["scan_inner_products"]
print(f"| {sys.argv[1]} | {report['recall_at_1']:.3f} | {report['inner_products']:.0f} ({share:.1f}%) | {report['mean_gap']:.5f} | {report['epsilon']:.5f} |")
PY
}
echo "| oracle | recall@1 | inner products | mean gap | epsilon at 0.05 |"
echo "|---|---|---|---|---|"
ask exact --oracle exact
ask random --oracle random
for breadth in 16 64 256; do
    ask "sw-graph-ef-$breadth" --oracle sw-graph --oracle-option sw-ef-search=$breadth
    ask "sw-graph-random-start-ef-$breadth" --oracle sw-graph --oracle-option sw-seeds=0 \
        --oracle-option sw-ef-search=$breadth
done
for bits in 64 256 1024; do
    ask "simple-lsh-$bits" --oracle simple-lsh --oracle-option hash-bits=$bits \
        --oracle-option hash-candidates=1024
done
