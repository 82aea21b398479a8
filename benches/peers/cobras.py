"""Compares the clusterings of cobras and cobras-ts after the same numbers of correct answers.

Prints one table: the adjusted Rand index over all objects, mean over the seeds, on each data set after 10, 20,
40, 80 and 120 answers; in brackets the number of clusters and of answers that they break. Features are
standardised. Ends with status 1 if cobras is below cobras-ts by more than twice the standard error of the difference.
"""

# First, since it sets one thread before numpy is loaded.
from peers import written

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from answers import Classes

# Removed from numpy in 1.24; cobras-ts still asks for it.
np.int = int

from cobras_ts import cobras_kmeans

SETS = [
    "dense/iris", "dense/wine", "dense/glass", "dense/dermatology", "dense/segmentation", "dense/optdigits389",
    "keel/keel_vehicle", "keel/keel_led7digit",
]
BUDGETS = (10, 20, 40, 80, 120)


def read(file):
    """The features, standardised and without those that are constant, and the classes."""
    with file.open(newline="") as lines:
        rows = list(csv.reader(lines))[1:]
    x = np.array([[float(v) for v in row[:-1]] for row in rows])
    spread = x.std(axis=0)
    x = (x[:, spread > 0] - x.mean(axis=0)[spread > 0]) / spread[spread > 0]
    return x, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def theirs(x, classes, budget, seed, starts):
    """Labels, and how many answers they break. `starts`: of k-means; absent: what scikit-learn takes by itself."""
    cobras_kmeans.KMeans = KMeans if starts is None else lambda k: KMeans(k, n_init=starts)
    np.random.seed(seed)
    run = cobras_kmeans.COBRAS_kmeans(x, Classes(classes), budget, store_intermediate_results=False)
    labels = np.array(run.cluster().construct_cluster_labeling())
    together = [labels[i] == labels[j] for i, j in run.ml]
    apart = [labels[i] != labels[j] for i, j in run.cl]
    return labels, together.count(False) + apart.count(False)


def ours(binary, file, budget, seed, out):
    command = [binary, "cluster", "--data", file, "--selector", "cobras", "--clusterer", "none"]
    command += ["--budget", budget, "--seed", seed, "--threads", 1, "--out", out, "--format", "json"]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    with out.open(newline="") as lines:
        labels = [row[-1] for row in list(csv.reader(lines))[1:]]
    return np.unique(labels, return_inverse=True)[1], sum(json.loads(done.stdout)["violations"].values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mustlink", required=True, type=Path, metavar="PATH", help="the binary")
    parser.add_argument("--data-dir", required=True, type=Path, metavar="DIR", help="holds dense/iris.csv …")
    parser.add_argument("--set", action="append", metavar="NAME", help="a data set of the directory, without .csv")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each (default 20)")
    args = parser.parse_args()
    # Rows that are equal make fewer clusters than were asked for.
    warnings.simplefilter("ignore")
    below = 0
    print("| | |" + "".join(f" {budget} |" for budget in BUDGETS))
    print("|---|---|" + "---|" * len(BUDGETS))
    with tempfile.TemporaryDirectory() as temporary:
        for name in args.set or SETS:
            below += compare(args, name, Path(temporary))
    return 1 if below else 0


def compare(args, name, folder):
    x, classes = read(args.data_dir / f"{name}.csv")
    data = written(folder, Path(name).name, x, classes, 1, 1, np.random.default_rng(1))
    binary = args.mustlink.resolve()

    def score(job):
        budget, seed = job
        labels, broken = ours(binary, data.file, budget, seed, folder / f"{budget}_{seed}.csv")
        return adjusted_rand_score(classes, labels), len(set(labels)), broken

    jobs = [(budget, seed) for budget in BUDGETS for seed in range(args.seeds)]
    with ThreadPoolExecutor(2) as pool:
        scores = dict(zip(jobs, pool.map(score, jobs)))
    rows = {"mustlink": scores}
    for title, starts in [("cobras-ts", None), ("cobras-ts, 10 starts", 10)]:
        rows[title] = {}
        for budget, seed in jobs:
            labels, broken = theirs(x, classes, budget, seed, starts)
            rows[title][budget, seed] = adjusted_rand_score(classes, labels), len(set(labels)), broken
    below = 0
    for title, found in rows.items():
        cells = []
        for budget in BUDGETS:
            own = [found[budget, seed] for seed in range(args.seeds)]
            mean = np.mean([ari for ari, _, _ in own])
            cells.append(f" {mean:.3f} ({np.mean([k for _, k, _ in own]):.0f}, {np.mean([b for _, _, b in own]):.0f}) |")
            if title == "cobras-ts":
                gap = [scores[budget, seed][0] - found[budget, seed][0] for seed in range(args.seeds)]
                below += np.mean(gap) < -2 * np.std(gap) / np.sqrt(args.seeds)
        print(f"| {Path(name).name} | {title} |" + "".join(cells), flush=True)
    return below


if __name__ == "__main__":
    sys.exit(main())
