"""Clusters of judged pairs, from frames and files."""

import numpy as np
import pandas as pd
import pytest
from mustlink import InconsistentConstraintsError, cluster_pairs

ROWS = [
    ("a", "b", 0.95),
    ("b", "c", 0.9),
    ("a", "c", 0.9),
    ("c", "d", 0.6),
    ("d", "e", 0.99),
    ("b", "e", 0.1),
    ("a", "d", 0.3),
]
FRAME = pd.DataFrame(ROWS, columns=["left", "right", "probability"])


def test_a_frame_and_its_file_give_the_same(tmp_path):
    file = tmp_path / "scored.csv"
    FRAME.to_csv(file, index=False)
    found, of_file = cluster_pairs(FRAME), cluster_pairs(file)
    assert found.ids == of_file.ids == list("abcde")
    assert np.array_equal(found.labels, [0, 0, 0, 1, 1])
    assert np.array_equal(found.labels, of_file.labels)
    assert found.objective == found.bound == of_file.objective
    [(i, j, kind, weight, chain)] = found.overruled
    assert (i, j, kind, chain) == ("c", "d", "must_link", "c = b != e = d")
    assert weight == pytest.approx(np.log(1.5))
    assert found.questions[0][:2] == ("c", "d")


def test_several_thresholds_are_a_list():
    low, high = cluster_pairs(FRAME, [0.15, 0.93])
    assert (low.threshold, low.n_clusters, high.n_clusters) == (0.15, 1, 3)


def test_missing_verdicts_are_unsure():
    frame = FRAME.assign(probability=FRAME["probability"].where(FRAME["left"] != "c"))
    assert cluster_pairs(frame).overruled == []


def test_answers_win(tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("i,j,answer\nc,d,same\n")
    assert cluster_pairs(FRAME, constraints=sheet).n_clusters == 1
    sheet.write_text("i,j,answer\nc,d,same\nd,c,different\n")
    with pytest.raises(InconsistentConstraintsError, match="cannot-link c–d"):
        cluster_pairs(FRAME, constraints=sheet)


def test_answers_about_other_records_are_ignored(tmp_path):
    sheet = tmp_path / "sheet.csv"
    sheet.write_text("i,j,answer\nc,d,unsure\nc,x,same\n")
    with pytest.warns(UserWarning, match="ignored 1 answer about ids that no pair has"):
        found = cluster_pairs(FRAME, constraints=sheet)
    assert ("c", "d") not in [question[:2] for question in found.questions]


def test_a_probability_at_the_threshold_is_the_same():
    found = cluster_pairs(pd.DataFrame([("a", "b", 0.7)], columns=["i", "j", "probability"]), 0.7)
    assert found.n_clusters == 1


def test_clusters_keep_their_numbers(tmp_path):
    labels = tmp_path / "labels.csv"
    labels.write_text("id,label\na,5\nb,5\nc,5\nx,2\n")
    found = cluster_pairs(FRAME, previous=labels)
    assert found.labels.tolist() == [5, 5, 5, 6, 6]
    assert found.previous == {"kept": [5], "split": [], "joined": [], "new": [6], "gone": [2]}
