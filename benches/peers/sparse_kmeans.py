"""Times sweeps of k-means over sparse rows beside scikit-learn: same rows, same start, same sweeps.

Prints one table: milliseconds per sweep of both and their ratio, by the clock and in processor time.
What a run costs besides its sweeps is taken out on both sides: a sweep is the time of 2 + SWEEPS
less that of 2, divided by SWEEPS; each time is the best of the rounds, which alternate. On a busy
machine only processor time with --threads 1 says something: waiting threads of scikit-learn spin.
Ends with status 1 when a ratio by the clock is below the one asked for by --at-least.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--sweeps-program", required=True, type=Path, metavar="PATH",
                    help="target/release/examples/sparse_sweeps")
parser.add_argument("--data", type=Path, metavar="DIR",
                    help="the data directory, for bbc (default: MUSTLINK_DATA)")
parser.add_argument("--threads", type=int, default=2, help="threads of each side (default 2)")
parser.add_argument("--rounds", type=int, default=7,
                    help="rounds, of which the best counts (default 7); up to eight times as many on small data, "
                         "whose sweeps are short")
parser.add_argument("--sweeps", type=int, default=8, help="sweeps that are timed (default 8)")
parser.add_argument("--at-least", type=float, default=0.0, metavar="RATIO",
                    help="fail below this ratio (default: never)")
args = parser.parse_args()

# Before numpy is loaded.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = str(args.threads)

import numpy as np
from scipy import sparse
from scipy.io import mmread
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import normalize

warnings.simplefilter("ignore", ConvergenceWarning)


def bbc(folder):
    with gzip.open(folder / "text" / "bbc" / "matrix.mtx.gz") as file:
        return normalize(sparse.csr_matrix(mmread(file), dtype=np.float64))


def news(rng, rows=18_846, columns=60_000, topics=20, per_row=150):
    """Rows of the size of 20 newsgroups: Zipf words, a third of them from the topic of the row."""
    zipf = 1.0 / np.arange(1, columns + 1)
    cumulative = np.cumsum(zipf / zipf.sum())
    places = []
    for i in range(rows):
        words = np.searchsorted(cumulative, rng.random(3 * per_row))
        shifted = (words[: per_row] * 7 + 31 * (i % topics)) % columns
        row = np.unique(np.concatenate([shifted[: per_row // 3], words[per_row:]]))
        places.append(rng.permutation(row)[:per_row])
    indptr = np.cumsum([0] + [len(p) for p in places])
    values = 1.0 + rng.poisson(0.5, indptr[-1])
    x = sparse.csr_matrix((values, np.concatenate(places), indptr), (rows, columns))
    x.sort_indices()
    return normalize(x)


def written(folder, x, start):
    folder.mkdir()
    x.indptr.astype("<u8").tofile(folder / "indptr")
    x.indices.astype("<u8").tofile(folder / "indices")
    x.data.astype("<f8").tofile(folder / "values")
    start.astype("<f8").tofile(folder / "start")


class Ours:
    def __init__(self, program):
        environment = {**os.environ, "RAYON_NUM_THREADS": str(args.threads)}
        self.process = subprocess.Popen(
            [program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def processor_time(self):
        tasks = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9

    def run(self, folder, x, k, distortion, sweeps):
        """Seconds by the clock, seconds of processor time."""
        request = f"{folder} {x.shape[0]} {x.shape[1]} {k} {distortion} 1 {sweeps}"
        before = self.processor_time()
        print(request, file=self.process.stdin, flush=True)
        answer = json.loads(self.process.stdout.readline())
        if "error" in answer:
            sys.exit(answer["error"])
        if answer["sweeps"] != sweeps:
            sys.exit(f"{folder.name}: it converges after {answer['sweeps']} sweeps; lower --sweeps")
        return answer["seconds"], self.processor_time() - before


def theirs(x, start, sweeps):
    kmeans = KMeans(len(start), init=start, n_init=1, max_iter=sweeps, tol=0.0, algorithm="lloyd")
    begun, processor = time.perf_counter(), time.process_time()
    kmeans.fit(x)
    return time.perf_counter() - begun, time.process_time() - processor


SIDES = ("ours", "theirs")


def main():
    data = args.data or os.environ.get("MUSTLINK_DATA")
    rng = np.random.default_rng(2007)
    sets = [("news_18846x60000", news(rng), 20)]
    if data:
        sets.insert(0, ("bbc", bbc(Path(data)), 5))
    ours = Ours(args.sweeps_program.resolve())
    rows, poor = [], 0
    with tempfile.TemporaryDirectory() as temporary:
        for name, x, k in sets:
            start = x[rng.choice(x.shape[0], k, replace=False)].toarray()
            folder = Path(temporary) / name
            written(folder, x, start)
            for distortion in ("squared_euclidean", "cosine"):
                run = {
                    "ours": lambda sweeps: ours.run(folder, x, k, distortion, sweeps),
                    "theirs": lambda sweeps: theirs(x, start, sweeps),
                }
                times = {(side, sweeps): [] for side in SIDES for sweeps in (2, 2 + args.sweeps)}
                for _ in range(args.rounds * min(8, max(1, 2_000_000 // x.nnz))):
                    for side, sweeps in times:
                        times[side, sweeps].append(run[side](sweeps))
                best = {key: np.min(seen, axis=0) for key, seen in times.items()}
                sweep = {
                    side: 1e3 * (best[side, 2 + args.sweeps] - best[side, 2]) / args.sweeps
                    for side in SIDES
                }
                rows.append((name, x, k, distortion, sweep["ours"], sweep["theirs"]))
    print(f"{'':51}{'milliseconds per sweep':>25}{'of processor time':>25}")
    print(f"{'data':16}{'entries':>9}{'k':>4}  {'distortion':20}"
          + 2 * f"{'ours':>9}{'theirs':>9}{'ratio':>7}")
    for name, x, k, distortion, we, they in rows:
        poor += they[0] < args.at_least * we[0]
        print(f"{name:16}{x.nnz:9}{k:4}  {distortion:20}"
              + "".join(f"{a:9.2f}{b:9.2f}{b / a:7.2f}" for a, b in zip(we, they)))
    return 1 if poor else 0


if __name__ == "__main__":
    sys.exit(main())
