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
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import tables
from design import (
    ANSWERS, CONDITIONS, HEADER, HERE, KEY, OURS, PEERS, ROWS, SELECTOR, SETS, SHOWN, key, read_rows
)
from measures import ami, ari, met
from processes import mustlink


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
        return tables.table()
    if args.figure:
        return tables.figure(args.figure)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
