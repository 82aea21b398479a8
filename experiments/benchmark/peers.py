"""Methods of other packages, for benchmark.py.

    echo '{"method": "COBRAS", "set": "iris", "k": 3, "pairs": "pairs.csv", "draw": 1, "wrong": 0.0}' | python peers.py

Reads one request a line and answers each with a line: the labels and the processor seconds, and for COBRAS the objects
that it asked about; or the error. The packages are those of benches/peers/requirements.txt. Features are standardised,
as for the methods of mustlink. A request `{"load": METHOD}` clusters forty objects, so that the time of what follows
contains no loading or compiling. Noise, for fast_hdbscan, is one more cluster.

- COBRAS asks its own questions, as many as there are pairs. The share `wrong` of its answers is wrong.
- fast_hdbscan selects clusters by labels and builds the tree under cannot-links; it has no argument for must-links. So
  all cannot-links are given to the tree. Labels are made of must-links: see `labels_of`.
- ensembleclustering combines twenty partitions by k-means with k to 2k clusters each. It reads no pairs.
"""

import csv
import functools
import json
import os
import sys
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[variable] = "1"
warnings.simplefilter("ignore")

import numpy as np
from sklearn.cluster import KMeans

from design import LIMIT
from processes import limited

sys.path.append(str(Path(__file__).parents[2] / "benches/peers"))
# Removed from numpy in 1.24; cobras-ts still asks for it.
np.int = int

USUAL = np.geterr()
MEMBERS = 20


@dataclass
class Task:
    """One run; only COBRAS reads the classes, because it asks its own questions."""

    x: np.ndarray
    k: int
    must: list
    cannot: list
    draw: int
    classes: np.ndarray
    wrong: float = 0.0
    asked: set | None = None


@functools.lru_cache(maxsize=1)
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


def toy():
    """Two groups of twenty objects, and pairs about them."""
    x = np.random.default_rng(1).normal(size=(40, 3)) + np.repeat([0.0, 6.0], 20)[:, None]
    must = [(0, 1), (1, 2), (3, 4), (20, 21), (21, 22)]
    return Task(x, 2, must, [(0, 20), (5, 25), (6, 30)], 1, np.repeat([0, 1], 20))


def penalised(name):
    def fit(task):
        from active_semi_clustering.semi_supervised import pairwise_constraints as package

        # The package asks for this when it is loaded, for all others too.
        np.seterr(all="raise")
        np.random.seed(task.draw)
        clusterer = getattr(package, name)(n_clusters=task.k)
        clusterer.fit(task.x, ml=task.must, cl=task.cannot)
        return clusterer.labels_

    return fit


@functools.cache
def metric_learn():
    # metric-learn 0.7.0 passes an argument of scikit-learn by the name that it had before 1.6.
    import metric_learn
    from metric_learn import _util

    for check in ("check_array", "check_X_y"):
        own = getattr(_util, check)

        def call(*args, own=own, **options):
            if "force_all_finite" in options:
                options["ensure_all_finite"] = options.pop("force_all_finite")
            return own(*args, **options)

        setattr(_util, check, call)
    return metric_learn


def itml(task):
    pairs = np.array([[task.x[i], task.x[j]] for i, j in task.must + task.cannot])
    kinds = np.array([1] * len(task.must) + [-1] * len(task.cannot))
    learned = metric_learn().ITML(random_state=task.draw).fit(pairs, kinds)
    return KMeans(task.k, n_init=10, random_state=task.draw).fit(learned.transform(task.x)).labels_


def cobras(task):
    from answers import Classes
    from cobras_ts import cobras_kmeans

    flips = np.random.default_rng(task.draw)
    task.asked = set()

    class Answers(Classes):
        def query_points(self, i, j):
            task.asked |= {int(i), int(j)}
            return super().query_points(i, j) != (flips.random() < task.wrong)

    np.random.seed(task.draw)
    budget = len(task.must) + len(task.cannot)
    run = cobras_kmeans.COBRAS_kmeans(task.x, Answers(task.classes), budget, store_intermediate_results=False)
    return run.cluster().construct_cluster_labeling()


def labels_of(n, must, cannot):
    """The label of each object, -1 if it has none.

    Labels say of any two labelled objects whether they are in the same class; the answers about pairs seldom do. So a
    label is given to the largest group of objects that must-links connect, then to each smaller group that cannot-links
    separate from all groups that have one. No label says more than the answers do.
    """
    group = list(range(n))

    def find(i):
        while group[i] != i:
            i = group[i]
        return i

    for i, j in must:
        group[find(i)] = find(j)
    members = {}
    for i in {end for pair in must + cannot for end in pair}:
        members.setdefault(find(i), []).append(i)
    apart = {(find(a), find(b)) for pair in cannot for a, b in (pair, pair[::-1])}
    chosen = []
    for one in sorted(members, key=lambda g: (-len(members[g]), min(members[g]))):
        if all((one, other) in apart for other in chosen):
            chosen.append(one)
    labels = np.full(n, -1)
    for label, one in enumerate(chosen):
        labels[members[one]] = label
    return labels


@functools.cache
def fast_hdbscan():
    from fast_hdbscan import cluster_trees, hdbscan, nndescent
    from sklearn.neighbors import NearestNeighbors

    class PlainDict(dict):
        empty = classmethod(lambda own, **_: own())

    class PlainList(list):
        empty_list = classmethod(lambda own, _: own())

    # numba cannot compile the functions that read labels (issue 39 of fast_hdbscan), so they run as Python.
    for name in [name for name in vars(cluster_trees) if name.endswith("_bcubed")]:
        setattr(cluster_trees, name, getattr(cluster_trees, name).py_func)
    cluster_trees.Dict, cluster_trees.List = PlainDict, PlainList
    select = cluster_trees.extract_clusters_bcubed
    hdbscan.extract_clusters_bcubed = lambda *given, **options: np.asarray(select(*given, **options), dtype=np.int64)

    def neighbours(data, n_neighbors, **_):
        near = NearestNeighbors(n_neighbors=min(n_neighbors, len(data) - 1)).fit(data)
        distances, indices = near.kneighbors()
        return None, indices.astype(np.int32), distances

    # With more than thirty features the package uses approximate neighbours of pynndescent, which compiles for a minute
    # in each process. These are exact.
    nndescent.build_knn_graph = neighbours
    return hdbscan


def density(task):
    from scipy.sparse import coo_matrix

    n = len(task.x)
    ends = np.array(task.cannot, dtype=int).reshape(-1, 2)
    apart = coo_matrix((np.ones(len(ends)), ends.T), shape=(n, n)).tocsr() if len(ends) else None
    clusterer = fast_hdbscan().HDBSCAN(semi_supervised=True, algorithm="kruskal", cannot_link=apart)
    # A table in column order is an error of the package.
    return clusterer.fit(np.ascontiguousarray(task.x), labels_of(n, task.must, task.cannot)).labels_


def partitions(x, k, draw):
    sizes = np.random.default_rng(draw).integers(k, 2 * k, MEMBERS, endpoint=True)
    members = [KMeans(size, n_init=1, random_state=draw * MEMBERS + t) for t, size in enumerate(sizes)]
    return np.array([member.fit(x).labels_ for member in members])


@functools.cache
def ensembleclustering():
    from ensembleclustering import ClusterEnsembles

    def lists(matrix):
        matrix = matrix.tocsr()
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()

    # Its own function makes the same lists, but fails: scipy 1.17 returns another type for entries of a row.
    ClusterEnsembles.to_pymetis_format = lists
    return ClusterEnsembles


def consensus(solver):
    def fit(task):
        members = partitions(task.x, task.k, task.draw)
        return ensembleclustering().cluster_ensembles(members, nclass=task.k, solver=solver, random_state=task.draw)

    return fit


METHODS = {
    "COBRAS": cobras,
    "active-semi-supervised PCK": penalised("PCKMeans"),
    "active-semi-supervised MPCK": penalised("MPCKMeans"),
    "metric-learn ITML": itml,
    "fast_hdbscan": density,
    "ensembleclustering CSPA": consensus("cspa"),
    "ensembleclustering HGPA": consensus("hgpa"),
    "ensembleclustering MCLA": consensus("mcla"),
    "ensembleclustering NMF": consensus("nmf"),
}


@functools.cache
def loaded(method):
    try:
        METHODS[method](toy())
    except Exception:
        # What is wrong shows on the data, too.
        pass


def measured(method, task):
    np.seterr(**USUAL)
    before = time.process_time()
    labels = METHODS[method](task)
    seconds = time.process_time() - before
    answer = {"labels": [str(label) for label in labels], "seconds": seconds}
    return answer if task.asked is None else answer | {"asked": sorted(task.asked)}


@functools.lru_cache(maxsize=64)
def without_pairs(method, name, k, draw):
    x, classes = read(name)
    return measured(method, Task(x, k, [], [], draw, classes))


def answer(request):
    if "load" in request:
        loaded(request["load"])
        return {}
    method, name, k, draw = (request[key] for key in ("method", "set", "k", "draw"))
    if method.startswith("ensembleclustering"):
        return without_pairs(method, name, k, draw)
    x, classes = read(name)
    return measured(method, Task(x, k, *links(request["pairs"]), draw, classes, request["wrong"]))


def main():
    # Whatever the packages print is not an answer.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            request = json.loads(line)
            # The limit is not for what numba compiles when it first runs on a machine.
            limited(1_000_000 if "load" in request else LIMIT)
            made = answer(request)
        except ImportError:
            # Without the package there is no result, not even a bad one.
            raise
        except Exception as error:
            made = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(made), file=out, flush=True)


if __name__ == "__main__":
    main()
