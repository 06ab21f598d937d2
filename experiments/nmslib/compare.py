"""nmslib's sw-graph on the same class vectors and rows as our oracles, at several breadths of search.

    cargo run --release --example oracle_costs -- MODEL ROWS --dump FOLDER sw-graph …
    python3 compare.py FOLDER                 (needs: pip install nmslib scipy; one thread)

The true class of a row is no rival: the index is asked for two classes, and the true one is skipped, as its users do.
Recall@1 is the share of rows whose answer scores as high as the best wrong class of a full scan. Time is CPU time of the
batch query with one thread, so the way through Python is shared by all rows.
"""

import argparse
import pathlib
import time

import nmslib
import numpy
import scipy.sparse


def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096


def read(path, width=None):
    labels, data, indices, indptr = [], [], [], [0]
    for line in path.open():
        label, *entries = line.split()
        labels.append(int(label))
        for entry in entries:
            feature, value = entry.split(":")
            indices.append(int(feature))
            data.append(float(value))
        indptr.append(len(data))
    shape = (len(labels), width or (max(indices) + 1))
    matrix = scipy.sparse.csr_matrix((numpy.float32(data), indices, indptr), shape=shape)
    return numpy.array(labels), matrix


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--neighbors", type=int, default=16)
    parser.add_argument("--ef-construction", type=int, default=64)
    parser.add_argument("--ef-search", type=int, nargs="+", default=[16, 32, 64, 100, 200, 400])
    arguments = parser.parse_args()
    _, classes = read(arguments.folder / "classes.svm")
    labels, rows = read(arguments.folder / "rows.svm", classes.shape[1])
    classes.resize(classes.shape[0], rows.shape[1])
    # Classes without weights are in no index, as in ours.
    present = numpy.flatnonzero(numpy.diff(classes.indptr))
    classes = classes[present]
    label_place = {label: place for place, label in enumerate(present)}
    own = numpy.array([label_place.get(label, -1) for label in labels])

    best = numpy.empty(rows.shape[0], numpy.float32)
    for start in range(0, rows.shape[0], 500):
        scores = (rows[start : start + 500] @ classes.T).toarray()
        mine = own[start : start + 500]
        known = numpy.flatnonzero(mine >= 0)
        scores[known, mine[known]] = -numpy.inf
        best[start : start + 500] = scores.max(axis=1)

    before = resident()
    start = time.process_time()
    index = nmslib.init(method="sw-graph", space="negdotprod_sparse_fast", data_type=nmslib.DataType.SPARSE_VECTOR)
    index.addDataPointBatch(classes)
    index.createIndex({"NN": arguments.neighbors, "efConstruction": arguments.ef_construction, "indexThreadQty": 1})
    build = time.process_time() - start
    memory = (resident() - before) / 1e6
    print(f"nmslib {nmslib.__version__}, NN {arguments.neighbors}, efConstruction {arguments.ef_construction}: "
          f"built in {build:.1f} CPU s, {memory:.0f} MB\n")
    print("| efSearch | us per query | recall@1 |")
    print("|---|---|---|")
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
        print(f"| {breadth} | {1e6 * seconds / rows.shape[0]:.1f} | {hits / rows.shape[0]:.3f} |")


if __name__ == "__main__":
    main()
