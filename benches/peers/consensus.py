"""Times the consensus functions of mustlink beside pymetis called by hand, on the same partitions.

Writes noisy copies of known classes to a CSV, lets both combine them in alternation, and prints one
table: best seconds and adjusted Rand index with the classes. By hand means HBGF as a user would write
it with numpy and pymetis: the bipartite graph of objects and clusters in CSR, then `part_graph`.

    target/peers/bin/pip install numpy==2.4.6 pymetis==2025.2.2
    target/peers/bin/python benches/peers/consensus.py --mustlink target/release/mustlink
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pymetis


def noisy(n, k, members, right, seed=1):
    """Classes of equal size and members that put a share of the objects right."""
    rng = np.random.default_rng(seed)
    classes = np.arange(n) % k
    wrong = rng.random((n, members)) >= right
    return classes, np.where(wrong, rng.integers(0, k, (n, members)), classes[:, None])


def by_hand(labels, k):
    """HBGF with pymetis."""
    n, members = labels.shape
    first = np.concatenate([[0], np.cumsum(labels.max(axis=0) + 1)])
    columns = labels + first[:-1]
    count = first[-1]
    to_objects = np.argsort(columns.ravel(), kind="stable") // members
    degree = np.bincount(columns.ravel(), minlength=count)
    adjacency = np.concatenate([n + columns.ravel(), to_objects])
    starts = np.concatenate([np.arange(n + 1) * members, n * members + np.cumsum(degree)])
    _, parts = pymetis.part_graph(k, xadj=starts.tolist(), adjncy=adjacency.tolist())
    return np.array(parts[:n])


def adjusted_rand(a, b):
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    pairs = lambda x: (x * (x - 1) / 2).sum()
    same, rows, columns = pairs(table), pairs(table.sum(1)), pairs(table.sum(0))
    expected = rows * columns / pairs(np.array([a.size]))
    return (same - expected) / ((rows + columns) / 2 - expected)


def ours(program, file, method, k):
    command = [program, "consensus", file, "--k", str(k), "--consensus", method, "--format", "json"]
    out = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return out["seconds"], out["scores"]["ari"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--mustlink", default="target/release/mustlink")
    parser.add_argument("--n", type=int, default=10_000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--members", type=int, default=200)
    parser.add_argument("--right", type=float, default=0.5)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--methods", nargs="*", default=[
        "hbgf",
        '{ type = "hbgf", partitioner = "metis" }',
        '{ type = "mcla", partitioner = "metis" }',
        "kcc",
        '{ type = "cspa", partitioner = "metis", max_n = 100000 }',
    ])
    options = parser.parse_args()
    classes, labels = noisy(options.n, options.k, options.members, options.right)
    best = {}

    def note(name, seconds, score):
        known = best.get(name, (np.inf, 0))
        best[name] = (min(known[0], seconds), score)

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "partitions.csv"
        header = ",".join([f"m{t}" for t in range(options.members)] + ["class"])
        table = np.column_stack([labels, classes])
        np.savetxt(file, table, fmt="%d", delimiter=",", header=header, comments="")
        for _ in range(options.rounds):
            start = time.perf_counter()
            parts = by_hand(labels, options.k)
            note("pymetis by hand (hbgf)", time.perf_counter() - start, adjusted_rand(classes, parts))
            for method in options.methods:
                note(method, *ours(options.mustlink, file, method, options.k))
    width = max(map(len, best))
    print(f"n = {options.n}, k = {options.k}, {options.members} members, {options.right} right")
    print(f"{'':<{width}} {'seconds':>9} {'ari':>8}")
    for name, (seconds, score) in best.items():
        print(f"{name:<{width}} {seconds:9.3f} {score:8.4f}")


if __name__ == "__main__":
    main()
