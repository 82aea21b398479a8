"""Consensus functions on planted partitions of a thousand to two million objects: how near they come to the planted
groups, and what that costs.

    pip install numpy
    python benches/consensus_sizes.py target/release/mustlink [--objects 1000,10000] [--functions mcla,hbgf] [--pairs 100]

Six partitions of the same objects name the planted group of an object, or with the probability --noise any group. Groups
are of equal size (20), or hold 60, 25, 10, 4 and 1 % of the objects, or 97, 1, 1 and 1 %. Columns: the adjusted Rand index with the planted
groups, the mean normalised mutual information with the partitions, seconds, and the most memory that the program held.
`default` is the command without --consensus. With --pairs, every function gets so many random pairs, as the groups say.
Prints a Markdown table, as in the manual.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

FUNCTIONS = "default,evidence_accumulation,voting,mcla,kcc,hbgf"
SHARES = {"equal": (0.05,) * 20, "unequal": (0.6, 0.25, 0.1, 0.04, 0.01), "one large": (0.97, 0.01, 0.01, 0.01)}


def write(path, n, shares, noise, pairs, members=6):
    rng = np.random.default_rng(7)
    k = len(shares)
    ends = np.round(np.cumsum(shares) * n).astype(int)
    classes = rng.permutation(np.searchsorted(ends, np.arange(n), side="right").clip(0, k - 1))
    columns = [np.where(rng.random(n) < noise, rng.integers(0, k, n), classes) for _ in range(members)]
    header = ",".join(f"p{t}" for t in range(members)) + ",class"
    np.savetxt(path, np.column_stack([*columns, classes]), delimiter=",", fmt="%d", header=header, comments="")
    # A pair that is drawn twice says the same twice.
    ends = [rng.choice(n, 2, replace=False) for _ in range(pairs)]
    rows = [f"{i},{j},{'must_link' if classes[i] == classes[j] else 'cannot_link'}\n" for i, j in ends]
    path.with_name("pairs.csv").write_text("i,j,type\n" + "".join(rows))


def run(program, path, k, name, limit, pairs):
    """The summary of one run, with seconds and megabytes of the whole program; a word where there is none."""
    line = [program, "consensus", str(path), "--quiet", "--format", "json"]
    # Functions in which the members decide take no k.
    line += [] if name == "voting" else ["--k", str(k)]
    line += [] if name == "default" else ["--consensus", name]
    line += ["--constraints", str(path.with_name("pairs.csv"))] if pairs else []
    start = time.perf_counter()
    # GNU time is not everywhere; the child of a child of its own has its peak in the usage of children.
    code = "import json,resource,subprocess,sys;p=subprocess.run(sys.argv[2:],capture_output=True,text=True," \
        "timeout=float(sys.argv[1]));print(json.dumps([p.returncode,p.stdout,p.stderr," \
        "resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss]))"
    done = subprocess.run(["python3", "-c", code, str(limit), *line], capture_output=True, text=True)
    if done.returncode:
        return f"over {limit} s"
    status, out, err, peak = json.loads(done.stdout)
    if status:
        return "refused" if "max_n" in err or "at most" in err else err.strip()[:60]
    summary = json.loads(out)
    ari, nmi = summary["scores"]["ari"], summary["mean_nmi"]
    return f"{ari:.3f}, {nmi:.3f}, {time.perf_counter() - start:.1f} s, {peak / 1024:.0f} MB"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--objects", default="1000,10000,100000,2000000")
    parser.add_argument("--functions", default=FUNCTIONS)
    parser.add_argument("--noise", type=float, default=0.2)
    parser.add_argument("--pairs", type=int, default=0)
    parser.add_argument("--limit", type=float, default=600)
    parser.add_argument("--groups", default=",".join(SHARES))
    args = parser.parse_args()
    names = args.functions.split(",")
    print("| objects, groups |" + "".join(f" `{name}` |" for name in names))
    print("|---|" + "---|" * len(names))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "partitions.csv"
        for n in map(int, args.objects.split(",")):
            for kind in args.groups.split(","):
                shares = SHARES[kind]
                write(path, n, shares, args.noise, args.pairs)
                cells = [run(args.program, path, len(shares), name, args.limit, args.pairs) for name in names]
                print(f"| {n}, {len(shares)} {kind} |" + "".join(f" {cell} |" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
