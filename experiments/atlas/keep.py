#!/usr/bin/env python3
"""Keep what the manual reads of a study of the atlas, in experiments/atlas/NAME.csv.

    python3 experiments/atlas/keep.py answers mustlink-results/atlas-answers
    python3 experiments/atlas/keep.py consensus results/1 results/2 results/3

Several folders are draws of one study under several seeds, in order. Repeats of each are counted on from the one
before. Rows that are kept already, of methods, sets and draws that these results do not have, stay.
"""

import csv
import sys
from pathlib import Path

HEADER = ["method", "dataset", "repeat", "questions", "ari"]


def key(row):
    return row["method"], row["dataset"], int(row["repeat"]), int(row["questions"])


def main(name, *folders):
    path = Path(__file__).with_name(name + ".csv")
    kept = {}
    if path.exists():
        with path.open(newline="") as file:
            kept = {key(row): row for row in csv.DictReader(file)}
    before, changed, first = len(kept), 0, 0
    for folder in folders:
        with (Path(folder) / "results.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        for row in rows:
            ari = f"{float(row['ari']):.4f}" if row["ari"] else ""
            new = {
                "method": row["method"],
                "dataset": row["dataset"],
                "repeat": str(first + int(row["repeat"])),
                "questions": row["p_requested"],
                "ari": ari,
            }
            old = kept.get(key(new))
            changed += old is not None and old["ari"] != ari
            kept[key(new)] = new
        first += 1 + max(int(row["repeat"]) for row in rows)
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, HEADER, lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept[at] for at in sorted(kept))
    print(f"{path}: {before} rows before, {changed} of them changed, {len(kept)} now")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
