"""PECOS XR-Linear:  run_pecos.py train ROWS MODEL THREADS  |  predict ROWS MODEL PREDICTIONS THREADS

Does what `python -m pecos.xmc.xlinear.train` and `….predict` do at their defaults (taken from their own
argument parser). These are not called as they are, because their label embedding would run on all cores.
"""

import sys

import numpy as np
import vectors
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.base import HierarchicalKMeans
from pecos.xmc.xlinear.model import XLinearModel
from pecos.xmc.xlinear.train import parse_arguments


def train(rows: str, model: str, threads: str):
    x, y = vectors.matrices(rows)
    arguments = ["-x", rows, "-y", rows, "-m", model, "-n", threads]
    options = vars(parse_arguments().parse_args(arguments))
    options = {name: value for name, value in options.items() if value is not None}
    embedding = LabelEmbeddingFactory.create(y.tocsc(), x, method="pifa", threads=int(threads))
    clusters = Indexer.gen(
        embedding, train_params=HierarchicalKMeans.TrainParams.from_dict(options, recursive=True)
    )
    XLinearModel.train(
        x,
        y.tocsc(),
        C=clusters,
        user_supplied_negatives={0: None, 1: None},
        train_params=XLinearModel.TrainParams.from_dict(options, recursive=True),
        pred_params=XLinearModel.PredParams.from_dict(options, recursive=True),
        pred_kwargs={"beam_size": options["beam_size"]},
    ).save(model)


def predict(rows: str, model: str, predictions: str, threads: str):
    x, _ = vectors.matrices(rows)
    loaded = XLinearModel.load(model, is_predict_only=True)
    # The beam of 10 was saved with the model.
    scores = loaded.predict(x, only_topk=vectors.TOP_K, threads=int(threads)).tocsr()
    bounds = zip(scores.indptr[:-1], scores.indptr[1:], strict=True)
    order = lambda begin, end: scores.indices[begin:end][np.argsort(-scores.data[begin:end], kind="stable")]
    vectors.write_predictions(predictions, (order(begin, end) for begin, end in bounds))


if __name__ == "__main__":
    {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
