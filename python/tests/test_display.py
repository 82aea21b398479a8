"""What notebooks show of estimators, sessions and results."""

import pickle
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from mustlink import Auto, Constraints, ExperimentResult, HDBSCAN, KMeans, Method, PCKMeans, Session, testing
from mustlink.model_selection import ConstraintSearchCV
from sklearn import config_context

RNG = np.random.default_rng(4)
CLASS = np.arange(60) % 3
X = RNG.normal(size=(60, 2)) + 6 * CLASS[:, None]
#: The second must-link contradicts the clusters.
KNOWN = Constraints(must_link=[(0, 3), (0, 1)], cannot_link=[(0, 2), (4, 5)], n=60)


class Page(HTMLParser):
    """Text, elements and addresses of well-formed HTML."""

    def __init__(self, text):
        super().__init__()
        self.text, self.elements, self.addresses, self.open = "", [], [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append(tag)
        self.addresses += [value for name, value in attrs if name in ("src", "href")]
        assert not any(name.startswith("on") for name, _ in attrs)
        if tag != "img":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def page(html):
    """The summary that mustlink adds, which has no scripts, loads nothing and does not colour text."""
    own = html[html.index('<div class="mustlink">') :]
    found = Page(own)
    assert not {"script", "style", "link", "iframe"} & set(found.elements)
    assert all(address.startswith("data:image/") for address in found.addresses)
    assert "color:" not in own and "background" not in own
    return found


def shown(estimator):
    bundle = estimator._repr_mimebundle_()
    assert bundle["text/plain"] == repr(estimator)
    # What scikit-learn shows is there, too.
    assert "sk-top-container" in bundle["text/html"]
    return page(bundle["text/html"])


def test_an_estimator_shows_its_method_and_then_its_result():
    estimator = PCKMeans(3, weight=0.01, max_iter=50)
    found = shown(estimator)
    assert "PCKMeans, not fitted" in found.text and "pck_means n_clusters=3, max_iter=50, weight=0.01" in found.text
    assert "svg" not in found.elements
    found = shown(pickle.loads(pickle.dumps(estimator.fit(X, constraints=KNOWN))))
    assert "3 (20, 20 and 20 objects)" in found.text and found.elements.count("rect") == 3
    assert "3 of 4 satisfied, violated: 1 must-link" in found.text and "converged" in found.text
    assert "constraints" not in shown(KMeans(3).fit(X)).text


def test_pairs_of_groups_are_constraints():
    apart = Constraints(apart=[0, 0, 0] + [None] * 57, n=60)
    assert "3 of 3 satisfied" in shown(PCKMeans(3).fit(X, constraints=apart)).text


def test_a_method_shows_its_tree():
    members = {"type": "random_init", "members": 20, "clusterer": KMeans(n_init=1)}
    tree = {"transforms": ["z_score"], "clusterer": {"type": "ensemble", "consensus": "voting", "generator": members}}
    text = shown(Method(tree, 3)).text
    names = ["transforms:", "z_score", "ensemble", "generator: random_init members=20", "clusterer: kmeans restarts=1"]
    places = [text.index(name) for name in names]
    assert places == sorted(places) and "voting" not in text


def test_an_invalid_method_is_shown_with_its_error():
    wrong = shown(Method({"clusterer": {"type": "kmeans", "<b>": 1}}))
    assert "<b>: unknown option of kmeans" in wrong.text and wrong.elements.count("b") == 1
    assert "absent.toml: " in shown(Method("absent.toml")).text


def test_noise_and_many_clusters_are_drawn():
    found = shown(HDBSCAN().fit(np.vstack([X, [[90.0, -90.0]]])))
    assert "noise" in found.text
    found = shown(KMeans(30).fit(X))
    assert "30 (5, 4, " in found.text and "and 10 smaller ones" in found.text and found.elements.count("rect") == 20


def test_auto_shows_its_candidates():
    candidates = [{"clusterer": "kmeans"}, {"clusterer": "pck_means"}]
    assert "2 tried, " in shown(Auto(3, candidates=candidates, folds=2).fit(X, constraints=KNOWN)).text


def test_a_search_shows_its_best_candidate():
    search = ConstraintSearchCV(PCKMeans(), {"n_clusters": [2, 3]}, cv=2)
    assert '<div class="mustlink">' not in search._repr_mimebundle_()["text/html"]
    text = shown(search.fit(X, np.where(np.arange(60) < 20, CLASS, -1))).text
    assert "n_clusters=3" in text and "over 2 folds" in text and "3 (20, 20 and 20 objects)" in text


def test_every_estimator_can_be_shown():
    for estimator in testing.estimators():
        assert "unknown option" not in estimator._repr_mimebundle_()["text/html"]
        assert estimator._repr_html_() is not None


def test_scikit_learn_can_be_told_to_show_text():
    with config_context(display="text"):
        assert list(KMeans(3)._repr_mimebundle_()) == ["text/plain"]
        assert not hasattr(KMeans(3), "_repr_html_")


def test_a_session_shows_how_far_it_is():
    session = Session(X, "min_max_selection", clusterer=PCKMeans(), n_clusters=3, budget=6)
    first = page(session._repr_html_())
    assert "0 of 6 answers" in first.text and "min_max_selection" in first.text
    for at, question in enumerate(session):
        session.tell(bool(CLASS[question.i] == CLASS[question.j]) if at else None)
        if at == 2:
            # To show it runs no method.
            assert "svg" not in page(session._repr_html_()).elements and session._looked == {}
            assert len(session.labels_) == 60
            assert "svg" in page(session._repr_html_()).elements
    last = page(session._repr_html_())
    assert "6 of 6 answers: " in last.text and "1 unknown" in last.text and "5 of 5 satisfied" in last.text


def test_an_experiment_shows_its_table_and_a_figure(tmp_path):
    folder = tmp_path / "figures"
    folder.mkdir()
    (folder / "iris-ari.svg").write_text("<svg/>")
    failed = tuple(SimpleNamespace(method="<m>", dataset="d", message=f"wrong {at}") for at in range(7))
    made = ExperimentResult(tmp_path, "a <table>", tmp_path / "report.html", 9, 2, failed)
    found = page(made._repr_html_())
    assert "a <table>" in found.text and "<m> on d" in found.text and "and 2 more" in found.text
    assert found.elements.count("img") == 1
    (folder / "ranks-ari.svg").write_text("<svg/>")
    assert "figure ranks-ari" in made._repr_html_()


@pytest.mark.parametrize("labels", [[], [-1, -1]])
def test_a_clustering_without_clusters_is_drawn(labels):
    from mustlink._display import bars

    assert Page(bars(np.array(labels, int))).elements[0] == "svg"
