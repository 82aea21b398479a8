#!/usr/bin/env python3
"""A study of methods that get the classes of some rows, while other classes exist of which no row is known.

    python3 experiments/benchmark/unknown_classes.py               run what is missing, five draws
    python3 experiments/benchmark/unknown_classes.py --draws 1     the first draw alone
    python3 experiments/benchmark/unknown_classes.py --table       the table of the manual, from the rows

The sets are those of the benchmark that have at least three classes and at most 400 rows. Each draw hides a third of the
classes (at least one), and gives the classes of a tenth of the rows of each other class (at least one row), or of three
rows of each. The methods do not get the number of classes, unless their names say so.

A cluster is new if it holds no row whose class was given. Each result is a row of unknown_classes.csv:

- recall: the share of the rows of hidden classes that are in new clusters. Noise is in no cluster.
- precision: the share of the rows of new clusters that have hidden classes, empty without new clusters.
- false_new: the number of new clusters in which fewer than half of the rows have hidden classes.
- ari: the adjusted Rand index over all rows. Each row that is noise is a cluster of its own.
- k: the number of clusters.

The program is `mustlink`, or the one that MUSTLINK names; the data sets are in MUSTLINK_DATA. Each row is written when its
run ends, and rows that are there are not computed again: the command continues where it was interrupted. Each run uses one
thread. Needs Python 3 alone.
"""

import argparse
import csv
import json
import math
import os
import random
import sys
import tempfile
from pathlib import Path

from design import DEVELOPMENT, HERE, SETS, TEST, key, read_rows
from measures import ari
from processes import mustlink

ROWS = HERE / "unknown_classes.csv"
KEY = ["set", "draw", "given", "method"]
HEADER = [*KEY, "classes", "hidden", "k", "recall", "precision", "false_new", "ari", "seconds"]
LARGEST = 400
# The rows of the other classes that are given, and their name in the table.
GIVEN = {"tenth": "10 %", "three": "3 rows"}
# The number of clusters above that of the known classes that is tried, where a script chooses it.
MORE = 5
Z_SCORE = ("--set", 'transforms=["z_score"]')


def read_set(name):
    """The features as text, their names, and the class of each row."""
    path = next(Path(os.environ.get("MUSTLINK_DATA", ".")).glob(f"*/{SETS[name]}.csv"), None)
    if path is None:
        sys.exit(f"{name} is not in MUSTLINK_DATA. Run fetch.py to get the data sets.")
    with path.open(newline="") as file:
        header, *rows = list(csv.reader(file))
    at = header.index("class")
    features = [[cell for column, cell in enumerate(row) if column != at] for row in rows]
    return header[:at] + header[at + 1:], features, [row[at] for row in rows]


def draw_known(classes, given, draw, name):
    """The hidden classes, and the given class of each row, empty if it is not given."""
    chance = random.Random(f"{name} {draw} {given}")
    names = sorted(set(classes))
    hidden = set(chance.sample(names, max(1, len(names) // 3)))
    known = [""] * len(classes)
    for one in names:
        rows = [i for i, c in enumerate(classes) if c == one]
        count = min(3, len(rows)) if given == "three" else max(1, round(len(rows) / 10))
        for i in chance.sample(rows, 0 if one in hidden else count):
            known[i] = one
    return hidden, known


class Task:
    """A table with a column of known classes, and a command that clusters it."""

    def __init__(self, name, draw, given, folder):
        self.names, self.features, self.classes = read_set(name)
        self.draw, self.folder, self.seconds = draw, Path(folder), 0.0
        self.hidden, self.known = draw_known(self.classes, given, draw, name)
        self.n_known = len(set(self.known) - {""})
        self.file = self.folder / "data.csv"
        with self.file.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow([*self.names, "known"])
            writer.writerows([*row, known] for row, known in zip(self.features, self.known))

    def run(self, verb, *options):
        text, seconds = mustlink(verb, "--data", self.file, "--seed", self.draw, "--threads", 1, "--format", "json",
                                 *options)
        self.seconds += seconds
        return json.loads(text)

    def cluster(self, *options):
        """The label of each row, and the summary."""
        out = self.folder / "labels.csv"
        summary = self.run("cluster", "--labels", "known", "--out", out, *options)
        with out.open(newline="") as file:
            return [int(row["label"]) for row in csv.DictReader(file)], summary

    def silhouette_k(self):
        return self.run("select-k", "--class", "known", *Z_SCORE, "--to", self.n_known + MORE)["silhouette"]


def plain(*options):
    return lambda task: task.cluster(*options)[0]


def true_k(*options):
    return lambda task: task.cluster(*options, "--k", len(set(task.classes)))[0]


def silhouette_k(*options):
    """At least one cluster for each known class, and one for the others."""
    return lambda task: task.cluster(*options, "--k", max(task.n_known + 1, task.silhouette_k()))[0]


def one_more(*options):
    return lambda task: task.cluster(*options, "--k", task.n_known + 1)[0]


def at_least_one_more(task):
    """By default, k_max is 8."""
    least = task.n_known + 1
    options = ("--set", f"clusterer.k_min={least}", "--set", f"clusterer.k_max={max(8, least + 3)}")
    return task.cluster("--clusterer", "auto", *options)[0]


def parameters(covariance, k, d):
    entries = {"full": k * d * (d + 1) // 2, "tied": d * (d + 1) // 2, "diag": k * d}[covariance]
    return k - 1 + k * d + entries


def mixture(covariance):
    """The mixture under constraints whose number of clusters has the smallest Bayesian information criterion."""

    def run(task):
        n, d, best = len(task.classes), len(task.names), (math.inf, None)
        clusterer = f'{{ type = "constrained_em", covariance = "{covariance}" }}'
        for k in range(task.n_known, task.n_known + MORE + 1):
            try:
                labels, summary = task.cluster("--clusterer", clusterer, *Z_SCORE, "--k", k)
            except RuntimeError:
                continue
            score = 2 * n * summary["objective"] + parameters(covariance, k, d) * math.log(n)
            best = min(best, (score, labels))
        if best[1] is None:
            raise RuntimeError("no number of clusters gave a mixture")
        return best[1]

    return run


METHODS = {
    "auto, k_min = known classes + 1": at_least_one_more,
    "auto": plain("--clusterer", "auto"),
    "auto, k = known classes": plain(),
    "auto, k = known classes + 1": one_more("--clusterer", "auto"),
    "auto, true k": true_k("--clusterer", "auto"),
    "auto, k by silhouette": silhouette_k("--clusterer", "auto"),
    "fosc": plain("--clusterer", "fosc", *Z_SCORE),
    "hdbscan": plain("--clusterer", "hdbscan", *Z_SCORE),
    "mixture (tied), k by BIC": mixture("tied"),
    "mixture (diag), k by BIC": mixture("diag"),
    "k-means, k by silhouette": silhouette_k("--clusterer", "kmeans", *Z_SCORE),
    "seeded k-means, true k": true_k("--clusterer", "seeded_kmeans", *Z_SCORE),
}


def score(task, labels):
    clusters = {}
    for i, label in enumerate(labels):
        if label >= 0:
            clusters.setdefault(label, []).append(i)
    is_hidden = [c in task.hidden for c in task.classes]
    new = [rows for rows in clusters.values() if not any(task.known[i] for i in rows)]
    found = [sum(is_hidden[i] for i in rows) for rows in new]
    alone = [label if label >= 0 else -1 - i for i, label in enumerate(labels)]
    return {
        "k": len(clusters),
        "recall": f"{sum(found) / sum(is_hidden):.4f}",
        "precision": f"{sum(found) / sum(map(len, new)):.4f}" if new else "",
        "false_new": sum(2 * hidden < len(rows) for hidden, rows in zip(found, new)),
        "ari": f"{ari(alone, task.classes):.4f}",
    }


def sets():
    sizes = {name: read_set(name)[2] for name in [*DEVELOPMENT, *TEST]}
    return [name for name, classes in sizes.items() if len(set(classes)) > 2 and len(classes) <= LARGEST]


def write(rows):
    new = ROWS.with_suffix(".new")
    with new.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(new, ROWS)


def run(draws, methods):
    rows = {key(row, KEY): row for row in read_rows(ROWS)}
    write(rows.values())
    names = sets()
    runs = [(d, m, s, g) for d in range(1, draws + 1) for m in methods for s in names for g in GIVEN]
    missing = [(d, s, g, m) for d, m, s, g in runs if (s, str(d), g, m) not in rows]
    print(f"{len(missing)} runs", flush=True)
    for draw, name, given, method in missing:
        with tempfile.TemporaryDirectory() as folder:
            task = Task(name, draw, given, folder)
            row = dict(zip(KEY, (name, draw, given, method)))
            row |= {"classes": len(set(task.classes)), "hidden": len(task.hidden)}
            try:
                labels = METHODS[method](task)
                row |= score(task, labels)
            except RuntimeError as error:
                # A method without a result counts 0.
                print(name, draw, given, method, error, file=sys.stderr, flush=True)
                row |= {"recall": 0, "ari": 0}
            row["seconds"] = f"{task.seconds:.2f}"
        with ROWS.open("a", newline="") as file:
            csv.DictWriter(file, HEADER, lineterminator="\n").writerow(row)


def mean(rows, measure):
    """The mean over sets of the mean over the rows of each."""
    found = {}
    for row in rows:
        if row[measure] != "":
            found.setdefault(row["set"], []).append(float(row[measure]))
    means = [sum(values) / len(values) for values in found.values()]
    return sum(means) / len(means) if means else math.nan


def shown(number):
    text = f"{number:.2f}"
    return text[1:] if text.startswith("0.") else text


def table():
    """Of the draws that every method of the table has on a set."""
    rows = read_rows(ROWS)
    methods = [method for method in METHODS if any(row["method"] == method for row in rows)]
    runs = {key(row, KEY): row for row in rows}
    cells = sorted({key(row, KEY)[:3] for row in rows})
    complete = [cell for cell in cells if all((*cell, method) in runs for method in methods)]
    names = {name for name, _, _ in complete}
    print(f"{len(names)} sets, {len(complete)} runs of each method: {' '.join(sorted(names))}\n")
    measures = [("recall", "recall"), ("false_new", "false new"), ("ari", "ARI")]
    heads = [f"{name}, {words}" for words in GIVEN.values() for _, name in measures]
    print("| method | " + " | ".join(heads) + " |")
    print("|---|" + "---|" * len(measures) * len(GIVEN))
    for method in methods:
        those = {given: [runs[(*cell, method)] for cell in complete if cell[2] == given] for given in GIVEN}
        values = [shown(mean(those[given], measure)) for given in GIVEN for measure, _ in measures]
        print(f"| {method} | " + " | ".join(values) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    table() if args.table else run(args.draws, args.methods)


if __name__ == "__main__":
    main()
