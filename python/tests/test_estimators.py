"""What estimators take and give."""

import json
import pickle
import signal
import subprocess
import sys
import threading
import time
from functools import partial

import mustlink
import numpy as np
import pytest
import scipy.sparse as sp
from mustlink import Constraints, KMeans, Method, PCKMeans, ZScore, metrics
from sklearn.base import clone
from sklearn.metrics import silhouette_score
from sklearn.pipeline import make_pipeline

RNG = np.random.default_rng(5)
X = RNG.normal(size=(80, 4)) + 5 * (np.arange(80) % 3)[:, None]
CLASS = np.arange(80) % 3


def layouts():
    yield "c", X
    yield "fortran", np.asfortranarray(X)
    yield "strided", np.repeat(X, 2, axis=0)[::2]
    yield "list", X.tolist()
    unaligned = np.ndarray(X.shape, dtype=X.dtype, buffer=bytearray(X.nbytes + 1), offset=1)
    unaligned[:] = X
    yield "unaligned", unaligned
    yield "readonly", np.frombuffer(X.tobytes()).reshape(X.shape)
    pd = pytest.importorskip("pandas")
    yield "pandas", pd.DataFrame(X, columns=list("abcd"))
    pl = pytest.importorskip("polars")
    yield "polars", pl.DataFrame(X, schema=list("abcd"))
    pa = pytest.importorskip("pyarrow")
    yield "arrow", pa.table({name: X[:, at] for at, name in enumerate("abcd")})


def test_layouts_give_the_same():
    expected = KMeans(3).fit(X).labels_
    for name, x in layouts():
        assert np.array_equal(KMeans(3).fit(x).labels_, expected), name
    # Sparse data draws other numbers than dense data: the same clusters under other names.
    # The default distortion of sparse data is cosine.
    dense = np.where(np.abs(X) > 1, X, 0)
    squared = KMeans(3, distortion="squared_euclidean")
    sparse = [squared.fit(form(dense)).labels_ for form in (sp.csr_matrix, sp.csc_array)]
    assert np.array_equal(*sparse)
    assert metrics.ari(squared.fit(dense).labels_, sparse[0]) == 1.0
    assert not np.array_equal(KMeans(3).fit(sp.csr_matrix(dense)).labels_, sparse[0])
    single = X.astype(np.float32)
    same = KMeans(3).fit(single.astype(np.float64)).labels_
    assert np.array_equal(KMeans(3).fit(single).labels_, same)


def test_rows_are_read_where_they_are():
    """In a process of its own, which has seen no such matrix before: the most memory never falls."""
    script = """
import resource, sys
import numpy as np
from mustlink import KMeans
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
x = np.zeros((200_000, 64))
x[:, 0] = np.arange(len(x)) % 2
KMeans(2, n_init=1).fit(x[:1000])
before = peak()
labels = KMeans(2, n_init=1).fit(x).labels_
assert labels.sum() == len(x) // 2 and not x[1:3, 1:].any()
print((peak() - before) / x.nbytes)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 0.5, done.stdout


def test_names_of_features():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    fitted = PCKMeans(3).fit(frame)
    assert fitted.feature_names_in_.tolist() == list("abcd")
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame[list("dcba")])
    scaled = ZScore().set_output(transform="pandas").fit_transform(frame)
    assert list(scaled.columns) == list("abcd")
    assert np.allclose(scaled.mean(), 0)


def test_parameters_and_copies():
    made = PCKMeans(3, weight=0.5, random_state=4, n_init=2)
    assert made.get_params()["weight"] == 0.5
    assert clone(made).get_params() == made.get_params()
    fitted = made.fit(X)
    assert fitted.to_config() == {
        "type": "pck_means", "k": 3, "weight": 0.5, "restarts": 2, **defaults("pck_means", fitted)
    }
    text = pickle.dumps(fitted)
    # Nothing of the data is kept but labels and centres.
    assert len(text) < 5000
    again = pickle.loads(text)
    assert np.array_equal(again.predict(X), fitted.predict(X))
    assert again.labels_.tolist() == fitted.labels_.tolist()


def defaults(tag, fitted):
    from mustlink._catalogue import find

    given = {"k", "weight", "restarts"}
    shown = {o.python_name: o.name for o in find(tag).options if o.name not in given}
    return {shown[k]: v for k, v in fitted.get_params().items() if k in shown and v is not None}


def test_attributes():
    fitted = KMeans(3).fit(X)
    assert fitted.labels_.dtype == np.int64 and fitted.labels_.shape == (80,)
    assert fitted.cluster_centers_.shape == (3, 4)
    assert fitted.n_iter_ >= 1 and fitted.objective_ > 0
    assert fitted.violations_ == {"must_link": 0, "cannot_link": 0}
    assert fitted.n_features_in_ == 4
    assert np.array_equal(fitted.predict(X), fitted.labels_)
    assert not hasattr(mustlink.DBSCAN(), "predict")
    weights = mustlink.LAC(3).fit(X).feature_weights_
    assert weights.shape == (3, 4)


def test_violated_constraints_have_sources():
    x = np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.2]])
    photos = [None, "photo", "photo", None, None, None]
    given = Constraints(must_link=[(0, 4), (4, 5)], apart=photos, n=6)
    with pytest.warns(mustlink.MustlinkWarning, match="reads no constraints"):
        fitted = KMeans(2).fit(x, [0, -1, -1, 1, -1, 0], constraints=given)
    assert fitted.violated_ == [
        (0, 4, "must_link", 1.0, "constraints"),
        (0, 5, "must_link", 1.0, "y"),
        (3, 5, "cannot_link", 1.0, "y"),
        (1, 2, "cannot_link", 1.0, "constraints, group photo"),
    ]
    assert fitted.violated_[0].source == "constraints" and sum(fitted.violations_.values()) == 4
    pairs, signs = given.violated(fitted.labels_).pairs()
    assert (pairs.tolist(), signs.tolist()) == ([[0, 4], [1, 2]], [1, -1])
    # Noise is in no cluster.
    assert given.violated([-1] * 6).n_must_link == 2 and given.violated([-1] * 6).n_cannot_link == 0
    # Three objects in two clusters cannot all be apart.
    table = {"selector": "random_pairs", "clusterer": "pck_means"}
    asked = Method(table, 2, budget=3).fit(x[[0, 1, 3]], oracle=lambda i, j: False)
    assert [violated.source for violated in asked.violated_] == ["answer"]
    # Rows that a transform merged keep their numbers.
    table = {"transforms": ["deduplicate"], "clusterer": "kmeans"}
    merged = Constraints(must_link=[(1, 2)], n=3)
    with pytest.warns(mustlink.MustlinkWarning, match="reads no constraints"):
        fitted = Method(table, 2).fit(x[[0, 0, 3]], constraints=merged)
    assert fitted.violated_ == [(1, 2, "must_link", 1.0, "constraints")]


@pytest.mark.parametrize(
    ("kind", "options"),
    [("HDBSCAN", {}), ("FOSC", {}), ("DBSCAN", {"radius": 2.5}), ("OPTICS", {"radius": 2.5})],
)
def test_noise_is_minus_one(kind, options):
    """Two dense groups, and two rows far from all; the first of them comes first."""
    groups = [[(i % 3, i // 3), (20 + i % 3, i // 3)] for i in range(8)]
    rows = np.array([(50, 50), *(row for pair in groups for row in pair), (-40, 30)], float)
    labels = getattr(mustlink, kind)(**options).fit(rows).labels_
    assert labels.tolist() == [-1, *([0, 1] * 8), -1]


def test_what_was_tried_has_names():
    pd = pytest.importorskip("pandas")
    candidates = [{"clusterer": "kmeans"}, {"transforms": ["z_score"], "clusterer": "kmeans"}]
    fitted = pickle.loads(pickle.dumps(mustlink.Auto(3, candidates=candidates).fit(X)))
    assert fitted.tried_[0].name == fitted.tried_[0][0] == "kmeans"
    assert list(pd.DataFrame(fitted.tried_)) == ["name", "k", "score", "weight", "outcome", "seconds"]
    assert all(tried.seconds > 0 for tried in fitted.tried_)


def test_a_tree_with_estimators_inside():
    generator = {"type": "random_init", "members": 5, "clusterer": KMeans(n_init=1)}
    made = mustlink.Ensemble(3, generator=generator, consensus="voting").fit(X)
    table = {"clusterer": {"type": "ensemble", "generator": {**generator}}}
    assert np.array_equal(Method(table, 3).fit(X).labels_, made.labels_)
    assert metrics.ari(CLASS, made.labels_) == 1.0
    assert Method(table).to_config()["clusterer"]["consensus"]["type"] == "voting"


def test_paths_in_a_method_file_start_at_the_file(tmp_path):
    (tmp_path / "halves.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    said = json.loads(line)\n"
        "    if said['type'] == 'hello':\n"
        "        print(json.dumps({'v': 1, 'type': 'hello', 'name': 'halves'}), flush=True)\n"
        "    elif said['type'] == 'cluster':\n"
        "        labels = [2 * i // said['n'] for i in range(said['n'])]\n"
        "        print(json.dumps({'type': 'clustering', 'labels': labels}), flush=True)\n"
        "    else:\n"
        "        break\n"
    )
    command = json.dumps([sys.executable, "halves.py"])
    (tmp_path / "m.toml").write_text(f'clusterer = {{ type = "external_clusterer", command = {command} }}\n')
    assert Method(tmp_path / "m.toml", 2).fit(X).labels_.tolist() == [0] * 40 + [1] * 40


def test_a_method_file(tmp_path):
    file = tmp_path / "method.toml"
    file.write_text('k = 3\nseed = 9\ntransforms = ["min_max"]\nclusterer = "pck_means"\n')
    fitted = Method(file).fit(X)
    table = {"transforms": ["min_max"], "clusterer": "pck_means"}
    same = Method(table, 3, random_state=9).fit(X)
    assert np.array_equal(fitted.labels_, same.labels_)
    # One that is not there yet can be shown and asked what it can do; fit says what is wrong.
    for unknown in (Method(tmp_path / "none.toml"), Method(None)):
        assert "Method" in unknown._repr_html_() and not hasattr(unknown, "predict")
        assert not unknown.__sklearn_tags__().input_tags.allow_nan
        with pytest.raises(mustlink.ConfigError, match="cannot read the file|a method is a table"):
            unknown.fit(X)
    tables = Method({"transforms": ["impute_missing"], "clusterer": "kmeans"}).__sklearn_tags__().input_tags
    assert tables.allow_nan and tables.string and tables.categorical
    file.write_text('clusterer = { type = "pck_means", weigth = 1 }\n')
    with pytest.raises(mustlink.ConfigError, match='method.toml:1:.*did you mean "weight"'):
        Method(file).fit(X)


def test_a_method_that_asks():
    asked = []

    def oracle(i, j):
        asked.append((i, j))
        return bool(CLASS[i] == CLASS[j])

    table = {"selector": "min_max_selection", "clusterer": "pck_means"}
    fitted = Method(table, 3, budget=10).fit(X, oracle=oracle)
    assert fitted.n_queries_ == len(asked) == 10
    same = Method(table, 3, budget=10).fit(X, y_true=CLASS)
    assert np.array_equal(same.labels_, fitted.labels_)
    # Of another fit, that asks nothing, it says nothing.
    assert not hasattr(same.set_params(config="kmeans").fit(X), "n_queries_")

    for given in ({"oracle": oracle}, {"y_true": CLASS}):
        with pytest.warns(mustlink.MustlinkWarning, match="the method has no selector, so nothing is asked"):
            Method("pck_means", 3).fit(X, **given)

    def broken(i, j):
        raise KeyError("no answer")

    with pytest.raises(KeyError, match="no answer"):
        Method(table, 3).fit(X, oracle=broken)
    with pytest.raises(mustlink.OracleError, match="an answer must be True, False, None"):
        Method(table, 3).fit(X, oracle=lambda i, j: 7)


def test_rows_that_are_dropped():
    twice = np.concatenate([X, X[:5]])
    fitted = Method({"transforms": ["deduplicate"], "clusterer": "kmeans"}, 3).fit(twice)
    assert np.array_equal(fitted.labels_[80:], fitted.labels_[:5])


def test_transforms_in_a_pipeline():
    pipe = make_pipeline(ZScore(), mustlink.PCA(n_components=2), KMeans(3)).fit(X)
    tree = {"transforms": ["z_score", {"type": "pca", "components": 2}], "clusterer": "kmeans"}
    assert metrics.ari(pipe[-1].labels_, Method(tree, 3).fit(X).labels_) == 1.0
    known = Constraints.from_labels(np.where(np.arange(80) < 20, CLASS, -1))
    rca = mustlink.RCA().fit(X, constraints=known)
    again = pickle.loads(pickle.dumps(rca))
    assert np.array_equal(again.transform(X), rca.transform(X))
    assert rca.get_feature_names_out().tolist() == [f"component_{i}" for i in range(4)]


def test_errors_are_those_of_the_core():
    cases = [
        (Method("kmeans"), mustlink.MissingKError, "kmeans needs the number of clusters; give n_clusters"),
        (KMeans(99), mustlink.ConfigError, r"n_clusters: must be between 1 and 80 \(the number of objects\), got 99"),
        (KMeans(3, n_init=0), mustlink.ConfigError, "^n_init: must be at least 1"),
        (KMeans(3, init="best"), mustlink.ConfigError, "^init: must be .*, got string \"best\""),
        (KMeans(3, random_state=-1), mustlink.ConfigError, "random_state: must be at least 0"),
        (KMeans(3, n_jobs=0), mustlink.ConfigError, "n_jobs: must be"),
    ]
    for estimator, kind, text in cases:
        with pytest.raises(kind, match=text):
            estimator.fit(X)
    assert issubclass(mustlink.MustlinkError, ValueError)
    # scikit-learn says this before the core is asked.
    with pytest.raises(ValueError, match="NaN"):
        KMeans(3).fit(np.where(X > 6, np.nan, X))


def test_threads_change_nothing():
    one, two = (mustlink.Ensemble(3, n_jobs=n).fit(X).labels_ for n in (1, 2))
    assert np.array_equal(one, two)


def test_other_threads_run_meanwhile_and_an_interrupt_ends_it():
    big = RNG.normal(size=(4000, 20))
    slow = mustlink.Ensemble(
        40, generator={"type": "random_init", "members": 10_000}, consensus="voting"
    )
    ticks = []
    stop = threading.Event()
    # A shell that starts this in the background has interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def tick():
        while not stop.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.01)
        signal.raise_signal(signal.SIGINT)

    watcher = threading.Thread(target=tick)
    timer = threading.Timer(0.5, stop.set)
    watcher.start()
    timer.start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            slow.fit(big)
            pytest.fail("it was to take minutes")
    finally:
        signal.signal(signal.SIGINT, before)
    watcher.join()
    assert len(ticks) > 3
    assert time.monotonic() - start < 60


def test_experiment(tmp_path):
    pytest.importorskip("pandas")
    file = tmp_path / "two.toml"
    file.write_text(
        'experiment.name = "two"\n[[dataset]]\nid = "iris"\n'
        '[[method]]\nid = "plain"\nclusterer = "kmeans"\n'
        '[[method]]\nid = "mini"\nclusterer = "mini_batch_kmeans"\n'
    )
    told = []
    made = mustlink.run_experiment(
        file, tmp_path / "out", progress=lambda *now: told.append(now), n_jobs=1
    )
    assert (made.cells, made.finished, made.failed) == (2, 2, ())
    assert told[-1][:2] == (2, 2)
    rows = made.frame()
    assert set(rows["method"]) == {"plain", "mini"}
    assert made.page.is_file() and "plain" in str(made)
    assert repr(made) == f"<ExperimentResult: 2 of 2 cells, report {str(made.page)!r}>"
    assert "<pre style=" in made._repr_html_() and "plain" in made._repr_html_()
    again = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    assert again.table == made.table
    # A word alone was read letter by letter.
    with pytest.raises(mustlink.ConfigError, match="experiment.sed: unknown option"):
        mustlink.run_experiment(file, tmp_path / "out", set="experiment.sed=7", progress=False)


def test_learning_curves_are_drawn(tmp_path):
    pytest.importorskip("pandas")
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("Agg")
    file = tmp_path / "two.toml"
    file.write_text(
        'experiment.name = "two"\ncurve.points = [0, 10, 20]\n[[dataset]]\nid = "iris"\n'
        '[[method]]\nid = "told"\nclusterer = "pck_means"\nselector = "random_pairs"\n'
    )
    made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    rows = made.frame().set_index("p_requested")
    (line,) = made.plot(dataset="iris", ax=plt.figure().gca()).lines
    assert line.get_label() == "told" and list(line.get_xdata()) == [0, 10, 20]
    assert list(line.get_ydata()) == rows["ari"].tolist()
    with pytest.raises(mustlink.exceptions.ConfigError, match="metric: must be one of .*ari"):
        made.plot("arri")
    with pytest.raises(mustlink.exceptions.ConfigError, match="dataset: must be one of iris, got 'irs'"):
        made.plot(dataset="irs")
    # Methods that ask nothing look different, too.
    file.write_text(
        'experiment.name = "two"\n[[dataset]]\nid = "iris"\n'
        '[[method]]\nid = "plain"\nclusterer = "kmeans"\n'
        '[[method]]\nid = "mini"\nclusterer = "mini_batch_kmeans"\n'
    )
    made = mustlink.run_experiment(file, tmp_path / "silent", progress=False)
    assert [line.get_color() for line in made.plot(ax=plt.figure().gca()).lines] == ["C0", "C1"]


@pytest.mark.parametrize("kind", ["KMeans", "SeededKMeans", "ConstrainedKMeans", "PCKMeans", "COPKMeans"])
def test_rows_count_by_their_weights(kind):
    """0 counts three times, 7 not at all: means .25 and 10."""
    x = np.array([[0.0], [1.0], [10.0], [7.0]])
    found = getattr(mustlink, kind)(2).fit(x, sample_weight=[3, 1, 1, 0])
    assert found.objective_ == 0.75
    assert sorted(found.cluster_centers_.ravel()) == [0.25, 10.0]
    # A row of weight 2 is as good as two rows, where nothing but the rows decides.
    twice = getattr(mustlink, kind)(1).fit(x[[0, 0, 1, 2]])
    once = getattr(mustlink, kind)(1).fit(x[:3], sample_weight=[2, 1, 1])
    assert once.objective_ == pytest.approx(twice.objective_)
    assert once.cluster_centers_ == pytest.approx(twice.cluster_centers_)


def test_weights_that_nobody_counts_are_refused():
    weights = np.arange(80.0)
    with pytest.raises(mustlink.exceptions.DataError, match="lac counts every object once"):
        Method("lac", 3).fit(X, sample_weight=weights)
    with pytest.raises(TypeError, match="sample_weight"):
        mustlink.LAC(3).fit(X, sample_weight=weights)
    with pytest.raises(ValueError, match="Negative values"):
        KMeans(3).fit(X, sample_weight=-weights)
    with pytest.raises(ValueError, match="expected"):
        KMeans(3).fit(X, sample_weight=weights[:5])
    assert Method({"transforms": ["z_score"], "clusterer": "kmeans"}, 3).fit(X, sample_weight=weights)


@pytest.mark.filterwarnings("ignore::mustlink.MustlinkWarning")
def test_distances_in_place_of_rows():
    far = np.linalg.norm(X[:, None] - X[None], axis=2)
    known = Constraints(must_link=[(0, 3)], cannot_link=[(0, 1)], n=80)
    for estimator in (mustlink.Hierarchical(3), mustlink.ConstrainedCompleteLink(3)):
        rows = clone(estimator).fit(X, constraints=known).labels_
        distances = estimator.set_params(kind="distances")
        assert np.array_equal(distances.fit(far, constraints=known).labels_, rows)
        assert distances.__sklearn_tags__().input_tags.pairwise
    mixed = np.arange(80) % 4
    expected = silhouette_score(far, mixed, metric="precomputed")
    for score in (metrics.silhouette, partial(metrics.score, "silhouette", {}, mixed, None, X=far)):
        given = (far, mixed) if score is metrics.silhouette else ()
        assert score(*given, kind="distances") == pytest.approx(expected)
        with pytest.raises(mustlink.exceptions.ConfigError, match='kind: must be "dense", "distances"'):
            score(*given, kind="precomputed")
    with pytest.raises(mustlink.exceptions.DataError, match="sse takes dense"):
        metrics.score("sse", {}, mixed, None, X=far, kind="distances")
    near = np.exp(-(far**2) / far.var())
    found = mustlink.ConstrainedSpectral(3, kind="affinity").fit(near, constraints=known)
    assert metrics.ari(CLASS, found.labels_) > 0.9
    with pytest.raises(ValueError, match="data: must be n × n, a column for each row, got 80 × 4"):
        mustlink.Hierarchical(3, kind="distances").fit(X)
    with pytest.raises(mustlink.exceptions.ConfigError, match="kind"):
        mustlink.Hierarchical(3, kind="distance").fit(far)
    with pytest.raises(mustlink.exceptions.DataError, match="kmeans takes"):
        Method("kmeans", 3, kind="distances").fit(far)


@pytest.mark.filterwarnings("ignore::mustlink.MustlinkWarning")
@pytest.mark.parametrize(
    "form", [np.asarray, np.float32, sp.csr_matrix], ids=["dense", "single", "sparse"]
)
def test_what_is_no_distance_is_refused(form):
    """Similarities given as distances were clustered upside down, without a word."""
    far = np.linalg.norm(X[:6, None] - X[None, :6], axis=2)
    near = np.exp(-far)
    itself = r"data: entry \(0, 0\): must be 0, the distance of an object to itself, got "
    minus = np.where(np.add.outer(range(6), range(6)) == 5, -1, 1)
    refused = [
        (near, itself + r'1\. .* these are similarities\. Pass 1 - similarity, or use kind "affinity"'),
        (100 * near, itself + r"100\. .* Pass 100 - similarity"),
        (near + np.diag(range(6)), itself + r"1\. .* these are similarities\. Use kind"),
        (far + np.diag([0, 0, 0.5, 0, 0, 0]), r"entry \(2, 2\): .*, got 0\.5\. Set the diagonal to 0"),
        (far * minus, r"entry \(0, 5\): must be at least 0, got -.* check how the matrix was computed"),
    ]
    estimators = (mustlink.Hierarchical(2, kind="distances"), Method("hierarchical", 2, kind="distances"))
    silhouette = partial(metrics.silhouette, labels_pred=[0, 0, 0, 1, 1, 1], kind="distances")
    for x, said in refused:
        for work in (*(estimator.fit for estimator in estimators), silhouette):
            with pytest.raises(mustlink.exceptions.DataError, match=said):
                work(form(x))
    # Rounding is no fault.
    assert len(estimators[0].fit(form(far + np.diag(np.full(6, 1e-9)))).labels_) == 6
    assert len(estimators[0].fit(1 - near).labels_) == 6


@pytest.mark.filterwarnings("ignore::mustlink.MustlinkWarning")
def test_words_and_missing_values():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame(
        {"size": [1.0, 1.1, None, 9.0], "colour": ["red", "red", "blue", None], "n": [1, 2, 3, 4]}
    )
    filled = mustlink.ImputeMissing().fit(table)
    coded = mustlink.OneHot().fit(table[["colour", "n"]])
    assert coded.transform(table[["colour", "n"]])[:, :2].tolist() == [[0, 1], [0, 1], [1, 0], [0, 0]]
    assert coded.get_feature_names_out().tolist() == ["colour_blue", "colour_red", "n"]
    # What was learned keeps the order of its words, whatever the rows at hand hold.
    some = pickle.loads(pickle.dumps(coded)).transform(table[["colour", "n"]].iloc[[0]])
    assert some.tolist() == [[0, 1, 1]]
    numbers = table[["size", "n"]].to_numpy()
    without = mustlink.ImputeMissing().fit_transform(numbers)
    assert not np.isnan(without).any() and np.array_equal(without[:, 1], numbers[:, 1])
    assert filled.get_feature_names_out().tolist() == ["size", "colour", "n"]
    steps = {"transforms": ["impute_missing", "one_hot", "z_score"], "clusterer": "kmeans"}
    method = Method(steps, 2).fit(table)
    assert np.array_equal(method.predict(table), method.labels_)
    with pytest.raises(mustlink.exceptions.DataError, match="impute_missing and one_hot"):
        Method({"transforms": ["impute_missing"], "clusterer": "kmeans"}, 2).fit(table)
