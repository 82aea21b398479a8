"""Times cobras, npu and min_max_selection beside cobras-ts and active-semi-supervised-clustering.

Prints one table: seconds of both (best of the rounds, which alternate), their ratio, the adjusted
Rand index both arrive at, and the memory of both processes. One thread each. Ends with status 1
when a ratio is below its target.
"""

# First, since it starts its launcher of programs before numpy is loaded.
from peers import Ours, compare, megabytes, number, pck_means, ratio, seconds, show, written

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from active_semi_clustering.active.pairwise_constraints import NPU, ExampleOracle, MinMax
from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans
from sklearn import datasets, metrics

from answers import Classes

# Removed from numpy in 1.24; cobras-ts still asks for it.
np.int = int

from cobras_ts.cobras_kmeans import COBRAS_kmeans

TARGETS = {"cobras": 20, "npu": 100, "min_max_selection": 1000}
PCK_MEANS = '{ type = "pck_means", half_distortion = true, weight = 1.0 }'


def ari(data, labels):
    return metrics.adjusted_rand_score(data.classes, labels)


def our_method(us, data, method):
    def run(seed):
        row, memory = us.cell(data, method, seed, points=data.budget, constraints=False)
        return row["time_select_s"], row["ari"], memory

    return run


def cobras(us, data, rounds, limit):
    def theirs(seed):
        np.random.seed(seed)
        # Without a labelling kept per question, which takes it longer.
        run = COBRAS_kmeans(data.x, Classes(data.classes), data.budget, store_intermediate_results=False)
        clustering = run.cluster()
        return lambda: ari(data, clustering.construct_cluster_labeling())

    ours = our_method(us, data, 'k = "unknown"\nselector = "cobras"')
    return compare(rounds, ours, theirs, limit)


def selector(us, data, tag, peer, rounds, limit):
    def theirs(seed):
        np.random.seed(seed)
        asking = peer(data.k)
        oracle = ExampleOracle(data.classes, max_queries_cnt=data.budget)
        asking.fit(data.x, oracle)
        must, cannot = asking.pairwise_constraints_
        return lambda: ari(data, pck_means(data, must, cannot, seed))

    ours = our_method(us, data, f'selector = "{tag}"\nclusterer = {PCK_MEANS}')
    return compare(rounds, ours, theirs, limit)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mustlink", required=True, type=Path, metavar="PATH", help="the release binary")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts (default 3)")
    parser.add_argument("--timeout", type=float, default=300.0, help="seconds a peer may take per call (default 300)")
    parser.add_argument("--n", type=int, default=100_000, help="objects for cobras (default 100 000)")
    args = parser.parse_args()
    binary = args.mustlink.resolve()
    if not binary.is_file():
        parser.error(f"{args.mustlink} is not a file; cargo build --release makes it")
    with tempfile.TemporaryDirectory() as temporary:
        sys.exit(run(Ours(binary, Path(temporary)), Path(temporary), args))


def run(us, folder, args):
    rng = np.random.default_rng(2018)
    rows = [["what", "data", "ours s", "theirs s", "theirs/ours", "target", "ours", "theirs", "ours MB", "theirs MB"]]
    missed = 0

    def add(what, data, ours, theirs):
        nonlocal missed
        reached = theirs.best if theirs.best is not None else args.timeout
        missed += reached / ours.best < TARGETS[what]
        times = [seconds(ours), seconds(theirs), ratio(ours, theirs, args.timeout), str(TARGETS[what])]
        values = [number(ours.value, 4), number(theirs.value, 4)]
        rows.append([what, data.name, *times, *values, megabytes(ours), megabytes(theirs)])
        print(".", end="", file=sys.stderr, flush=True)

    for spread in (2.0, 6.0):
        x, classes = datasets.make_blobs(args.n, 16, centers=10, cluster_std=spread, random_state=1)
        data = written(folder, f"blobs_{args.n}x16_{spread:g}", x, classes, 1, 100, rng)
        add("cobras", data, *cobras(us, data, args.rounds, args.timeout))
    x, classes = datasets.load_digits(return_X_y=True)
    for tag, budget, peer in [
        ("npu", 100, lambda k: NPU(clusterer=PCKMeans(n_clusters=k))),
        ("min_max_selection", 200, lambda k: MinMax(n_clusters=k)),
    ]:
        data = written(folder, f"digits_{budget}", x, classes, 1, budget, rng)
        add(tag, data, *selector(us, data, tag, peer, args.rounds, args.timeout))
    print(file=sys.stderr)
    show(rows)
    return 1 if missed else 0


if __name__ == "__main__":
    main()
