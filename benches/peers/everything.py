"""Every clusterer that scikit-learn, SciPy, hdbscan or fast_hdbscan has too, in one run: processor time, memory, score.

    python3.11 -m venv target/peers
    target/peers/bin/pip install --no-deps -r benches/peers/requirements.txt hdbscan==0.8.41
    target/peers/bin/python benches/peers/everything.py target/release/mustlink [--only TEXT] [--largest N] [--limit 60]

Time is that of the processor (user and system) on one thread, the mean of several calls if it is short. Theirs is that of
the call alone, in a process of its own that has loaded everything and called it once on few objects; ours is that of
the whole program less what it takes to read the same objects, take one mean of them and write labels. Memory is the most
that a process held: theirs beyond what it held before the call, ours all of it. The score is the adjusted Rand index
with the classes, noise as one cluster. A call above the limit is ended, and larger ones of it are not made. Prints the
table of the manual.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

THREADS = ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"]
for name in THREADS:
    os.environ[name] = "1"

import numpy as np

OURS = "mustlink"
SK = "scikit-learn"
# In 2 features groups are small and many, in 20 they overlap.
CENTRES = {2: 50, 20: 20}
MIN_POINTS = 5
# Seconds below which a call is repeated: the clock of the processor counts in steps.
SHORT = 0.3


@dataclass
class Row:
    """A task: what each package is called with, as Python; `x`, `y`, `k` and `eps` are there."""

    name: str
    d: int
    sizes: list[int]
    calls: dict[str, str]


def ours(tag, more=""):
    return f'{{ type = "{tag}"{", " + more if more else ""} }}'


THOUSANDS = [10**3, 10**4, 10**5, 10**6]
LINKAGES = ["ward", "average", "complete", "single"]
ROWS = [
    Row("k-means, one start", 20, THOUSANDS, {
        OURS: ours("kmeans", "restarts = 1"),
        SK: "KMeans(k, n_init=1, random_state=0).fit_predict(x)"}),
    Row("mini-batch k-means", 20, THOUSANDS, {
        OURS: ours("mini_batch_kmeans"),
        SK: "MiniBatchKMeans(k, random_state=0).fit_predict(x)"}),
    Row("mixture, full, one start", 20, THOUSANDS[:3], {
        OURS: ours("gaussian_mixture", "restarts = 1"),
        SK: "GaussianMixture(k, random_state=0).fit_predict(x)"}),
    Row("mixture, full, five starts", 20, THOUSANDS[:2] + [20_000], {
        OURS: ours("gaussian_mixture", "restarts = 5"),
        SK: "GaussianMixture(k, n_init=5, random_state=0).fit_predict(x)"}),
    Row("mixture, diagonal, one start", 20, THOUSANDS[:3], {
        OURS: ours("gaussian_mixture", 'restarts = 1, covariance = "diag"'),
        SK: "GaussianMixture(k, covariance_type='diag', random_state=0).fit_predict(x)"}),
    *[Row("DBSCAN", d, sizes, {
        OURS: ours("dbscan", f"min_points = {MIN_POINTS}, radius = EPS"),
        SK: f"DBSCAN(eps=eps, min_samples={MIN_POINTS}).fit_predict(x)"})
        for d, sizes in [(2, THOUSANDS), (20, THOUSANDS[:3])]],
    *[Row("OPTICS, cut at a radius", d, sizes, {
        OURS: ours("optics", f"min_points = {MIN_POINTS}, radius = EPS"),
        SK: f"OPTICS(min_samples={MIN_POINTS}, max_eps=eps, cluster_method='dbscan', eps=eps).fit_predict(x)"})
        for d, sizes in [(2, THOUSANDS[:3]), (20, THOUSANDS[:2])]],
    *[Row(f"{linkage} linkage", 20, THOUSANDS[:2], {
        OURS: ours("hierarchical", f'linkage = "{linkage}"'),
        SK: f"AgglomerativeClustering(k, linkage='{linkage}').fit_predict(x)",
        "SciPy": f"fcluster(linkage(x, '{linkage}'), k, 'maxclust')"})
        for linkage in LINKAGES],
    Row("spectral, ten neighbours", 20, THOUSANDS[:2], {
        OURS: ours("spectral", "knn = 10"),
        SK: "SpectralClustering(k, affinity='nearest_neighbors', random_state=0).fit_predict(x)"}),
    *[Row("HDBSCAN", d, sizes, {
        OURS: ours("hdbscan", "min_cluster_size = 15, min_samples = 5"),
        SK: "HDBSCAN(min_cluster_size=15, min_samples=5, copy=True).fit_predict(x)",
        "hdbscan": "hdbscan.HDBSCAN(min_cluster_size=15, min_samples=4, core_dist_n_jobs=1).fit_predict(x)",
        "fast_hdbscan": "fast_hdbscan.HDBSCAN(min_cluster_size=15, min_samples=4).fit_predict(x)"})
        for d, sizes in [(2, THOUSANDS[:3]), (20, [10**3, 10**4, 20_000])]],
    # Scores are compared as Python functions; a call with `mustlink.` needs the package.
    Row("silhouette", 20, [10**3, 10**4, 20_000], {
        OURS: "mustlink.metrics.silhouette(x, y, max_n=len(x))",
        SK: "silhouette_score(x, y)"}),
    Row("ARI", 2, THOUSANDS, {
        OURS: "mustlink.metrics.ari(y, shifted(y))",
        SK: "adjusted_rand_score(y, shifted(y))"}),
]


def shifted(y):
    """Labels that agree with y in most objects."""
    return np.where(np.arange(len(y)) % 7 == 0, (y + 1) % 50, y)


def names():
    """What calls may name, of the packages that are there."""
    import sklearn.cluster
    from scipy.cluster.hierarchy import fcluster, linkage
    from sklearn.metrics import adjusted_rand_score, silhouette_score
    from sklearn.mixture import GaussianMixture

    found = {"fcluster": fcluster, "linkage": linkage, "GaussianMixture": GaussianMixture, "shifted": shifted,
             "adjusted_rand_score": adjusted_rand_score, "silhouette_score": silhouette_score}
    found |= {name: getattr(sklearn.cluster, name) for name in sklearn.cluster.__all__}
    return found


def is_of_python(call):
    return call.startswith("mustlink.")


def child(task):
    """One call in a process of its own: prints what it took."""
    import warnings

    from sklearn.metrics import adjusted_rand_score

    warnings.filterwarnings("ignore")
    scope = names() | {"k": CENTRES[task["d"]]}
    if task["package"] in ("hdbscan", "fast_hdbscan"):
        scope[task["package"]] = __import__(task["package"])
    if is_of_python(task["call"]):
        import mustlink.metrics

        scope["mustlink"] = mustlink
    call = compile(task["call"], "call", "eval")
    whole = dict(np.load(task["file"]))
    small = {"x": whole["x"][:300]}
    if not task["call"].startswith("fcluster"):
        try:
            eval(call, scope | small | {"y": whole["y"][:300], "k": 3, "eps": float(whole["eps"])})
        except Exception:
            pass
    scope |= whole | {"eps": float(whole["eps"])}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    limit = int(start + task["limit"]) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    rounds = 0
    while rounds == 0 or (rounds < 100 and time.process_time() - start < SHORT):
        result = eval(call, scope)
        rounds += 1
    seconds = (time.process_time() - start) / rounds
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    is_score = np.ndim(result) == 0
    score = float(result) if is_score else adjusted_rand_score(whole["y"], result)
    clusters = "" if is_score else len(set(result.tolist()) - {-1})
    print(json.dumps({"seconds": seconds, "memory": memory / 1024, "score": score, "k": clusters}))


# A process begins with the memory of the one that starts it: this one is small.
STARTER = """
import os, resource, sys
bound = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_CPU, (bound, bound))
_, status = os.waitpid(os.posix_spawn(sys.argv[2], sys.argv[2:], os.environ), 0)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, status)
"""


def program(command, limit):
    """Processor seconds, memory in MiB, and whether it ended within the limit."""
    starter = [sys.executable, "-SsE", "-c", STARTER, str(int(limit) + 1)]
    done = subprocess.run([*starter, *command], capture_output=True, text=True, check=True)
    seconds, memory, status = done.stdout.split()[-3:]
    if int(status) and not os.WIFSIGNALED(int(status)):
        sys.exit(done.stderr)
    return float(seconds), float(memory), int(status) == 0


def own(binary, task, folder):
    """One call of ours, less what reading and writing take."""
    from sklearn.metrics import adjusted_rand_score

    whole = np.load(task["file"])
    rows, labels = Path(folder, "rows.npy"), Path(folder, "labels.csv")
    np.save(rows, whole["x"])

    def call(clusterer, k):
        command = [binary, "cluster", "--data", rows, "--clusterer", clusterer, "--out", labels, "--threads", "1", "--quiet"]
        return program([*map(str, command), *(["--k", str(k)] if k else [])], task["limit"])

    base, clusterer = [], task["call"].replace("EPS", repr(float(whole["eps"])))
    needs_k = not any(name in clusterer for name in ("dbscan", "optics"))
    spent, total = [], 0.0
    while not spent or (len(spent) < 9 and total < SHORT):
        base.append(call('{ type = "kmeans", restarts = 1, max_iterations = 1 }', 1)[0])
        seconds, memory, ended = call(clusterer, CENTRES[task["d"]] if needs_k else None)
        if not ended:
            return None
        spent.append(seconds)
        total += seconds
    found = np.loadtxt(labels, delimiter=",", skiprows=1, usecols=1, dtype=int)
    seconds = max(sum(spent) - sum(base), 0.0) / len(spent)
    return {"seconds": seconds, "memory": memory, "score": adjusted_rand_score(whole["y"], found),
            "k": len(set(found.tolist()) - {-1})}


def data(d, n, folder):
    """Gaussian groups of several widths, and the radius within which nine in ten of a sample are cores."""
    from sklearn.neighbors import NearestNeighbors

    file = Path(folder) / f"{d}-{n}.npz"
    if not file.exists():
        rng = np.random.default_rng(1)
        k = CENTRES[d]
        centres = rng.uniform(-10, 10, (k, d)) * (3.0 if d == 2 else 0.25)
        # Axes of each group are stretched and turned.
        turns = [np.linalg.qr(rng.normal(size=(d, d)))[0] * rng.uniform(0.3, 1.2, d) for _ in range(k)]
        y = rng.integers(0, k, n)
        x = rng.normal(size=(n, d))
        for h in range(k):
            x[y == h] = x[y == h] @ turns[h].T + centres[h]
        sample = x[rng.choice(n, min(n, 1000), replace=False)]
        near = NearestNeighbors(n_neighbors=MIN_POINTS).fit(x).kneighbors(sample)[0][:, -1]
        np.savez(file, x=x, y=y, eps=np.quantile(near, 0.9))
    return file


def shown(seconds):
    return f"{seconds:.4f}" if seconds < 0.1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.0f}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--only", default="", help="tasks whose names contain this text")
    parser.add_argument("--largest", type=int, default=10**6, help="most objects")
    parser.add_argument("--limit", type=float, default=60, help="processor seconds of one call")
    parser.add_argument("--packages", help="only these, separated by commas")
    args = parser.parse_args()
    wanted = args.packages.split(",") if args.packages else None
    heads = ["", "objects × features", "package", "CPU s", "MiB", "clusters", "ARI", "theirs / ours"]
    print(f"| {' | '.join(heads)} |\n|---|---|---|---:|---:|---:|---:|---:|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for row in ROWS:
            ended = set()
            for n in [n for n in row.sizes if n <= args.largest and args.only in row.name]:
                mine = None
                for package, call in row.calls.items():
                    if package in ended or (wanted and package not in wanted):
                        continue
                    task = {"d": row.d, "package": package, "call": call, "file": str(data(row.d, n, folder)),
                            "limit": args.limit}
                    is_program = package == OURS and not is_of_python(call)
                    found = own(args.program, task, folder) if is_program else theirs(task)
                    cells = [row.name, f"{n:,} × {row.d}".replace(",", " "), package]
                    if found is None:
                        ended.add(package)
                        print(f"| {' | '.join([*cells, f'> {args.limit:.0f}', '', '', '', ''])} |", flush=True)
                        continue
                    mine = found["seconds"] if package == OURS else mine
                    ratio = f"{found['seconds'] / mine:.1f}" if mine and package != OURS else ""
                    cells += [shown(found["seconds"]), f"{found['memory']:.0f}", str(found["k"]), f"{found['score']:.3f}", ratio]
                    print(f"| {' | '.join(cells)} |", flush=True)
    spent = sum(getattr(resource.getrusage(resource.RUSAGE_CHILDREN), name) for name in ("ru_utime", "ru_stime"))
    print(f"{spent:.0f} s of the processor", file=sys.stderr)


def theirs(task):
    """One call of a peer, in a process of its own; nothing if it takes too long."""
    command = [sys.executable, __file__, "--child", json.dumps(task)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode > 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(json.loads(sys.argv[2]))
    else:
        main()
