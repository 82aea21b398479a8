"""What people hand over and how they call: each once hung, panicked or was read as something else."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline

import mustlink
from mustlink import metrics
from mustlink._data import classes
from mustlink.exceptions import ConfigError, DataError, InfeasibleConstraintsError
from mustlink.model_selection import ConstraintSearchCV

X = np.random.default_rng(0).normal(size=(40, 3))


def _within(seconds, work):
    """What ``work`` gives in a process of its own, which may hang."""
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.apply_async(work).get(timeout=seconds)


def _beside_sessions():
    sessions = [mustlink.Session(X, "random_pairs", n_clusters=2, budget=5, n_jobs=1) for _ in range(3)]
    questions = [next(iter(session)) for session in sessions]
    return len(questions), mustlink.KMeans(2, n_jobs=1, random_state=0).fit(X).labels_.tolist()


def test_open_sessions_hold_no_thread_of_others():
    alone = mustlink.KMeans(2, n_jobs=1, random_state=0).fit(X).labels_.tolist()
    assert _within(60, _beside_sessions) == (3, alone)


def _within_a_function():
    @mustlink.clusterer("fits_within")
    def fits_within(X, n_clusters, constraints, seed):
        return mustlink.KMeans(n_clusters, n_jobs=1, random_state=seed).fit(X).labels_

    return mustlink.Method("fits_within", 2, n_jobs=1, random_state=0).fit(X).labels_.tolist()


def test_a_function_can_fit_with_the_threads_of_its_caller():
    assert len(set(_within(60, _within_a_function))) == 2


def _much():
    rows = np.random.default_rng(1).normal(size=(20000, 8))
    labels = mustlink.KMeans(2, n_init=1, random_state=0, n_jobs=1).fit(rows).labels_
    return metrics.silhouette(rows[:400], labels[:400])


def test_a_forked_process_has_threads_of_its_own():
    here = _much()
    assert _within(120, _much) == here


def test_objects_without_a_cluster_break_no_constraint():
    known = mustlink.Constraints(must_link=[(0, 1)], cannot_link=[(1, 2), (2, 3)], n=4)
    # Both were in cluster 0, together with the last.
    assert metrics.informativeness([0, 0, 1, 2], known, unconstrained=[-1, -1, 0, 0]) == 1.0


def _files_and_partitions(folder):
    known = mustlink.Constraints(must_link=[(0, 1)], cannot_link=[(2, 9000)], n=20000)
    known.to_csv(folder / "pairs.csv")
    read = mustlink.Constraints.from_csv(folder / "pairs.csv", n=20000)
    return read == known, mustlink.consensus(np.zeros((2, 20000), int), n_jobs=1).max()


def test_a_forked_process_reads_and_writes_and_agrees(tmp_path):
    assert _files_and_partitions(tmp_path) == (True, 0)
    assert _within(60, partial(_files_and_partitions, tmp_path)) == (True, 0)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes")
def test_an_interrupt_ends_the_command_while_it_waits_for_data(tmp_path):
    file = tmp_path / "data.csv"
    os.mkfifo(file)
    command = [sys.executable, "-m", "mustlink", "cluster", "--data", file, "--clusterer", "kmeans", "--k", "2"]
    # A shell that starts this in the background has interrupts ignored, and so have those that it starts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    finally:
        signal.signal(signal.SIGINT, before)
    try:
        writer = None
        while writer is None and running.poll() is None:
            try:
                writer = os.open(file, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                # Nobody reads it yet.
                time.sleep(0.05)
        assert writer is not None, running.stderr.read()
        running.send_signal(signal.SIGINT)
        assert running.wait(timeout=30) in (-signal.SIGINT, 130)
        os.close(writer)
    finally:
        running.kill()
        running.stderr.close()


@pytest.mark.filterwarnings("ignore:.*missing value")
def test_words_stay_words():
    def frame(*values):
        return pd.DataFrame({"a": list(values)})

    seen = frame("a", "b", "c", "a", None, "a")
    method = mustlink.Method({"transforms": ["impute_missing", "one_hot"], "clusterer": "kmeans"}, 3)
    method.fit(seen)
    a, b, c = method.predict(frame("a", "b", "c"))
    assert len({a, b, c}) == 3
    assert method.predict(frame("b", None)).tolist() == [b, a]
    assert method.predict(frame(None, None)).tolist() == [a, a]
    impute = mustlink.ImputeMissing().fit(seen)
    assert impute.transform(frame("c", None)).ravel().tolist() == ["c", "a"]
    encoded = make_pipeline(mustlink.ImputeMissing(), mustlink.OneHot()).fit_transform(seen)
    assert encoded.shape == (6, 3)


@pytest.mark.parametrize("unknown", [np.nan, None, -1, pd.NA])
def test_unknown_classes_among_words(unknown):
    known = mustlink.Constraints.from_labels(["a", unknown, "b", unknown])
    assert (known.n_must_link, known.n_cannot_link) == (0, 1)
    assert metrics.ari(["a", "a", unknown, unknown], [0, 0, 1, 2]) == 1.0


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.uint64])
def test_whole_numbers_are_counted_as_they_would_be_sorted(dtype):
    """Numbers close to one another are not sorted; those far apart, or at an end of their type, are."""
    ends, rng = np.iinfo(dtype), np.random.default_rng(0)
    for low, high in [(0, 5), (ends.min, ends.min + 9), (ends.max - 9, ends.max), (ends.min, ends.max)]:
        given = rng.integers(low, high, size=200, dtype=dtype, endpoint=True)
        known = given.astype(object) != -1
        wanted = np.full(200, -1)
        wanted[known] = np.unique(given[known], return_inverse=True)[1]
        assert classes(given, 200).tolist() == wanted.tolist()


def test_auto_finds_a_class_of_which_no_row_is_known():
    X = np.array([[10 * (i // 5) + 0.1 * (i % 5), 7 * (i // 5 % 2) + 0.1 * (i * i % 5)] for i in range(15)])
    y = np.array([["a", "b", ""][i // 5] if i % 5 < 3 else "" for i in range(15)])
    labels = mustlink.Auto(k_min=3).fit(X, y).labels_
    assert labels.tolist() == [0] * 5 + [1] * 5 + [2] * 5
    assert set(labels) - set(labels[y != ""]) == {2}


def test_texts_of_files_are_unknown_classes():
    """They were classes of their own, which linked all objects whose class was unknown."""
    texts = ["", "?", "-1", "-1.0", "None", "NA", "na", "N/A", "n/a", "NaN", "nan", "-nan", "+NaN", "null", "NULL"]
    for y in (["a", "b", *texts], np.array(["a", "b", *texts]), np.array(["a", "b", *texts], object)):
        known = mustlink.Constraints.from_labels(y)
        assert (known.n_must_link, known.n_cannot_link) == (0, 1)
    # These are classes in a file, too.
    assert mustlink.Constraints.from_labels(["none", "NONE", "n.a.", "unknown", "+1"]).n_cannot_link == 10


def test_numbers_are_one_class_whatever_holds_them():
    known = mustlink.Constraints.from_labels(np.array([1, 1.0, "x", None], dtype=object))
    assert (known.n_must_link, known.n_cannot_link) == (1, 2)
    times = pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-01"]))
    assert mustlink.Constraints.from_labels(times).n_must_link == 1


def _asked_within_a_fit():
    def oracle(i, j):
        labels = mustlink.KMeans(2, n_jobs=1, random_state=0).fit(X).labels_
        return bool(labels[i] == labels[j])

    return mustlink.select(X, "random_pairs", oracle=oracle, budget=5, n_jobs=1).pairs()[1].tolist()


def test_an_oracle_stands_where_its_caller_does():
    """In another thread it could neither be interrupted nor touch what belongs to one thread."""
    asked = []

    def oracle(i, j):
        asked.append(threading.get_ident())
        return True

    mustlink.select(X, "random_pairs", oracle=oracle, budget=3)
    method = mustlink.Method({"selector": "random_pairs", "clusterer": "pck_means"}, 2, budget=3)
    assert len(method.fit(X, oracle=oracle).labels_) == 40
    assert asked == [threading.get_ident()] * 6
    assert len(_within(60, _asked_within_a_fit)) == 5


def test_an_interrupt_ends_an_oracle_that_waits():
    # A shell that starts this in the background has interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    start = time.monotonic()
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            mustlink.select(X, "random_pairs", oracle=lambda i, j: time.sleep(30), budget=3)
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 20


def test_what_is_too_short_is_named():
    with pytest.raises(DataError, match="sample_id: must hold one value per row, 40, got 1"):
        mustlink.PCKMeans(2).fit(X, sample_id=["a"])
    method = mustlink.Method({"selector": "random_pairs", "clusterer": "pck_means"}, 2, budget=3)
    with pytest.raises(DataError, match="y_true: must hold one value per row, 40, got 2"):
        method.fit(X, y_true=[0, 1])


@pytest.mark.parametrize(
    "estimator, said",
    [
        (lambda: mustlink.KMeans("3"), "n_clusters: must be a whole number of at least 0, got '3'"),
        (lambda: mustlink.KMeans(3.0), "n_clusters: must be a whole number of at least 0, got 3.0"),
        (lambda: mustlink.KMeans(-1), "n_clusters: must be a whole number of at least 0, got -1"),
        (lambda: mustlink.PCKMeans(2, weight=np.nan), "weight: must be a finite number, got nan"),
        (lambda: mustlink.KMeans(2, random_state=2**64), "random_state: must be at least 0 and below"),
        (lambda: mustlink.KMeans(2, n_jobs="2"), "n_jobs: must be a whole number from 1 to 4096, -1 or None, got '2'"),
        (lambda: mustlink.KMeans(2, n_init=0), "^n_init: must be at least 1, got 0"),
        (lambda: mustlink.KMeans(41), "^n_clusters: must be between 1 and 40"),
        (lambda: mustlink.PCA(n_components=-1), "^n_components: must be at least 1, got -1"),
        (lambda: mustlink.Method({"type": "kmeans", "restarts": 0}, 2), "^clusterer.restarts: must be at least 1"),
    ],
)
def test_numbers_that_are_none_are_named(estimator, said):
    with pytest.raises(ConfigError, match=said.replace("*", r"\*")):
        estimator().fit(X)


def test_a_number_of_clusters_that_is_needed_is_asked_for_by_its_name():
    starts = {"type": "random_init", "members": 2}
    for asked in (
        lambda: mustlink.generate(X, starts),
        lambda: mustlink.impute(X, starts),
        lambda: mustlink.consensus([[0, 0, 1], [0, 1, 1]], method="hbgf"),
        lambda: mustlink.Method("kmeans").fit(X),
    ):
        with pytest.raises(mustlink.MissingKError, match="needs the number of clusters; give n_clusters$"):
            asked()
    with pytest.raises(mustlink.MissingKError, match="all classes in y are known, so y is ignored"):
        mustlink.Method("pck_means").fit(X, np.arange(40) % 2)
    with pytest.raises(mustlink.MissingKError, match=r"give n_clusters \(no class in y is known\)"):
        mustlink.Method("pck_means").fit(X, np.full(40, -1))


def test_a_class_has_as_many_clusters_as_those_of_scikit_learn():
    """A name alone was refused, so that its own checks could not be run on it."""
    assert len(mustlink.KMeans().fit(X).cluster_centers_) == 8
    some = np.where(np.arange(40) < 9, np.arange(40) % 3, -1)
    part = "k = 3, the number of classes of the 9 of 40 objects whose class is known; .*: n_clusters sets their number"
    for fit in (mustlink.PCKMeans().fit, mustlink.Method("pck_means").fit):
        with pytest.warns(mustlink.MustlinkWarning, match=part):
            assert len(fit(X, some).cluster_centers_) == 3
    assert len(mustlink.PCKMeans(3).fit(X, some).cluster_centers_) == 3
    assert len(mustlink.KMeans().fit(X, np.arange(40) % 2).cluster_centers_) == 8
    # What determines the number by other means still does.
    assert len(set(mustlink.Hierarchical(max_distance=1e6).fit(X).labels_)) == 1
    assert len(set(mustlink.Hierarchical().fit(X).labels_)) == 8
    for y in (np.arange(40) % 2, np.full(40, -1)):
        with pytest.warns(mustlink.MustlinkWarning, match="n_clusters: not given, so there are 8 .*; y is ignored"):
            mustlink.PCKMeans().fit(X, y)


def test_constraints_in_the_place_of_classes_are_named():
    known = mustlink.Constraints(must_link=[(0, 1)], n=40)
    for estimator in (mustlink.PCKMeans(2), mustlink.Method("pck_means", 2), mustlink.RCA()):
        with pytest.raises(DataError, match="y: holds constraints; give them by their name"):
            estimator.fit(X, known)


def test_a_consensus_returns_members_that_agree_and_one_that_contradicts_them_is_warned_of():
    groups = np.repeat([0, 1, 2], [18001, 1400, 600])
    assert np.array_equal(mustlink.consensus([groups] * 3, 3), groups)
    with pytest.warns(mustlink.MustlinkWarning, match="agrees less with the partitions"):
        mustlink.consensus([groups] * 3, 3, {"type": "hbgf", "imbalance": 0.03})
    # Beyond 20 000 objects the default is right about small groups; mcla, for another k, does not use constraints.
    pair = {"must_link": [(0, 1)], "n": 20_001}
    assert np.array_equal(mustlink.consensus([groups] * 3, 3, constraints=mustlink.Constraints(**pair)), groups)
    with pytest.warns(mustlink.MustlinkWarning) as said:
        mustlink.consensus([groups] * 3, 2, constraints=mustlink.Constraints(**pair))
    texts = " ".join(str(warning.message) for warning in said)
    assert 'it does not use the constraints, but method="hbgf" does' in texts and "mcla ignores constraints" in texts
    hard = mustlink.Constraints(**pair, strength="hard")
    assert len(mustlink.consensus([groups] * 3, 3, constraints=hard)) == 20_001


def test_a_warning_is_of_the_line_that_called():
    known = mustlink.Constraints(must_link=[(0, 1)], n=40)
    starts = {"type": "random_init", "members": 2}
    for called in (
        lambda: mustlink.KMeans(2).fit(X, constraints=known),
        lambda: mustlink.KMeans(2).fit_predict(X, constraints=known),
        lambda: mustlink.generate(X, starts, n_clusters=2, constraints=known),
    ):
        with pytest.warns(mustlink.MustlinkWarning, match="reads no constraints") as said:
            called()
        assert [warning.filename for warning in said] == [__file__]


def test_numbers_of_numpy_are_numbers():
    partitions = [[0, 0, 1, 1], [0, 0, 0, 1]]
    assert len(mustlink.consensus(partitions, n_clusters=np.int64(2))) == 4
    found = mustlink.select(X, "random_pairs", oracle=lambda i, j: True, budget=np.int64(3))
    assert found.n_must_link == 3


@pytest.mark.filterwarnings("ignore:.*missing value")
def test_frames_of_several_kinds():
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["u", "v", "u"]),
            "b": [True, False, True],
            "i": pd.array([1, None, 3], dtype="Int64"),
        }
    )
    assert mustlink.OneHot().fit_transform(frame[["c", "b"]]).shape == (3, 3)
    made = mustlink.ImputeMissing().fit_transform(frame)
    assert made[1].tolist() == ["v", 0.0, 2.0]


def test_scales_that_mislead_are_warned_of():
    """The command line warned of them, and Python did not."""
    rows = pd.DataFrame({"income": 7919.0 * np.arange(60) % 60_000, "ratio": 31.0 * np.arange(60) % 97 / 97})
    two = {"type": "random_init", "members": 2}
    said = r'comes from 1 of 2 features .* with the transforms \["z_score"\] of a Method, or in a pipeline'
    for fit in (
        mustlink.KMeans(2).fit,
        mustlink.Method("kmeans", 2).fit,
        lambda x: mustlink.generate(x, two, n_clusters=2),
        lambda x: mustlink.select(x, "random_pairs", oracle=lambda i, j: True, budget=3),
    ):
        with pytest.warns(mustlink.MustlinkWarning, match=said):
            fit(rows)
    with pytest.warns(mustlink.MustlinkWarning, match=r'\["z_score",\{"type": "pca", "components": 10\}\]'):
        mustlink.KMeans(2).fit(np.random.default_rng(0).normal(size=(20, 60)))
    # Here a warning is an error.
    make_pipeline(mustlink.ZScore(), mustlink.KMeans(2)).fit(rows)
    mustlink.Method({"transforms": ["z_score"], "clusterer": "kmeans"}, 2).fit(rows)
    # Components in the order of their variances have one scale.
    mixed = np.random.default_rng(0).normal(size=(60, 6)) * [1, 2, 3, 100, 5, 6]
    with pytest.warns(mustlink.MustlinkWarning, match="of the variance comes from 1 of 6 features"):
        mustlink.KMeans(2).fit(mixed)
    mustlink.KMeans(2).fit(PCA().fit_transform(mixed))


def test_a_search_leaves_the_steps_of_its_grid_alone():
    steps = [mustlink.ZScore(), mustlink.MinMax()]
    pipe = make_pipeline(mustlink.ZScore(), mustlink.PCKMeans(2, random_state=0))
    given = mustlink.Constraints.from_labels(np.arange(40) % 2)
    search = ConstraintSearchCV(pipe, {pipe.steps[0][0]: steps}, cv=2)
    search.fit(X, constraints=given)
    assert search.best_estimator_[0] not in steps
    assert not any(hasattr(step, "n_features_in_") for step in steps)


def test_answers_outlive_what_they_make_impossible():
    rows = np.arange(4.0)[:, None]
    session = mustlink.Session(rows, "random_pairs", clusterer="cop_kmeans", n_clusters=2, budget=6)
    with pytest.raises(InfeasibleConstraintsError):
        for _ in session:
            session.tell(False)
    assert session.constraints_.n_cannot_link == 6
    assert session.question() is None
    with pytest.raises(InfeasibleConstraintsError):
        session.close()


@pytest.mark.filterwarnings("ignore:constraints. have ids")
def test_answers_are_of_the_ids_that_were_given():
    """They could not be put together with what was given, and were lost where no clusters hold all of it."""
    rows, given = np.arange(4.0)[:, None], mustlink.Constraints(cannot_link=[("a", "b")], ids="abcd")
    session = mustlink.Session(rows, "random_pairs", clusterer="cop_kmeans", n_clusters=2, budget=6, constraints=given)
    with pytest.raises(InfeasibleConstraintsError):
        for _ in session:
            session.tell(False)
    assert session.constraints_.n_cannot_link > 1
    found = mustlink.select(rows, "random_pairs", y_true=[0, 0, 1, 1], budget=2, constraints=given)
    assert found.ids == session.constraints_.ids == given.ids


@pytest.mark.parametrize(
    ("call", "part"),
    [
        (lambda part: mustlink.Method({"clusterer": part}).fit(X), mustlink.KMeans(3, random_state=7)),
        (lambda part: mustlink.Ensemble(3, generator={"type": "random_init", "members": 2, "clusterer": part}).fit(X),
         mustlink.KMeans(random_state=7)),
        (lambda part: mustlink.generate(X, {"type": "random_k", "members": 2, "clusterer": part}),
         mustlink.KMeans(random_state=7)),
        (lambda part: mustlink.Session(X, clusterer=part, n_clusters=2, budget=1).close(),
         mustlink.PCKMeans(random_state=7)),
    ],
)
def test_the_seed_of_a_part_is_no_seed(call, part):
    with pytest.warns(mustlink.MustlinkWarning, match=r"Means\(random_state=7\): has no effect in a part"):
        call(part)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        call(part.set_params(random_state=0))


def _with(**how):
    return lambda: mustlink.impute(X, {"type": "random_init", "members": 2}, n_clusters=2, **how)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (_with(min_presence=-1), "min_presence: must be a whole number of at least 0, got -1"),
        (_with(max_matrix_bytes=2e9), "max_matrix_bytes: must be a whole number of at least 0, got 2000000000.0"),
        (_with(must_link="yes"), "must_link: must be True or False, got 'yes'"),
        (_with(kappa_must="all"), "kappa_must: must be a number, got 'all'"),
        (lambda: mustlink.consensus([[0, 1], [0, 0]], 5), "n_clusters: must be between 1 and 2"),
        (lambda: mustlink.consensus([[0, 1], [0, 0]], 2, "voting"), "n_clusters = 2: .*; leave n_clusters out"),
        (lambda: mustlink.Session(X, "random_pairs", clusterer="pck_means", n_clusters=99), "n_clusters: must be between"),
        (lambda: mustlink.Session(X, None), "selector"),
        (lambda: mustlink.Method(mustlink.KMeans, 2).fit(X), r"KMeans: is a class, .* is needed: KMeans\(\)"),
        (
            lambda: mustlink.Method({"clusterer": {"type": "kmeans", "n_init": 3}}, 2).fit(X),
            r"clusterer.n_init: unknown option of kmeans; in a table, use its name in method files, restarts",
        ),
        (lambda: mustlink.Method({"type": "kmeans", "restart": 3}, 2).fit(X), 'kmeans; did you mean "restarts"'),
    ],
)
def test_what_is_none_is_named_as_it_was_given(call, said):
    with pytest.raises(ConfigError, match=said):
        call()


def test_who_cannot_be_asked_is_named():
    with pytest.raises(mustlink.OracleError, match="oracle: must be called with two rows, got list; classes"):
        mustlink.select(X, "random_pairs", oracle=[0] * 40)
    with pytest.raises(ConfigError, match="labels_true: must be given for ari"):
        metrics.ari(None, [0, 1])


def test_labels_that_are_none_are_named():
    fitted = mustlink.KMeans(2).fit(X)
    with pytest.raises(DataError, match="labels_pred: must hold one label per row, got KMeans; give its labels_"):
        metrics.ari(fitted.labels_, fitted)
    with pytest.raises(DataError, match="labels_pred: must hold one label per row, got NoneType"):
        metrics.silhouette(X, None)


@pytest.mark.parametrize("name", ["./none", Path("none")])
def test_a_path_is_no_name_of_a_plugin(name):
    with pytest.raises(ConfigError, match="none: cannot read the file"):
        mustlink.Method(name, 2).fit(X)


def test_names_are_found():
    assert {"KMeans", "metrics", "model_selection", "pairs", "testing", "exceptions"} <= set(dir(mustlink))
    assert not {"Any", "TYPE_CHECKING", "annotations", "import_module", "_base"} & set(dir(mustlink))
    assert len(dir(mustlink)) == len(set(dir(mustlink)))
    for wrong, right in (("Kmeans", "KMeans"), ("PCKmeans", "PCKMeans"), ("Constraint", "Constraints")):
        with pytest.raises(AttributeError, match=f"has no attribute '{wrong}'; did you mean {right}[?]"):
            getattr(mustlink, wrong)
    assert not hasattr(mustlink, "anything_else")


def test_classes_that_a_transform_does_not_look_at_are_said():
    with pytest.warns(mustlink.MustlinkWarning, match="no must-link: .* \\(y is ignored, because all of its classes"):
        mustlink.RCA().fit(X, np.arange(40) % 2)


def test_a_role_that_is_none_is_said():
    with pytest.raises(ConfigError, match="role: must be one of base_clusterer, .*, got 'clusterer'"):
        mustlink.list_plugins("clusterer")
