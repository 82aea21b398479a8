"""Functions of Python run in threads that have a stack as those of Python have."""

import subprocess
import sys

import pytest

# Linear algebra in several threads, as OpenBLAS has it, needs more than the 2 MiB of a thread of Rust. The functions
# look at their stack, so that the test does not hang on the number of cores; one calls scikit-learn's, which died.
SCRIPT = """
import sys, threading, warnings
import numpy as np
import mustlink
from mustlink import Method, Session, clusterer, metric, run_experiment, select, selector, testing

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(333, 4)) + 3 * (np.arange(333) % 3)[:, None]
y = np.arange(333) % 3

def deep():
    "Looks how much stack there is."
    if sys.platform != "linux" or threading.current_thread() is threading.main_thread():
        return
    import ctypes
    c, attributes, size = ctypes.CDLL(None), ctypes.create_string_buffer(256), ctypes.c_size_t()
    c.pthread_self.restype = ctypes.c_void_p
    c.pthread_getattr_np(ctypes.c_void_p(c.pthread_self()), attributes)
    c.pthread_attr_getstacksize(attributes, ctypes.byref(size))
    assert size.value >= 8 << 20, f"a stack of {size.value >> 10} KiB"

@clusterer("spec", waives={"any_unit": "the kernel has a width"})
def spec(X, n_clusters, constraints, seed):
    "Spectral clustering by scikit-learn."
    deep()
    from sklearn.cluster import SpectralClustering
    return SpectralClustering(n_clusters, gamma=0.5, random_state=seed % 2**32).fit_predict(X)

@selector("pairs_of_rows")
def pairs_of_rows(X, n_clusters, constraints, seed):
    "Each row and the next."
    deep()
    for i in range(len(X) - 1):
        deep()
        yield i, i + 1

@metric("share")
def share(labels_true, labels_pred):
    "Whether there are as many clusters as classes."
    deep()
    return float(len(set(labels_true)) == len(set(labels_pred)))

@clusterer("one")
def one(X, n_clusters, constraints, seed):
    "Equal parts by the first column."
    deep()
    return np.argsort(np.argsort(X[:, 0], kind="stable"), kind="stable") * n_clusters // len(X)

def ensemble(clusterer, members=3):
    generator = {"type": "random_init", "members": members, "clusterer": clusterer}
    return {"type": "ensemble", "consensus": "voting", "generator": generator}

"""

CASES = {
    "ensemble": "Method({'clusterer': ensemble('spec', 5)}, 3).fit_predict(X)",
    "nested": "Method({'clusterer': ensemble(ensemble('spec', 2), 2)}, 3).fit_predict(X[:90])",
    "threads": "[Method({'clusterer': ensemble('spec')}, 3, n_jobs=n).fit_predict(X[:90]) for n in (1, 2)]",
    "auto": "mustlink.Auto(3, candidates=[{'clusterer': 'spec'}, {'clusterer': 'kmeans'}]).fit(X[:90])",
    "generate": "mustlink.generate(X[:90], {'type': 'random_init', 'members': 2, 'clusterer': 'spec'}, n_clusters=3)",
    "select": "select(X, 'pairs_of_rows', y_true=y, budget=3)",
    "session": "s = Session(X, 'pairs_of_rows', clusterer=ensemble('one'), n_clusters=3, budget=2)\ns.question(); s.labels_",
    "score": "mustlink.metrics.score('share', {}, y, y)",
    "laws": "[testing.check_plugin(name) for name in ('share', 'pairs_of_rows', 'one')]",
    "oracle": "select(X, 'random_pairs', oracle=lambda i, j: (deep(), y[i] == y[j])[1], budget=3)",
    "experiment": '''
open("own.toml", "w").write("""
    experiment.name = "own"
    scoring.metrics = ["ari", "share"]
    dataset = [{ id = "iris" }]
    curve.points = [3]
    [[method]]
    id = "mine"
    clusterer = "pck_means"
    selector = { type = "pairs_of_rows" }
    [[method]]
    id = "many"
    [method.clusterer]
    type = "ensemble"
    consensus = "voting"
    generator = { type = "random_init", members = 2, clusterer = "spec" }
""")
made = run_experiment("own.toml", "out", progress=lambda *now: deep())
assert made.failed == (), made.failed
''',
}


@pytest.mark.parametrize("case", CASES)
def test_functions_have_the_stack_of_a_thread_of_python(case, tmp_path):
    """One in an ensemble ended the process without a word."""
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT + CASES[case]], capture_output=True, text=True, timeout=300, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr[-2000:]
