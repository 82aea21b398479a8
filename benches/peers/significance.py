"""Writes the cases by which the statistics of the reports are compared with SciPy, statsmodels and scikit-posthocs.

    python3 benches/peers/significance.py > experiments/report/tests/statistics.json

Needs scipy, statsmodels, scikit-posthocs. `cargo test -p mustlink-report --test it statistics` compares.
"""

import json
import sys

import numpy as np
import pandas as pd
import scikit_posthocs
import scipy
import statsmodels
from scipy import stats
from statsmodels.stats.multitest import multipletests


def paired(rng):
    """Differences with and without ties and zeros."""
    for n in (2, 5, 12, 30, 60):
        for decimals in (9, 1):
            d = np.round(rng.normal(0.2, 0.6, n), decimals)
            if np.ptp(d) == 0 or not d.any():
                d[0] += 0.5
            case = {"differences": d.tolist()}
            for side in ("two-sided", "greater", "less"):
                t = stats.ttest_1samp(d, 0, alternative=side)
                case["t"] = t.statistic
                case[f"t {side}"] = t.pvalue
            case["interval"] = list(stats.t.interval(0.95, n - 1, np.mean(d), stats.sem(d)))
            case["ranks"] = stats.rankdata(d).tolist()
            zeros, ties = not d.all(), len(set(np.abs(d))) < n
            if not zeros and not ties and n <= 50:
                case["exact"] = stats.wilcoxon(d, method="exact").pvalue
            if np.count_nonzero(d) > 50:
                w = stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic")
                case["normal"] = w.pvalue
            yield case


def several(rng):
    """Scores of k methods on n sets, large is good."""
    for n, k in ((4, 3), (10, 4), (15, 12), (30, 5)):
        for decimals in (9, 1):
            x = np.round(rng.uniform(0, 1, (n, k)) + 0.1 * np.arange(k), decimals)
            found = stats.friedmanchisquare(*x.T)
            f = (n - 1) * found.statistic / (n * (k - 1) - found.statistic)
            ranks = stats.rankdata(-x, axis=1)
            p = stats.norm.sf(np.abs(ranks.mean(0)[1:] - ranks.mean(0)[0]) / np.sqrt(k * (k + 1) / (6 * n))) * 2
            nemenyi = scikit_posthocs.posthoc_nemenyi_friedman(x).to_numpy()
            yield {
                "scores": x.tolist(),
                "chi": found.statistic,
                "chi p": found.pvalue,
                "f": f,
                "f p": stats.f.sf(f, k - 1, (k - 1) * (n - 1)),
                "ranks": ranks.mean(0).tolist(),
                "against first": p.tolist(),
                "holm": multipletests(p, method="holm")[1].tolist(),
                "nemenyi": {a: stats.studentized_range.ppf(1 - float(a), k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n)) for a in ("0.05", "0.1")},
                "nemenyi p": nemenyi.tolist(),
            }


def main():
    rng = np.random.default_rng(21)
    made = {
        "made by": {m.__name__: m.__version__ for m in (np, pd, scipy, statsmodels, scikit_posthocs)},
        "paired": list(paired(rng)),
        "several": list(several(rng)),
    }
    json.dump(made, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
