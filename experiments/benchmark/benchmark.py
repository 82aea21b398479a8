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
its standard error, and the true one: the mean of the shares of equal and of different pairs that the result meets, among
the pairs of objects that no answer settles. The program is `mustlink`, or the one that MUSTLINK names; the data sets are in MUSTLINK_DATA.

Each row is written when its run ends, and rows that are there are not computed again. So you can interrupt the command
and give it again later. To compute rows again, delete them. A run without a result, or of more than two minutes of
processor time, counts 0. A method that took so long on a set is not run on it again.

To add a method: append rows to rows.csv with its own name, computed under the pairs that `--pairs FOLDER` writes, and run
`--check`. Needs Python 3 alone; packages of others need those of benches/peers/requirements.txt.
"""

import argparse
import csv
import fcntl
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import tables
from design import (
    ANSWERS, CONDITIONS, HEADER, HERE, KEY, LARGEST, OURS, PEERS, ROWS, SELECTOR, SETS, SHOWN, key, read_rows
)
from measures import ami, ari, met
from processes import CHILDREN, PeerProcess, TooLong, mustlink


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


def read_pairs(path):
    """The answers of a file of pairs: two rows, and whether they must share a cluster."""
    with path.open(newline="") as file:
        return [(int(row["i"]), int(row["j"]), row["type"] == "must_link") for row in csv.DictReader(file)]


def run_ours(method, name, k, pairs, draw):
    with tempfile.TemporaryDirectory() as folder:
        file, labels = Path(folder) / "method.toml", Path(folder) / "labels.csv"
        file.write_text(OURS[method] + "\n")
        text, seconds = mustlink("cluster", "--data", name, "--method", file, "--constraints", pairs, "--k", k, "--seed",
                              draw, "--threads", 1, "--out", labels)
        with labels.open(newline="") as out:
            return [row["label"] for row in csv.DictReader(out)], seconds, re.search(SHOWN, text, re.M)


OF_THREAD = threading.local()


def run_peer(python, **request):
    if not hasattr(OF_THREAD, "peers"):
        OF_THREAD.peers = PeerProcess(python)
    return OF_THREAD.peers.run(request)


def order(row):
    return row["set"], int(row["draw"]), row["asked"], float(row["wrong"]), int(row["answers"]), row["method"]


class Rows:
    """The rows of the file, to which each new one is appended at once. Only one command can write them."""

    def __init__(self):
        self.only = os.open(HERE, os.O_RDONLY)
        try:
            fcntl.flock(self.only, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            sys.exit(f"another command writes {ROWS}. Wait until it ends, or stop it.")
        self.lock = threading.Lock()
        self.rows = {key(row): row for row in read_rows()}
        self.sort()
        self.file = ROWS.open("a", newline="")

    def sort(self):
        """Writes all rows in order, to a new file that then takes the place of the old one."""
        new = ROWS.with_suffix(".new")
        with new.open("w", newline="") as file:
            writer = csv.DictWriter(file, HEADER, lineterminator="\n")
            writer.writeheader()
            writer.writerows(sorted(self.rows.values(), key=order))
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, ROWS)

    def add(self, row):
        with self.lock:
            self.rows[key(row)] = {name: str(value) for name, value in row.items()}
            csv.DictWriter(self.file, HEADER, lineterminator="\n").writerow(row)
            self.file.flush()

    def close(self):
        with self.lock:
            self.file.close()
            self.sort()
            os.close(self.only)


def scored(labels, classes, named, seconds, shown=None, pairs=()):
    if len(labels) != len(classes):
        raise RuntimeError(f"{len(labels)} labels of {len(classes)} objects")
    free = [i for i in range(len(classes)) if i not in named]
    a, b = [labels[i] for i in free], [classes[i] for i in free]
    row = {"ari": f"{ari(labels, classes):.4f}", "seconds": f"{seconds:.2f}"}
    if shown:
        true = met(labels, classes, pairs)
        row |= {"shown": shown[1], "shown_error": shown[2], "met": "" if true is None else f"{true:.4f}"}
    if len(free) > 1 and len(set(b)) > 1:
        row |= {"ari_free": f"{ari(a, b):.4f}", "ami_free": f"{ami(a, b):.4f}"}
    return row


def run_one(method, name, draw, wrong, pairs, named, classes, python):
    k = len(set(classes))
    if method in OURS:
        labels, seconds, shown = run_ours(method, SETS[name], k, pairs, draw)
        return scored(labels, classes, named, seconds, shown, read_pairs(pairs))
    made = run_peer(python, method=method, set=SETS[name], k=k, pairs=str(pairs), draw=draw, wrong=wrong)
    # COBRAS asks about other objects.
    return scored(made["labels"], classes, set(made.get("asked", named)), made["seconds"])


def one(name, draw, asked, wrong, answers, methods, args, rows, slow):
    """Adds the rows of one set of pairs."""
    at = (name, draw, asked, wrong, answers)
    classes = classes_of(SETS[name])
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(args.pairs or folder).resolve() / f"{name}-{draw}-{asked}-{wrong}-{answers}.csv"
        ask(SETS[name], draw, asked, wrong, answers, pairs)
        named = {end for i, j, _ in read_pairs(pairs) for end in (i, j)}
        for method in methods:
            row = dict(zip(KEY, (*at, method))) | dict.fromkeys(HEADER[6:], "")
            try:
                if (method, name) in slow:
                    raise RuntimeError("took too long on this set before")
                row |= run_one(method, name, draw, wrong, pairs, named, classes, args.peers)
            except RuntimeError as error:
                if CHILDREN.stopped:
                    return
                if isinstance(error, TooLong):
                    slow.add((method, name))
                # A method without a result counts 0: it refuses answers that contradict each other, for example.
                print(*at, f"{method}: {error}", file=sys.stderr, flush=True)
            rows.add(row)


def jobs_of(args, rows):
    methods = args.methods or [*OURS, *(PEERS if args.peers else [])]
    jobs = []
    sizes = {name: len(classes_of(SETS[name]) or []) for name in args.sets or SETS}
    if not any(sizes.values()):
        sys.exit("no data sets: MUSTLINK_DATA must be a folder that has them. Run fetch.py to get them.")
    for draw in range(1, args.draws + 1):
        for name, size in sizes.items():
            for asked, wrong in CONDITIONS:
                for answers in ANSWERS:
                    at = (name, draw, asked, wrong, answers)
                    missing = [m for m in methods
                               if 0 < size <= LARGEST.get(m, size) and tuple(map(str, (*at, m))) not in rows]
                    if missing or (args.pairs and size):
                        jobs.append((*at, missing))
    return jobs


def run(args):
    if shutil.which(os.environ.get("MUSTLINK", "mustlink")) is None:
        sys.exit("mustlink is not there: MUSTLINK must be the path of the program. Run cargo build --release.")
    if args.pairs:
        Path(args.pairs).mkdir(parents=True, exist_ok=True)
    rows, slow, failed = Rows(), set(), 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        jobs = jobs_of(args, rows.rows)
        print(f"{sum(len(job[5]) for job in jobs)} runs", flush=True)
        with ThreadPoolExecutor(args.jobs) as pool:
            try:
                waiting = {pool.submit(one, *job, args, rows, slow): job for job in jobs}
                for done, ended in enumerate(as_completed(waiting), 1):
                    if ended.exception():
                        failed += 1
                        print(*waiting[ended][:5], ended.exception(), file=sys.stderr, flush=True)
                    if done % 20 == 0 or done == len(jobs):
                        print(f"{done} of {len(jobs)} sets of pairs", flush=True)
            finally:
                pool.shutdown(wait=False, cancel_futures=True)
                CHILDREN.stop()
    except KeyboardInterrupt:
        print("stopped; the same command continues", file=sys.stderr)
        return 130
    finally:
        rows.close()
    return 1 if failed else 0


def check():
    """Checks the rows: names, numbers, none twice."""
    seen, wrong = set(), []
    for at, row in enumerate(read_rows(), 2):
        if key(row) in seen:
            wrong.append(f"line {at}: the same run as a line before")
        seen.add(key(row))
        if row["set"] not in SETS or row["answers"] not in map(str, ANSWERS):
            wrong.append(f"line {at}: set or answers are not of this benchmark")
        if (row["asked"], row["wrong"]) not in [(asked, str(share)) for asked, share in CONDITIONS]:
            wrong.append(f"line {at}: asked and wrong are {row['asked']} and {row['wrong']}, not of this benchmark")
        if not row["draw"].isdecimal() or int(row["draw"]) < 1:
            wrong.append(f"line {at}: draw is {row['draw']}, expected a number from 1 on")
        for name in HEADER[6:9]:
            try:
                fits = not row[name] or -1.0 <= float(row[name]) <= 1.0
            except ValueError:
                fits = False
            if not fits:
                wrong.append(f"line {at}: {name} is {row[name]}, expected a number between -1 and 1")
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
    unknown = [m for m in args.methods or [] if m not in [*OURS, *PEERS]]
    unknown += [name for name in args.sets or [] if name not in SETS]
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}")
    if not args.peers and any(m in PEERS for m in args.methods or []):
        parser.error("packages of others need --peers PYTHON")
    if args.draws < 1 or args.jobs < 1:
        parser.error("--draws and --jobs must be at least 1")
    if args.check:
        return check()
    if args.table:
        return tables.table()
    if args.figure:
        return tables.figure(args.figure)
    return run(args)


if __name__ == "__main__":
    sys.exit(main())
