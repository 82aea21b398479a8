"""The benchmark of the repository: what it keeps if it is interrupted, and what its tables count."""

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

SCRIPTS = Path(__file__).parents[2] / "experiments/benchmark"
pytest.importorskip("fcntl")

# Answers one pair, and clusters; the call whose number is in INTERRUPT stops the benchmark instead.
PROGRAM = """#!{python}
import os, signal, sys, time
out = sys.argv[sys.argv.index("--out") + 1]
if sys.argv[1] == "select":
    open(out, "w").write("i,j,type\\n0,1,must_link\\n")
    sys.exit()
with open(os.environ["CALLS"], "a") as log:
    log.write("call\\n")
if str(len(open(os.environ["CALLS"]).readlines())) == os.environ.get("INTERRUPT"):
    os.kill(os.getppid(), signal.SIGINT)
    time.sleep(60)
open(out, "w").write("label\\n0\\n0\\n1\\n1\\n")
"""


def run(folder, **variables):
    command = [sys.executable, folder / "benchmark.py", "--draws", "1", "--jobs", "1", "--sets", "iris"]
    environment = os.environ | {"MUSTLINK": str(folder / "mustlink"), "MUSTLINK_DATA": str(folder),
                                "CALLS": str(folder / "calls")} | variables
    command += ["--methods", "k-means", "spectral"]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def rows_of(folder):
    with (folder / "rows.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def test_an_interrupted_benchmark_keeps_each_row_and_continues(tmp_path):
    for script in SCRIPTS.glob("*.py"):
        shutil.copy(script, tmp_path)
    program = tmp_path / "mustlink"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    data = tmp_path / "dense"
    data.mkdir()
    (data / "iris.csv").write_text("a,class\n0,x\n1,x\n8,y\n9,y\n")
    shutil.copy(SCRIPTS / "rows.csv", tmp_path)
    header = (tmp_path / "rows.csv").read_text().splitlines()[0]
    (tmp_path / "rows.csv").write_text(header + "\n")

    stopped = run(tmp_path, INTERRUPT="4")
    assert stopped.returncode == 130, stopped.stderr
    first = rows_of(tmp_path)
    assert len(first) == 3
    assert {row["ari"] for row in first} == {"1.0000"}

    # The last row as a crash may leave it.
    with (tmp_path / "rows.csv").open("a") as file:
        file.write("iris,1,random")
    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    # Twelve ways to ask and two methods; only the call that was interrupted is made again.
    assert len(rows_of(tmp_path)) == 24
    assert (tmp_path / "calls").read_text().count("call") == 25


def test_pairs_that_leave_no_two_classes_count_for_no_method(monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import tables

    def row(draw, method, ari, free):
        return {"set": "iris", "draw": draw, "asked": "random", "wrong": "0.0", "answers": "200", "method": method,
                "ari": ari, "ari_free": free}

    rows = [row("1", "auto", "0.9", ""), row("1", "cosc", "", ""), row("2", "auto", "0.8", "0.6"), row("2", "cosc", "", "")]
    runs = tables.runs_of(rows, "ari_free")
    # On the second draw cosc failed, which counts 0.
    assert runs["random", 0.0, 200, "auto"] == {("iris", "2"): 0.6}
    assert runs["random", 0.0, 200, "cosc"] == {("iris", "2"): 0.0}
    assert tables.extent({("iris", "1"), ("iris", "2"), ("wine", "1")}, ["iris", "wine", "glass"]) == "2 sets, 1 to 2 draws"


def test_a_cluster_is_new_if_no_class_was_given_in_it(monkeypatch):
    monkeypatch.syspath_prepend(SCRIPTS)
    import unknown_classes

    task = SimpleNamespace(classes=list("aabbccc"), known=["a", "", "b", "", "", "", ""], hidden={"c"})
    # The last cluster has a row of b and two of c; the last row is noise.
    found = unknown_classes.score(task, [0, 0, 1, 2, 2, 2, -1])
    assert (found["k"], found["recall"], found["precision"], found["false_new"]) == (3, "0.6667", "0.6667", 0)
    assert unknown_classes.score(task, [0, 0, 1, 2, 0, 1, -1])["false_new"] == 1
    # A third of the classes is hidden, and a row of each other class is given at least.
    hidden, known = unknown_classes.draw_known(task.classes, "tenth", 1, "set")
    assert len(hidden) == 1 and set(known) == {"", "a", "b", "c"} - hidden
