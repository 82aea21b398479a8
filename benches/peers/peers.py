"""Times mustlink beside active-semi-supervised-clustering and scikit-learn on the same files.

Prints one table: seconds of both (best of the rounds, which alternate), their ratio, the values
both arrive at, and the memory of both processes. One thread each. Ends with status 1 when a score
differs by more than 1e-9 from scikit-learn's.
"""

import json
import os
import subprocess

# Before numpy is loaded: one thread for it, as for mustlink.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"


class Launcher:
    """Starts programs from a process that is still small.

    The largest resident size a program reports is never less than that of the process it was
    started from, and with numpy and scikit-learn loaded that would be most of what is shown.
    """

    def __init__(self):
        requests, self.requests = os.pipe()
        self.replies, replies = os.pipe()
        if os.fork() == 0:
            os.close(self.requests)
            os.close(self.replies)
            with os.fdopen(requests) as lines, os.fdopen(replies, "w") as out:
                for line in lines:
                    print(json.dumps(self.wait_for(json.loads(line))), file=out, flush=True)
            os._exit(0)
        os.close(requests)
        os.close(replies)
        self.requests, self.replies = os.fdopen(self.requests, "w"), os.fdopen(self.replies)

    @staticmethod
    def wait_for(command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        errors = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, errors, usage.ru_maxrss / 1024

    def run(self, command):
        """Exit status, standard error and megabytes."""
        print(json.dumps([str(part) for part in command]), file=self.requests, flush=True)
        return json.loads(self.replies.readline())


LAUNCHER = Launcher()

import argparse
import csv
import io
import math
import pickle
import signal
import sys
import tempfile
import time
import warnings
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from active_semi_clustering.active.pairwise_constraints import ExampleOracle, ExploreConsolidate
from active_semi_clustering.semi_supervised.pairwise_constraints import COPKMeans, MPCKMeans, PCKMeans
from active_semi_clustering.semi_supervised.pairwise_constraints.constraints import (
    preprocess_constraints,
)
from sklearn import datasets, metrics

TOLERANCE = 1e-9

# The objective of the peer: half the squared distance, and a penalty of 1 for each broken pair of
# the closure. Everything else is the default of each side.
PCK_MEANS = 'type = "pck_means", half_distortion = true, weight = 1.0'


@dataclass
class Set:
    """A data set, as both sides read it."""

    name: str
    x: np.ndarray
    classes: np.ndarray
    file: Path
    pairs: list  # (i, j, is it a must-link)
    constraints: Path
    budget: int

    @property
    def k(self):
        return len(np.unique(self.classes))

    def links(self, must):
        return [(i, j) for i, j, kind in self.pairs if kind == must]


@dataclass
class Side:
    """What one side needed, and what it found, round by round."""

    seconds: list = field(default_factory=list)
    values: list = field(default_factory=list)
    memory: list = field(default_factory=list)
    trouble: str = ""

    def add(self, seconds, value, memory):
        self.seconds.append(seconds)
        self.values.append(value)
        self.memory.append(memory)

    @property
    def best(self):
        return min(self.seconds) if self.seconds else None

    @property
    def value(self):
        known = [v for v in self.values if v is not None]
        return float(np.mean(known)) if known else None


def random_pairs(classes, count, rng):
    """`count` different random pairs with what the classes say about them."""
    pairs = {}
    while len(pairs) < count:
        i, j = sorted(int(v) for v in rng.integers(0, len(classes), 2))
        if i != j:
            pairs[i, j] = bool(classes[i] == classes[j])
    return [(i, j, must) for (i, j), must in pairs.items()]


def written(folder, name, x, classes, constraints, budget, rng):
    """Writes data and constraints; what both sides see is what stands in the files."""
    file, links = folder / f"{name}.csv", folder / f"{name}_constraints.csv"
    with file.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow([f"f{s}" for s in range(x.shape[1])] + ["class"])
        for row, label in zip(x.tolist(), classes):
            table.writerow([repr(v) for v in row] + [f"c{label}"])
    pairs = random_pairs(classes, constraints, rng)
    with links.open("w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["i", "j", "type"])
        table.writerows((i, j, "must_link" if must else "cannot_link") for i, j, must in pairs)
    return Set(name, x, classes, file, pairs, links, budget)


def in_child(work, limit):
    """Runs `work` in a process of its own: (seconds, value, megabytes) or the trouble as text.

    Calls that take less than a tenth of a second are repeated, so that what only the first call
    costs does not count against them.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as out:
            answer(work, limit, out)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as back:
        told = back.read()
    _, status, usage = os.wait4(child, 0)
    told = io.BytesIO(told)
    try:
        best = pickle.load(told)
    except EOFError:
        timed_out = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM
        return f"> {limit:g} s" if timed_out else "died"
    if isinstance(best, str):
        return best
    try:
        value = pickle.load(told)
    except EOFError:
        value = None
    return best, value, usage.ru_maxrss / 1024


def answer(work, limit, out):
    """Writes the seconds of `work`, or its trouble, and then its value, if there is one."""
    warnings.simplefilter("ignore")
    signal.setitimer(signal.ITIMER_REAL, limit)
    best = math.inf
    try:
        for _ in range(3):
            start = time.perf_counter()
            result = work()
            best = min(best, time.perf_counter() - start)
            if best > 0.1:
                break
    except BaseException as trouble:
        pickle.dump(type(trouble).__name__, out)
        return
    pickle.dump(best, out)
    out.flush()
    # A value may need work that is not timed: then it is a function, with the same limit.
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        pickle.dump(result() if callable(result) else result, out)
    except BaseException:
        pass


class Ours:
    """Runs the binary on an experiment of one cell and reads what it writes about it."""

    def __init__(self, binary, folder):
        self.binary, self.folder, self.runs = binary, folder, 0

    def cell(self, data, method, seed, scores=("ari",), points=None, constraints=True):
        """The row of results, and the megabytes of the process."""
        self.runs += 1
        out = self.folder / f"run{self.runs}"
        links = f"constraints = {json.dumps(str(data.constraints))}" if constraints else ""
        curve = f"[curve]\npoints = [{points}]" if points is not None else ""
        experiment = self.folder / "experiment.toml"
        experiment.write_text(
            f"""
[experiment]
name = "peers"
seed = {seed}
[scoring]
metrics = {json.dumps(list(scores))}
scope = "all"
[run]
keep_labels = true
{curve}
[[dataset]]
id = "{data.name}"
path = {json.dumps(str(data.file))}
{links}
[[method]]
id = "method"
{method}
"""
        )
        command = [self.binary, "run", experiment, "--out", out, "--threads", "1", "--quiet"]
        status, errors, memory = LAUNCHER.run(command)
        if status != 0:
            sys.exit(f"{method}\n{errors}")
        (file,) = (out / "cells").glob("*.jsonl")
        return json.loads(file.read_text().splitlines()[-1]), memory


def compare(rounds, ours, theirs, limit):
    """Alternates the two, `rounds` times; a peer that failed once is not asked again."""
    a, b = Side(), Side()
    for seed in range(rounds):
        a.add(*ours(seed))
        if not b.trouble:
            result = in_child(lambda: theirs(seed), limit)
            if isinstance(result, str):
                b.trouble = result
            else:
                b.add(*result)
    return a, b


def ari(data, labels):
    return metrics.adjusted_rand_score(data.classes, labels)


def pck_means(data, must, cannot, seed):
    np.random.seed(seed)
    return PCKMeans(n_clusters=data.k, w=1).fit(data.x, ml=must, cl=cannot).labels_


def compare_pck_means(us, data, rounds, limit):
    def ours(seed):
        row, memory = us.cell(data, f"clusterer = {{ {PCK_MEANS} }}", seed)
        return row["time_cluster_s"], row["ari"], memory

    def theirs(seed):
        labels = pck_means(data, data.links(True), data.links(False), seed)
        return lambda: ari(data, labels)

    return compare(rounds, ours, theirs, limit)


def peer_labels(method, data, seed):
    np.random.seed(seed)
    return method.fit(data.x, ml=data.links(True), cl=data.links(False)).labels_


def compare_clusterer(us, data, ours, theirs, rounds, limit):
    """A clusterer of ours, by its table, beside one of the peer, made by `theirs`."""

    def run_ours(seed):
        row, memory = us.cell(data, f"clusterer = {ours}", seed)
        return row["time_cluster_s"], row["ari"], memory

    def run_theirs(seed):
        labels = peer_labels(theirs(data.k), data, seed)
        return lambda: ari(data, labels)

    return compare(rounds, run_ours, run_theirs, limit)


def compare_explore_consolidate(us, data, rounds, limit):
    def ours(seed):
        method = f'selector = "explore_consolidate"\nclusterer = {{ {PCK_MEANS} }}'
        row, memory = us.cell(data, method, seed, points=data.budget, constraints=False)
        return row["time_select_s"], row["ari"], memory

    def theirs(seed):
        np.random.seed(seed)
        oracle = ExampleOracle(data.classes, max_queries_cnt=data.budget)
        must, cannot = ExploreConsolidate(n_clusters=data.k).fit(data.x, oracle).pairwise_constraints_
        return lambda: ari(data, pck_means(data, must, cannot, seed))

    return compare(rounds, ours, theirs, limit)


def nmi(average):
    return lambda x, y, c: metrics.normalized_mutual_info_score(y, c, average_method=average)


def sse(x, _, labels):
    return sum(((x[labels == h] - x[labels == h].mean(0)) ** 2).sum() for h in np.unique(labels)) / len(x)


def mean_cosine(x, _, labels):
    unit = x / np.linalg.norm(x, axis=1, keepdims=True)
    return sum(np.linalg.norm(unit[labels == h].sum(0)) for h in np.unique(labels)) / len(x)


# What the peer calls each score; sse and mean_cosine are numpy, by their definition.
SCORES = {
    "ari": lambda x, y, c: metrics.adjusted_rand_score(y, c),
    "rand": lambda x, y, c: metrics.rand_score(y, c),
    "mi": lambda x, y, c: metrics.mutual_info_score(y, c),
    "nmi_arith": nmi("arithmetic"),
    "nmi_geo": nmi("geometric"),
    "nmi_min": nmi("min"),
    "nmi_max": nmi("max"),
    "ami": lambda x, y, c: metrics.adjusted_mutual_info_score(y, c),
    "homogeneity": lambda x, y, c: metrics.homogeneity_score(y, c),
    "completeness": lambda x, y, c: metrics.completeness_score(y, c),
    "v_measure": lambda x, y, c: metrics.v_measure_score(y, c),
    "sse": sse,
    "mean_cosine": mean_cosine,
    "davies_bouldin": lambda x, y, c: metrics.davies_bouldin_score(x, c),
    "calinski_harabasz": lambda x, y, c: metrics.calinski_harabasz_score(x, c),
    "silhouette": lambda x, y, c: metrics.silhouette_score(x, c),
}


def compare_score(us, data, score, rounds, limit):
    labels = []

    def ours(seed):
        method = 'clusterer = { type = "kmeans", restarts = 1, max_iterations = 3 }'
        # The same seed each time: both sides score the same labels in every round.
        row, memory = us.cell(data, method, 0, scores=(score,), constraints=False)
        labels[:] = row["labels"]
        return row["time_total_s"] - row["time_cluster_s"], row[score], memory

    def theirs(seed):
        compact = np.array(labels)
        return float(SCORES[score](data.x, data.classes, compact))

    return compare(rounds, ours, theirs, limit)


def compare_closure(us, data, limit):
    def ours(seed):
        method = f"clusterer = {{ {PCK_MEANS}, max_iterations = 1 }}"
        row, memory = us.cell(data, method, seed, scores=("closure_gain",))
        return row["time_total_s"], row["closure_gain"] * len(data.pairs), memory

    def theirs(seed):
        # It goes along must-links by recursion.
        sys.setrecursionlimit(1_000_000)
        must, cannot, _ = preprocess_constraints(data.links(True), data.links(False), len(data.x))
        return sum(len(s) for graph in (must, cannot) for s in graph.values()) / 2

    return compare(1, ours, theirs, limit)


def seconds(side):
    return side.trouble or f"{side.best:.6f}"


def ratio(ours, theirs, limit):
    if theirs.best is not None:
        return f"{theirs.best / ours.best:.1f}"
    return f"> {limit / ours.best:.0f}" if theirs.trouble.startswith(">") else "-"


def number(value, digits):
    return "-" if value is None else f"{value:.{digits}f}"


def megabytes(side):
    return f"{max(side.memory):.0f}" if side.memory else "-"


def show(rows):
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    for at, row in enumerate(rows):
        left = [text.ljust(w) if c < 2 else text.rjust(w) for c, (text, w) in enumerate(zip(row, widths))]
        print("  ".join(left).rstrip())
        if at == 0:
            print("  ".join("-" * w for w in widths))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mustlink", required=True, type=Path, metavar="PATH", help="the release binary")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts (default 3)")
    parser.add_argument("--timeout", type=float, default=60.0, help="seconds a peer may take per call (default 60)")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="write the files here and keep them")
    parser.add_argument("--constrained", action="store_true", help="only cop_kmeans and mpck_means")
    parser.add_argument("--skip-closure", action="store_true", help="leave out the closure, the longest call")
    args = parser.parse_args()
    binary = args.mustlink.resolve()
    if not binary.is_file():
        parser.error(f"{args.mustlink} is not a file; cargo build --release makes it")
    with tempfile.TemporaryDirectory() as temporary:
        folder = (args.keep or Path(temporary)).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        sys.exit(run(Ours(binary, Path(temporary)), folder, args))


def run(us, folder, args):
    rng = np.random.default_rng(2004)
    sets = []
    for name, load, constraints, budget in [
        ("iris", datasets.load_iris, 100, 50),
        ("wine", datasets.load_wine, 100, 50),
        ("digits", datasets.load_digits, 500, 200),
    ]:
        x, classes = load(return_X_y=True)
        sets.append(written(folder, name, x, classes, constraints, budget, rng))
    x, classes = datasets.make_blobs(5000, 16, centers=10, cluster_std=6.0, random_state=1)
    sets.append(written(folder, "blobs_5000x16", x, classes, 1000, 200, rng))

    limit = args.timeout
    head = ["what", "data", "ours s", "theirs s", "theirs/ours", "ours", "theirs", "agreement"]
    rows = [head + ["ours MB", "theirs MB"]]
    bad = 0

    def add(what, data, ours, theirs, digits, agreement, limit=limit):
        values = [number(ours.value, digits), number(theirs.value, digits), agreement]
        times = [seconds(ours), seconds(theirs), ratio(ours, theirs, limit)]
        rows.append([what, data.name, *times, *values, megabytes(ours), megabytes(theirs)])
        print(".", end="", file=sys.stderr, flush=True)

    def apart(ours, theirs):
        if ours.value is None or theirs.value is None:
            return None
        return abs(ours.value - theirs.value) / max(1.0, abs(theirs.value))

    for data in sets if not args.constrained else []:
        for what, function in [
            ("pck_means", compare_pck_means),
            ("explore_consolidate", compare_explore_consolidate),
        ]:
            ours, theirs = function(us, data, args.rounds, limit)
            add(what, data, ours, theirs, 4, "ARI")
    # One attempt each: the peer makes one. It gets longer than the others, so that it can finish.
    x, classes = datasets.make_blobs(20_000, 16, centers=10, cluster_std=6.0, random_state=1)
    many = written(folder, "blobs_20000x16", x, classes, 2000, 0, rng)
    cop = '{ type = "cop_kmeans", init = "random", restarts = 1 }'
    ours, theirs = compare_clusterer(us, many, cop, COPKMeans, 1, 10 * limit)
    add("cop_kmeans", many, ours, theirs, 4, "ARI", 10 * limit)
    (digits,) = (data for data in sets if data.name == "digits")
    mpck = '{ type = "mpck_means", weight = 1.0, metric = "single_diag" }'
    ours, theirs = compare_clusterer(us, digits, mpck, MPCKMeans, args.rounds, limit)
    add("mpck_means", digits, ours, theirs, 4, "ARI")
    if args.constrained:
        print(file=sys.stderr)
        show(rows)
        return 0
    x, classes = datasets.make_blobs(200_000, 2, centers=10, cluster_std=2.0, random_state=1)
    large = written(folder, "blobs_200000x2", x, classes, 1, 0, rng)
    for data in [*sets, large]:
        for score in SCORES:
            # All pairs of so many objects are for neither side.
            if score == "silhouette" and len(data.x) > 5000:
                continue
            ours, theirs = compare_score(us, data, score, args.rounds, limit)
            difference = apart(ours, theirs)
            bad += difference is None or difference > TOLERANCE
            verdict = "-" if difference is None else f"{difference:.0e}"
            add(score, data, ours, theirs, 9, verdict)
    if not args.skip_closure:
        classes = rng.integers(0, 10, 20_000)
        x = rng.normal(size=(20_000, 2))
        chain = written(folder, "closure_20000", x, classes, 100_000, 0, rng)
        ours, theirs = compare_closure(us, chain, limit)
        difference = apart(ours, theirs)
        bad += difference is not None and difference > TOLERANCE
        add("closure (pairs)", chain, ours, theirs, 0, "-" if difference is None else f"{difference:.0e}")
    print(file=sys.stderr)
    show(rows)
    print(f"\nscores that differ by more than {TOLERANCE:g}: {bad}")
    return 1 if bad else 0


if __name__ == "__main__":
    main()
