"""`mustlink score` of a million rows beside pandas and scikit-learn: the same two files, matched by id.

    pip install pandas scikit-learn
    python benches/peers/score.py target/release/mustlink [--objects 1000000]

Prints seconds of the processor and by the clock, the interpreter and its imports included, of three runs each.
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PEER = """
import sys
import pandas as pd
from sklearn.metrics import adjusted_rand_score
both = pd.read_csv(sys.argv[1]).merge(pd.read_csv(sys.argv[2]), on="id")
print("ari", round(adjusted_rand_score(both["class"], both["label"]), 4))
"""


def timed(command):
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    found = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return spent, time.perf_counter() - start, found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--objects", type=int, default=1_000_000)
    args = parser.parse_args()
    draw = random.Random(1)
    classes = [draw.randrange(20) for _ in range(args.objects)]
    labels = [c if draw.random() < 0.7 else draw.randrange(20) for c in classes]
    with tempfile.TemporaryDirectory() as folder:
        truth, found = Path(folder, "truth.csv"), Path(folder, "labels.csv")
        truth.write_text("id,class\n" + "".join(f"o{i},c{c}\n" for i, c in enumerate(classes)))
        found.write_text("id,label\n" + "".join(f"o{i},{label}\n" for i, label in enumerate(labels)))
        ours = [args.program, "score", "--truth", truth, "--labels", found, "--metric", "ari"]
        peer = [sys.executable, "-c", PEER, truth, found]
        for name, command in [("mustlink", ours), ("pandas + scikit-learn", peer)] * 3:
            spent, clock, score = timed(command)
            print(f"{name}: {spent:.2f} s of the processor, {clock:.2f} s by the clock, {score}", flush=True)


main()
