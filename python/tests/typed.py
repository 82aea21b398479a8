"""A program as people write it, for type checkers; a test runs it as well."""

from __future__ import annotations

import numpy as np
from mustlink import Constraints, KMeans, Method, PCKMeans, Session, consensus, generate, metrics
from mustlink.model_selection import ConstraintSearchCV


def main() -> float:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 5 * (np.arange(40) % 2)[:, None]
    classes = np.arange(40) % 2
    known = Constraints(must_link=[(0, 2), (1, 3)], cannot_link=[(0, 1), (4, 5)], n=40)
    plain = KMeans(2, init="farthest_first", n_init=3).fit(X)
    pairwise = PCKMeans(2, weight=0.5).fit(X, constraints=known)
    tree = Method({"transforms": ["z_score"], "clusterer": pairwise}, n_clusters=2).fit(X)
    some = np.where(np.arange(40) < 20, classes, -1)
    search = ConstraintSearchCV(PCKMeans(), {"n_clusters": [2, 12]}, cv=2).fit(X, some)
    fitted: KMeans = plain.set_params(n_init=2).fit(X)
    counts: list[int] = [len(session_answers) for session_answers in [Session(X, "random_pairs").answers_]]
    assert counts == [0] and len(fitted.transform(X)) == len(known.to_frame()) * 10
    session = Session(X, selector="min_max_selection", n_clusters=2, clusterer=PCKMeans())
    for question in session:
        session.tell(bool(classes[question.i] == classes[question.j]))
        if question.id == 5:
            session.close()
    labels = consensus([plain.labels_, tree.labels_, session.labels_, search.labels_])
    members = generate(X, "random_init", n_clusters=2)
    agreement: float = metrics.ari(classes, labels) + metrics.anmi(labels, partitions=members)
    return agreement


if __name__ == "__main__":
    print(main())
