"""A million objects through every method whose memory does not grow with their square: time and memory beside
what `plan` said.

    pip install numpy
    python benches/scale.py target/release/mustlink [--objects 1000000] [--only kmeans,pck_means]

Each method is a cell of an experiment of its own with one thread, 100 random pairs where it reads constraints, and all
other options at their defaults. Seconds are those of the processor. Of them and of the most memory that the process held
is taken off what `plan` took, which reads the same data and does nothing: a plan counts what comes on top. Methods whose declared memory at a tenth of the objects
is below a thirtieth of that here grow with the square and are left out, as are those beyond --limit.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50}
SPANS = {"s": 1, "min": 60, "h": 3600}


def write(path, n, d, k):
    rng = np.random.default_rng(5)
    centres = 3 * rng.normal(size=(k, d))
    classes = rng.integers(0, k, n)
    rows = np.column_stack([centres[classes] + rng.normal(size=(n, d)), classes])
    header = ",".join(f"f{s}" for s in range(d)) + ",class"
    np.savetxt(path, rows, delimiter=",", fmt=["%.4f"] * d + ["%d"], header=header, comments="")


def methods(program):
    """Every clusterer, and every consensus function over ten members, as a tree."""
    listed = json.loads(subprocess.check_output([program, "list", "--format", "json"], text=True))
    for plugin in listed:
        tag, role = plugin["name"], plugin["role"].replace(" ", "_")
        if role == "base_clusterer":
            yield tag, f'"{tag}"'
        elif role == "consensus_function":
            members = '{ type = "random_init", clusterer = "kmeans", members = 10 }'
            yield f"{tag} of ten", f'{{ type = "ensemble", generator = {members}, consensus = "{tag}" }}'


def experiment(folder, data, k, tree, name):
    text = f'''
[experiment]
name = "scale"
seed = 1
[[dataset]]
id = "groups"
source = "{data}"
[split]
type = "all"
[curve]
points = [100]
[scoring]
metrics = ["ari"]
[[method]]
id = "{name}"
clusterer = {tree}
selector = "random_pairs"
'''
    path = folder / f"{re.sub('[^a-z_]', '-', name)}.toml"
    path.write_text(text, encoding="utf-8")
    return path


def watched(command, timeout):
    """Exit code, output, seconds of the processor and the most memory of a command."""
    start = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.perf_counter() - start > timeout:
                child.kill()
                os.wait4(child.pid, 0)
                return None, "", timeout, 0
            time.sleep(0.05)
        out.seek(0)
        return os.waitstatus_to_exitcode(status), out.read(), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def planned(program, path):
    """Seconds and bytes that a plan names, and the seconds and bytes it took itself."""
    code, text, spent, held = watched([program, "plan", str(path)], 300)
    last = text.strip().splitlines()[-1] if text.strip() else ""
    found = re.search(r"about (.+?) on one thread.*; up to ([\d.]+) (\w+) per cell", text)
    if code != 0 or not found:
        return None, None, spent, held, last
    # "a second or less" is told as no number.
    span = sum(float(v) * SPANS[u] for v, u in re.findall(r"([\d.]+) (min|s|h)\b", found[1]))
    return span or 1.0, float(found[2]) * UNITS[found[3]], spent, held, last


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--objects", type=int, default=1_000_000)
    arguments.add_argument("--features", type=int, default=8)
    arguments.add_argument("--clusters", type=int, default=10)
    arguments.add_argument("--timeout", type=float, default=600)
    arguments.add_argument("--limit", default="16GiB", help="methods that declare more are left out")
    arguments.add_argument("--only", help="tags, by commas")
    args = arguments.parse_args()
    limit = float(re.match(r"[\d.]+", args.limit)[0]) * UNITS[args.limit.lstrip("0123456789.")]
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        data, tenth = folder / "groups.csv", folder / "tenth.csv"
        write(data, args.objects, args.features, args.clusters)
        write(tenth, args.objects // 10, args.features, args.clusters)
        print("| method | seconds | planned | ratio | MiB | declared | ratio | ARI |")
        print("|---|---:|---:|---:|---:|---:|---:|---:|", flush=True)
        for name, tree in methods(args.program):
            if args.only and name.split()[0] not in args.only.split(","):
                continue
            _, before, _, _, why = planned(args.program, experiment(folder, tenth, args.clusters, tree, name))
            path = experiment(folder, data, args.clusters, tree, name)
            seconds, declared, reading, held, _ = planned(args.program, path)
            if declared is None:
                print(f"{name}: {why}", file=sys.stderr, flush=True)
                continue
            if before and declared > 30 * before:
                print(f"{name}: grows with the square", file=sys.stderr, flush=True)
                continue
            if declared > limit:
                print(f"{name}: declares {declared / 2**30:.1f} GiB", file=sys.stderr, flush=True)
                continue
            out = folder / f"out-{path.stem}"
            command = [args.program, "run", str(path), "--out", str(out), "--threads", "1", "--quiet"]
            code, text, took, most = watched(command, args.timeout)
            if code is None:
                print(f"| {name} | > {took:.0f} | {seconds:.0f} | | | {declared / 2**20:.0f} | | |", flush=True)
                continue
            try:
                with open(out / "results.csv", newline="", encoding="utf-8") as file:
                    row = next(csv.DictReader(file))
                spent, ari = max(took - reading, 0), float(row["ari"])
            except (OSError, StopIteration, KeyError, ValueError):
                print(f"{name}: exit {code}: {text.strip()[-300:]}", file=sys.stderr, flush=True)
                continue
            more = max(most - held, 0)
            print(
                f"| {name} | {spent:.1f} | {seconds:.1f} | {spent / max(seconds, 0.1):.1f} | {more / 2**20:.0f} | "
                f"{declared / 2**20:.0f} | {more / declared:.2f} | {ari:.2f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
