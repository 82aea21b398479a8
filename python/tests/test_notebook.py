"""Buttons for the questions of a session, pressed without a browser."""

import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mustlink import DataError, PCKMeans, Session, selector
from mustlink.notebook import Buttons
from test_display import Page

RNG = np.random.default_rng(4)
CLASS = np.arange(40) % 2
X = RNG.normal(size=(40, 2)) + 5 * CLASS[:, None]
PNG = b"\x89PNG\r\n\x1a\n"
GIVEN = {"clusterer": PCKMeans(), "n_clusters": 2, "budget": 6}


@pytest.fixture(autouse=True)
def widgets(request):
    if "without" not in request.node.name:
        pytest.importorskip("ipywidgets", reason="ipywidgets is not installed: pip install ipywidgets")


def shown(buttons):
    """The text on the card when the question is there."""
    buttons.wait()
    return Page(buttons._card.value).text


def press(button, buttons):
    buttons.wait()
    assert not button.disabled
    button.click()
    buttons.wait()


def test_without_ipywidgets_the_error_has_the_command(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(ModuleNotFoundError, match="ipywidgets is not installed. Run: pip install ipywidgets"):
        Buttons(Session(X, "random_pairs"))


def test_buttons_answer_what_a_program_would():
    session, same = (Session(X, "min_max_selection", **GIVEN) for _ in range(2))
    buttons = Buttons(session)
    assert "Do these two belong together?" in shown(buttons) and "0 of 6 answers" in buttons._count.value
    for question in same:
        together = bool(CLASS[question.i] == CLASS[question.j])
        assert f"row {question.i}row {question.j}" in shown(buttons)
        press(buttons.same if together else buttons.different, buttons)
        same.tell(together)
    assert session.answers_ == same.answers_ and np.array_equal(session.labels_, same.labels_)
    end = shown(buttons)
    assert "No questions are left." in end and "2 (20 and 20 objects)" in end
    assert buttons._bar.value == buttons._bar.max == 6
    assert buttons.same.disabled and not buttons.undo.disabled


def test_nothing_is_guessed_before_the_answer():
    session = Session(X, "min_max_selection", **GIVEN)
    buttons = Buttons(session)
    press(buttons.unknown, buttons)
    # No clusters were made, so the card cannot show whether the method would put the two together.
    assert session._looked == {} and session.answers_[0].together is None


def test_the_last_answer_can_be_taken_back():
    session = Session(X, "random_pairs", budget=2)
    buttons = Buttons(session)
    buttons.wait()
    assert buttons.undo.disabled
    first = shown(buttons)
    press(buttons.same, buttons)
    press(buttons.different, buttons)
    assert "No questions are left." in shown(buttons)
    press(buttons.undo, buttons)
    assert "Taken back: different." in buttons._note.value and len(session.answers_) == 1
    press(buttons.undo, buttons)
    assert shown(buttons) == first and session.answers_ == [] and buttons.undo.disabled
    session.close()
    buttons.same.click()
    assert "No questions are left." in shown(buttons) and buttons.undo.disabled


def test_a_click_does_not_answer_another_question():
    session = Session(X, "random_pairs", budget=3)
    buttons = Buttons(session)
    buttons.wait()
    session.tell(True)
    press(buttons.different, buttons)
    assert "answered in another cell" in buttons._note.value
    assert [answer.together for answer in session.answers_] == [True]


def test_the_kernel_is_free_while_a_question_is_chosen():
    go = threading.Event()

    @selector("waits_for_the_kernel")
    def waits(X, n_clusters, constraints, seed):
        """Waits before the first question."""
        go.wait(60)
        yield 0, 1

    session = Session(X, "waits_for_the_kernel")
    buttons = Buttons(session)
    try:
        assert buttons.same.disabled and "being chosen" in buttons._note.value
        # A click that was on its way is ignored.
        buttons.same.click()
        assert "in use" in repr(session)
    finally:
        go.set()
    assert "row 0row 1" in shown(buttons) and session.answers_ == []


def test_an_error_is_shown_and_the_answer_can_be_taken_back():
    @selector("fails_after_one")
    def fails(X, n_clusters, constraints, seed):
        """Fails after the first answer."""
        yield 0, 1
        raise ValueError("<no> more")

    session = Session(X, "fails_after_one")
    buttons = Buttons(session)
    press(buttons.same, buttons)
    assert "&lt;no&gt; more" in buttons._note.value and buttons._card.value == ""
    assert buttons.same.disabled and not buttons.undo.disabled


def test_numbers_that_are_far_apart_are_marked():
    frame = pd.DataFrame({"near": np.linspace(0, 1, 40), "far": np.linspace(0, 1, 40)})
    frame.loc[[0, 1], ["near", "far"]] = [[0.5, 0.1], [0.6, 0.4]]
    frame["gap"] = [np.nan, *range(39)]
    frame["word"] = ["red", None] * 20
    buttons = Buttons(Session(X, {"type": "fixed_list", "pairs": [[0, 1]]}), show=frame)
    buttons.wait()
    assert "<b>0.4</b>" in buttons._card.value and "0.6" in buttons._card.value
    # A missing value is not marked.
    assert Page(buttons._card.value).elements.count("b") == 2
    assert Page(buttons._card.value).elements.count("i") == buttons._card.value.count(">missing<") == 2


def test_texts_columns_and_images_are_shown():
    names = [f"<n{at}>" for at in range(40)]
    texts = [f"<text {at}>" for at in range(40)]
    frame = pd.DataFrame({"colour": ["red", "blue"] * 20, "<b>": 1}, index=names)
    session = Session(X, "random_pairs", ids=names, texts=texts, budget=3)
    images = pd.Series([PNG + bytes([at]) for at in range(40)], index=names)
    # Rows in another order are found by their ids.
    buttons = Buttons(session, show=frame[::-1], images=images[::-1])
    buttons.wait()
    question = session.question()
    card = Page(buttons._card.value)
    for row in (question.i, question.j):
        assert names[row] in card.text and texts[row] in card.text
    first, second = (frame["colour"].iloc[row] for row in (question.i, question.j))
    assert f"colour{first}{second}" in card.text and "<b>11" in card.text
    assert card.elements.count("b") == 2 * (first != second)
    assert len(card.addresses) == 2 and all(one.startswith("data:image/png;base64,") for one in card.addresses)
    assert buttons.box._repr_mimebundle_() == buttons._repr_mimebundle_()


@pytest.mark.parametrize("kind", [pl.DataFrame, np.asarray, pd.DataFrame])
def test_rows_are_shown_by_position_otherwise(kind):
    session = Session(X, "random_pairs", budget=3)
    wide = np.arange(40 * 42).reshape(40, 42)
    text = shown(Buttons(session, show=kind(wide)))
    question = session.question()
    assert f"{wide[question.i, 0]}{wide[question.j, 0]}" in text and "and 2 more columns" in text


def test_what_cannot_be_shown_is_rejected(tmp_path):
    session = Session(X, "random_pairs", ids=[f"n{at}" for at in range(40)], budget=3)
    with pytest.raises(DataError, match="show: must have one row for each object, 40, got 2"):
        Buttons(session, show=X[:2])
    with pytest.raises(DataError, match="show: must be a frame or a matrix, got list"):
        Buttons(session, show=["a"] * 40)
    with pytest.raises(DataError, match="show: no row has the id 'n1'"):
        Buttons(session, show=pd.DataFrame({"a": range(39)}, index=["n0", *[f"n{at}" for at in range(2, 40)]]))
    buttons = Buttons(session, images=[tmp_path / "absent.png"] * 40)
    assert shown(buttons) == "" and "absent.png" in buttons._note.value
    buttons = Buttons(session, images=[b"text"] * 40)
    assert shown(buttons) == "" and "must be PNG, JPEG, GIF, WebP or BMP" in buttons._note.value
