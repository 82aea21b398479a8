"""Compares what constrained methods find, beside the Python packages users would pick instead.

For each seed draws random pairs with what the classes say about them, gives the same pairs to every
method, and prints the adjusted Rand index over all objects, mean ± standard error over the seeds,
one line per method and one column per data set. Where a method cannot run, its trouble stands there.

With `--optimum` it prints in place of the index by how much the sum of squares of the clusters exceeds the
least one that meets all pairs (`exact`; seeds for which it is proved), and how many pairs are broken: what
breaks some may be below it.
"""

import argparse
import csv
import json
import os
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from subprocess import run

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.metrics import adjusted_rand_score

# Ours: a name and a method file, one line each. Options that are not named are the defaults.
OURS = [
    ("kmeans", 'clusterer = "kmeans"'),
    ("auto", 'clusterer = "auto"'),
    ("pck_means w=1", 'clusterer = { type = "pck_means", weight = 1.0 }'),
    ("pck_means auto", 'clusterer = { type = "pck_means", weight = "auto" }'),
    ("mpck_means single_diag", 'clusterer = { type = "mpck_means", weight = 1.0 }'),
    ("mpck_means single_diag, best of 10", 'clusterer = { type = "mpck_means", weight = 1.0, restarts = 10 }'),
    ("mpck_means single_diag auto", 'clusterer = { type = "mpck_means", weight = "auto" }'),
    ("mpck_means multi_diag", 'clusterer = { type = "mpck_means", weight = 1.0, metric = "multi_diag" }'),
    ("mpck_means single_full", 'clusterer = { type = "mpck_means", weight = 1.0, metric = "single_full" }'),
    ("mpck_means single_full auto", 'clusterer = { type = "mpck_means", metric = "single_full", weight = "auto" }'),
    ("hmrf_kmeans", 'clusterer = "hmrf_kmeans"'),
    ("cop_kmeans", 'clusterer = "cop_kmeans"'),
    ("cop_kmeans component", 'clusterer = { type = "cop_kmeans", unit = "component" }'),
    ("pccc", 'clusterer = "pccc"'),
    ("scop_kmeans", 'clusterer = "scop_kmeans"'),
    ("seeded_kmeans", 'clusterer = "seeded_kmeans"'),
    ("constrained_kmeans", 'clusterer = "constrained_kmeans"'),
    ("rca + kmeans", 'transforms = ["rca"]\nclusterer = "kmeans"'),
    ("itml + kmeans", 'transforms = ["itml"]\nclusterer = "kmeans"'),
    ("itml + pck_means auto", 'transforms = ["itml"]\nclusterer = { type = "pck_means", weight = "auto" }'),
    ("mmc + kmeans", 'transforms = ["mmc"]\nclusterer = "kmeans"'),
    ("lcvqe", 'clusterer = "lcvqe"'),
    ("gpk_means", 'clusterer = "gpk_means"'),
    ("constrained_complete_link", 'clusterer = "constrained_complete_link"'),
    (
        "constrained_complete_link, merge",
        'clusterer = { type = "constrained_complete_link", on_infeasible = "merge" }',
    ),
    ("constrained_em", 'clusterer = "constrained_em"'),
    ("cosc", 'clusterer = "cosc"'),
    ("constrained_spectral", 'clusterer = "constrained_spectral"'),
    ("exact", 'clusterer = "exact"'),
    ("correlation_clustering", 'clusterer = "correlation_clustering"'),
    ("size_constrained_kmeans", 'clusterer = { type = "size_constrained_kmeans", min_size = 40 }'),
    ("fosc", 'clusterer = "fosc"'),
    ("fosc ward", 'clusterer = { type = "fosc", hierarchy = "ward" }'),
    ("hdbscan", 'clusterer = "hdbscan"'),
]


def kmeans(x, k, seed):
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=10, random_state=seed).fit(x).labels_


def active(name):
    """A class of active-semi-supervised-clustering, with its defaults."""

    def fit(data, must, cannot, seed):
        from active_semi_clustering.semi_supervised import pairwise_constraints as peers

        return getattr(peers, name)(n_clusters=data.k).fit(data.x, ml=must, cl=cannot).labels_

    return fit


def metric_learn():
    """The package, which calls scikit-learn's checks by an argument that has since been renamed."""
    import metric_learn
    from metric_learn import _util

    def renamed(check):
        def call(*args, **options):
            if "force_all_finite" in options:
                options["ensure_all_finite"] = options.pop("force_all_finite")
            return check(*args, **options)

        call.is_renamed = True
        return call

    for name in ("check_array", "check_X_y"):
        check = getattr(_util, name)
        if not hasattr(check, "is_renamed"):
            setattr(_util, name, renamed(check))
    return metric_learn


def itml(data, must, cannot, seed):
    pairs = np.array(must + cannot)
    kinds = np.array([1] * len(must) + [-1] * len(cannot))
    learner = metric_learn().ITML(random_state=seed).fit(data.x[pairs], kinds)
    return kmeans(learner.transform(data.x), data.k, seed)


def rca(data, must, cannot, seed):
    from active_semi_clustering.semi_supervised.pairwise_constraints.constraints import (
        preprocess_constraints,
    )

    neighbourhoods = preprocess_constraints(must, cannot, len(data.x))[2]
    chunks = np.full(len(data.x), -1)
    for at, objects in enumerate(neighbourhoods):
        chunks[objects] = at
    return kmeans(metric_learn().RCA().fit(data.x, chunks).transform(data.x), data.k, seed)


PEERS = [
    ("scikit-learn KMeans", lambda data, must, cannot, seed: kmeans(data.x, data.k, seed)),
    ("active-semi PCKMeans", active("PCKMeans")),
    ("active-semi MPCKMeans diag", active("MPCKMeans")),
    ("active-semi COPKMeans", active("COPKMeans")),
    ("metric-learn ITML + KMeans", itml),
    ("metric-learn RCA + KMeans", rca),
]


@dataclass
class Set:
    """A data set, as both sides read it."""

    name: str
    x: np.ndarray
    classes: np.ndarray
    file: Path

    @property
    def k(self):
        return len(np.unique(self.classes))


def read(path, folder, standardise):
    """Reads a CSV whose last column is the class; writes what the methods are to see."""
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    x = np.array([[float(v) for v in row[:-1]] for row in rows])
    classes = np.unique([row[-1] for row in rows], return_inverse=True)[1]
    if standardise:
        spread = x.std(axis=0)
        x = (x - x.mean(axis=0)) / np.where(spread > 0, spread, 1)
    name = path.stem + (" z" if standardise else "")
    file = folder / f"{path.stem}.csv"
    with file.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow([f"f{s}" for s in range(x.shape[1])] + ["class"])
        for row, label in zip(x.tolist(), classes):
            table.writerow([repr(v) for v in row] + [f"c{label}"])
    return Set(name, x, classes, file)


def random_pairs(classes, count, seed):
    """`count` different random pairs with what the classes say about them."""
    rng = np.random.default_rng(seed)
    pairs = {}
    while len(pairs) < count:
        i, j = sorted(int(v) for v in rng.integers(0, len(classes), 2))
        if i != j:
            pairs[i, j] = bool(classes[i] == classes[j])
    return pairs


def links(pairs, must):
    return [pair for pair, kind in pairs.items() if kind == must]


def of_theirs(fit, data, pairs, seed):
    """The labels of a peer. A start that leaves a cluster empty is an error there: it starts again."""
    warnings.simplefilter("ignore")
    for attempt in range(20):
        np.random.seed(1000 * seed + attempt)
        try:
            return np.asarray(fit(data, links(pairs, True), links(pairs, False), seed))
        except Exception as trouble:
            told = type(trouble).__name__
    return told


def of_ours(binary, method, data, constraints, seed, out):
    """The labels that the program writes, given the same constraints; trouble where it could not prove what it says."""
    command = [binary, "cluster", "--data", data.file, "--method", method, "--constraints", constraints]
    command += ["--k", data.k, "--seed", seed, "--threads", 1, "--out", out, "--quiet", "--format", "json"]
    done = run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        return (done.stderr.strip().splitlines() or ["died"])[-1]
    if json.loads(done.stdout)["status"] != "converged" and method.stem == "exact":
        return "not proved"
    with out.open(newline="") as file:
        labels = [row[-1] for row in list(csv.reader(file))[1:]]
    return np.unique(labels, return_inverse=True)[1]


def sum_of_squares(x, labels):
    """Of the rows around the mean of their cluster; what is labelled below 0 is a cluster of its own."""
    groups = [x[labels == cluster] for cluster in np.unique(labels[labels >= 0])]
    return sum(((group - group.mean(axis=0)) ** 2).sum() for group in groups)


def broken(pairs, labels):
    """How many pairs are placed otherwise than they say."""
    return float(sum((labels[i] == labels[j]) != must for (i, j), must in pairs.items()))


def cell(scores, digits=3):
    """Mean ± standard error, or the first trouble."""
    known = [s for s in scores if isinstance(s, float)]
    if not known:
        return scores[0][:40]
    error = np.std(known, ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
    failed = f" ({len(scores) - len(known)} failed)" if len(known) < len(scores) else ""
    return f"{np.mean(known):.{digits}f} ± {error:.{digits}f}{failed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mustlink", required=True, type=Path, metavar="PATH", help="the release binary")
    parser.add_argument("--data-dir", required=True, type=Path, metavar="DIR", help="holds iris.csv, wine.csv, optdigits389.csv")
    parser.add_argument("--set", action="append", metavar="NAME[:z]", help="a data set of the directory; :z standardises (default iris wine:z optdigits389)")
    parser.add_argument("--pairs", type=int, default=100, help="random true pairs (default 100)")
    parser.add_argument("--seeds", type=int, default=20, help="draws (default 20)")
    parser.add_argument("--jobs", type=int, default=2, help="runs of ours at once (default 2)")
    parser.add_argument("--only", default="", metavar="TEXT", help="methods whose name holds this")
    parser.add_argument("--skip-peers", action="store_true")
    parser.add_argument("--optimum", action="store_true", help="the distance from the optimum in place of the index")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        table(args, Path(temporary))


def table(args, folder):
    sets = []
    for name in args.set or ["iris", "wine:z", "optdigits389"]:
        name, _, standardise = name.partition(":")
        sets.append(read(args.data_dir / f"{name}.csv", folder, standardise == "z"))
    draws = {}
    for data in sets:
        for seed in range(args.seeds):
            pairs = random_pairs(data.classes, args.pairs, seed)
            file = folder / f"{data.file.stem}_{seed}_pairs.csv"
            with file.open("w", newline="") as out:
                rows = csv.writer(out)
                rows.writerow(["i", "j", "type"])
                rows.writerows((*p, "must_link" if m else "cannot_link") for p, m in pairs.items())
            draws[data.name, seed] = pairs, file
    width = max(len(name) for name, _ in OURS + PEERS)
    shown = "% above the least sum of squares; pairs broken" if args.optimum else "adjusted Rand index over all objects"
    print(f"{args.pairs} random pairs, {args.seeds} seeds: {shown}")
    print(" " * width + "".join(f"  {data.name:>24}" for data in sets))

    least = {}

    def line(name, labels):
        if args.only not in name:
            return
        row = []
        for data in sets:
            found = {seed: labels(data, seed) for seed in range(args.seeds)}
            fine = {seed: l for seed, l in found.items() if not isinstance(l, str)}
            if not args.optimum:
                ari = {seed: float(adjusted_rand_score(data.classes, l)) for seed, l in fine.items()}
                row.append(cell([ari.get(seed, l) for seed, l in found.items()]))
                continue
            over = {
                seed: float(round(100 * (sum_of_squares(data.x, l) / least[data.name, seed] - 1), 6)) + 0.0
                for seed, l in fine.items()
                if (data.name, seed) in least
            }
            told = [over.get(seed, l) for seed, l in found.items() if seed in over or seed not in fine]
            left = cell([broken(draws[data.name, seed][0], fine[seed]) for seed in over], 1) if over else ""
            row.append(f"{cell(told, 2) if told else 'not proved'}; {left}")
        print(name.ljust(width) + "".join(f"  {text:>30}" for text in row), flush=True)

    binary = args.mustlink.resolve()

    def ours(method, text):
        method.write_text(text + "\n")
        jobs = [(data, seed) for data in sets for seed in range(args.seeds)]

        def work(job):
            data, seed = job
            out = folder / f"labels_{data.file.stem}_{seed}.csv"
            return of_ours(binary, method, data, draws[data.name, seed][1], seed, out)

        with ThreadPoolExecutor(args.jobs) as pool:
            return dict(zip([(data.name, seed) for data, seed in jobs], pool.map(work, jobs)))

    if args.optimum:
        proved = ours(folder / "exact.toml", 'clusterer = "exact"')
        for data in sets:
            for seed in range(args.seeds):
                if not isinstance(proved[data.name, seed], str):
                    least[data.name, seed] = sum_of_squares(data.x, proved[data.name, seed])
            print(f"{data.name}: proved for {sum(at[0] == data.name for at in least)} seeds")
    for at, (name, text) in enumerate(OURS):
        if args.only not in name:
            continue
        found = ours(folder / f"method{at}.toml", text)
        line(name, lambda data, seed: found[data.name, seed])
    if not args.skip_peers:
        for name, fit in PEERS:
            line(name, lambda data, seed: of_theirs(fit, data, draws[data.name, seed][0], seed))


if __name__ == "__main__":
    sys.exit(main())
