"""Active learning: choose the pairs that are worth asking about."""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any

from . import _config, _data, _display, _mustlink
from ._turns import alone
from .constraints import IDS, Constraints, columns, ids_of_result, row_ids
from .exceptions import DataError, MustlinkError, OracleError

if TYPE_CHECKING:
    from typing_extensions import Self

_REPLIES = {"must_link": 1, "cannot_link": -1, "dont_know": 0}


def reply(answer: Any) -> int:
    """Return an answer as a number: +1 together, -1 apart, 0 unknown."""
    if answer is None:
        return 0
    if isinstance(answer, str) and answer in _REPLIES:
        return _REPLIES[answer]
    if type(answer).__name__ in ("bool", "bool_"):
        return 1 if answer else -1
    raise OracleError(
        'an answer must be True, False, None, "must_link", "cannot_link" or "dont_know", '
        f"got {answer!r}"
    )


def answering(oracle: Callable[[int, int], Any]) -> Callable[[int, int], int]:
    """Wrap the callable for the core."""
    if not callable(oracle):
        raise OracleError(f"oracle: must be called with two rows, got {type(oracle).__name__}; classes go to y_true")
    return lambda i, j: reply(oracle(i, j))


@dataclass(frozen=True)
class Question:
    """The question whether two rows belong together.

    >>> from mustlink import Session
    >>> with Session([[0.0], [1.0], [9.0]], "random_pairs", clusterer="pck_means", n_clusters=2) as session:
    ...     question = session.question()
    >>> question.i != question.j
    True
    """

    #: The number of the question.
    id: int
    #: The row that the question is about.
    i: int
    #: The row that it is compared with.
    j: int
    #: The purpose: ``explore``, ``consolidate`` …
    purpose: str
    #: The ids of both rows, if the session was given ids or a frame with an index that contains them.
    ids: tuple[Any, Any] | None = None
    #: The texts of both rows, if the session was given texts.
    texts: tuple[Any, Any] | None = None


@dataclass(frozen=True)
class Answer:
    """An answer to a question about two rows."""

    #: The row that the question was about.
    i: int
    #: The row that it was compared with.
    j: int
    #: True (together), False (apart) or None (unknown).
    together: bool | None
    #: The ids of both rows, if the session was given ids or a frame with an index that contains them.
    ids: tuple[Any, Any] | None = None


class _NoLabelsError(OracleError, AttributeError):
    """The error about labels without a clusterer. It is an AttributeError, so tools that list attributes skip them."""


def _asking(
    selector: Any,
    clusterer: Any,
    transforms: Any,
    n_clusters: int | None,
    budget: int | None,
    ledger: Any,
    random_state: Any,
    n_jobs: int | None,
) -> dict[str, Any]:
    _data.warn(_config.not_of_parts([selector, clusterer, transforms]))
    method: dict[str, Any] = {"selector": _config.slot(selector)}
    if clusterer is not None:
        method["clusterer"] = _config.slot(clusterer)
    if transforms is not None:
        method["transforms"] = _config.plain(transforms)
    return {
        "method": method,
        "k": n_clusters,
        "budget": budget,
        "ledger": None if ledger is None else os.fspath(ledger),
        "seed": _config.seed(random_state),
        "threads": _config.threads(n_jobs),
    }


def select(
    X: Any,
    selector: Any = "explore_consolidate",
    *,
    y_true: Any = None,
    oracle: Callable[[int, int], Any] | None = None,
    n_clusters: int | None = None,
    budget: int | None = None,
    clusterer: Any = None,
    transforms: Any = None,
    constraints: Constraints | None = None,
    ledger: str | os.PathLike[str] | None = None,
    ids: Any = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
) -> Constraints:
    """Select constraints without clustering; ``oracle(i, j)`` or the classes ``y_true`` answer the questions.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
        The objects. A table with words and missing values is accepted if the first transform takes one.
    selector : str, dict
        Selector that chooses the next pair; ``list_plugins("query_selector")`` returns the names.
    y_true : array of shape (n_samples,), optional
        Classes that answer the questions if no oracle is given; -1, NaN, None and texts such as "NA" are unknown.
    oracle : callable, optional
        ``oracle(i, j)`` returns True if two rows belong together, False if not, and None if unknown.
    n_clusters : int, optional
        Number of clusters, for selectors that need one.
    budget : int, optional
        Maximum number of questions.
    clusterer : str, dict or estimator, optional
        Clusterer that groups the objects between questions, if the selector asks for it.
    transforms : list, optional
        Transforms that are applied to the rows first, such as ``["z_score"]``.
    constraints : Constraints, optional
        Constraints that are known beforehand.
    ledger : path, optional
        File that stores every question and answer immediately. If it is given again, no question is asked twice.
    ids : array of shape (n_samples,), optional
        The id of each row. Constraints and ledger find their rows by their ids, and the result contains the ids.
        If absent, the result contains the ids of the index of ``X``, unless it is the default one.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Returns
    -------
    constraints : Constraints
        The given constraints and the answers.

    Examples
    --------
    >>> from mustlink import select
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> select(X, "random_pairs", y_true=y, budget=3)
    Constraints(1 must-link, 2 cannot-links, n=4)
    >>> select(X, "random_pairs", oracle=lambda i, j: y[i] == y[j], budget=3)
    Constraints(1 must-link, 2 cannot-links, n=4)
    """
    x = _data.matrix(X, transforms=transforms)
    n = _data.rows(x)
    request = _asking(
        selector, clusterer, transforms, n_clusters, budget, ledger, random_state, n_jobs
    )
    names, request["ids"] = _names(X, n, constraints, ids)
    with _own_ledger():
        found = _mustlink.select(
            _config.text(request),
            x,
            columns(constraints, n, names)[0],
            _data.classes(_data.in_order(y_true, X), n, "y_true"),
            None if oracle is None else answering(oracle),
        )
    _data.warn(found.warnings)
    return Constraints._of(found.constraints, n, ids_of_result(constraints, X, names))


@contextmanager
def _own_ledger() -> Iterator[None]:
    """Replace the remedy in the error about a ledger in use if this process itself uses it."""
    try:
        yield
    except MustlinkError as wrong:
        place, held, _ = str(wrong).partition(f"is being written by process {os.getpid()};")
        if not held:
            raise
        raise type(wrong)(
            f"{place}another Session of this process has it open. End that session with close()"
        ) from None


def _names(X: Any, n: int, constraints: Any, ids: Any) -> tuple[Any, list[str] | None]:
    """Return the ids that constraints use to find their rows, and the ids for the ledger."""
    names = row_ids(constraints, X, ids, IDS)
    if names is not None and len(names) != n:
        raise DataError(f"ids: must hold one id per row, {n}, got {len(names)}")
    return names, None if ids is None else _config.names(names)


class Session:
    """Questions, one after the other, for any kind of annotator.

    At any time you can read the labels and constraints for the answers so far, and take back the last answer with
    ``undo()``. Only ``close()`` and the end of a ``with`` block end the session. A session belongs to the process that
    made it. With a ledger, another process can continue where it stopped. Several threads can use a session in turn. A
    call is rejected while the call of another thread is running. In a notebook, ``mustlink.notebook.Buttons(session)``
    shows buttons for the answers.

    Parameters
    ----------
    X : matrix of shape (n_samples, n_features)
        The objects. A table with words and missing values is accepted if the first transform takes one.
    selector : str, dict
        Selector that chooses the next pair.
    clusterer : str, dict or estimator, optional
        Clusterer that groups the objects at the end, and between questions if the selector asks for it. If absent,
        the selector's own clusters are used, if it makes any (``cobra`` does).
    transforms : list, optional
        Transforms that are applied to the rows first.
    n_clusters : int, optional
        Number of clusters.
    budget : int, optional
        Maximum number of questions.
    ledger : path, optional
        File that stores every question and answer immediately. If it is given again, the session continues where it
        stopped and does not ask any question twice.
    constraints : Constraints, optional
        Constraints that are known beforehand.
    ids : array of shape (n_samples,), optional
        The id of each row. Constraints and ledger find their rows by their ids; questions and answers contain the ids.
    texts : sequence of length n_samples, optional
        A text for each row, to show to the annotator. Each question contains the texts of its two rows.
    random_state : int, RandomState or None; default 0
        Seed of every random number. A whole number is used unchanged; None draws one.
    n_jobs : int, optional
        Number of threads; None and -1 mean one per core. It changes no result.

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
        The clusters for the answers so far. The first reading after each answer runs the clusterer.
    constraints_ : Constraints
        The constraints given and answered so far.
    answers_ : list of Answer
        The answers so far, including those of the ledger: ``i``, ``j``, ``together`` and ``ids``.

    Examples
    --------
    >>> from mustlink import Session
    >>> X, y = [[0.0], [0.1], [5.0], [5.1]], [0, 0, 1, 1]
    >>> session = Session(X, selector={"type": "cobra", "super_instances": 4})
    >>> for question in session:
    ...     session.tell(y[question.i] == y[question.j])
    >>> session.labels_
    array([0, 0, 1, 1])
    >>> session.constraints_.n
    4
    >>> session.undo()
    Answer(i=1, j=2, together=False, ids=None)
    >>> session.question()
    Question(id=2, i=1, j=2, purpose='merge', ids=None, texts=None)
    """

    def __init__(
        self,
        X: Any,
        selector: Any = "explore_consolidate",
        *,
        clusterer: Any = None,
        transforms: Any = None,
        n_clusters: int | None = None,
        budget: int | None = None,
        ledger: str | os.PathLike[str] | None = None,
        constraints: Constraints | None = None,
        ids: Any = None,
        texts: Any = None,
        random_state: Any = 0,
        n_jobs: int | None = None,
    ) -> None:
        self._lock = threading.RLock()
        x = _data.matrix(X, transforms=transforms)
        self.n = _data.rows(x)
        request = _asking(
            selector, clusterer, transforms, n_clusters, budget, ledger, random_state, n_jobs
        )
        names, request["ids"] = _names(X, self.n, constraints, ids)
        if texts is not None and len(texts) != self.n:
            raise DataError(f"texts: must hold one text per row, {self.n}, got {len(texts)}")
        clusters = clusterer is not None or _clusters_itself(request["method"]["selector"])
        pairs = columns(constraints, self.n, names)[0]
        with _own_ledger():
            self._session = _mustlink.Session(_config.text(request), x, pairs, clusters)
        self._process = os.getpid()
        _OPEN.add(self)
        self._clusters = clusters
        own = ids_of_result(constraints, X, names)
        self._ids = None if own is None else list(own)
        self._texts = None if texts is None else list(texts)
        self._method, self._budget = request["method"], budget
        self._given = None if pairs is None else Constraints._of(pairs, self.n, own)
        self._looked: dict[bool, Any] = {}
        self._found: Any = None
        self._failed: BaseException | None = None
        self._closed = False
        self._open: Question | None = None

    def __iter__(self) -> Iterator[Question]:
        """Iterate over the questions; each must be answered before the next one comes."""
        while (question := self.question()) is not None:
            yield question
            if self._open == question and self._found is None and self._failed is None:
                raise OracleError(
                    f"question {question.id} is open: pass its answer to tell(), None if it is unknown, before "
                    "the next one, or leave the loop"
                )

    @alone
    def question(self) -> Question | None:
        """Return the open question: the same one until it is answered, None if no questions are left."""
        if self._found is not None or self._failed is not None:
            return None
        self._here()
        try:
            with _own_ledger():
                asked = self._session.question()
        except MustlinkError as failed:
            self._failed = failed
            raise
        if asked is None:
            self._finish()
            return None
        number, i, j, purpose = asked
        texts = None if self._texts is None else (self._texts[i], self._texts[j])
        self._open = Question(number, i, j, purpose, self._both(i, j), texts)
        return self._open

    def _both(self, i: int, j: int) -> tuple[Any, Any] | None:
        return None if self._ids is None else (self._ids[i], self._ids[j])

    @alone
    def tell(self, answer: Any) -> None:
        """Answer the open question: True (together), False (apart) or None (unknown)."""
        said = reply(answer)
        self._here()
        self._session.tell(said)
        self._forget()

    @alone
    def undo(self) -> Answer:
        """Take back the last answer and return it. Its question is open again, and the ledger records this."""
        self._here()
        if self._closed:
            raise OracleError("the session is over; undo answers before close() and the end of with")
        before = self.answers_
        self._session.undo()
        self._forget()
        self._found = self._failed = None
        left = self.answers_
        return next(answer for answer in reversed(before) if answer not in left)

    def _forget(self) -> None:
        """Drops everything that depends on the answers."""
        self._open = None
        self._looked = {}

    @alone
    def close(self) -> None:
        """End the questions; all answers so far count."""
        self._closed = True
        self._finish()

    def _finish(self) -> None:
        """Ends the questions and runs the clusterer."""
        if isinstance(self._failed, Exception):
            raise self._failed
        if self._failed is not None:
            raise OracleError(
                "the session was interrupted while it ended; constraints_ has the answers, and a new "
                "session with its ledger does not ask them again"
            ) from self._failed
        if self._found is None:
            self._here()
            try:
                with _own_ledger():
                    self._found = self._session.finish()
            except BaseException as failed:
                self._failed = failed
                raise
            _data.warn(self._found.warnings)

    def _now(self, clustering: bool) -> Any:
        """The result for the answers so far."""
        if self._found is not None:
            return self._found
        self._here()
        if clustering not in self._looked:
            self._looked[clustering] = self._session.so_far(clustering)
        return self._looked[clustering]

    def _here(self) -> None:
        if os.getpid() != self._process:
            raise OracleError(
                "the session belongs to the process that made it, and this process is a fork of it; make a "
                "session here, with the same ledger, to continue"
            )

    def _leave(self) -> None:
        if os.getpid() == self._process:
            # Another thread may be inside a call.
            with suppress(RuntimeError):
                self._session.leave()

    def __repr__(self) -> str:
        try:
            count = len(self.answers_)
        except OracleError:
            return f"<Session on {self.n} objects: in use>"
        told = f"{count} answer{'' if count == 1 else 's'}"
        over = self._found is not None or self._failed is not None
        state = "over" if over else "waits for one" if self._open is not None else "open"
        return f"<Session on {self.n} objects: {told}, {state}>"

    def _repr_html_(self) -> str:
        """Return the HTML that a notebook shows. It runs nothing: the clusters are shown if they are known already."""
        title = repr(self)[1:-1]
        try:
            answers = self.answers_
        except OracleError:
            return _display.card(title, [])
        found = self._looked.get(True) if self._found is None else self._found
        return _display.of_session(title, self._method, answers, self._budget, found)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()

    @property
    @alone
    def answers_(self) -> list[Answer]:
        """The answers so far, including those of the ledger."""
        words = {1: True, -1: False}
        return [Answer(i, j, words.get(said), self._both(i, j)) for i, j, said in self._session.answers]

    @property
    @alone
    def constraints_(self) -> Constraints:
        """The constraints given and answered so far.

        If the method rejects them, for example because they contradict each other, the given constraints and the
        answers are returned unchanged.
        """
        self._here()
        try:
            found = self._now(False).constraints
        except MustlinkError:
            of_kind = [[(a.i, a.j) for a in self.answers_ if a.together is same] for same in (True, False)]
            told = Constraints(must_link=of_kind[0], cannot_link=of_kind[1], n=self.n)
            told = Constraints._of(told._columns, self.n, self._ids)
            return told if self._given is None else self._given.union(told)
        return Constraints._of(found, self.n, self._ids)

    @property
    @alone
    def labels_(self) -> Any:
        """The clusters for the answers so far."""
        if not self._clusters:
            raise _NoLabelsError(
                "the session has no clusterer, and its selector does not cluster by itself; give "
                'one, for example clusterer="pck_means"'
            )
        if self._failed is not None:
            self._finish()
        return self._now(True).labels


#: Sessions whose ledgers are closed before the interpreter ends.
_OPEN: weakref.WeakSet[Session] = weakref.WeakSet()


@atexit.register
def _leave_open() -> None:
    for session in list(_OPEN):
        session._leave()


def _clusters_itself(selector: Any) -> bool:
    from ._catalogue import catalogue

    tag = selector.get("type") if isinstance(selector, Mapping) else selector
    return any(p.tag == tag and p.properties.get("self_clustering") for p in catalogue())
