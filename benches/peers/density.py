"""HDBSCAN* of many objects in two features: ours, fast_hdbscan and scikit-learn, in one run.

    pip install numpy scikit-learn fast-hdbscan
    python benches/peers/density.py target/release/mustlink

Times are those of the whole program here and of the fit there (the second call of fast_hdbscan, which compiles in the
first). Where edges are equal the three cut differently: see `hdbscan`; fast_hdbscan counts `min_samples` without the
object itself.
"""

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from fast_hdbscan import HDBSCAN as Fast
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

SIZE = 5


def timed(fit):
    start = time.perf_counter()
    labels = fit()
    return time.perf_counter() - start, labels


if __name__ == "__main__":
    x = make_blobs(100_000, 2, centers=50, cluster_std=0.3, random_state=1)[0].round(6)
    with tempfile.TemporaryDirectory() as folder:
        data, out = Path(folder) / "x.csv", Path(folder) / "labels.csv"
        np.savetxt(data, x, delimiter=",", fmt="%.6f", header="a,b", comments="")
        method = f'{{ type = "hdbscan", min_cluster_size = {SIZE}, min_samples = {SIZE}, noise = "one_cluster" }}'
        command = [sys.argv[1], "cluster", "--data", data, "--clusterer", method, "--out", out, "--quiet"]
        ours, _ = timed(lambda: subprocess.run(command, check=True, capture_output=True))
        with open(out, newline="", encoding="utf-8") as file:
            labels = np.array([int(row["label"]) for row in csv.DictReader(file)])
    print(f"here: {ours:.2f} s, {labels.max() + 1} labels", flush=True)
    fast = Fast(min_cluster_size=SIZE, min_samples=SIZE)
    fast.fit(x)
    peers = {
        "fast_hdbscan": lambda: fast.fit(x).labels_,
        "scikit-learn": lambda: HDBSCAN(min_cluster_size=SIZE, min_samples=SIZE, copy=True).fit(x).labels_,
    }
    for name, fit in peers.items():
        seconds, theirs = timed(fit)
        score = adjusted_rand_score(theirs, labels)
        print(f"{name}: {seconds:.1f} s, ratio {seconds / ours:.0f}, {theirs.max() + 1} labels, ARI with ours {score:.3f}", flush=True)
