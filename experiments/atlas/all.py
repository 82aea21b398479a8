#!/usr/bin/env python3
"""Run every study of the atlas, and keep what the manual reads of them.

    python3 experiments/atlas/all.py                        all of them; goes on where it stopped
    python3 experiments/atlas/all.py answers text           these alone
    python3 experiments/atlas/all.py --plan                 what each would take, and nothing else
    python3 experiments/atlas/all.py -- --executor slurm    options for `mustlink run`

The program is `mustlink`, or what MUSTLINK names. Results go to mustlink-results, rows to experiments/atlas/NAME.csv.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import keep

HERE = Path(__file__).parent
# An experiment makes one ensemble for each data set and generator: its draws are seeds.
DRAWN_BY_SEED = {"consensus": 10, "consensus-more": 10}


def runs(name):
    """The folder of each run of a study, and what it changes."""
    folder = Path("mustlink-results") / f"atlas-{name}"
    if name not in DRAWN_BY_SEED:
        return [(folder, [])]
    seeds = range(1, DRAWN_BY_SEED[name] + 1)
    return [(folder / str(seed), ["--set", f"experiment.seed={seed}"]) for seed in seeds]


def plan(command):
    """Shows what a run would take, and gives its hours on one thread."""
    ended = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(ended.stdout, flush=True)
    if ended.returncode != 0:
        sys.exit(ended.returncode)
    took = re.search(r"^about ([\d.]+) (s|min|h) on one thread", ended.stdout, re.MULTILINE)
    return float(took[1]) / {"s": 3600, "min": 60, "h": 1}[took[2]] if took else 0.0


def run(command):
    ended = subprocess.run(command).returncode
    # 1: some cells failed, as methods do that refuse what they cannot hold.
    if ended not in (0, 1):
        sys.exit(ended)


def main(arguments):
    if "-h" in arguments or "--help" in arguments:
        sys.exit(__doc__)
    at = arguments.index("--") if "--" in arguments else len(arguments)
    own, options = arguments[:at], arguments[at + 1 :]
    names = [a for a in own if a != "--plan"]
    known = sorted(path.stem for path in HERE.glob("*.toml"))
    for name in names:
        if name not in known:
            sys.exit(f"no study {name}; known are {', '.join(known)}, and the option --plan")
    verb = "plan" if "--plan" in own else "run"
    hours = 0.0
    for name in names or known:
        for folder, changes in runs(name):
            print(f"== {name}: {verb} {folder}", flush=True)
            program = os.environ.get("MUSTLINK", "mustlink")
            command = [program, verb, HERE / f"{name}.toml", "--out", folder, *changes, *options]
            if verb == "plan":
                hours += plan(command)
            else:
                run(command)
        if verb == "run":
            keep.main(name, *(folder for folder, _ in runs(name)))
    if verb == "plan":
        print(f"all of it about {hours:.1f} h on one thread")


if __name__ == "__main__":
    main(sys.argv[1:])
