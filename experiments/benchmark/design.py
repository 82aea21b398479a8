"""The design of the benchmark: sets, ways to ask, numbers of answers, methods; and its rows."""

import csv
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROWS = HERE / "rows.csv"
HEADER = ["set", "draw", "asked", "wrong", "answers", "method", "ari", "ari_free", "ami_free", "seconds", "shown",
          "shown_error", "met"]
KEY = HEADER[:6]

# Defaults and portfolio of `auto` were chosen while looking at these.
DEVELOPMENT = (
    "iris wine glass hepatitis sonar ionosphere crabs_gender crabs_species_sex dermatology digits389_317 "
    "breast_wisconsin wdbc"
).split()
# No default was chosen by these; nine of them were seen when the rules of `auto` were reviewed.
SEEN = "bupa haberman hayes_roth heart led7digit new_thyroid1 saheart tae vehicle".split()
TEST = (
    "australian bupa contraceptive haberman hayes_roth heart led7digit mammographic new_thyroid1 phoneme saheart satimage "
    "tae texture vehicle vowel"
).split()
SETS = {name: name for name in DEVELOPMENT} | {name: f"keel_{name}" for name in TEST}

ANSWERS = [20, 50, 100, 200]
# How pairs are chosen, and the share of wrong answers.
CONDITIONS = [("random", 0.0), ("chosen", 0.0), ("random", 0.1)]
SELECTOR = {"random": "random_pairs", "chosen": "explore_consolidate"}

COSC = (
    '{ type = "cosc", outer_runs = 1, perturb = false, gamma = 1.0, inner_max = 50, '
    'on_conflict = "drop_weakest" }'
)
OURS = {
    "auto": 'clusterer = "auto"',
    "k-means": 'transforms = ["z_score"]\nclusterer = "kmeans"',
    "spectral": 'transforms = ["z_score"]\nclusterer = "spectral"',
    "pck_means": 'transforms = ["z_score"]\nclusterer = "pck_means"',
    "itml + pck_means": 'transforms = ["z_score", "itml"]\nclusterer = "pck_means"',
    "itml + cop_kmeans": 'transforms = ["z_score", "itml"]\nclusterer = "cop_kmeans"',
    "itml + ward": 'transforms = ["z_score", "itml"]\nclusterer = { type = "hierarchical", linkage = "ward" }',
    "constrained_em": 'transforms = ["z_score"]\nclusterer = { type = "constrained_em", covariance = "tied" }',
    "cosc": f'transforms = ["z_score"]\nclusterer = {COSC}',
}
PEERS = [
    "COBRAS", "active-semi-supervised PCK", "active-semi-supervised MPCK", "metric-learn ITML", "fast_hdbscan",
    "ensembleclustering CSPA", "ensembleclustering HGPA", "ensembleclustering MCLA", "ensembleclustering NMF",
]
# The package itself leaves these out above this number of objects, when it chooses among its methods.
LARGEST = {"ensembleclustering CSPA": 5000, "ensembleclustering NMF": 5000}

# Seconds of processor time after which a run is ended.
LIMIT = 120
# What `auto` prints of its choice.
SHOWN = r"^score +(?:at least .*\()?(\S+) ± (\S+) (?:expected|with)"


def read_rows(path=ROWS):
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    # The writing of the last row may have been interrupted.
    return rows[:-1] if rows and None in rows[-1].values() else rows


def key(row, names=KEY):
    return tuple(str(row[name]) for name in names)
