"""What a call from Python costs beyond the core: seconds and memory.

    python benches/peers/overhead.py

Seconds are those of `fit` less those of the core: from the data it owns to the result. The least of many rounds. Memory is the
largest resident size during one `fit` less that before it, each in a process of its own (Linux).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import mustlink
import numpy as np

SIZES = [(1_000, 8, 5), (100_000, 64, 10)]
FORMS = {
    "f64, C order": lambda x: x,
    "f64, Fortran order": np.asfortranarray,
    "f32, C order": lambda x: x.astype(np.float32),
}


def data(n, d):
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, d)) + 3 * rng.integers(0, 5, n)[:, None]


def overhead(x, k, rounds):
    beyond, whole = [], []
    for _ in range(rounds):
        made = mustlink.KMeans(k, n_init=10)
        start = time.perf_counter()
        found = made._run(x, None, None, None)
        seconds = time.perf_counter() - start
        whole.append(seconds)
        beyond.append(seconds - found.core_seconds)
    return min(beyond), min(whole)


def peak(form, n, d, k):
    x = FORMS[form](data(n, d))
    mustlink.KMeans(k, n_init=1).fit(x[:100])
    before = resident("VmRSS")
    with open("/proc/self/clear_refs", "w") as refs:
        # The peak begins anew.
        refs.write("5")
    mustlink.KMeans(k, n_init=1).fit(x)
    print((resident("VmHWM") - before) / 1024)


def resident(key):
    """Kibibytes."""
    with open("/proc/self/status") as status:
        line = next(line for line in status if line.startswith(key))
    return int(line.split()[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peak", help="for processes that this starts")
    args = parser.parse_args()
    n, d, k = SIZES[-1]
    if args.peak:
        return peak(args.peak, n, d, k)
    print("| n × d | fit | beyond the core | share |")
    print("|---|---|---|---|")
    for n, d, k in SIZES:
        beyond, whole = overhead(data(n, d), k, 200 if n < 10_000 else 7)
        share = 100 * beyond / whole
        print(f"| {n} × {d} | {1e3 * whole:.2f} ms | {1e3 * beyond:.2f} ms | {share:.1f} % |")
    print("\n| matrix | MB | growth of the peak |")
    print("|---|---|---|")
    for form in FORMS:
        size = FORMS[form](data(n, d)).nbytes / 2**20
        run = [sys.executable, __file__, "--peak", form]
        grown = float(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
        print(f"| {form} | {size:.0f} | {grown:.0f} MB |")


if __name__ == "__main__":
    main()
