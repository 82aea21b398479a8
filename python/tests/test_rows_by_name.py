"""Rows that have names are found by them, whatever order they are in."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import mustlink
from mustlink import ITML, Constraints, PCKMeans, Session, consensus, impute, metrics, select
from mustlink.exceptions import ConstraintError, MustlinkWarning
from mustlink.model_selection import ConstraintSearchCV

RNG = np.random.default_rng(3)
CLASS = np.arange(30) % 3
NAMES = [f"cell {i}" for i in range(30)]
FRAME = pd.DataFrame(RNG.normal(size=(30, 2)) + 8 * CLASS[:, None], index=NAMES, columns=["a", "b"])
SHUFFLED = FRAME.iloc[RNG.permutation(30)]
KNOWN = Constraints(
    must_link=[("cell 0", "cell 3"), ("cell 1", "cell 4")], cannot_link=[("cell 0", "cell 1")], ids=FRAME.index
)
TRUE = metrics.violations


class AnnData:
    """As much of one as is looked at."""

    def __init__(self, frame, keys=("X_pca",)):
        self.X, self.obs_names = frame.to_numpy(), frame.index
        self.obsm = dict.fromkeys(keys)


def in_order(labels):
    """Labels of the shuffled rows, in the order of the frame."""
    return pd.Series(labels, index=SHUFFLED.index).loc[FRAME.index].to_numpy()


@pytest.mark.filterwarnings("ignore:constraints. have ids")
def test_an_estimator_matches_an_index():
    """They were taken by position: constraints of other objects were obeyed, and no word said so."""
    for weight in (1.0, 100.0):
        found = PCKMeans(3, weight=weight).fit(SHUFFLED, constraints=KNOWN)
        assert found.violations_ == {"must_link": 0, "cannot_link": 0}
        assert TRUE(in_order(found.labels_), KNOWN) == 0
    # By their places, as far as anybody can know, where the rows have no names.
    by_place = PCKMeans(3).fit(SHUFFLED.to_numpy(), constraints=KNOWN)
    assert np.array_equal(PCKMeans(3).fit(SHUFFLED.reset_index(drop=True), constraints=KNOWN).labels_, by_place.labels_)
    # What is said wins.
    said = PCKMeans(3).fit(SHUFFLED, constraints=KNOWN, sample_id=FRAME.index.to_numpy())
    assert np.array_equal(said.labels_, by_place.labels_)


def test_numbers_that_are_names_are_matched():
    """The index of a shuffled frame is the row numbers of then."""
    frame = FRAME.reset_index(drop=True)
    some = frame.iloc[RNG.permutation(30)]
    known = Constraints(must_link=[(0, 3)], cannot_link=[(0, 1)], ids=some.index)
    pairs = known.at(np.arange(30))[0].pairs()[0].tolist()
    assert pairs == [[0, 3], [0, 1]]
    by_number = PCKMeans(3).fit(frame, constraints=known.at(range(30))[0])
    assert np.array_equal(PCKMeans(3).fit(frame, constraints=known).labels_, by_number.labels_)


def test_an_index_that_is_another_is_refused():
    other = SHUFFLED.rename(index={"cell 7": "cell 99"})
    with pytest.raises(ConstraintError, match="the index of X, which has 'cell 99' .* not an id; give sample_id"):
        PCKMeans(3).fit(other, constraints=KNOWN)
    twice = SHUFFLED.rename(index={"cell 7": "cell 8"})
    with pytest.raises(ConstraintError, match="contains a name twice"):
        PCKMeans(3).fit(twice, constraints=KNOWN)
    # The numbers of rows that are left are no ids.
    left = FRAME.reset_index(drop=True).iloc[::-1]
    with pytest.raises(ConstraintError, match="has 29 in row 0"):
        PCKMeans(3).fit(left, constraints=KNOWN)
    assert len(PCKMeans(3).fit(left, constraints=KNOWN, sample_id=FRAME.index[::-1]).labels_) == 30


def test_whatever_takes_constraints_matches_an_index():
    one, other = (
        ITML(sampled_pairs=50).fit(SHUFFLED, constraints=given).transform(SHUFFLED)
        for given in (KNOWN, KNOWN.at(SHUFFLED.index)[0])
    )
    assert np.array_equal(one, other)
    chosen = select(SHUFFLED, "random_pairs", y_true=CLASS, budget=3, constraints=KNOWN)
    assert chosen.ids == tuple(SHUFFLED.index) and TRUE(np.arange(30) % 3, KNOWN) == 0
    pairs, signs = chosen.pairs()
    names = {(frozenset(SHUFFLED.index[list(pair)]), sign) for pair, sign in zip(pairs, signs)}
    assert (frozenset(["cell 0", "cell 3"]), 1) in names and (frozenset(["cell 0", "cell 1"]), -1) in names
    session = Session(SHUFFLED, "random_pairs", clusterer=PCKMeans(), n_clusters=3, constraints=KNOWN)
    assert TRUE(in_order(session.labels_), KNOWN) == 0
    assert TRUE(pd.Series(session.labels_, index=SHUFFLED.index), KNOWN) == 0
    members = {"type": "random_init", "members": 3, "clusterer": {"type": "cop_kmeans"}}
    for member in mustlink.generate(SHUFFLED, members, n_clusters=3, constraints=KNOWN):
        assert TRUE(in_order(member), KNOWN) == 0
    search = ConstraintSearchCV(PCKMeans(3), {"weight": [100.0]}, cv=2).fit(SHUFFLED, constraints=KNOWN)
    assert TRUE(in_order(search.labels_), KNOWN) == 0


def test_ids_may_be_those_of_a_frame_or_of_cells():
    cells = AnnData(FRAME)
    for ids in (FRAME, cells, FRAME.index, list(FRAME.index)):
        assert Constraints(must_link=[("cell 0", "cell 3")], ids=ids).pairs()[0].tolist() == [[0, 3]]
    tuples = Constraints(must_link=[((0, "a"), (1, "b"))], ids=[(0, "a"), (1, "b")])
    assert tuples.n == 2
    rows = PCKMeans(3).fit(SHUFFLED.to_numpy(), constraints=KNOWN, sample_id=AnnData(SHUFFLED))
    assert TRUE(in_order(rows.labels_), KNOWN) == 0


class ArrayView(np.ndarray):
    """As a view of an AnnData hands out its arrays."""

    def __array_finalize__(self, origin):
        self._view_args = getattr(origin, "_view_args", None)


@pytest.mark.filterwarnings("ignore:constraints. have ids")
def test_a_view_of_cells_knows_their_names():
    """Of the same cells in another order, constraints were taken by position."""
    cells = AnnData(SHUFFLED)
    cells.obsm = {"X_pca": SHUFFLED.to_numpy()}
    x = SHUFFLED.to_numpy().view(ArrayView)
    x._view_args = SimpleNamespace(parent=cells, attrname="obsm", keys=("X_pca",))
    assert TRUE(in_order(PCKMeans(3, weight=100.0).fit(x, constraints=KNOWN).labels_), KNOWN) == 0
    # Rows that were moved afterwards have no names.
    order = SHUFFLED.index.get_indexer(FRAME.index)
    moved = PCKMeans(3, weight=100.0).fit(x[order], constraints=KNOWN)
    assert TRUE(moved.labels_, KNOWN) == 0


def test_known_classes_have_ids():
    known = Constraints.from_labels(np.where(np.arange(30) < 9, CLASS, -1), ids=FRAME)
    assert known.ids == tuple(NAMES) and known.n_must_link == 9
    assert TRUE(in_order(PCKMeans(3, weight=100.0).fit(SHUFFLED, constraints=known).labels_), known) == 0
    with pytest.raises(ConstraintError, match="ids: must be one per row, 3, got 2"):
        Constraints.from_labels([0, 1, 1], ids=["a", "b"])


def test_known_classes_have_the_ids_of_their_series():
    """The index was dropped, so that constraints of a shuffled frame were taken by position."""
    series = pd.Series(np.where(np.arange(30) < 9, CLASS, -1), index=FRAME.index)
    known = Constraints.from_labels(series)
    assert known.ids == tuple(NAMES) and known.n_must_link == 9
    assert TRUE(in_order(PCKMeans(3, weight=100.0).fit(SHUFFLED, constraints=known).labels_), known) == 0
    assert Constraints.from_labels(series, ids=range(30)).ids == tuple(range(30))
    assert Constraints.from_labels(series.reset_index(drop=True)).ids is None


def test_classes_and_weights_are_matched_by_their_index():
    known = pd.Series(np.where(np.arange(30) < 9, CLASS, -1), index=FRAME.index)
    found = PCKMeans(3, weight=100.0).fit(SHUFFLED, known)
    assert TRUE(in_order(found.labels_), Constraints.from_labels(known)) == 0
    weights = pd.Series(np.arange(1.0, 31.0), index=FRAME.index)
    by_name, by_place, by_number = (
        mustlink.KMeans(3).fit(SHUFFLED, sample_weight=given)
        for given in (weights, weights.loc[SHUFFLED.index].to_numpy(), weights.to_numpy())
    )
    assert by_name.objective_ == by_place.objective_ != by_number.objective_
    assert by_name.score(SHUFFLED, sample_weight=weights) == pytest.approx(-by_name.inertia_)
    true = pd.Series(CLASS, index=FRAME.index)
    pairs, signs = select(SHUFFLED, "random_pairs", y_true=true, budget=9).pairs()
    moved = true.loc[SHUFFLED.index].to_numpy()
    assert np.array_equal(signs > 0, moved[pairs[:, 0]] == moved[pairs[:, 1]])
    # Other names say nothing about these rows, so the order counts.
    numbered = mustlink.KMeans(3).fit(SHUFFLED, sample_weight=weights.reset_index(drop=True))
    assert numbered.objective_ == by_number.objective_


def test_cells_are_no_matrix():
    """NumPy looked into them for minutes."""
    for keys, said in [(("X_umap", "X_pca"), r'adata.obsm\["X_pca"\] or adata.X'), ((), "give adata.X")]:
        with pytest.raises(mustlink.exceptions.DataError, match=said):
            mustlink.KMeans(3).fit(AnnData(FRAME, keys))
    for work in (mustlink.ZScore().fit, mustlink.generate, lambda X: select(X, y_true=CLASS)):
        with pytest.raises(mustlink.exceptions.DataError, match="X: must be a matrix, got AnnData"):
            work(AnnData(FRAME))


@pytest.mark.parametrize("of", [pd.DataFrame, "polars"])
def test_a_frame_of_partitions_has_one_in_each_column(of):
    """Its rows were taken for members: five labels for 200 objects."""
    make = pytest.importorskip("polars").DataFrame if of == "polars" else of
    labels = np.arange(200) % 2
    members = np.stack([labels, labels, 1 - labels, np.roll(labels, 1)])
    frame = make({f"resolution {at}": member for at, member in enumerate(members)})
    assert np.array_equal(consensus(frame), consensus(members))
    assert metrics.anmi(labels, frame) == metrics.anmi(labels, members)
    with pytest.raises(mustlink.exceptions.DataError, match="got 200 partitions of 4 objects, .* give partitions.T"):
        consensus(members.T)
    assert len(consensus(list(members.T))) == 4
    words = pd.DataFrame({"leiden": pd.Categorical(["x", "y", "x", None]), "louvain": ["1", "2", "1", "2"]})
    assert consensus(words).tolist() in ([0, 1, 0, 1], [1, 0, 1, 0])


def test_the_column_with_words_is_named():
    penguins = pd.DataFrame({"mass": [3700, 3800.0], "species": ["Adelie", "Gentoo"]})
    numbers = pd.DataFrame({"mass": ["1", "2"], "species": [1, 2]})
    polars = pytest.importorskip("polars").DataFrame(penguins.to_dict("list"))
    said = "column species: must be numbers, got the word 'Adelie' in row 0"
    for frame in (penguins, polars, penguins.astype({"species": "category"})):
        for work in (mustlink.KMeans(2).fit, mustlink.ZScore().fit, mustlink.generate):
            with pytest.raises(mustlink.exceptions.DataError, match=said):
                work(frame)
    with pytest.raises(mustlink.exceptions.DataError, match="column 1: must be numbers, got the word 'Adelie'"):
        mustlink.KMeans(2).fit(penguins.to_numpy())
    assert len(mustlink.KMeans(2).fit(numbers).labels_) == 2
    gaps = pd.DataFrame({"mass": [3700, None], "species": ["Adelie", "Gentoo"]})
    for frame, steps in [
        (penguins, '["one_hot", "z_score"]'),
        (gaps, '["impute_missing", "one_hot", "z_score"]'),
        (penguins[["species"]], '["one_hot"]'),
    ]:
        with pytest.raises(mustlink.exceptions.DataError) as error:
            mustlink.Auto(2).fit(frame)
        assert f'Method({{"transforms": {steps}, "clusterer": …}})' in str(error.value)


@pytest.mark.filterwarnings("ignore:.*plain spectral clustering")
def test_sparse_pairs_are_taken_where_dense_ones_are():
    import scipy.sparse as sp

    x = FRAME.to_numpy()
    far = np.linalg.norm(x[:, None] - x[None], axis=2)
    near = np.where(far < 5, np.exp(-far), 0)
    np.fill_diagonal(near, 1)
    dense, sparse = (mustlink.ConstrainedSpectral(3, kind="affinity").fit(a) for a in (near, sp.csr_matrix(near)))
    assert np.array_equal(dense.labels_, sparse.labels_)
    dense, sparse = (mustlink.Hierarchical(3, kind="distances").fit(a) for a in (far, sp.csr_matrix(far)))
    assert np.array_equal(dense.labels_, sparse.labels_)
    dense, sparse = (metrics.silhouette(x, CLASS, kind="distances") for x in (far, sp.csr_matrix(far)))
    assert dense == sparse
    with pytest.raises(mustlink.exceptions.MemoryLimitError, match="10000000 × 10000000 numbers need .* GiB"):
        mustlink.ConstrainedSpectral(3, kind="affinity").fit(sp.identity(10**7, format="csr"))
    far[[2, 20], [20, 2]] = 0
    with pytest.raises(mustlink.exceptions.DataError, match=r"row 2, column 20: .* no distance here.* \(2 of 870"):
        mustlink.Hierarchical(3, kind="distances").fit(sp.csr_matrix(far))
    with pytest.raises(mustlink.exceptions.DataError, match='are missing.* similarities with kind="affinity"'):
        mustlink.Hierarchical(3, kind="distances").fit(sp.csr_matrix(near))


def test_a_pair_is_of_two_objects():
    for wrong in ({"must_link": [(1, 2), (0, 0)]}, {"cannot_link": [(1, 2), (0, 0)]}):
        with pytest.raises(ConstraintError, match="pair 1 links object 0 to itself"):
            Constraints(**wrong, n=3)
    with pytest.raises(ConstraintError, match="pair 0 links object 'b' to itself"):
        Constraints.from_pairs([("b", "b")], [1], ids=["a", "b"])
    frame = pd.DataFrame({"i": [0, 2], "j": [1, 2], "type": "must_link"})
    with pytest.raises(ConstraintError, match="frame: pair 1 links object 2 to itself"):
        Constraints.from_frame(frame, n=3)


def test_constraints_become_a_frame_and_come_back():
    given = Constraints(
        must_link=[("a", "b")], cannot_link=[("a", "c")], ids=["a", "b", "c", "d"], weights=(2.0, 3.0), strength="hard",
        apart=[None, "photo", "photo", "photo"],
    )
    frame = given.to_frame()
    assert list(frame.columns) == ["i", "j", "type", "weight", "strength"] and len(frame) == 5
    assert Constraints.from_frame(frame, ids=given.ids) == given
    plain = Constraints(must_link=[(0, 1)], n=3)
    assert Constraints.from_frame(plain.to_frame(), n=3) == plain


def test_constraints_of_a_frame_have_the_ids_of_its_index():
    """They were by position, so they were other objects in a frame in another order."""
    made = [
        select(SHUFFLED, "random_pairs", y_true=pd.Series(CLASS, FRAME.index), budget=9),
        impute(SHUFFLED, {"type": "random_init", "members": 5}, n_clusters=3, cannot_link=True),
        Session(SHUFFLED, "random_pairs", budget=9).constraints_,
    ]
    for known in made:
        assert known.ids == tuple(SHUFFLED.index)
    assert made[0].n_must_link + made[0].n_cannot_link == 9
    assert PCKMeans(3, weight=100.0).fit(FRAME, constraints=made[0]).violations_ == {"must_link": 0, "cannot_link": 0}
    twice = SHUFFLED.rename(index={"cell 7": "cell 8"})
    missing = SHUFFLED.rename(index={"cell 7": None})
    for X in (FRAME.to_numpy(), FRAME.reset_index(drop=True), twice, missing):
        assert select(X, "random_pairs", y_true=CLASS, budget=3).ids is None


def test_an_index_of_classes_must_identify_the_rows():
    with pytest.raises(ConstraintError, match="ids: an id occurs twice"):
        Constraints.from_labels(pd.Series([0, 1, 0], index=["a", "b", "a"]))
    for name in (None, np.nan):
        with pytest.raises(ConstraintError, match="ids: the id of row 1 is missing"):
            Constraints.from_labels(pd.Series([0, 1, 0], index=["a", name, "c"]))


def test_rows_that_lost_their_index_are_warned_of():
    """A step of a pipeline drops it, and the constraints were then about other rows without a word."""
    steps = make_pipeline(StandardScaler(), PCKMeans(3))
    with pytest.warns(MustlinkWarning, match="row 0 is 'cell 0'. Give sample_id.*set_output") as said:
        steps.fit(SHUFFLED, pckmeans__constraints=KNOWN)
    assert len(said) == 1
    with pytest.warns(MustlinkWarning, match="Give ids"):
        select(FRAME.to_numpy(), "random_pairs", y_true=CLASS, budget=3, constraints=KNOWN)
    # Not if the rows are known, or if the ids are their numbers.
    steps.fit(SHUFFLED, pckmeans__constraints=KNOWN, pckmeans__sample_id=SHUFFLED.index)
    assert steps[-1].violations_ == {"must_link": 0, "cannot_link": 0}
    steps.set_output(transform="pandas").fit(SHUFFLED, pckmeans__constraints=KNOWN)
    PCKMeans(3).fit(FRAME.to_numpy(), constraints=Constraints(must_link=[(0, 3)], ids=range(30)))


def test_folds_of_a_frame_need_the_ids():
    """The help said that an index was enough."""
    how = {"cv": 2, "scoring": "rand_score", "error_score": "raise"}
    with pytest.raises(ConstraintError, match="pass sample_id"):
        cross_validate(PCKMeans(2), FRAME, CLASS, params={"constraints": KNOWN}, **how)
    given = {"constraints": KNOWN, "sample_id": FRAME.index.to_numpy()}
    assert len(cross_validate(PCKMeans(2), FRAME, CLASS, params=given, **how)["test_score"]) == 2
