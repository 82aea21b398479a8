"""Questions one by one."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from mustlink import DataError, Method, MustlinkWarning, OracleError, PCKMeans, Session, generate, select, selector

RNG = np.random.default_rng(4)
X = RNG.normal(size=(40, 2)) + 5 * (np.arange(40) % 2)[:, None]
CLASS = np.arange(40) % 2


def answered(session, most=None):
    asked = []
    for question in session:
        asked.append((question.i, question.j))
        session.tell(bool(CLASS[question.i] == CLASS[question.j]))
        if len(asked) == most:
            session.close()
    return asked


def test_a_session_asks_what_the_command_asks():
    session = Session(X, "min_max_selection", clusterer=PCKMeans(), n_clusters=2, budget=9)
    assert len(answered(session)) == 9
    tree = {"selector": "min_max_selection", "clusterer": "pck_means"}
    same = Method(tree, 2, budget=9).fit(X, y_true=CLASS)
    assert np.array_equal(session.labels_, same.labels_)
    chosen = select(X, "min_max_selection", y_true=CLASS, n_clusters=2, budget=9)
    assert session.constraints_ == chosen


def test_it_goes_on_where_it_stopped(tmp_path):
    given = {"clusterer": PCKMeans(), "n_clusters": 2, "budget": 12}
    whole = answered(Session(X, "explore_consolidate", **given))
    ledger = tmp_path / "answers.jsonl"
    first = answered(Session(X, "explore_consolidate", ledger=ledger, **given), most=5)
    rest = answered(Session(X, "explore_consolidate", ledger=ledger, **given))
    assert first + rest == whole


def test_a_question_stays_until_it_is_answered():
    session = Session(X, "random_pairs", budget=2)
    assert session.question() == session.question()
    session.tell(None)
    with pytest.raises(OracleError, match="no question is open"):
        session.tell(True)
    with pytest.raises(OracleError, match="an answer must be True, False, None"):
        session.question()
        session.tell(1)
    session.tell("cannot_link")
    assert session.question() is None
    assert session.constraints_.n_cannot_link == 1
    with pytest.raises(OracleError, match="the session has no clusterer"):
        session.labels_


def test_a_loop_that_answers_nothing_ends():
    session = Session(X, "random_pairs", budget=5)
    with pytest.raises(OracleError, match="question 0 is open: pass its answer to tell"):
        for _ in session:
            pass
    assert len(answered(session)) == 5
    session = Session(X, "random_pairs", budget=5)
    for _ in session:
        session.close()
    assert session.constraints_.n_cannot_link == 0


def test_a_session_can_be_left():
    session = Session(X, "random_pairs", budget=5)
    session.question()
    del session
    gc.collect()
    with Session(X, "cobras", budget=5) as session:
        answered(session, most=3)
    assert session.labels_.shape == (40,)


def test_a_program_ends_while_a_function_of_a_session_runs():
    """Its thread came back to no interpreter, and the program was aborted."""
    script = """
import time
import numpy as np
from mustlink import Session, selector

@selector("slow")
def slow(X, n_clusters, constraints, seed):
    time.sleep(1)
    yield 0, 1

session = Session(np.eye(4), "slow")
time.sleep(0.3)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


class Watched:
    """The core of a session, with an event that is set when somebody waits for a question."""

    def __init__(self, core, inside):
        self.core, self.inside = core, inside

    def __getattr__(self, name):
        return getattr(self.core, name)

    def question(self):
        self.inside.set()
        return self.core.question()


def waiting(name, ready):
    """A session with a selector that waits until ``ready()`` is true, and the event of a session that is in use."""

    @selector(name)
    def waits(X, n_clusters, constraints, seed):
        """Waits, then asks about the first rows."""
        while not ready():
            time.sleep(0.01)
        yield 0, 1

    session, inside = Session(X, name, clusterer=PCKMeans(), n_clusters=2), threading.Event()
    session._session = Watched(session._session, inside)
    return session, inside


def test_one_thread_at_a_time_is_inside_a_session():
    """The others were told "Already mutably borrowed", or mixed their answers with it."""
    go, asked = threading.Event(), []
    session, inside = waiting("waits_for_another", go.is_set)
    thread = threading.Thread(target=lambda: asked.append(session.question()))
    thread.start()
    try:
        assert inside.wait(60)
        for work in (
            session.question,
            lambda: session.tell(True),
            session.undo,
            session.close,
            lambda: next(iter(session)),
            lambda: session.labels_,
            lambda: session.constraints_,
            lambda: session.answers_,
        ):
            with pytest.raises(OracleError, match="this Session is in use by another thread. Repeat the call when"):
                work()
        assert repr(session) == "<Session on 40 objects: in use>"
    finally:
        go.set()
        thread.join()
    assert [(question.i, question.j) for question in asked] == [(0, 1)]
    # Threads in turn are as good as one.
    session.tell(True)
    assert len(session.answers_) == 1 and session.constraints_.n_must_link == 1


def test_a_selector_that_reads_its_session_does_not_wait_for_itself():
    told = []

    def read():
        if not (made and made[0][1].is_set()):
            return False
        try:
            told.append(made[0][0].labels_)
        except OracleError as wrong:
            told.append(str(wrong))
        return True

    made = []
    made.append(waiting("reads_its_session", read))
    assert made[0][0].question().i == 0
    assert told[0].startswith("this Session is in use by another thread")


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers here")
def test_a_signal_handler_is_told_that_its_thread_is_inside():
    go, told = threading.Event(), []
    session, _ = waiting("waits_for_a_signal", go.is_set)

    def look(*_):
        try:
            session.answers_
        except OracleError as wrong:
            told.append(str(wrong))
            go.set()

    before = signal.signal(signal.SIGALRM, look)
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    try:
        assert session.question().i == 0
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert "this Session is in use by another call of this thread" in told[0]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not forked here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_session_belongs_to_its_process():
    """In a forked one it waited for a thread that is not there."""
    session = Session(X, "random_pairs", budget=5)
    session.question()
    refused = 0
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        for work in (session.question, lambda: session.tell(True), lambda: session.constraints_):
            try:
                work()
            except OracleError as wrong:
                refused += "belongs to the process that made it" in str(wrong)
        os._exit(refused)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
    session.tell(True)
    assert session.constraints_.n_must_link == 1


def test_an_interrupted_end_is_no_interrupt_for_ever():
    """Whoever asked again for labels was interrupted again, without having pressed a key."""
    session = Session(X, "random_pairs", clusterer=PCKMeans(), n_clusters=2, budget=3)
    answered(session, most=2)
    session = Session(X, "random_pairs", clusterer=PCKMeans(), n_clusters=2, budget=3)
    for _ in range(2):
        session.question()
        session.tell(True)
    own = session._session

    def finish():
        raise KeyboardInterrupt

    session._session = SimpleNamespace(finish=finish, leave=own.leave, answers=own.answers, so_far=own.so_far)
    with pytest.raises(KeyboardInterrupt):
        session.close()
    with pytest.raises(OracleError, match="interrupted while it ended; constraints_ has the answers"):
        session.labels_
    assert len(session.constraints_.pairs()[1]) == 2


@pytest.mark.filterwarnings("ignore:k = 2 was requested")
def test_a_session_can_be_looked_at():
    """To look at the labels ended it, and the loop that followed asked nothing."""
    whole = Session(X, "min_max_selection", clusterer=PCKMeans(), n_clusters=2, budget=9)
    asked = answered(whole)
    for selector in ("min_max_selection", "cobras"):
        given = {"clusterer": None if selector == "cobras" else PCKMeans(), "n_clusters": 2}
        session = Session(X, selector, budget=9, **given)
        for number, question in enumerate(session):
            # What it would come to if it were ended now.
            ended = Session(X, selector, budget=9, **given)
            answered(ended, most=number) if number else ended.close()
            assert np.array_equal(session.labels_, ended.labels_) and session.constraints_ == ended.constraints_
            assert len(session.answers_) == number and session.question() == question
            session.tell(bool(CLASS[question.i] == CLASS[question.j]))
        assert len(session.answers_) == 9
    assert asked == [(a.i, a.j) for a in whole.answers_]
    assert all(a.together == (CLASS[a.i] == CLASS[a.j]) for a in whole.answers_)


def test_contradictions_can_be_looked_at():
    session = Session(X, "random_pairs", clusterer="cop_kmeans", n_clusters=2, budget=400)
    for at, question in enumerate(session):
        session.tell(bool(at % 2))
        if at == 30:
            break
    assert len(session.constraints_.pairs()[1]) >= 30 and session.question() is not None


@pytest.mark.parametrize("kept", [False, True], ids=["alone", "with a ledger"])
@pytest.mark.parametrize("selector", ["min_max_selection", "cobras", "random_pairs"])
def test_an_answer_can_be_taken_back(selector, kept, tmp_path):
    def session(name):
        ledger = {"ledger": tmp_path / name} if kept else {}
        return Session(X, selector, clusterer=PCKMeans(), n_clusters=2, budget=12, **ledger)

    def tell(one, times, wrong=False):
        for _ in range(times):
            question = one.question()
            one.tell(bool(CLASS[question.i] == CLASS[question.j]) is not wrong)

    straight, undone = session("straight"), session("undone")
    tell(straight, 8)
    tell(undone, 4)
    before = undone.question()
    tell(undone, 2, wrong=True)
    last = undone.answers_[-1]
    assert undone.undo() == last and undone.undo().together is not None
    assert undone.question().i == before.i and undone.question().j == before.j and len(undone.answers_) == 4
    tell(undone, 4)
    assert [(a.i, a.j, a.together) for a in undone.answers_] == [(a.i, a.j, a.together) for a in straight.answers_]
    assert undone.constraints_ == straight.constraints_
    assert np.array_equal(undone.labels_, straight.labels_)
    undone.close()
    with pytest.raises(OracleError, match="the session is over"):
        undone.undo()
    with pytest.raises(OracleError, match="no question has been answered yet"):
        session("new").undo()


def test_the_last_answer_can_be_taken_back_when_all_is_asked():
    session = Session(X, "random_pairs", clusterer=PCKMeans(), n_clusters=2, budget=3)
    answered(session)
    assert session.question() is None and "over" in repr(session)
    last = session.undo()
    question = session.question()
    assert (question.i, question.j) == (last.i, last.j)
    session.tell(not last.together)
    assert session.answers_[-1].together is not last.together


def test_a_session_can_be_looked_at_before_it_has_a_ledger(tmp_path):
    for at in range(5):
        session = Session(X, "cobras", budget=5, ledger=tmp_path / f"{at}.jsonl")
        assert len(session.labels_) == 40 and session.answers_ == []


def test_a_resumed_session_counts_what_it_has(tmp_path):
    given = {"clusterer": PCKMeans(), "n_clusters": 2, "budget": 12, "ledger": tmp_path / "answers.jsonl"}
    answered(Session(X, "min_max_selection", **given), most=5)
    session = Session(X, "min_max_selection", **given)
    assert len(session.answers_) == 5 and "5 answers" in repr(session)
    so_far = session.labels_
    assert session.undo().together is not None
    assert len(session.answers_) == 4
    question = session.question()
    session.tell(bool(CLASS[question.i] == CLASS[question.j]))
    assert np.array_equal(session.labels_, so_far)
    session.close()
    assert len(Session(X, "min_max_selection", **given).answers_) == 5


def test_a_ledger_goes_on_if_rows_were_appended(tmp_path):
    given = {"clusterer": PCKMeans(), "n_clusters": 2, "ledger": tmp_path / "answers.jsonl"}
    first = Session(X, "random_pairs", budget=5, **given)
    answered(first)
    classes = [*CLASS, 0]
    with pytest.warns(MustlinkWarning, match="the data have 1 row more than before"):
        session = Session(np.vstack([X, [[0.5, 0.5]]]), "random_pairs", budget=9, **given)
        for question in session:
            session.tell(bool(classes[question.i] == classes[question.j]))
    assert session.answers_[:5] == first.answers_ and len(session.answers_) == 9
    with pytest.raises(ValueError, match="belongs to another selection|is about 41 objects"):
        Session(X, "random_pairs", budget=9, **given).question()


def test_answers_that_nobody_was_asked_for_count_too(tmp_path):
    """As a page for labelling states them: clusters that are joined, say."""
    ledger = tmp_path / "answers.jsonl"
    given = {"clusterer": PCKMeans(), "n_clusters": 2, "budget": 12, "ledger": ledger}
    answered(Session(X, "min_max_selection", **given), most=3)
    pair = '"i":38,"j":39,"subject":38,"reference":39'
    stated = f'"id":"q000099",{pair},"purpose":"sorted","reply":"must_link","cost":1.0,"with":"q000099"'
    with ledger.open("a") as file:
        file.write(f'{{"v":1,"type":"stated",{stated}}}\n')
    session = Session(X, "min_max_selection", **given)
    assert (session.answers_[-1].i, session.answers_[-1].j) == (38, 39)
    so_far = session.constraints_
    assert [38, 39] in so_far.pairs()[0].tolist()
    labels = session.labels_
    # The last answer to a question is taken back, not one that was stated.
    assert session.undo().i != 38 and len(session.answers_) == 3
    question = session.question()
    session.tell(bool(CLASS[question.i] == CLASS[question.j]))
    session.close()
    assert np.array_equal(session.labels_, labels)
    assert sorted(session.constraints_.pairs()[0].tolist()) == sorted(so_far.pairs()[0].tolist())


def test_questions_have_ids_and_texts(tmp_path):
    names = np.array([f"n{i}" for i in range(40)])
    given = {"ids": names, "texts": [f"text {i}" for i in range(40)], "budget": 3}
    session = Session(X, "random_pairs", ledger=tmp_path / "by_id.jsonl", **given)
    for question in session:
        assert question.ids == (names[question.i], names[question.j])
        assert question.texts == (f"text {question.i}", f"text {question.j}")
        session.tell(bool(CLASS[question.i] == CLASS[question.j]))
    assert session.constraints_.ids == tuple(names)
    assert all(a.ids == (names[a.i], names[a.j]) for a in session.answers_)
    assert select(X, "random_pairs", y_true=CLASS, budget=3, ids=names) == session.constraints_
    with pytest.raises(ValueError, match="ids: must hold one id per row, 40, got 3"):
        Session(X, "random_pairs", ids=["a", "b", "c"])
    with pytest.raises(ValueError, match="texts: must hold one text per row, 40, got 1"):
        Session(X, "random_pairs", texts=["a"])


def test_a_session_says_how_far_it_is():
    session = Session(X, "random_pairs", budget=2)
    assert repr(session) == "<Session on 40 objects: 0 answers, open>"
    session.question()
    session.tell(True)
    session.question()
    assert repr(session) == "<Session on 40 objects: 1 answer, waits for one>"
    session.close()
    assert repr(session) == "<Session on 40 objects: 1 answer, over>"


def test_a_session_keeps_what_it_was_given():
    """Between two questions its caller may write into the matrix."""

    def labels(noise):
        x = X.copy()
        session = Session(x, "cobras", budget=8)
        for question in session:
            session.tell(bool(CLASS[question.i] == CLASS[question.j]))
            x += noise
        return session.labels_

    assert np.array_equal(labels(0.0), labels(RNG.normal(size=X.shape)))


def test_questions_and_labels_are_of_the_rows_that_were_given():
    # Rows 1 and 3 are those before them again, and leave before anything is asked.
    rows = np.array([[0.0], [0.0], [5.0], [5.0], [0.2], [5.2]])
    y = np.array([0, 0, 1, 1, 0, 1])
    seen = set()

    def oracle(i, j):
        seen.update((i, j))
        return y[i] == y[j]

    tree = {"transforms": ["deduplicate"], "clusterer": "pck_means", "selector": "random_pairs"}
    found = Method(tree, 2, budget=6).fit(rows, oracle=oracle)
    assert seen == {0, 2, 4, 5}
    assert len(set(zip(found.labels_, y))) == 2
    two = {"type": "random_init", "members": 2}
    made = generate(rows, two, n_clusters=2, transforms=["deduplicate"])
    assert made.shape == (2, 6) and all(len(set(zip(member, y))) == 2 for member in made)
    for given in (
        select(rows, "random_pairs", transforms=["deduplicate"], oracle=oracle, budget=6),
        session_of(rows, y).constraints_,
    ):
        pairs, signs = given.pairs()
        assert given.n == 6 and len(pairs) == 6
        assert all((y[i] == y[j]) == (sign > 0) for (i, j), sign in zip(pairs, signs))


def session_of(rows, y):
    session = Session(rows, "random_pairs", transforms=["deduplicate"], budget=6)
    for question in session:
        session.tell(y[question.i] == y[question.j])
    return session


def test_a_ledger_that_this_process_has_open(tmp_path):
    """A notebook cell that ran twice was told to end its own process."""
    given = {"selector": "random_pairs", "budget": 3, "ledger": tmp_path / "answers.jsonl"}
    first = Session(X, **given)
    first.question()
    with pytest.raises(DataError, match="another Session of this process has it open. End that session with close"):
        Session(X, **given).question()
    with pytest.raises(DataError, match="another Session of this process"):
        select(X, y_true=CLASS, **given)
    first.close()
    assert Session(X, **given).question() is not None
