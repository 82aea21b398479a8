"""Clusters with a smallest and a largest size: ours and k-means-constrained, in one run.

    pip install numpy k-means-constrained
    python benches/peers/sizes.py target/release/mustlink

Gaussian clusters of very different sizes; every cluster may be up to a fifth smaller or larger than the mean. Ten starts
each. Times are those of the whole program here and of the fit there.
"""

import csv
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from k_means_constrained import KMeansConstrained


def measured(program, folder, n, d, k):
    rng = np.random.default_rng(2)
    centres = rng.normal(size=(k, d)) * 2
    share = np.arange(1, k + 1) / np.arange(1, k + 1).sum()
    x = (centres[rng.choice(k, p=share, size=n)] + rng.normal(size=(n, d))).round(6)
    names = ",".join(f"f{i}" for i in range(d))
    np.savetxt(folder / "x.csv", x, delimiter=",", fmt="%.6f", header=names, comments="")
    least, most = n // k - n // (5 * k), n // k + n // (5 * k)
    start = time.perf_counter()
    there = KMeansConstrained(k, size_min=least, size_max=most, random_state=0, n_init=10).fit(x)
    theirs = time.perf_counter() - start
    method = f'{{ type = "size_constrained_kmeans", min_size = {least}, max_size = {most} }}'
    arguments = ["cluster", "--data", folder / "x.csv", "--features", "all", "--k", str(k)]
    arguments += ["--clusterer", method, "--out", folder / "labels.csv", "--quiet"]
    start = time.perf_counter()
    subprocess.run([program, *arguments], check=True, capture_output=True)
    ours = time.perf_counter() - start
    with open(folder / "labels.csv", newline="", encoding="utf-8") as file:
        labels = np.array([int(row["label"]) for row in csv.DictReader(file)])
    sizes = np.bincount(labels, minlength=k)
    assert least <= sizes.min() and sizes.max() <= most
    within = sum(((x[labels == h] - x[labels == h].mean(0)) ** 2).sum() for h in range(k))
    print(
        f"n {n}, k {k}, sizes {least} to {most}: sum of squares {within:.1f} here, {there.inertia_:.1f} there; "
        f"{ours:.2f} s here, {theirs:.2f} s there, ratio {theirs / ours:.1f}"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for n, d, k in ((1000, 8, 10), (5000, 8, 20)):
            measured(sys.argv[1], Path(folder), n, d, k)
