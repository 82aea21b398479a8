#!/usr/bin/env python3
"""The benchmark: methods on development sets and on sealed test sets, all under the same answers.

    python3 experiments/benchmark/benchmark.py                     run what is missing, ten draws
    python3 experiments/benchmark/benchmark.py --draws 3           the first three draws alone
    python3 experiments/benchmark/benchmark.py --methods auto      these methods alone
    python3 experiments/benchmark/benchmark.py --peers PYTHON      packages of others too, by this interpreter
    python3 experiments/benchmark/benchmark.py --table             the tables of the manual, from the rows
    python3 experiments/benchmark/benchmark.py --figure FILE.svg   the figure of the first page, from the rows

For each data set, draw, way to ask, share of wrong answers and number of answers, `mustlink select` asks about pairs, and
every method gets the same pairs and the true number of clusters. Each result is a row of rows.csv: the adjusted Rand
index over all objects, the same over the objects that no pair names, the adjusted mutual information over these (a
measure for classes of unequal size), the processor seconds of the whole run, and for `auto` the score that it showed with
its standard error, and the true one: the mean of the shares of equal and of different pairs of all objects that the
result meets. Rows that are there are not computed again. The program is `mustlink`, or the one that MUSTLINK names; the
data sets are in MUSTLINK_DATA.

To add a method: append rows to rows.csv with its own name, computed under the pairs that `--pairs FOLDER` writes, and run
`--check`. Needs Python 3 alone; packages of others need those of benches/peers/requirements.txt.
"""

import argparse
import csv
import json
import math
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS = HERE / "rows.csv"
HEADER = ["set", "draw", "asked", "wrong", "answers", "method", "ari", "ari_free", "ami_free", "seconds", "shown",
          "shown_error", "met"]
KEY = HEADER[:6]

# Defaults and portfolio of `auto` were chosen while looking at these.
DEVELOPMENT = (
    "iris wine glass hepatitis sonar ionosphere crabs_gender crabs_species_sex dermatology digits389_317 "
    "breast_wisconsin wdbc"
).split()
# No default was chosen by these; nine of them were seen when the rules of `auto` were reviewed.
SEEN = "bupa haberman hayes_roth heart led7digit new_thyroid1 saheart tae vehicle".split()
TEST = (
    "australian bupa contraceptive haberman hayes_roth heart led7digit mammographic new_thyroid1 phoneme saheart satimage "
    "tae texture vehicle vowel"
).split()
SETS = {name: name for name in DEVELOPMENT} | {name: f"keel_{name}" for name in TEST}

ANSWERS = [20, 50, 100, 200]
# How pairs are chosen, and the share of wrong answers.
CONDITIONS = [("random", 0.0), ("chosen", 0.0), ("random", 0.1)]
SELECTOR = {"random": "random_pairs", "chosen": "explore_consolidate"}

COSC = (
    '{ type = "cosc", outer_runs = 1, perturb = false, gamma = 1.0, inner_max = 50, '
    'on_conflict = "drop_weakest" }'
)
OURS = {
    "auto": 'clusterer = "auto"',
    "k-means": 'transforms = ["z_score"]\nclusterer = "kmeans"',
    "spectral": 'transforms = ["z_score"]\nclusterer = "spectral"',
    "pck_means": 'transforms = ["z_score"]\nclusterer = "pck_means"',
    "itml + pck_means": 'transforms = ["z_score", "itml"]\nclusterer = "pck_means"',
    "itml + cop_kmeans": 'transforms = ["z_score", "itml"]\nclusterer = "cop_kmeans"',
    "itml + ward": 'transforms = ["z_score", "itml"]\nclusterer = { type = "hierarchical", linkage = "ward" }',
    "constrained_em": 'transforms = ["z_score"]\nclusterer = { type = "constrained_em", covariance = "tied" }',
    "cosc": f'transforms = ["z_score"]\nclusterer = {COSC}',
}


# What `auto` prints of its choice.
SHOWN = r"^score +(\S+) ± (\S+) expected"


def mustlink(*arguments):
    """Runs the program and gives what it prints, and its processor seconds."""
    command = [os.environ.get("MUSTLINK", "mustlink"), *map(str, arguments), "--quiet"]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if child.returncode != 0:
            raise RuntimeError(err.read().strip().splitlines()[-1] if err else "failed")
        return out.read(), used.ru_utime + used.ru_stime


def classes_of(name):
    """The class of each object."""
    folder = Path(os.environ.get("MUSTLINK_DATA", "."))
    path = next((p for p in folder.glob(f"*/{name}.csv")), None)
    if path is None:
        return None
    with path.open(newline="") as file:
        return [row["class"] for row in csv.DictReader(file)]


def ask(name, draw, asked, wrong, answers, path):
    oracle = "truth" if wrong == 0 else f'{{ type = "noisy", flip_rate = {wrong} }}'
    mustlink("select", "--data", name, "--selector", SELECTOR[asked], "--oracle", oracle, "--budget", answers,
             "--seed", draw, "--threads", 1, "--out", path)


def run_ours(method, name, k, pairs, draw):
    with tempfile.TemporaryDirectory() as folder:
        file, labels = Path(folder) / "method.toml", Path(folder) / "labels.csv"
        file.write_text(OURS[method] + "\n")
        text, seconds = mustlink("cluster", "--data", name, "--method", file, "--constraints", pairs, "--k", k, "--seed",
                              draw, "--threads", 1, "--out", labels)
        with labels.open(newline="") as out:
            return [row["label"] for row in csv.DictReader(out)], seconds, re.search(SHOWN, text, re.M)


def run_peer(python, method, name, k, pairs, draw, wrong):
    command = [python, HERE / "peers.py", method, name, str(k), str(pairs), str(draw), str(wrong)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    made = json.loads(done.stdout.splitlines()[-1])
    return made["labels"], made["seconds"], None


def table_of(a, b):
    counts = {}
    for pair in zip(a, b):
        counts[pair] = counts.get(pair, 0) + 1
    return counts


def sums(labels):
    counts = {}
    for label in labels:
        counts[label] = counts.get(label, 0) + 1
    return list(counts.values())


def ari(a, b):
    def choose(counts):
        return sum(c * (c - 1) / 2 for c in counts)

    same, in_a, in_b = choose(table_of(a, b).values()), choose(sums(a)), choose(sums(b))
    pairs = len(a) * (len(a) - 1) / 2
    expected = in_a * in_b / pairs if pairs else 0.0
    most = (in_a + in_b) / 2
    return 1.0 if most == expected else (same - expected) / (most - expected)


def met(labels, classes):
    """The mean of two shares: equal pairs that share a cluster, and different ones that do not."""
    def choose(counts):
        return sum(c * (c - 1) / 2 for c in counts)

    both, equal, together = (choose(c) for c in (table_of(labels, classes).values(), sums(classes), sums(labels)))
    different = len(labels) * (len(labels) - 1) / 2 - equal
    return (both / equal + 1 - (together - both) / different) / 2


def entropy(counts, n):
    return -sum(c / n * math.log(c / n) for c in counts)


def ami(a, b):
    """Adjusted mutual information, arithmetic mean."""
    n, rows, columns = len(a), sums(a), sums(b)
    if len(rows) == len(columns) == 1:
        return 1.0
    joint = table_of(a, b)
    mutual = entropy(rows, n) + entropy(columns, n) - entropy(joint.values(), n)
    log = [0.0] * (n + 1)
    for i in range(2, n + 1):
        log[i] = log[i - 1] + math.log(i)
    expected = 0.0
    for r in rows:
        for c in columns:
            fixed = log[r] + log[c] + log[n - r] + log[n - c] - log[n]
            for x in range(max(1, r + c - n), min(r, c) + 1):
                chance = fixed - log[x] - log[r - x] - log[c - x] - log[n - r - c + x]
                expected += x / n * math.log(n * x / (r * c)) * math.exp(chance)
    most = (entropy(rows, n) + entropy(columns, n)) / 2
    return 1.0 if most == expected else (mutual - expected) / (most - expected)


def read_rows():
    if not ROWS.exists():
        return []
    with ROWS.open(newline="") as file:
        return list(csv.DictReader(file))


def key(row):
    return tuple(str(row[name]) for name in KEY)


def write_rows(rows):
    rows = sorted(rows, key=lambda r: (r["set"], int(r["draw"]), r["asked"], float(r["wrong"]), int(r["answers"]), r["method"]))
    with ROWS.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def scored(row, labels, classes, named, seconds, shown):
    free = [i for i in range(len(classes)) if i not in named]
    a, b = [labels[i] for i in free], [classes[i] for i in free]
    row |= {"ari": f"{ari(labels, classes):.4f}", "seconds": f"{seconds:.2f}"}
    if shown:
        row |= {"shown": shown[1], "shown_error": shown[2], "met": f"{met(labels, classes):.4f}"}
    if len(free) > 1 and len(set(b)) > 1:
        row |= {"ari_free": f"{ari(a, b):.4f}", "ami_free": f"{ami(a, b):.4f}"}
    return row


def one(name, draw, asked, wrong, answers, methods, args):
    """The rows of one set of pairs."""
    classes = classes_of(SETS[name])
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(args.pairs or folder) / f"{name}-{draw}-{asked}-{wrong}-{answers}.csv"
        ask(SETS[name], draw, asked, wrong, answers, pairs)
        with pairs.open(newline="") as file:
            named = {int(row[end]) for row in csv.DictReader(file) for end in "ij"}
        for method in methods:
            row = dict(zip(KEY, (name, draw, asked, wrong, answers, method))) | dict.fromkeys(HEADER[6:], "")
            try:
                k = len(set(classes))
                if method in OURS:
                    made = run_ours(method, SETS[name], k, pairs, draw)
                else:
                    made = run_peer(args.peers, method, SETS[name], k, pairs, draw, wrong)
                row = scored(row, made[0], classes, named, *made[1:])
            except (RuntimeError, subprocess.TimeoutExpired) as error:
                # A method without a result counts 0: it refuses answers that contradict each other, for example.
                print(f"{name} {draw} {asked} {wrong} {answers} {method}: {error}", file=sys.stderr, flush=True)
            rows.append(row)
    return rows


def run(args):
    rows = {key(row): row for row in read_rows()}
    methods = args.methods or [*OURS, *(PEERS if args.peers else [])]
    jobs = []
    for draw in range(1, args.draws + 1):
        for name in args.sets or SETS:
            if classes_of(SETS[name]) is None:
                continue
            for asked, wrong in CONDITIONS:
                for answers in ANSWERS:
                    at = (name, draw, asked, wrong, answers)
                    missing = [m for m in methods if tuple(map(str, (*at, m))) not in rows]
                    if missing:
                        jobs.append((*at, missing, args))
    print(f"{sum(len(job[5]) for job in jobs)} runs", flush=True)
    with ThreadPoolExecutor(args.jobs) as pool:
        for done, made in enumerate(pool.map(lambda job: one(*job), jobs), 1):
            rows |= {key(row): row for row in made}
            if done % 20 == 0 or done == len(jobs):
                write_rows(rows.values())
                print(f"{done} of {len(jobs)}", flush=True)


PEERS = ["COBRAS", "active-semi-supervised PCK", "active-semi-supervised MPCK", "metric-learn ITML"]


def value(row, measure):
    return float(row[measure] or 0.0)


def mean(values):
    return sum(values) / len(values)


def interval(differences, rounds=10_000):
    """The interval over sets that holds 95 % of the bootstrap means."""
    draw = random.Random(1)
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(rounds))
    return means[int(0.025 * rounds)], means[int(0.975 * rounds)]


def shown(number, sign=False):
    text = f"{abs(number):.3f}".replace("0.", ".", 1)
    return ("−" if number < 0 else "+" if sign else "") + text


def table(args):
    rows = read_rows()
    methods = [m for m in [*OURS, *PEERS] if any(r["method"] == m for r in rows)]
    names = {"test": TEST, "development": DEVELOPMENT}
    for measure, title in [("ari", "ARI, all objects"), ("ari_free", "ARI, objects without an answer"),
                           ("ami_free", "AMI, objects without an answer")]:
        for group, sets in names.items():
            for asked, wrong in CONDITIONS:
                print(f"\n| {title}; {group} sets, {asked} pairs{', a tenth wrong' if wrong else ''} | "
                      + " | ".join(map(str, ANSWERS)) + " |")
                print("|---|" + "---|" * len(ANSWERS))
                found = {}
                for method in methods:
                    for answers in ANSWERS:
                        for name in sets:
                            own = [value(r, measure) for r in rows
                                   if (r["set"], r["asked"], float(r["wrong"]), int(r["answers"]), r["method"])
                                   == (name, asked, wrong, answers, method)]
                            if own:
                                found[method, answers, name] = mean(own)
                for method in methods:
                    cells = []
                    for answers in ANSWERS:
                        own = [found[method, answers, s] for s in sets if (method, answers, s) in found]
                        text = shown(mean(own)) if own else ""
                        both = [s for s in sets if (method, answers, s) in found and ("auto", answers, s) in found]
                        if method != "auto" and both:
                            less = [found["auto", answers, s] - found[method, answers, s] for s in both]
                            low, high = interval(less)
                            text += f" ({shown(low, True)}, {shown(high, True)})"
                        cells.append(text)
                    if any(cells):
                        print(f"| {method} | " + " | ".join(cells) + " |")
    print("\nIn brackets: how much `auto` is ahead, the interval that holds 95 % of the means over resampled sets.")
    print("\n| score that `auto` shows; pairs | answers | runs | mean error | truth within two standard errors |")
    print("|---|---|---|---|---|")
    for asked, wrong in CONDITIONS:
        for answers in ANSWERS:
            at = (asked, wrong, answers)
            own = [r for r in rows if r["shown"] and (r["asked"], float(r["wrong"]), int(r["answers"])) == at]
            errors = [float(r["shown"]) - float(r["met"]) for r in own]
            within = sum(abs(e) <= 2 * float(r["shown_error"]) for e, r in zip(errors, own))
            if own:
                print(f"| {asked}{', a tenth wrong' if wrong else ''} | {answers} | {len(own)} | "
                      f"{shown(mean(errors), True)} | {within} |")


def figure(path, answers=100):
    """k-means, the best package over all sets, and `auto`: mean ± standard error on each set, right answers."""
    found = {}
    for row in read_rows():
        if (row["asked"], float(row["wrong"]), int(row["answers"])) == ("random", 0.0, answers):
            found.setdefault((row["method"], row["set"]), []).append(value(row, "ari"))
    named = [s for s in SETS if all((m, s) in found for m in ("k-means", "auto"))]
    peers = [m for m in PEERS if all((m, s) in found for s in named)]
    best = max(peers, key=lambda m: mean([mean(found[m, s]) for s in named]))
    shown = [("k-means", "k-means, without answers", "#8a8a8a"), (best, best, "#c9711c"),
             ("auto", "mustlink", "#1f6fb4")]
    named.sort(key=lambda s: (s in DEVELOPMENT, -mean(found["auto", s])))
    left, width, step, top = 150, 520, 17, 58
    height = top + step * (len(named) + 1) + 46
    x = lambda v: left + width * max(v, 0.0)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 30} {height}" '
           'font-family="Helvetica, Arial, sans-serif" font-size="12">',
           '<rect width="100%" height="100%" fill="#fff"/>']
    for at, (method, name, colour) in enumerate(shown):
        centre = left - 22 + 185 * at
        upper, lower = (mean([mean(found[method, s]) for s in named if s in group]) for group in (TEST, DEVELOPMENT))
        out.append(f'<circle cx="{centre}" cy="18" r="5" fill="{colour}"/>'
                   f'<text x="{centre + 10}" y="22" fill="#222">{name}</text>'
                   f'<text x="{centre + 10}" y="37" fill="#666">mean {upper:.2f} above, {lower:.2f} below</text>')
    for tick in range(0, 11, 2):
        out.append(f'<line x1="{x(tick / 10):.1f}" x2="{x(tick / 10):.1f}" y1="{top - 8}" y2="{height - 38}" '
                   f'stroke="#e3e3e3"/><text x="{x(tick / 10):.1f}" y="{height - 22}" text-anchor="middle" '
                   f'fill="#444">{tick / 10:.1f}</text>')
    out.append(f'<text x="{left + width / 2}" y="{height - 6}" text-anchor="middle" fill="#222">adjusted Rand index '
               f'after {answers} answers (1 is perfect)</text>')
    for at, name in enumerate(named):
        y = top + step * (at + (name in DEVELOPMENT)) + 5
        out.append(f'<text x="{left - 10}" y="{y + 4}" text-anchor="end" fill="#222">{name.replace("_", " ")}</text>')
        for method, _, colour in shown:
            values = found[method, name]
            middle = mean(values)
            if len(values) > 1:
                half = math.sqrt(sum((v - middle) ** 2 for v in values) / (len(values) - 1) / len(values))
                low, high = x(middle - half), x(min(middle + half, 1.0))
                out.append(f'<line x1="{low:.1f}" x2="{high:.1f}" y1="{y}" y2="{y}" '
                           f'stroke="{colour}" stroke-width="2"/>')
            out.append(f'<circle cx="{x(middle):.1f}" cy="{y}" r="3.5" fill="{colour}"/>')
    Path(path).write_text("\n".join([*out, "</svg>"]) + "\n")


def check():
    """Checks the rows: names, numbers, none twice."""
    seen, wrong = set(), []
    for at, row in enumerate(read_rows(), 2):
        if key(row) in seen:
            wrong.append(f"line {at}: the same run as a line before")
        seen.add(key(row))
        if row["set"] not in SETS or int(row["answers"]) not in ANSWERS or row["asked"] not in SELECTOR:
            wrong.append(f"line {at}: set, answers or asked are not of this benchmark")
        for name in HEADER[6:9]:
            if row[name] and not -1.0 <= float(row[name]) <= 1.0:
                wrong.append(f"line {at}: {name} is {row[name]}, expected at most 1")
    print("\n".join(wrong) or f"{len(seen)} rows are well-formed")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10)
    parser.add_argument("--methods", nargs="+")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--peers", help="a Python interpreter that has the packages")
    parser.add_argument("--pairs", help="keep the pairs in this folder")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--figure", metavar="FILE.svg")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    if args.check:
        return check()
    if args.table:
        return table(args)
    if args.figure:
        return figure(args.figure)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
