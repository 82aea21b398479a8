"""The Python package beside others for Python: seconds, adjusted Rand index, violated constraints.

    python -m venv target/peers-python
    target/peers-python/bin/pip install ./python active-semi-supervised-clustering==0.0.1 metric-learn==0.7.0 \
        cobras-ts==0.1.3 kshape==1.0.6 dtaidistance==2.5.1 constrained-linkage==1.0.1 clumppy==0.1.1
    target/peers-python/bin/python benches/peers/python.py

Every method sees the same standardised data and the same true constraints. The median of a few runs with seeds of
their own; a run that takes longer than the limit, or fails, says so. Prints the table of the manual.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import time
import warnings
from dataclasses import dataclass

import mustlink
import numpy as np
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from answers import Classes


@dataclass
class Case:
    """A data set with constraints."""

    name: str
    x: np.ndarray
    y: np.ndarray
    k: int
    must: list
    cannot: list

    @property
    def known(self):
        return mustlink.Constraints(self.must, self.cannot, n=len(self.x))

    def violated(self, labels):
        broken = sum(labels[i] != labels[j] for i, j in self.must)
        return int(broken + sum(labels[i] == labels[j] for i, j in self.cannot))


def case(name, load, pairs):
    x, y = load(return_X_y=True)
    x = StandardScaler().fit_transform(x)
    rng = np.random.default_rng(7)
    drawn = {tuple(sorted(rng.choice(len(x), 2, replace=False).tolist())) for _ in range(pairs)}
    same = [p for p in sorted(drawn) if y[p[0]] == y[p[1]]]
    apart = [p for p in sorted(drawn) if y[p[0]] != y[p[1]]]
    return Case(name, x, y, len(set(y.tolist())), same, apart)


def asc(name, **options):
    def fit(data, seed):
        from active_semi_clustering.semi_supervised import pairwise_constraints

        np.random.seed(seed)
        method = getattr(pairwise_constraints, name)(n_clusters=data.k, **options)
        return method.fit(data.x, ml=data.must, cl=data.cannot).labels_

    return fit


def ours(name, **options):
    def fit(data, seed):
        method = getattr(mustlink, name)(data.k, random_state=seed, n_jobs=1, **options)
        return method.fit(data.x, constraints=data.known).labels_

    return fit


def clumppy_cop(data, seed):
    import clumppy

    return clumppy.cop_kmeans(data.x, data.k, data.must, data.cannot, seed=seed)


def linkage(data, seed):
    from constrained_linkage import constrained_linkage
    from scipy.spatial.distance import pdist

    distances = pdist(data.x)
    far = 10 * distances.max()
    weights = np.zeros((len(data.x), len(data.x)))
    for pairs, weight in ((data.must, -far), (data.cannot, far)):
        for i, j in pairs:
            weights[i, j] = weights[j, i] = weight
    tree = constrained_linkage(distances, "complete", constraint_matrix=weights)
    # Rewards make the tree uneven, which the cut of SciPy refuses: its last merges are undone instead.
    labels = np.arange(2 * len(data.x))
    for at, (a, b) in enumerate(tree[: len(data.x) - data.k, :2].astype(int)):
        new = len(data.x) + at
        labels[new] = new
        labels[[a, b]] = new
    for node in range(len(labels) - 1, -1, -1):
        labels[node] = labels[labels[node]]
    return np.unique(labels[: len(data.x)], return_inverse=True)[1]


def renamed(check):
    """A check of scikit-learn, which metric-learn calls by an argument that has since been renamed."""

    def call(*args, **options):
        if "force_all_finite" in options:
            options["ensure_all_finite"] = options.pop("force_all_finite")
        return check(*args, **options)

    return call


def metric_learn(name):
    def fit(data, seed):
        import metric_learn
        from metric_learn import _util
        from sklearn.cluster import KMeans
        from sklearn.utils import check_array, check_X_y

        _util.check_array, _util.check_X_y = renamed(check_array), renamed(check_X_y)
        pairs = np.array(data.must + data.cannot)
        signs = np.array([1] * len(data.must) + [-1] * len(data.cannot))
        learner = getattr(metric_learn, name)(random_state=seed).fit(data.x[pairs], signs)
        return KMeans(data.k, n_init=10, random_state=seed).fit(learner.transform(data.x)).labels_

    return fit


def ours_after(transform):
    def fit(data, seed):
        tree = {"transforms": [transform], "clusterer": "kmeans"}
        method = mustlink.Method(tree, data.k, random_state=seed, n_jobs=1)
        return method.fit(data.x, constraints=data.known).labels_

    return fit


def cobras(data, seed):
    # A name that NumPy has dropped since.
    np.int = int
    from cobras_ts.cobras_kmeans import COBRAS_kmeans

    np.random.seed(seed)
    run = COBRAS_kmeans(data.x, Classes(data.y), 100, store_intermediate_results=False)
    return run.cluster().construct_cluster_labeling()


def ours_cobras(data, seed):
    method = mustlink.Method({"selector": "cobras"}, budget=100, random_state=seed, n_jobs=1)
    return method.fit(data.x, y_true=data.y).labels_


ROWS = [
    ("PCK-means", "active-semi-supervised-clustering", asc("PCKMeans", w=1)),
    ("PCK-means", "mustlink", ours("PCKMeans", weight=1.0)),
    ("MPCK-means", "active-semi-supervised-clustering", asc("MPCKMeans", w=1)),
    ("MPCK-means", "mustlink", ours("MPCKMeans", weight=1.0)),
    ("COP-k-means", "active-semi-supervised-clustering", asc("COPKMeans")),
    ("COP-k-means", "clumppy", clumppy_cop),
    ("COP-k-means", "mustlink", ours("COPKMeans")),
    ("complete linkage", "constrained-linkage", linkage),
    ("complete linkage", "mustlink", ours("ConstrainedCompleteLink")),
    ("ITML + k-means", "metric-learn", metric_learn("ITML")),
    ("ITML + k-means", "mustlink", ours_after("itml")),
    ("COBRAS, 100 questions", "cobras-ts", cobras),
    ("COBRAS, 100 questions", "mustlink", ours_cobras),
    ("nothing chosen", "mustlink `Auto`", ours("Auto")),
]


class Late(Exception):
    """The limit is over."""


def late(*_):
    raise Late


def measured(fit, data, runs, limit):
    seconds, scores, broken = [], [], []
    signal.signal(signal.SIGALRM, late)
    for seed in range(runs):
        signal.alarm(limit)
        try:
            start = time.perf_counter()
            labels = np.asarray(fit(data, seed))
            seconds.append(time.perf_counter() - start)
        except Late:
            return f"> {limit} s"
        except Exception as error:
            print(f"{data.name}: {type(error).__name__}: {error}", file=sys.stderr)
            return "fails"
        finally:
            signal.alarm(0)
        scores.append(adjusted_rand_score(data.y, labels))
        broken.append(data.violated(labels))
    median = statistics.median
    return f"{median(seconds):.3f} s, {median(scores):.2f}, {median(broken):g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--limit", type=int, default=60)
    parser.add_argument("--pairs", type=int, default=100)
    parser.add_argument("--only", default="", help="rows whose method contains this text")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    cases = [
        case("iris", datasets.load_iris, args.pairs),
        case("wdbc", datasets.load_breast_cancer, args.pairs),
        case("digits", datasets.load_digits, args.pairs),
    ]
    print("| method | package | " + " | ".join(c.name for c in cases) + " |")
    print("|---|---|" + "---|" * len(cases))
    for method, package, fit in (row for row in ROWS if args.only in row[0]):
        cells = [measured(fit, data, args.runs, args.limit) for data in cases]
        print(f"| {method} | {package} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
