"""nmslib's sw-graph beside ours on the same class vectors and rows.

    memoir train DATA --algorithm memoir-l2 --model MODEL
    python3 experiments/nmslib/compare.py MODEL ROWS.svm [--memoir target/release/memoir]
                                           (needs: pip install nmslib scipy; everything with one thread)

The true class of a row is no rival: nmslib is asked for two classes, and the true one is skipped, as the
paper's authors do. Recall@1 is the share of rows whose answer scores as high as the best wrong class of a
full scan. Time is CPU time. Ours comes from `memoir margins`, run with few and with many rows: the
difference, less that of `--oracle random` (which reads the same rows and scans them exactly for the truth),
is the time of the queries. The index's memory is the difference of peaks.
"""

import argparse
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import time

import nmslib
import numpy
import scipy.sparse


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096


def arrays(path):
    """The texts and arrays of a model file (docs/model-file.md)."""
    data = path.read_bytes()
    start = 8 + struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:start])
    types = {"U8": "u1", "U16": "<u2", "U32": "<u4", "U64": "<u8", "F32": "<f4", "F16": "<f2", "I16": "<i2"}
    texts = header.pop("__metadata__")
    found = {}
    for name, entry in header.items():
        low, high = entry["data_offsets"]
        found[name] = numpy.frombuffer(data[start + low : start + high], types[entry["dtype"]])
    return texts, found


def class_vectors(path):
    """Names of the classes, their vectors as rows, and the features' weights."""
    texts, found = arrays(path)
    shape = (int(texts["features"]), int(texts["classes"]))
    parts = (
        found["weights.values"].astype(numpy.float32),
        found["weights.classes"],
        found["weights.offsets"],
    )
    by_feature = scipy.sparse.csr_matrix(parts, shape=shape)
    ends = [0, *found["classes.ends"].tolist()]
    names = found["classes.names"].tobytes()
    return (
        [names[a:b].decode() for a, b in zip(ends, ends[1:])],
        by_feature.T.tocsr(),
        found["weighting.feature_weights"],
    )


def weighted_rows(path, names, feature_weights, width, most):
    """Rows as the model sees them: log-tf-idf, unit length, a constant feature; with the number of their
    class."""
    numbers = {name: number for number, name in enumerate(names)}
    labels, data, indices, indptr = [], [], [], [0]
    for line in path.open():
        label, *entries = line.split()
        if label not in numbers or len(labels) == most:
            continue
        row = [
            (int(feature) - 1, float(value)) for feature, value in (entry.split(":") for entry in entries)
        ]
        row = [
            (feature, (1 + numpy.log(value)) * feature_weights[feature])
            for feature, value in row
            if feature < len(feature_weights)
        ]
        length = sum(value * value for _, value in row) ** 0.5 or 1.0
        row = [(feature, value / length) for feature, value in row] + [(width - 1, 1.0)]
        labels.append(numbers[label])
        indices += [feature for feature, _ in row]
        data += [value for _, value in row]
        indptr.append(len(data))
    return numpy.array(labels), scipy.sparse.csr_matrix(
        (numpy.float32(data), indices, indptr), (len(labels), width)
    )


def margins(memoir, model, lines, options):
    """CPU seconds, peak memory in MB and the report of `memoir margins` on these rows."""
    with tempfile.NamedTemporaryFile("w", suffix=".svm") as rows, tempfile.TemporaryFile() as out:
        rows.writelines(lines)
        rows.flush()
        command = [
            memoir,
            "margins",
            str(model),
            rows.name,
            "--json",
            "--quiet",
            "--threads",
            "1",
            "--oracle",
            *options,
        ]
        process = subprocess.Popen(command, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        assert os.waitstatus_to_exitcode(status) == 0, command
        out.seek(0)
        return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000, json.loads(out.read())


def ours(arguments, settings):
    """A line of the table for each oracle."""
    lines = arguments.rows.open().readlines()[: arguments.queries]
    few = lines[: max(len(lines) // 10, 1)]
    base = [margins(arguments.memoir, arguments.model, part, ["random"]) for part in (few, lines)]
    for name, options in settings:
        runs = [margins(arguments.memoir, arguments.model, part, options) for part in (few, lines)]
        seconds = (runs[1][0] - runs[0][0]) - (base[1][0] - base[0][0])
        report = runs[1][2]
        share = 100 * report["inner_products"] / report["scan_inner_products"]
        build = runs[0][0] - base[0][0] - seconds * len(few) / (len(lines) - len(few))
        print(
            f"| {name} | {build:.1f} | {runs[1][1] - base[1][1]:.0f} | {1e6 * seconds / (len(lines) - len(few)):.0f} | "
            f"{report['recall_at_1']:.3f} | {share:.1f}% |",
            flush=True,
        )


def theirs(arguments):
    names, classes, feature_weights = class_vectors(arguments.model)
    labels, rows = weighted_rows(arguments.rows, names, feature_weights, classes.shape[1], arguments.queries)
    # Classes without weights are in no index, as in ours.
    present = numpy.flatnonzero(numpy.diff(classes.indptr))
    classes = classes[present]
    place = {label: place for place, label in enumerate(present)}
    own = numpy.array([place.get(label, -1) for label in labels])
    best = numpy.empty(rows.shape[0], numpy.float32)
    for start in range(0, rows.shape[0], 200):
        scores = (rows[start : start + 200] @ classes.T).toarray()
        mine = own[start : start + 200]
        known = numpy.flatnonzero(mine >= 0)
        scores[known, mine[known]] = -numpy.inf
        best[start : start + 200] = scores.max(axis=1)
    before, start = resident(), time.process_time()
    index = nmslib.init(
        method="sw-graph", space="negdotprod_sparse_fast", data_type=nmslib.DataType.SPARSE_VECTOR
    )
    index.addDataPointBatch(classes)
    index.createIndex(
        {"NN": arguments.neighbors, "efConstruction": arguments.ef_construction, "indexThreadQty": 1}
    )
    build, memory = time.process_time() - start, (resident() - before) / 1e6
    for breadth in arguments.ef_search:
        index.setQueryTimeParams({"efSearch": breadth})
        index.knnQueryBatch(rows[:50], k=2, num_threads=1)
        start = time.process_time()
        answers = index.knnQueryBatch(rows, k=2, num_threads=1)
        seconds = time.process_time() - start
        hits = 0
        for row, (found, distances) in enumerate(answers):
            rivals = [-distance for place, distance in zip(found, distances) if place != own[row]]
            hits += bool(rivals) and rivals[0] >= best[row] * (1 - 1e-5) - 1e-7
        print(
            f"| nmslib, efSearch {breadth} | {build:.1f} | {memory:.0f} | {1e6 * seconds / rows.shape[0]:.0f} | "
            f"{hits / rows.shape[0]:.3f} | – |",
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("rows", type=pathlib.Path)
    parser.add_argument("--memoir", default="target/release/memoir")
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--neighbors", type=int, default=16)
    parser.add_argument("--ef-construction", type=int, default=64)
    parser.add_argument("--ef-search", type=int, nargs="*", default=[32, 100, 300])
    parser.add_argument("--sw-ef-search", type=int, nargs="*", default=[16, 64, 100])
    parser.add_argument("--hash-bits", type=int, nargs="*", default=[])
    arguments = parser.parse_args()
    print("| index | build CPU s | memory MB | us per query | recall@1 | inner products of a scan |")
    print("|---|---|---|---|---|---|")
    settings = [("exact", ["exact"])]
    for breadth in arguments.sw_ef_search:
        settings.append(
            (f"sw-graph, ef {breadth}", ["sw-graph", "--oracle-option", f"sw-ef-search={breadth}"])
        )
    for bits in arguments.hash_bits:
        settings.append((f"simple-lsh, {bits} bits", ["simple-lsh", "--oracle-option", f"hash-bits={bits}"]))
    ours(arguments, settings)
    if arguments.ef_search:
        theirs(arguments)


if __name__ == "__main__":
    main()
