"""Compares clusters of judged pairs with connected components and with the clustering of splink and dedupe.

All get the same pairs with the same probabilities: planted clusters in which 1, 5 and 10 % of the verdicts are wrong,
with most pairs of a block judged or only random ones between clusters, and the records of FEBRL, scored by
recordlinkage without any true link. The table shows the F of pairs and that of B-cubed, mean over the seeds. The peers
have the best threshold in hindsight, ours 0.5; "best" is ours with hindsight.

    pip install dedupe==3.0.3 duckdb pandas recordlinkage==0.16 splink==4.0.16
    python benches/peers/verdicts.py --mustlink target/release/mustlink

`--small` takes few objects and one seed. Without `--mustlink` the table has the peers alone.
"""

import argparse
import csv
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np

# Ours, with the options of each.
OURS = {"mustlink": [], "mustlink, unjudged 0.5": ["--unjudged", "0.5"]}
THRESHOLDS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95]


def planted(n, wrong, in_blocks, seed):
    """Pairs of objects in planted clusters: ends, probabilities, and the cluster of each object.

    With blocks of six clusters, four in five pairs of a block are judged; otherwise four in five pairs of a cluster,
    and random ones.
    """
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n), rng.geometric(0.3, n))[:n]
    block = rng.permutation(truth.max() + 1)[truth] // 6 if in_blocks else truth
    members = defaultdict(list)
    for i, own in enumerate(block.tolist()):
        members[own].append(i)
    inside = [(i, j) for own in members.values() for i in own for j in own if i < j]
    inside = [pair for pair in inside if rng.random() < 0.8]
    others = 0 if in_blocks else len(inside) + n
    others = {tuple(sorted(rng.integers(0, n, 2).tolist())) for _ in range(others)}
    pairs = sorted(set(inside) | {(i, j) for i, j in others if i < j})
    same = np.array([truth[i] == truth[j] for i, j in pairs])
    said = same ^ (rng.random(len(pairs)) < wrong)
    sure = rng.uniform(0.6, 0.99, len(pairs))
    return pairs, np.where(said, sure, 1 - sure), truth


def febrl(number):
    """The pairs of a set of FEBRL that share a block, with the probabilities of an ECM classifier."""
    import recordlinkage
    from recordlinkage import datasets

    load = getattr(datasets, f"load_febrl{number}")
    records, links = load(return_links=True)
    index = recordlinkage.Index()
    for column in ("given_name", "surname", "postcode", "soc_sec_id"):
        index.block(column)
    pairs = index.index(records)
    compare = recordlinkage.Compare()
    for column in ("given_name", "surname", "address_1", "suburb"):
        compare.string(column, column, method="jarowinkler", threshold=0.85, label=column)
    for column in ("date_of_birth", "postcode", "state"):
        compare.exact(column, column, label=column)
    features = compare.compute(pairs, records)
    classifier = recordlinkage.ECMClassifier()
    classifier.fit(features)
    probability = np.asarray(classifier.prob(features), dtype=float)
    place = {name: at for at, name in enumerate(records.index)}
    ends = [(place[i], place[j]) for i, j in pairs]
    true = [(place[i], place[j]) for i, j in links]
    return ends, probability, components(len(records), true)


def components(n, pairs):
    """The component of each object."""
    above = list(range(n))

    def root(i):
        while above[i] != i:
            above[i] = above[above[i]]
            i = above[i]
        return i

    for i, j in pairs:
        above[root(i)] = root(j)
    return np.array([root(i) for i in range(n)])


def union_find(n, pairs, probability):
    """Connected components of the pairs at each threshold."""
    for threshold in THRESHOLDS:
        kept = [pair for pair, p in zip(pairs, probability) if p >= threshold]
        yield threshold, components(n, kept)


def splink(n, pairs, probability):
    """The clusters of splink at each threshold."""
    import pandas as pd
    from splink import DuckDBAPI
    from splink.clustering import cluster_pairwise_predictions_at_threshold as cluster

    nodes = pd.DataFrame({"id": range(n)})
    edges = pd.DataFrame(pairs, columns=["id_l", "id_r"]).assign(match_probability=probability)
    for threshold in THRESHOLDS:
        found = cluster(nodes, edges, DuckDBAPI(), "id", threshold_match_probability=threshold)
        frame = found.as_pandas_dataframe().sort_values("id")
        yield threshold, frame["cluster_id"].to_numpy()


def dedupe(n, pairs, probability):
    """The clusters of dedupe at each threshold: centroid linkage in each component."""
    from dedupe import clustering

    # Pairs that are hardly likely chain everything into one component, in which centroids come near each other.
    kept = np.asarray(probability) > 0.1
    pairs, probability = np.asarray(pairs)[kept], np.asarray(probability)[kept]
    kind = np.dtype([("pairs", "i8", 2), ("score", "f4")])
    with tempfile.TemporaryDirectory() as folder:
        for at, threshold in enumerate(THRESHOLDS):
            # It sorts the scores where they are, and wants them in a file.
            scores = np.memmap(Path(folder) / f"{at}", dtype=kind, mode="w+", shape=len(pairs))
            scores["pairs"], scores["score"] = pairs, probability
            labels = np.arange(n) + n
            for label, (ids, _) in enumerate(clustering.cluster(scores, threshold)):
                labels[list(ids)] = label
            yield threshold, labels


def ours(program, n, pairs, probability, more=()):
    """The clusters of mustlink at each threshold, in one run."""
    with tempfile.TemporaryDirectory() as folder:
        scored, labels = Path(folder) / "scored.csv", Path(folder) / "labels.csv"
        with open(scored, "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow(["i", "j", "probability"])
            rows.writerows([i, j, float(p)] for (i, j), p in zip(pairs, probability))
        command = [program, "cluster", "--pairs", scored, "--out", labels, "--quiet"]
        command += ["--threshold", ",".join(map(str, THRESHOLDS)), *more]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(labels, newline="") as file:
            rows = list(csv.DictReader(file))
    for threshold in THRESHOLDS:
        # Objects without a pair are alone.
        found = np.arange(n) + n
        found[[int(row["id"]) for row in rows]] = [int(row[f"threshold_{threshold}"]) for row in rows]
        yield threshold, found


def scores(truth, labels):
    """The F of pairs, and that of B-cubed."""
    both = Counter(zip(truth.tolist(), labels.tolist()))
    true, found = Counter(truth.tolist()), Counter(labels.tolist())

    def pairs(counts):
        return sum(c * (c - 1) for c in counts.values())

    pair_f = 2 * pairs(both) / max(1, pairs(true) + pairs(found))
    n = len(truth)
    precision = sum(c * c / found[label] for (_, label), c in both.items()) / n
    recall = sum(c * c / true[cluster] for (cluster, _), c in both.items()) / n
    return pair_f, 2 * precision * recall / (precision + recall)


def sets(small):
    """The name of each set, and a function from a seed to its pairs; the same for every seed if they are given."""
    n = 300 if small else 20_000
    for in_blocks in (True, False):
        for wrong in (0.01, 0.05, 0.1):
            name = f"{'blocks' if in_blocks else 'random pairs'}, {wrong:.0%} wrong"
            yield name, lambda seed, of=(n, wrong, in_blocks): planted(*of, seed), True
    for number in (1,) if small else (1, 2, 3):
        yield f"FEBRL {number}", lambda seed, number=number: febrl(number), False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mustlink", help="the program; without it, the peers alone")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--small", action="store_true")
    options = parser.parse_args()
    methods = {"components, best": union_find, "splink, best": splink, "dedupe, best": dedupe}
    if options.mustlink:
        methods |= {name: None for of in OURS for name in (of, f"{of}, best")}
    print("| pairs | " + " | ".join(methods) + " |")
    print("|---|" + "---|" * len(methods))
    seconds = Counter()
    for name, make, is_random in sets(options.small):
        seeds = range(1 if options.small or not is_random else options.seeds)
        found = defaultdict(list)
        for seed in seeds:
            pairs, probability, truth = make(seed)
            n = len(truth)
            for method, function in methods.items():
                if function is None:
                    continue
                start = time.perf_counter()
                results = [scores(truth, labels) for _, labels in function(n, pairs, probability)]
                seconds[method] += time.perf_counter() - start
                found[method].append(np.max(results, axis=0))
            for method, more in OURS.items() if options.mustlink else ():
                start = time.perf_counter()
                results = dict(ours(options.mustlink, n, pairs, probability, more))
                seconds[method] += time.perf_counter() - start
                results = {at: scores(truth, labels) for at, labels in results.items()}
                found[method].append(results[0.5])
                found[f"{method}, best"].append(np.max(list(results.values()), axis=0))
        cells = ["{:.3f} {:.3f}".format(*np.mean(found[method], axis=0)) for method in methods]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    print("\nseconds for all thresholds: " + ", ".join(f"{m} {s:.1f}" for m, s in seconds.items()))


if __name__ == "__main__":
    main()
