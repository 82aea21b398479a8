"""The synthetic sets and pairs of the PCCC paper made anew: `pccc` and `cop_kmeans` beside the printed inertia.

    pip install numpy pandas scikit-learn
    python benches/peers/pccc.py target/release/mustlink

Baumann and Hochbaum, doi 10.1287/ijoc.2023.0419. The sets are made as github.com/phil85/PCCC-Data says; the printed
numbers are those of github.com/phil85/PCCC-Appendix. `--only TEXT` takes the sets with this text in their names,
`--share` another share of objects (nothing is printed for those here), `--draw` other pairs, `--block` all pairs of
some objects in their place, `--method` another configuration of ours, `--timeout` the seconds a run may take. Times are
those of the whole program.
"""

import argparse
import csv
import json
import math
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

SEED = 24

# Inertia with pairs of a tenth of the objects: PCCC, and COP-KMeans where it is printed.
PRINTED = {
    "n1000-k50": (34.6, 39.7),
    "n2000-k50": (86.3, 109.9),
    "n5000-k100": (187.1, 262.6),
    "n300-k10-s10": (4.9, None),
    "n300-k10-s50": (64.8, None),
}


def collections():
    """Name, collection, features and classes of each set."""
    for spread in range(1, 6):
        for k in (10, 20, 50):
            x, y = make_blobs(300, 2, centers=k, cluster_std=spread, center_box=(-20, 20), random_state=SEED)
            yield f"n300-k{k}-s{10 * spread}", "COL2", StandardScaler().fit_transform(x), y
    for n in (500, 1000, 2000, 5000):
        for k in (2, 5, 10, 20, 50, 100):
            x, y = make_blobs(n, 2, centers=k, random_state=SEED)
            yield f"n{n}-k{k}", "COL3", StandardScaler().fit_transform(x), y


def pairs_among(n, share, seed=SEED):
    """As many different pairs as so large a share of the objects has: draws until there are enough, the lowest kept."""
    some = math.ceil(n * share)
    count = some * (some - 1) // 2
    random = np.random.RandomState(seed)
    codes = np.empty(0, dtype=np.int64)
    while len(codes) < count:
        i, j = random.randint(0, n, size=count), random.randint(0, n, size=count)
        low, high = np.minimum(i, j), np.maximum(i, j)
        codes = np.unique(np.concatenate([codes, (low * n + high)[low != high]]))
    return np.stack([codes[:count] // n, codes[:count] % n], axis=1)


def block(n, share, seed):
    """All pairs of so large a share of the objects, drawn."""
    some = np.sort(np.random.RandomState(seed).choice(n, math.ceil(n * share), replace=False))
    return np.array([(i, j) for at, i in enumerate(some) for j in some[at + 1 :]])


def made(program, folder, method, k, x, y, pairs, timeout):
    """As `run`, with the files that it reads."""
    np.savetxt(folder / "x.csv", x, delimiter=",", fmt="%.17g", header="a,b", comments="")
    with open(folder / "pairs.csv", "w", encoding="utf-8") as file:
        file.write("i,j,type\n")
        for i, j in pairs:
            file.write(f"{i},{j},{'must_link' if y[i] == y[j] else 'cannot_link'}\n")
    return run(program, folder, method, k, x, y, pairs, timeout)


def run(program, folder, method, k, x, y, pairs, timeout):
    """Inertia, adjusted Rand index, broken pairs and seconds; nothing where it does not end."""
    out = folder / "labels.csv"
    arguments = ["cluster", "--data", folder / "x.csv", "--features", "all", "--k", str(k), "--seed", str(SEED)]
    arguments += ["--constraints", folder / "pairs.csv", "--clusterer", method, "--out", out, "--quiet"]
    start = time.perf_counter()
    try:
        done = subprocess.run([program, *arguments], capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return None
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    with open(out, newline="", encoding="utf-8") as file:
        labels = np.array([int(row["label"]) for row in csv.DictReader(file)])
    within = sum(((x[labels == h] - x[labels == h].mean(0)) ** 2).sum() for h in np.unique(labels))
    same = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    broken = int((same != (y[pairs[:, 0]] == y[pairs[:, 1]])).sum())
    return within, adjusted_rand_score(y, labels), broken, seconds, done.stderr.strip()


def number(value, digits=1):
    return "" if value is None else f"{value:.{digits}f}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", default="")
    parser.add_argument("--share", type=float, default=0.1)
    parser.add_argument("--draw", type=int, default=SEED)
    parser.add_argument("--block", action="store_true")
    parser.add_argument("--method", default='{ type = "pccc" }')
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--json", type=Path, help="write the numbers there, too")
    options = parser.parse_args()
    print("| set | printed PCCC | `pccc` | printed COP-KMeans | `cop_kmeans` | ARI | | broken | seconds | |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    kept = []
    for name, collection, x, y in collections():
        if options.only not in f"{collection} {name}":
            continue
        k = len(np.unique(y))
        pairs = (block if options.block else pairs_among)(len(x), options.share, options.draw)
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            ours = made(options.program, folder, options.method, k, x, y, pairs, options.timeout)
            cop = run(options.program, folder, '{ type = "cop_kmeans" }', k, x, y, pairs, options.timeout)
        as_printed = options.share == 0.1 and options.draw == SEED and not options.block
        printed = PRINTED.get(name, (None, None)) if as_printed else (None, None)
        mine, other = ours or [None] * 5, cop or [None] * 5
        cells = [name, number(printed[0]), number(mine[0], 2), number(printed[1]), number(other[0], 2)]
        cells += [number(mine[1], 3), number(other[1], 3), f"{mine[2]}, {other[2]}", number(mine[3]), number(other[3])]
        print("| " + " | ".join(cells) + " |", flush=True)
        if mine[4]:
            print(f"  {mine[4]}", flush=True)
        kept.append({"set": name, "printed": printed, "pccc": mine, "cop_kmeans": other})
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1), encoding="utf-8")
