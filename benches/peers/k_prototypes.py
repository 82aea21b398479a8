"""Writes the cases by which `k_prototypes` is compared with the package kmodes: its own examples, stocks and soybean.

    python3 benches/peers/k_prototypes.py PATH/soybean.csv > algorithms/base-clusterers/tests/kmodes.json

Needs kmodes 0.12; `soybean.csv` is an example in its repository (soybean (small) of UCI, the class in the last column).
`cargo test -p mustlink-base-clusterers --test clusterers k_prototypes` compares.
"""

import json
import sys

import kmodes
import numpy as np
from kmodes.kmodes import KModes
from kmodes.kprototypes import KPrototypes

STOCKS = [
    (738.5, "tech", "USA"),
    (369.5, "nrg", "USA"),
    (368.2, "tech", "USA"),
    (346.7, "tech", "USA"),
    (343.5, "fin", "USA"),
    (282.4, "fin", "USA"),
    (282.1, "tel", "CN"),
    (279.7, "cons", "USA"),
    (257.2, "cons", "USA"),
    (205.2, "tel", "USA"),
    (192.1, "tech", "USA"),
    (195.7, "nrg", "NL"),
]


def case(name, found, rows, k, gamma):
    numbers = [row[0] for row in rows] if name == "stocks" else []
    words = [[str(word) for word in row[1 if numbers else 0 :]] for row in rows]
    return {
        "name": name,
        "k": k,
        "gamma": gamma,
        "numbers": numbers,
        "words": words,
        "cost": float(found.cost_),
        "labels": found.labels_.tolist(),
    }


rows = np.array(STOCKS, dtype=object)
cases = []
for gamma in (None, 5000.0):
    found = KPrototypes(4, gamma=gamma, n_init=100, random_state=1).fit(rows, categorical=[1, 2])
    cases.append(case("stocks", found, STOCKS, 4, float(found.gamma)))
soybean = np.genfromtxt(sys.argv[1], dtype=str, delimiter=",")[:, :-1]
found = KModes(4, init="Huang", n_init=200, random_state=1).fit(soybean)
cases.append(case("soybean", found, soybean.tolist(), 4, 1.0))
made_by = {"kmodes": kmodes.__version__, "numpy": np.__version__}
lines = ",\n".join(json.dumps(one) for one in cases)
print(f'{{"made by": {json.dumps(made_by)}, "cases": [\n{lines}\n]}}')
