"""Functions of Python as plugins."""

import doctest
import re
import signal
import time
import traceback

import joblib
import mustlink
import numpy as np
import pytest
import scipy.sparse as sp
from mustlink import Constraints, Method, _config, clusterer, metric, select, selector, testing
from mustlink.metrics import score
from sklearn.model_selection import GridSearchCV

RNG = np.random.default_rng(2)
X = RNG.normal(size=(30, 2)) + 6 * (np.arange(30) % 3)[:, None]
CLASS = np.arange(30) % 3


@clusterer("by_first_column", reads_constraints=False)
def by_first_column(X, n_clusters, constraints, seed, power=1.0):
    """Cuts the range of the first column into equal parts."""
    x = np.sign(X[:, 0]) * np.abs(X[:, 0]) ** power
    span = np.ptp(x) or 1.0
    return np.minimum(((x - x.min()) / span * n_clusters).astype(int), n_clusters - 1)


@selector("in_a_row")
def in_a_row(X, n_clusters, constraints, seed, step=1):
    """Each row and the one so many further on."""
    for i in range(len(X) - step):
        yield i, i + step


def test_a_function_clusters_anywhere_in_a_tree():
    alone = Method("by_first_column", 3).fit(X).labels_
    assert np.array_equal(alone, by_first_column(X, 3, None, 0))
    generator = {"type": "subsample", "members": 4, "clusterer": "by_first_column"}
    tree = {"clusterer": {"type": "ensemble", "generator": generator}}
    assert mustlink.metrics.ari(CLASS, Method(tree, 3).fit(X).labels_) > 0.9
    made = mustlink.Ensemble(3, generator=generator).fit(X)
    assert mustlink.metrics.ari(CLASS, made.labels_) > 0.9
    assert "by_first_column" in mustlink.list_plugins("base_clusterer")


def _fitted(method):
    return method.fit(X).labels_.tolist()


def test_a_function_is_of_its_process(monkeypatch):
    jobs = [joblib.delayed(_fitted)(Method("by_first_column", 3, n_jobs=1))] * 2
    with joblib.parallel_config("threading"):
        assert len(set(map(str, joblib.Parallel(n_jobs=2)(jobs)))) == 1
    # As in a process that has not run this module.
    monkeypatch.delitem(_config.CALLABLES, "by_first_column")
    with pytest.raises(mustlink.ConfigError, match='no base clusterer "by_first_column"; .* joblib.parallel_config'):
        Method("by_first_column", 3).fit(X)


def test_a_function_is_given_sparse_rows():
    @clusterer("by_nonzeros", accepts=["csr"])
    def by_nonzeros(X, n_clusters, constraints, seed):
        """By how many numbers a row has."""
        return np.minimum(np.diff(X.indptr) - 1, n_clusters - 1)

    rows = sp.csr_matrix([[0.0, 1.0], [2.0, 3.0], [0.0, 4.0]])
    assert Method("by_nonzeros", 2).fit(rows).labels_.tolist() == [0, 1, 0]
    with pytest.raises(TypeError, match="[Ss]parse"):
        Method("by_first_column", 2).fit(rows)


def test_a_function_is_given_some_sparse_rows_as_sparse_ones():
    given = []

    @clusterer("sparse_alone", accepts=["csr"])
    def sparse_alone(X, n_clusters, constraints, seed):
        """By the first column."""
        given.append((sp.issparse(X), X.shape))
        return np.asarray(X[:, [0]].todense()).ravel() > 0

    rows = sp.csr_matrix(np.kron(np.eye(2), np.ones((10, 3))))
    generator = {"type": "subsample", "members": 3, "rate": 0.5, "clusterer": "sparse_alone"}
    mustlink.Ensemble(2, generator=generator).fit(rows)
    assert set(given) == {(True, (10, 6))}


def test_a_function_is_given_the_words_of_a_table():
    @clusterer("by_word", accepts=["dense", "table"], needs_k=False)
    def by_word(X, n_clusters, constraints, seed):
        """A cluster for each word of the second column."""
        return [["blue", "red"].index(word) for word in X[:, 1]]

    rows = np.array([[1.0, "red"], [None, "blue"], [2.0, "red"]], dtype=object)
    assert Method("by_word").fit(rows).labels_.tolist() == [0, 1, 0]


def test_a_generator_selects():
    found = select(X, {"type": "in_a_row", "step": 3}, y_true=CLASS, budget=12)
    assert (found.n_must_link, found.n_cannot_link) == (12, 0)


def test_mistakes_are_named():
    with pytest.raises(mustlink.ConfigError, match="by_first_column.pwr: unknown option; accepted: power"):
        Method({"clusterer": {"type": "by_first_column", "pwr": 2}}, 3).fit(X)
    with pytest.raises(mustlink.ConfigError, match='the name "kmeans" is taken by a base clusterer'):
        clusterer("kmeans")(by_first_column)
    with pytest.raises(mustlink.ConfigError, match="snake_case"):
        clusterer("MyMeans")(by_first_column)
    with pytest.raises(mustlink.ConfigError, match="the function must begin with X, n_clusters"):
        clusterer("short")(lambda X: X)

    @clusterer("wrong_size")
    def wrong_size(X, n_clusters, constraints, seed):
        """Leaves one out."""
        return np.zeros(len(X) - 1, int)

    with pytest.raises(mustlink.PluginError, match="wrong_size: 29 labels for 30 objects"):
        Method("wrong_size", 1).fit(X)

    @clusterer("one_alone")
    def one_alone(X, n_clusters, constraints, seed):
        """One cluster, whatever was asked for."""
        return np.zeros(len(X), int)

    with pytest.warns(mustlink.MustlinkWarning, match="k = 2 was requested, and one_alone leaves"):
        Method("one_alone", 2).fit(X)

    @clusterer("raises")
    def raises(X, n_clusters, constraints, seed):
        """Fails."""
        raise RuntimeError("no luck")

    with pytest.raises(mustlink.PluginError, match="raises: RuntimeError: no luck") as said:
        Method("raises", 2).fit(X)
    # The line that raised it is in the traceback.
    cause = said.value.__cause__
    assert isinstance(cause, RuntimeError)
    assert "raises" in [frame.name for frame in traceback.extract_tb(cause.__traceback__)]

    @clusterer("exits")
    def exits(X, n_clusters, constraints, seed):
        """Ends the program."""
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        Method("exits", 2).fit(X)


def test_a_function_scores():
    @metric("share_of_first")
    def share_of_first(labels_true, labels_pred):
        """Share of objects in cluster 0."""
        return float(np.mean(labels_pred == 0))

    assert score("share_of_first", {}, [0, 0, 1, 1], [5, 5, 6, 6]) == 0.5


def test_laws():
    assert len(testing.check_plugin("kmeans")) > 10
    assert len(testing.check_plugin("by_first_column")) > 10

    @clusterer("of_chance")
    def of_chance(X, n_clusters, constraints, seed):
        """Not the same twice."""
        of_chance.calls += 1
        return (np.arange(len(X)) + of_chance.calls) % n_clusters

    of_chance.calls = 0
    with pytest.raises(AssertionError, match="of_chance breaks .* laws"):
        testing.check_plugin("of_chance")


def test_an_interrupt_ends_the_laws():
    calls = []

    @clusterer("interrupted")
    def interrupted(X, n_clusters, constraints, seed):
        """Has somebody press Ctrl-C in the first of many calls."""
        calls.append(1)
        if len(calls) == 1:
            signal.raise_signal(signal.SIGINT)
            # Signals are looked for every 50 ms.
            time.sleep(0.5)
        return np.arange(len(X)) % n_clusters

    # A shell that starts this in the background has interrupts ignored.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            testing.check_plugin("interrupted")
    finally:
        signal.signal(signal.SIGINT, before)
    until_then = len(calls)
    calls[:] = [1]
    testing.check_plugin("interrupted")
    assert until_then < len(calls) / 2


def test_an_experiment_names_a_function(tmp_path):
    @metric("whether_three")
    def whether_three(labels_true, labels_pred):
        """Whether there are three clusters."""
        return float(len(set(labels_pred.tolist())) == 3)

    file = tmp_path / "own.toml"
    file.write_text(
        'experiment.name = "own"\nscoring.metrics = ["ari", { type = "python_metric", name = "whether_three" }]\n'
        '[[dataset]]\nid = "iris"\n[[method]]\nid = "mine"\n'
        'clusterer = { type = "python_clusterer", name = "by_first_column", options = { power = 2.0 } }\n'
    )
    made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    assert (made.finished, made.failed) == (1, ())
    pytest.importorskip("pandas")
    assert made.frame()["whether_three"].tolist() == [1.0]


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (lambda n: np.full(n, 0.7), "labels must be whole numbers, got 0.7 for row 0"),
        (lambda n: np.full(n, np.nan), "labels must be whole numbers, got nan for row 0"),
        (lambda n: np.full(n, 2**63, np.uint64), "labels must be whole numbers, got 9223372036854775808 for row 0"),
        (lambda n: [[0]] + [[0, 1]] * (n - 1), "labels must be whole numbers, one for each row, got list"),
        (lambda n: dict.fromkeys(range(n), 0), "labels must be whole numbers, one for each row, got dict"),
        (lambda n: [0] * (n - 1) + [n], "label of object 29: must be between 0 and 29, or -1 for noise, got 30"),
        (lambda n: [-2] * n, "label of object 0: must be between 0 and 29, or -1 for noise, got -2"),
        (lambda n: np.zeros((n, 2)), "of_no_numbers: 60 labels for 30 objects"),
        (lambda n: None, "labels must be whole numbers, one for each row, got NoneType"),
        (lambda n: ["a"] * n, "labels must be whole numbers, one for each row, got list"),
    ],
)
def test_labels_that_are_none_are_named(labels, said):
    clusterer("of_no_numbers")(lambda X, n_clusters, constraints, seed: labels(len(X)))
    with pytest.raises(mustlink.PluginError, match=said):
        Method("of_no_numbers", 2).fit(X)
    clusterer("of_whole_floats")(lambda X, n_clusters, constraints, seed: np.arange(len(X)) % 2.0)
    assert Method("of_whole_floats", 2).fit(X).labels_[:3].tolist() == [0, 1, 0]
    clusterer("of_objects")(lambda X, n_clusters, constraints, seed: np.array([i % 2 for i in range(len(X))], object))
    assert Method("of_objects", 2).fit(X).labels_[:3].tolist() == [0, 1, 0]


@pytest.mark.filterwarnings("ignore::mustlink.MustlinkWarning")
def test_noise_of_a_function_is_noise():
    """It was refused, so that a density method of scikit-learn could not be a plugin."""

    @clusterer("with_noise", needs_k=False)
    def with_noise(X, n_clusters, constraints, seed):
        """The first rows are noise, the others are in clusters 2 and 7."""
        return np.where(np.arange(len(X)) < 3, -1, np.where(X[:, 0] < 9, 2, 7))

    known = Constraints(must_link=[(0, 1)], cannot_link=[(0, 2)], n=30)
    found = Method({"clusterer": "with_noise"}).fit(X).labels_
    assert found[:3].tolist() == [-1] * 3 and set(found[3:]) == {0, 1}
    assert mustlink.metrics.ari(X[3:, 0] < 9, found[3:]) > 0.999
    clusterer("with_noise", needs_k=False, reads_constraints=True)(with_noise)
    # Each row of noise is apart from all others.
    assert Method("with_noise").fit(X, constraints=known).violations_ == {"must_link": 1, "cannot_link": 0}
    generator = {"type": "subsample", "members": 3, "clusterer": "with_noise"}
    assert len(mustlink.Ensemble(2, generator=generator).fit(X).labels_) == 30


def test_labels_of_a_function_may_have_gaps():
    clusterer("with_gaps", needs_k=False)(lambda X, n_clusters, constraints, seed: 5 + 7 * (np.arange(len(X)) % 3))
    assert mustlink.metrics.ari(CLASS, Method("with_gaps").fit(X).labels_) > 0.999


@pytest.mark.parametrize("pair", [(0.5, 1.7), 3, ("a", "b"), (0, 1, 2), (-1, 2)])
def test_pairs_that_are_none_are_named(pair):
    @selector("of_no_pairs")
    def of_no_pairs(X, n_clusters, constraints, seed):
        """Yields what is no pair of rows."""
        yield pair

    with pytest.raises(mustlink.PluginError, match="yields must be pairs of row numbers"):
        select(X, "of_no_pairs", y_true=CLASS)
    selector("no_generator")(lambda X, n_clusters, constraints, seed: [(0, 1)])
    with pytest.raises(mustlink.PluginError, match="a selector must be a generator function, .*, got list"):
        select(X, "no_generator", y_true=CLASS)


def test_a_decorator_without_a_name_is_refused():
    """It replaced the function by another, and nothing was registered."""
    for decorator in (clusterer, selector, metric):
        with pytest.raises(mustlink.ConfigError, match=r'name: must be a word, as in @\w+\("my_\w+"\), got by_first'):
            decorator(by_first_column)
    clusterer("one_kind", accepts="dense")(lambda X, n_clusters, constraints, seed: np.zeros(len(X), int))
    assert Method("one_kind", 1).fit(X).labels_.max() == 0


def _constant(found):
    return lambda labels_true, labels_pred: found


@pytest.mark.parametrize(
    ("found", "bounds", "said"),
    [
        (1.5, {}, r"the score must be at least 0 and at most 1, got 1\.5; correct the function, or declare"),
        (-2, {"max": None}, r"the score must be at least 0, got -2\.0"),
        (np.float32(3), {"min": None, "max": 2.5}, r"the score must be at most 2\.5, got 3\.0"),
        (np.inf, {"min": None, "max": None}, r"the score must be a finite number, .*, got inf \(float\)"),
        ("0.5", {}, r"the score must be a finite number, or None if it is not defined, got '0\.5' \(str\)"),
        ([0.5], {}, r"the score must be a finite number, .*, got \[0\.5\] \(list\)"),
        (np.array([0.5]), {}, r"the score must be a finite number, .* \(ndarray\)"),
        (0.5 + 1j, {}, r"the score must be a finite number, .* \(complex\)"),
    ],
)
def test_scores_that_are_none_are_named(found, bounds, said, tmp_path):
    """They stood in tables and means beside those that are."""
    metric("of_no_score", **bounds)(_constant(found))
    with pytest.raises(mustlink.PluginError, match=f"of_no_score: ValueError: {said}"):
        score("of_no_score", {}, CLASS, CLASS)
    search = GridSearchCV(
        mustlink.KMeans(3), {"n_init": [1]}, error_score="raise", cv=2,
        scoring=lambda fitted, X, y: score("of_no_score", {}, fitted.predict(X), y),
    )
    with pytest.raises(mustlink.PluginError, match=f"of_no_score: ValueError: {said}"):
        search.fit(X, CLASS)
    file = tmp_path / "own.toml"
    file.write_text(
        'experiment.name = "own"\nscoring.metrics = ["of_no_score"]\n[[dataset]]\nid = "iris"\n'
        '[[method]]\nid = "plain"\nclusterer = "kmeans"\n'
    )
    with pytest.warns(mustlink.MustlinkWarning, match=f"of_no_score: ValueError: {said}"):
        made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    assert len(made.failed) == 1


def test_scores_may_be_undefined_and_rounded():
    for found, shown in [(None, np.nan), (np.nan, np.nan), (1 + 1e-15, 1 + 1e-15), (True, 1.0), (np.array(0.5), 0.5)]:
        metric("of_some_score")(_constant(found))
        assert score("of_some_score", {}, CLASS, CLASS) == pytest.approx(shown, nan_ok=True)


def test_options_of_a_metric_are_refused():
    """They counted for nothing."""
    metric("half")(lambda labels_true, labels_pred, beta=1.0: beta / 2)
    assert score("half", {}, CLASS, CLASS) == 0.5
    with pytest.raises(mustlink.ConfigError, match="half.beta: a metric is called with its defaults alone"):
        score("half", {"beta": 2.0}, CLASS, CLASS)


def test_a_selector_knows_who_may_be_asked(tmp_path):
    """It was told nowhere, so that it could be used in no experiment with folds."""

    @selector("of_all")
    def of_all(X, n_clusters, constraints, seed):
        """Each row and the next."""
        for i in range(len(X) - 1):
            answers.append((yield i, i + 1))

    @selector("of_eligible")
    def of_eligible(X, n_clusters, constraints, seed, eligible, step=1):
        """The same of those that may be asked about."""
        rows = np.flatnonzero(eligible)
        for i, j in zip(rows, rows[step:]):
            yield i, j

    @selector("careless")
    def careless(X, n_clusters, constraints, seed, eligible):
        """Is told, and asks about others."""
        yield from of_all(X, n_clusters, constraints, seed)

    answers = []
    for name in ("of_all", "of_eligible"):
        assert "asks_eligible_pairs_once" in testing.check_plugin(name)
    with pytest.raises(AssertionError, match="asks_eligible_pairs_once: .* not eligible"):
        testing.check_plugin("careless")
    assert None in answers
    file = tmp_path / "folds.toml"
    methods = "".join(
        f'[[method]]\nid = "{name}"\nclusterer = "pck_means"\nselector = {{ type = "{name}" }}\n'
        for name in ("of_all", "of_eligible")
    )
    file.write_text(
        'experiment.name = "folds"\ncurve.points = [10]\nsplit = { type = "kfold", folds = 3 }\n'
        f'[[dataset]]\nid = "iris"\n{methods}'
    )
    made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    assert (made.finished, made.failed) == (6, ())
    pytest.importorskip("pandas")
    assert set(made.frame()["selector"]) == {"of_all", "of_eligible"}


def test_an_endless_selector_of_others_ends():
    """All of its pairs are passed over: the second time round is an error."""

    @selector("endless")
    def endless(X, n_clusters, constraints, seed):
        """The same pairs for ever."""
        while True:
            yield from ((i, i + 1) for i in range(len(X) - 1))

    with pytest.raises(AssertionError, match="yielded the pair .* twice"):
        testing.check_plugin("endless")


def test_a_clusterer_may_be_told_who_is_eligible():
    given = []

    @clusterer("told")
    def told(X, n_clusters, constraints, seed, eligible, power=2):
        """One cluster."""
        given.append((eligible.tolist(), power))
        return np.zeros(len(X), int)

    Method("told", 1).fit(X)
    assert given == [([True] * 30, 2)]


EXAMPLES = [clusterer, selector, metric]


@pytest.mark.parametrize("decorator", EXAMPLES, ids=lambda decorator: decorator.__name__)
def test_the_examples_of_help_keep_the_laws(decorator):
    shared = {}
    for example in doctest.DocTestParser().get_examples(decorator.__doc__):
        if ">>>" not in example.source and "score(" not in example.source:
            exec(example.source, shared)
    name = re.search(r'@\w+\("(\w+)"\)', decorator.__doc__)[1]
    assert len(testing.check_plugin(name)) > 10


def test_an_honest_plugin_of_each_role_passes():
    """A width in the unit of the data depends on the unit, and so it says."""

    def spectral(X, n_clusters, constraints, seed):
        """By a kernel with a width, as that of scikit-learn's SpectralClustering, which takes longer."""
        near = np.exp(-0.5 * ((X[:1] - X) ** 2).sum(-1))
        return (near < 0.5).astype(int) if n_clusters > 1 else np.zeros(len(X), int)

    clusterer("with_a_width", waives={"any_unit": "the kernel has a width"})(spectral)
    kept = testing.check_plugin("with_a_width")
    assert "any_unit" not in kept and "any_origin" in kept
    clusterer("says_nothing")(spectral)
    with pytest.raises(AssertionError, match="says_nothing breaks .*\nany_unit"):
        testing.check_plugin("says_nothing")
    clusterer("needs_none", waives={"any_unit": "it is careful"})(lambda X, n_clusters, constraints, seed: [0] * len(X))
    with pytest.raises(AssertionError, match="waives any_unit, which it keeps; remove the waiver"):
        testing.check_plugin("needs_none")
    clusterer("slip", waives={"any_units": "a slip"})(lambda X, n_clusters, constraints, seed: [0] * len(X))
    with pytest.raises(AssertionError, match="waives any_units, which it is not subject to"):
        testing.check_plugin("slip")
    with pytest.raises(mustlink.ConfigError, match="waives: any_unit: must be the reason"):
        clusterer("no_reason", waives={"any_unit": ""})
    # One of the core, which is excused from the same law.
    assert "any_unit" not in testing.check_plugin("gpk_means")

    @metric("agreement")
    def agreement(labels_true, labels_pred):
        """The share of pairs on which both agree."""
        if len(labels_true) < 2:
            return None
        same = labels_true[:, None] == labels_true[None], labels_pred[:, None] == labels_pred[None]
        return float((same[0] == same[1])[np.triu_indices(len(labels_true), 1)].mean())

    assert "lengths_must_fit" in testing.check_plugin("agreement")


def test_an_experiment_knows_functions_by_their_names(tmp_path):
    """Columns were called python_metric[name=…], and the clusterer python_clusterer."""

    @metric("bcub")
    def bcub(labels_true, labels_pred):
        """A constant."""
        return 0.25

    @metric("other")
    def other(labels_true, labels_pred):
        """Another one."""
        return 0.75

    file = tmp_path / "own.toml"
    file.write_text(
        'experiment.name = "own"\nscoring.metrics = ["ari", "bcub", { type = "other" }]\n[[dataset]]\nid = "iris"\n'
        '[[method]]\nid = "mine"\nclusterer = { type = "by_first_column", power = 2.0 }\n'
        '[[method]]\nid = "name"\nclusterer = "by_first_column"\n[[method]]\nid = "plain"\nclusterer = "kmeans"\n'
    )
    made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    assert (made.finished, made.failed) == (3, ())
    assert "bcub" in made.table
    pytest.importorskip("pandas")
    rows = made.frame().set_index("method")
    assert rows["clusterer"].to_dict() == {"mine": "by_first_column", "name": "by_first_column", "plain": "kmeans"}
    assert set(rows["bcub"]) == {0.25} and set(rows["other"]) == {0.75}
    assert rows["ari"]["mine"] != rows["ari"]["name"]


def test_an_edited_function_without_a_file_runs_again(tmp_path):
    """Cells were taken from the function as it was before, because a notebook has no file with its source."""
    pytest.importorskip("pandas")
    cell = """
from mustlink import clusterer, metric

POWER = {power}

def score():
    return {score}

@clusterer("of_a_notebook")
def of_a_notebook(X, n_clusters, constraints, seed):
    "Clusters by position."
    calls.append(1)
    return [(i // {step}) % n_clusters ** POWER for i in range(len(X))]

@metric("of_a_notebook_too")
def of_a_notebook_too(labels_true, labels_pred):
    "A constant."
    return score()
"""
    file = tmp_path / "own.toml"
    file.write_text(
        'experiment.name = "own"\nscoring.metrics = ["ari", "of_a_notebook_too"]\n[[dataset]]\nid = "iris"\n'
        '[[method]]\nid = "mine"\nclusterer = "of_a_notebook"\n'
    )
    calls = []

    def run(above="", **values):
        text = above + cell.format(**{"step": 1, "power": 1, "score": 0.25, **values})
        exec(compile(text, f"<cell {len(above)}>", "exec"), {"calls": calls, "__name__": "__main__"})
        made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
        return made.frame()[["ari", "of_a_notebook_too"]].to_numpy().tolist()

    first = run()
    # The same code in another place of the notebook is the same function.
    assert run(above="\n\n") == first and len(calls) == 1
    ((edited, _),) = run(step=50)
    assert len(calls) == 2 and edited > 0.99 > first[0][0]
    # Values and functions that it uses count, too.
    run(step=50, power=0)
    assert len(calls) == 3
    assert run(step=50, score=0.75) == [[edited, 0.75]]


def test_failed_cells_are_warned_of(tmp_path):
    @clusterer("fails_in_cells")
    def fails_in_cells(X, n_clusters, constraints, seed):
        """Fails."""
        raise RuntimeError("no luck")

    file = tmp_path / "own.toml"
    file.write_text(
        'experiment.name = "own"\n[[dataset]]\nid = "iris"\n[[method]]\nid = "mine"\nclusterer = "fails_in_cells"\n'
    )
    with pytest.warns(mustlink.MustlinkWarning, match="1 of 1 cells failed .* the first, mine on iris: .*no luck"):
        made = mustlink.run_experiment(file, tmp_path / "out", progress=False)
    assert len(made.failed) == 1
