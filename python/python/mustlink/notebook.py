"""Buttons that answer the questions of a session in a notebook.

They need ipywidgets, which is not installed with mustlink: ``pip install ipywidgets``.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from . import _data, _display
from ._display import escaped
from .exceptions import DataError
from .session import Question, Session

__all__ = ["Buttons"]

#: Columns shown at most, and characters of a text at most.
_MOST, _LONGEST = 40, 4000
#: Share of the range of a column from which two of its numbers are far apart.
_FAR = 0.2
#: Kinds of images, by the first bytes of their files.
_KINDS = {b"\x89PNG": "png", b"\xff\xd8": "jpeg", b"GIF8": "gif", b"RIFF": "webp", b"BM": "bmp"}


class Buttons:
    """Buttons for the questions of a session, with the two objects, the progress, and undo.

    The next question is chosen in a thread, so the kernel can run other cells in the meantime. Until the question is
    ready, the session rejects calls of other cells.

    Parameters
    ----------
    session : Session
        The session. Its texts are shown, if it has any.
    show : frame or matrix, optional
        Columns to show: one row for each object. The rows of a frame are found by its index if both index and session
        have ids, otherwise by position.
    images : sequence, optional
        An image for each object: the path of a file, its bytes, or an image of Pillow. A series is matched like the
        rows of ``show``.

    Attributes
    ----------
    same, different, unknown, undo : ipywidgets.Button
        The buttons.
    box : ipywidgets.VBox
        All parts, to be put into another widget.

    Examples
    --------
    In a notebook, the last line of a cell shows the buttons. Here a program presses them.

    >>> from mustlink import Session
    >>> from mustlink.notebook import Buttons
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> session = Session(X, "random_pairs", budget=3, texts=["mouse", "rat", "whale", "orca"])
    >>> buttons = Buttons(session)
    >>> buttons.wait()
    >>> buttons.different.click()
    >>> buttons.wait()
    >>> len(session.answers_)
    1
    """

    def __init__(self, session: Session, *, show: Any = None, images: Any = None) -> None:
        widgets = _widgets()
        self._session = session
        self._show = None if show is None else (_matrix(show), _places(show, "show", session))
        self._images = None if images is None else (list(images), _places(images, "images", session))
        self._question: Question | None = None
        self._answers = 0
        self._thread: Thread | None = None
        most = session._budget
        self._bar = widgets.IntProgress(max=most or 1, layout={"visibility": "visible" if most else "hidden"})
        self._count, self._card, self._note = widgets.HTML(), widgets.HTML(), widgets.HTML()

        def button(text: str, style: str, act: Callable[[], str]) -> Any:
            made = widgets.Button(description=text, button_style=style, layout={"height": "3em", "width": "11em"})
            made.on_click(lambda _: self._start(act))
            return made

        self.same = button("Same", "primary", lambda: self._tell(True))
        self.different = button("Different", "warning", lambda: self._tell(False))
        self.unknown = button("Don't know", "", lambda: self._tell(None))
        self.undo = button("Undo", "", self._undo)
        rows = [[self._bar, self._count], [self.different, self.unknown, self.same, self.undo]]
        above = [widgets.HBox(row, layout={"flex_flow": "row wrap"}) for row in rows]
        # Above the card, the buttons stay in their place.
        self.box = widgets.VBox([*above, self._note, self._card])
        self._start(None)

    def wait(self) -> None:
        """Wait until the next question is shown. Only programs that press the buttons themselves need this."""
        if self._thread is not None:
            self._thread.join()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """Return the widget that a notebook shows."""
        return self.box._repr_mimebundle_(**kwargs)

    def _start(self, act: Callable[[], str] | None) -> None:
        """Act and choose the next question, in a thread."""
        if self._thread is not None and self._thread.is_alive():
            return
        self._enable(False, False)
        self._note.value = _line("The next question is being chosen …")
        self._thread = Thread(target=self._work, args=(act,), name="mustlink.notebook")
        self._thread.start()

    def _work(self, act: Callable[[], str] | None) -> None:
        try:
            # Calls of other cells come before or after all of this.
            with self._session._lock:
                note = "" if act is None else act()
                question = self._question = self._session.question()
                self._show_progress()
            self._card.value = self._end() if question is None else self._pair(question)
        except Exception as wrong:
            # Nothing else would show an error of this thread. No question that is not shown can be answered.
            self._question, self._card.value = None, ""
            note = f"{type(wrong).__name__}: {wrong}"
        self._note.value = _line(note)
        self._enable(self._question is not None, self._answers > 0 and not self._session._closed)

    def _show_progress(self) -> None:
        self._answers = self._bar.value = len(self._session.answers_)
        self._count.value = _line(_display.progress(self._answers, self._session._budget))

    def _tell(self, answer: bool | None) -> str:
        question = self._session.question()
        if question is None or question != self._question:
            return "The question was answered in another cell, so the click was ignored."
        self._session.tell(answer)
        self._show_progress()
        return ""

    def _undo(self) -> str:
        words = {True: "same", False: "different", None: "don't know"}
        answer = self._session.undo()
        self._show_progress()
        return f"Taken back: {words[answer.together]}."

    def _enable(self, answers: bool, undo: bool) -> None:
        for button in (self.same, self.different, self.unknown):
            button.disabled = not answers
        self.undo.disabled = not undo

    def _end(self) -> str:
        return _line("No questions are left.") + self._session._repr_html_()

    def _pair(self, question: Question) -> str:
        """The two objects of a question side by side, in HTML."""
        pair = question.i, question.j
        names = [f"row {row}" for row in pair] if question.ids is None else [escaped(id_) for id_ in question.ids]
        rows = []
        if self._images is not None:
            images, place = self._images
            rows.append(("", *(_image(images[place[row]]) for row in pair)))
        if question.texts is not None:
            rows.append(("", *(_text(text) for text in question.texts)))
        if self._show is not None:
            rows += _cells(*self._show, pair)
        style = "text-align:left;vertical-align:top;padding:.2em 1em .2em 0;font-weight:normal"
        first = f'<th scope="row" style="{style}">{{}}</th>'
        cell = f'<td dir="auto" style="{style};white-space:pre-wrap">{{}}</td>'
        body = "".join(f"<tr>{first.format(row[0])}{''.join(map(cell.format, row[1:]))}</tr>" for row in rows)
        head = "".join(f'<th scope="col" style="text-align:left;padding-right:2em">{name}</th>' for name in names)
        question_ = _line("Do these two belong together?")
        return f'{question_}<table style="font-size:110%"><tr><td></td>{head}</tr>{body}</table>'


def _widgets() -> Any:
    try:
        import ipywidgets
    except ImportError:
        raise ModuleNotFoundError(
            "notebook: ipywidgets is not installed. Run: pip install ipywidgets", name="ipywidgets"
        ) from None
    return ipywidgets


def _places(given: Any, name: str, session: Session) -> Sequence[int]:
    """Return the place of each object in ``given``: by id if both have ids, otherwise by position."""
    ids, own = session._ids, None if _data.with_default_index(given) else _data.row_names(given)
    if ids is not None and own is not None:
        place = {id_: at for at, id_ in enumerate(own)}
        missing = [id_ for id_ in ids if id_ not in place]
        if missing:
            raise DataError(f"{name}: no row has the id {missing[0]!r}. Give a row for each object of the session")
        return [place[id_] for id_ in ids]
    if len(given) != session.n:
        raise DataError(f"{name}: must have one row for each object, {session.n}, got {len(given)}")
    return range(session.n)


def _matrix(given: Any) -> Any:
    """Return a frame unchanged, and anything else as an array."""
    made = given if hasattr(given, "columns") else np.asarray(given)
    if len(made.shape) != 2:
        raise DataError(f"show: must be a frame or a matrix, got {type(given).__name__}")
    return made


def _cells(given: Any, place: Sequence[int], pair: tuple[int, int]) -> list[tuple[str, ...]]:
    """Return the columns of two objects. Bold: numbers far apart in the range of their column, and other words."""
    cells, columns = getattr(given, "iloc", given), getattr(given, "columns", None)
    names = [f"column {at}" for at in range(given.shape[1])] if columns is None else list(columns)
    rows: list[tuple[str, ...]] = []
    for at, name in enumerate(names[:_MOST]):
        values = [cells[place[row], at] for row in pair]
        known = not any(map(_is_missing, values))
        mark = "<b>{}</b>" if known and _differ(cells[:, at], *values) else "{}"
        texts = ("<i>missing</i>" if _is_missing(value) else _text(value) for value in values)
        rows.append((escaped(name), *map(mark.format, texts)))
    if len(names) > _MOST:
        rows.append((f"and {_display.count(len(names) - _MOST, 'more column')}", "", ""))
    return rows


def _is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, NaT or NA."""
    return value is None or (not isinstance(value, str) and str(value) in ("nan", "NaT", "<NA>"))


def _differ(column: Any, first: Any, second: Any) -> bool:
    """Return whether two values are different words, or numbers a fifth of their column's range apart."""
    try:
        numbers, apart = np.asarray(column, dtype=float), abs(float(first) - float(second))
    except (TypeError, ValueError):
        return str(first) != str(second)
    return bool(apart > 0 and apart >= _FAR * (np.nanmax(numbers) - np.nanmin(numbers)))


def _image(given: Any) -> str:
    drawn = given._repr_png_() if hasattr(given, "_repr_png_") else given
    content = drawn if isinstance(drawn, bytes) else Path(os.fspath(drawn)).read_bytes()
    kind = next((kind for start, kind in _KINDS.items() if content.startswith(start)), None)
    if kind is None:
        got = "bytes" if isinstance(given, bytes) else repr(given)
        raise DataError(f"images: must be PNG, JPEG, GIF, WebP or BMP, got {got}")
    source = f"data:image/{kind};base64,{base64.b64encode(content).decode()}"
    return f'<img alt="" src="{source}" style="max-width:18em;max-height:22em">'


def _text(value: Any) -> str:
    text = str(value)
    return escaped(text if len(text) <= _LONGEST else f"{text[:_LONGEST]} … ({len(text)} characters in all)")


def _line(text: str) -> str:
    return f"<p>{escaped(text)}</p>"
