"""Counts of how many clusterings put each pair of objects together: mustlink beside numpy.

Numpy's way is the product of the one-hot matrix of all labels with its transpose, in single
precision. Both run in turns; the fastest of each counts.

    cargo bench --bench ensembles --no-run
    python benches/peers/co_association.py

Prints seconds of both and their ratio. Ends with status 1 when the ratio is below --at-least.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

UNITS = {"s": 1.0, "ms": 1e-3, "µs": 1e-6}


def newest_bench():
    """The bench `ensembles` that was built last."""
    built = [p for p in Path("target/release/deps").glob("ensembles-*") if not p.suffix]
    if not built:
        sys.exit("no bench in target/release/deps; cargo bench --bench ensembles --no-run builds it, --bench names another")
    return max(built, key=lambda path: path.stat().st_mtime)


def ours(bench, n, members):
    command = [bench, "--bench", "packed_counts", "--sample-count", "1"]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    row = next(line for line in text.splitlines() if f"({n}, {members})" in line)
    value, unit = re.search(r"\)\s+([\d.]+) (s|ms|µs)\b", row).groups()
    return float(value) * UNITS[unit]


def theirs(labels):
    n, members = labels.shape
    start = time.perf_counter()
    widths = labels.max(axis=0).astype(int) + 1
    first = np.concatenate([[0], np.cumsum(widths)[:-1]])
    one_hot = np.zeros((n, widths.sum()), dtype=np.float32)
    one_hot[np.repeat(np.arange(n), members), (labels + first).ravel()] = 1
    counts = one_hot @ one_hot.T
    seconds = time.perf_counter() - start
    i, j = np.random.default_rng(0).integers(0, n, (2, 100))
    assert (counts[i, j] == (labels[i] == labels[j]).sum(axis=1)).all()
    return seconds


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--bench", help="the built bench `ensembles` (default: the newest in target/release/deps)")
    arguments.add_argument("--n", type=int, default=10_000)
    arguments.add_argument("--members", type=int, default=2_000)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--at-least", type=float, default=0.0)
    given = arguments.parse_args()
    bench = given.bench or newest_bench()
    draw = np.random.default_rng(1)
    ks = draw.integers(2, 21, given.members)
    labels = np.stack([draw.integers(0, k, given.n) for k in ks], axis=1)
    best = {"mustlink": float("inf"), "numpy": float("inf")}
    for _ in range(given.rounds):
        best["mustlink"] = min(best["mustlink"], ours(bench, given.n, given.members))
        best["numpy"] = min(best["numpy"], theirs(labels))
    ratio = best["numpy"] / best["mustlink"]
    print(f"n = {given.n}, {given.members} clusterings of 2 to 20 clusters")
    print(f"numpy one-hot product  {best['numpy']:8.3f} s")
    print(f"mustlink packed counts {best['mustlink']:8.3f} s")
    print(f"ratio                  {ratio:8.1f}")
    sys.exit(ratio < given.at_least)


if __name__ == "__main__":
    main()
