"""What no clustering is below that keeps the pairs of the PCCC paper's smaller sets, beside the sum of squares of `pccc`.

    pip install numpy pandas scikit-learn
    python benches/peers/pccc_bound.py target/release/mustlink --only n300-k10

The semidefinite relaxation of Peng and Wei (doi 10.1137/050641983) under constraints. Must-linked objects are one point a
of weight w(a); Y(a, b) = sqrt(w(a) w(b)) / (weight of their cluster) for points of one cluster, else 0. Y has no negative
entry, none where a cannot-link stands, the eigenvector u ~ sqrt(w) of eigenvalue 1, trace k, and eigenvalues in [0, 1];
the sum of squares is one number less <G, Y>. For any S that is at least 0 where Y may be above 0, <G, Y> <= <G + S, Y>,
which is at most u'(G + S)u and the k - 1 largest eigenvalues of G + S across u. Alternating directions (ADMM) look for
a small one; whatever S they come to, the bound holds, within the rounding of one eigendecomposition.
"""

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
import pccc


def contracted(x, y, pairs):
    """Means and weights of the must-linked components, the sum of squares within them, and which are apart."""
    component = np.arange(len(x))
    for i, j in pairs[y[pairs[:, 0]] == y[pairs[:, 1]]]:
        component[component == component[j]] = component[i]
    _, component = np.unique(component, return_inverse=True)
    weights = np.bincount(component).astype(float)
    means = np.stack([np.bincount(component, column) for column in x.T], axis=1) / weights[:, None]
    apart = np.zeros((len(weights), len(weights)), dtype=bool)
    links = component[pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]]
    apart[links[:, 0], links[:, 1]] = apart[links[:, 1], links[:, 0]] = True
    return means, weights, ((x - means[component]) ** 2).sum(), apart


def capped(values, total):
    """The nearest numbers in [0, 1] with this sum."""
    low, high = values.min() - 1, values.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(values - middle, 0, 1).sum() > total else (low, middle)
    return np.clip(values - high, 0, 1)


def across(matrix, u):
    """Eigenvalues and eigenvectors, ascending, of what a symmetric matrix is across u."""
    along = np.outer(u, u)
    rest = np.eye(len(u)) - along
    matrix = rest @ matrix @ rest
    matrix = (matrix + matrix.T) / 2
    # u itself comes first, below all others.
    values, vectors = np.linalg.eigh(matrix - (1 + 2 * np.abs(matrix).sum(1).max()) * along)
    return values[1:], vectors[:, 1:]


def bound(means, weights, within, apart, k, iterations):
    """The best bound that was met."""
    u = np.sqrt(weights / weights.sum())
    scaled = np.sqrt(weights)[:, None] * (means - weights @ means / weights.sum())
    gram = scaled @ scaled.T
    all_of_it = (scaled**2).sum() + within
    step = 10 * np.abs(gram).max()
    x, multiplier = np.outer(u, u), np.zeros_like(gram)
    best = within
    for iteration in range(1, iterations + 1):
        values, vectors = across(x - multiplier + gram / step, u)
        values = capped(values, k - 1)
        y = np.outer(u, u) + (vectors * values) @ vectors.T
        before, x = x, np.where(apart, 0, np.maximum(y + multiplier, 0))
        multiplier += y - x
        if iteration % 50 == 0:
            added = np.where(apart, -step * multiplier, np.maximum(-step * multiplier, 0))
            upper = gram + added
            best = max(best, all_of_it - u @ upper @ u - across(upper, u)[0][1 - k :].sum())
            # The two sides come nearer at the same pace.
            differ = np.linalg.norm(y - x) / np.linalg.norm(x)
            moved = np.linalg.norm(x - before) / np.linalg.norm(multiplier)
            if all_of_it - (gram * y).sum() - best < 1e-4 * best and differ < 1e-3:
                break
            factor = 2 if differ > 5 * moved else 0.5 if moved > 5 * differ else 1
            step, multiplier = step * factor, multiplier / factor
    return best


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--only", default="n300")
    parser.add_argument("--iterations", type=int, default=4000)
    options = parser.parse_args()
    print("| set | printed | none is below | `pccc` | seconds |\n|---|---|---|---|---|")
    for name, collection, x, y in pccc.collections():
        if options.only not in f"{collection} {name}":
            continue
        k = len(np.unique(y))
        pairs = pccc.pairs_among(len(x), 0.1)
        start = time.perf_counter()
        least = bound(*contracted(x, y, pairs), k, options.iterations)
        seconds = time.perf_counter() - start
        with tempfile.TemporaryDirectory() as made:
            ours = pccc.made(options.program, Path(made), '{ type = "pccc" }', k, x, y, pairs, 600)
        printed = pccc.PRINTED.get(name, (None, None))[0]
        print(f"| {name} | {pccc.number(printed)} | {least:.3f} | {ours[0]:.3f} | {seconds:.0f} |", flush=True)
