"""One method of another package on one data set under given pairs: a JSON line with labels and processor seconds.

    python peers.py METHOD SET K PAIRS.csv DRAW WRONG

Called by benchmark.py. The packages are those of benches/peers/requirements.txt. Features are standardised, as for the
methods of mustlink. COBRAS asks its own questions, as many as there are pairs, and the share WRONG of its answers is wrong.
"""

import csv
import json
import os
import sys
import time
import warnings
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
warnings.simplefilter("ignore")

import numpy as np
from sklearn.cluster import KMeans

# Removed from numpy in 1.24; cobras-ts still asks for it.
np.int = int


def read(name):
    path = next(Path(os.environ["MUSTLINK_DATA"]).glob(f"*/{name}.csv"))
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    at = header.index("class")
    x = np.array([[float(v) for c, v in enumerate(row) if c != at] for row in rows])
    spread = x.std(axis=0)
    x = (x - x.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    return x, np.unique([row[at] for row in rows], return_inverse=True)[1]


def links(path):
    with open(path, newline="") as file:
        rows = [(int(r["i"]), int(r["j"]), r["type"]) for r in csv.DictReader(file)]
    must = [(i, j) for i, j, kind in rows if kind == "must_link"]
    return must, [(i, j) for i, j, kind in rows if kind == "cannot_link"]


def penalised(name):
    def fit(x, k, must, cannot, draw, *_):
        from active_semi_clustering.semi_supervised import pairwise_constraints as package

        np.random.seed(draw)
        clusterer = getattr(package, name)(n_clusters=k)
        clusterer.fit(x, ml=must, cl=cannot)
        return clusterer.labels_

    return fit


def itml(x, k, must, cannot, draw, *_):
    # metric-learn 0.7.0 names an argument of scikit-learn that was renamed in 1.6.
    import metric_learn
    from metric_learn import _util

    for check in ("check_array", "check_X_y"):
        own = getattr(_util, check)

        def call(*args, own=own, **options):
            if "force_all_finite" in options:
                options["ensure_all_finite"] = options.pop("force_all_finite")
            return own(*args, **options)

        setattr(_util, check, call)
    pairs = np.array([[x[i], x[j]] for i, j in must + cannot])
    kinds = np.array([1] * len(must) + [-1] * len(cannot))
    learned = metric_learn.ITML(random_state=draw).fit(pairs, kinds)
    return KMeans(k, n_init=10, random_state=draw).fit(learned.transform(x)).labels_


def cobras(x, k, must, cannot, draw, classes, wrong):
    sys.path.append(str(Path(__file__).parents[2] / "benches/peers"))
    from answers import Classes
    from cobras_ts import cobras_kmeans

    flips = np.random.default_rng(draw)

    class Answers(Classes):
        def query_points(self, i, j):
            return super().query_points(i, j) != (flips.random() < wrong)

    np.random.seed(draw)
    budget = len(must) + len(cannot)
    run = cobras_kmeans.COBRAS_kmeans(x, Answers(classes), budget, store_intermediate_results=False)
    return run.cluster().construct_cluster_labeling()


METHODS = {
    "COBRAS": cobras,
    "active-semi-supervised PCK": penalised("PCKMeans"),
    "active-semi-supervised MPCK": penalised("MPCKMeans"),
    "metric-learn ITML": itml,
}


def main(method, name, k, pairs, draw, wrong):
    x, classes = read(name)
    must, cannot = links(pairs)
    before = time.process_time()
    labels = METHODS[method](x, int(k), must, cannot, int(draw), classes, float(wrong))
    seconds = time.process_time() - before
    print(json.dumps({"labels": [str(label) for label in labels], "seconds": seconds}))


if __name__ == "__main__":
    main(*sys.argv[1:])
