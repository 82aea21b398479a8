"""How long a person waits for the next question of `mustlink label`, by selector.

    pip install numpy
    python benches/label.py target/release/mustlink 10000 random_pairs cobras npu

Gaussian clusters (8 features, k = 10), answered through the page as the classes are; a second between start and first
question is the selector's own. Prints the first wait, and median, 95 % and longest of sixty more, the replies of the
server included.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

import numpy as np


def waits(program, folder, n, selector, questions=60, k=10, d=8):
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(k, d)) * 4
    classes = rng.integers(k, size=n)
    x = centres[classes] + rng.normal(size=(n, d))
    data, ledger = os.path.join(folder, "data.csv"), os.path.join(folder, selector + ".jsonl")
    np.savetxt(data, x, delimiter=",", fmt="%.4f", header=",".join(f"f{i}" for i in range(d)), comments="")
    clusterer = "none" if selector in ("cobra", "cobras") else "pck_means"
    command = [program, "label", "--web", "--data", data, "--features", "all", "--selector", selector]
    command += ["--clusterer", clusterer, "--k", str(k), "--ledger", ledger]
    child = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    address = next(line.split()[2] for line in child.stderr if line.startswith("answer at"))
    origin = "/".join(address.split("/")[:3])

    def ask(path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(address + path, data=data, headers={"Origin": origin})
        return json.load(urllib.request.urlopen(request, timeout=300))

    def settled(state):
        while not state["open"] and not state["ended"]:
            state = ask(f"state?since={state['beat']}")
        return state

    start = time.perf_counter()
    state = settled(ask("state"))
    first = time.perf_counter() - start
    times = []
    while state["open"] and len(times) < questions:
        pair = state["open"]
        same = classes[pair["subject"]] == classes[pair["reference"]]
        reply = "must_link" if same else "cannot_link"
        start = time.perf_counter()
        state = settled(ask("act", {"act": "reply", "turn": state["turn"], "reply": reply}))
        times.append(time.perf_counter() - start)
        time.sleep(0.05)
    ask("act", {"act": "quit", "turn": state["turn"]})
    child.wait()
    return first, 1000 * np.array(times)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for selector in sys.argv[3:]:
            first, times = waits(sys.argv[1], folder, int(sys.argv[2]), selector)
            shares = np.percentile(times, (50, 95, 100))
            print(f"{selector:24} first {first:.2f} s; then {shares[0]:.0f}, {shares[1]:.0f}, {shares[2]:.0f} ms", flush=True)
