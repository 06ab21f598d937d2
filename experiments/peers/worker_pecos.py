"""Child process: PECOS XR-Linear.

    worker_pecos.py startup
    worker_pecos.py train VECTORS MODEL
    worker_pecos.py predict VECTORS MODEL SPLIT OUT.npz

Does what `python -m pecos.xmc.xlinear.train` and `….predict` do at their
defaults (taken from their own argument parsers). They are not called as they
are because the label embedding would then run on all cores.
"""

import sys

from pecos.utils import smat_util
from pecos.xmc import Indexer, LabelEmbeddingFactory
from pecos.xmc.base import HierarchicalKMeans
from pecos.xmc.xlinear.model import XLinearModel
from pecos.xmc.xlinear.train import parse_arguments

THREADS = 1


def train(vectors: str, model: str):
    x_path, y_path = f"{vectors}/train.x.npz", f"{vectors}/train.y.npz"
    arguments = ["-x", x_path, "-y", y_path, "-m", model, "-n", str(THREADS)]
    options = vars(parse_arguments().parse_args(arguments))
    options = {name: value for name, value in options.items() if value is not None}
    x = XLinearModel.load_feature_matrix(x_path)
    y = XLinearModel.load_label_matrix(y_path, for_training=True)
    embedding = LabelEmbeddingFactory.create(y, x, method="pifa", threads=THREADS)
    clusters = Indexer.gen(
        embedding,
        train_params=HierarchicalKMeans.TrainParams.from_dict(options, recursive=True),
    )
    trained = XLinearModel.train(
        x,
        y,
        C=clusters,
        user_supplied_negatives={0: None, 1: None},
        train_params=XLinearModel.TrainParams.from_dict(options, recursive=True),
        pred_params=XLinearModel.PredParams.from_dict(options, recursive=True),
        pred_kwargs={"beam_size": options["beam_size"]},
    )
    trained.save(model)


def predict(vectors: str, model: str, split: str, out: str):
    x = XLinearModel.load_feature_matrix(f"{vectors}/{split}.x.npz")
    loaded = XLinearModel.load(model, is_predict_only=True)
    # The beam of 10 was saved with the model.
    smat_util.save_matrix(out, loaded.predict(x, only_topk=5, threads=THREADS))


if __name__ == "__main__":
    if sys.argv[1] != "startup":
        {"train": train, "predict": predict}[sys.argv[1]](*sys.argv[2:])
