"""How a function of scores is called: nothing is paid twice, in whatever order the answers come."""

import gc
import os
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from datetime import date
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from same_tables import assert_same
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.stages import counting

RNG = np.random.default_rng(4)
USERS = 90
ITEMS = 140
TRAINING = RNG.random((USERS, ITEMS)) < 0.1
SCORES = np.round(RNG.normal(size=(USERS, ITEMS)), 2)
HELD_OUT = np.where(TRAINING, -np.inf, SCORES + RNG.gumbel(size=SCORES.shape)).argmax(axis=1)
TODAY = date.today().isoformat()
OPTIONS = {"k": 5, "depth": 20}
CALLS = {"name": "A", "pairs_per_call": 64}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(counting, "BATCH", 8)


class Asked:
    """A scorer that notes the pairs that it is asked for, and stops with an error after some
    calls.
    """

    def __init__(self, calls=None, scores=SCORES):
        self.pairs = Counter()
        self.calls = calls
        self.scores = scores

    def __call__(self, users, items):
        if self.calls is not None:
            if self.calls == 0:
                raise ConnectionError("no network")
            self.calls -= 1
        self.pairs.update(zip(users.tolist(), items.tolist(), strict=True))
        return self.scores[users, items]


def score_plainly(users, items):
    return SCORES[users, items]


def staged(score, **options):
    calls = CALLS | {
        name: options.pop(name)
        for name in ("name", "pairs_per_call", "concurrency")
        if name in options
    }
    return sm.staged_ranks(sm.Ranker(score, **calls), TRAINING, HELD_OUT, **OPTIONS | options)


@pytest.mark.parametrize("concurrency", [1, 7])
def test_ranks_are_the_same_however_many_calls_run_at_a_time(concurrency):
    running = 0
    most_running = 0
    lock = Lock()

    def score(users, items):
        nonlocal running, most_running
        with lock:
            running += 1
            most_running = max(most_running, running)
        time.sleep(float(1 + users[0] % 3) / 500)  # answers come in another order than the calls
        with lock:
            running -= 1
        return SCORES[users, items]

    assert_same(staged(score, concurrency=concurrency), staged(Asked()))
    assert most_running == concurrency
    with pytest.raises(ConnectionError, match="no network"):
        staged(Asked(calls=3), concurrency=concurrency)


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.filterwarnings("ignore:goes on from .*x.npz.journal")
def test_a_run_that_was_stopped_goes_on_and_asks_for_nothing_again(
    tmp_path, concurrency, monkeypatch
):
    file = tmp_path / "x.npz"
    expected = staged(Asked())
    total = Counter()
    while not file.exists():
        scorer = Asked(calls=15)
        with suppress(ConnectionError):
            monkeypatch.setattr(counting, "BATCH", int(RNG.integers(1, 9)))
            ranks = staged(scorer, file=file, concurrency=concurrency)
        assert scorer.pairs
        total += scorer.pairs
    assert set(total.values()) == {1}
    # other sizes of batches score other numbers of candidates
    assert_same(ranks, expected, but=("scored", "begun"))
    assert os.listdir(tmp_path) == ["x.npz"]
    with pytest.warns(UserWarning, match=r"^reads .*x\.npz"):
        assert_same(staged(Asked(calls=0), file=file), ranks)


def test_what_a_run_goes_on_from_is_said_with_the_ranker_and_the_date(tmp_path):
    file = tmp_path / "x.npz"
    with pytest.raises(ConnectionError):
        staged(Asked(calls=9), file=file)
    with closing(sqlite3.connect(f"{file}.journal")) as connection, connection:
        connection.execute("UPDATE run SET content = replace(content, ?, ?)", (TODAY, "2026-01-02"))
    with pytest.warns(
        UserWarning, match=r"^goes on from .*x\.npz\.journal: ranker A, begun 2026-01-02$"
    ):
        ranks = staged(Asked(), file=file)
    assert ranks.begun == sm.StagedRanks.read(file).begun == "2026-01-02"


def test_a_file_needs_a_name_of_the_ranker(tmp_path):
    for score in (score_plainly, sm.Ranker(score_plainly)):
        with pytest.raises(sm.ConfigError, match="name"):
            sm.staged_ranks(score, TRAINING, HELD_OUT, file=tmp_path / "x.npz")
    assert not os.listdir(tmp_path)


KILLS = 3
KILLED = f"""
import os, random, signal, time
import numpy as np
import pandas as pd
import sampled_metrics as sm
from sampled_metrics.stages import counting
counting.BATCH = 8
data = dict(np.load("data.npz"))
def score(users, items):
    with open("log", "a") as log:
        log.write(" ".join(f"{{user}},{{item}}" for user, item in zip(users, items)) + "\\n")
    time.sleep(0.01)
    return data["scores"][users, items]
for is_killed in [True] * {KILLS} + [False]:
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_REAL, random.uniform(0.03, 0.15) if is_killed else 0)
        ranker = sm.Ranker(score, concurrency=2, **{CALLS!r})
        sm.staged_ranks(ranker, data["training"], data["held_out"], file="x.npz", **{OPTIONS!r})
        os._exit(0)
    assert os.waitpid(child, 0)[1] == (signal.SIGALRM if is_killed else 0)
"""


def test_killed_processes_lose_no_answer(tmp_path):
    """Three processes are killed; what the scorer logged is asked for once, but the calls that ran
    at the kill.
    """
    np.savez(tmp_path / "data.npz", scores=SCORES, training=TRAINING, held_out=HELD_OUT)
    expected = staged(Asked(), file=tmp_path / "whole.npz")
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=True, timeout=300)
    pairs = Counter((tmp_path / "log").read_text().split())
    assert pairs.total() - len(pairs) <= KILLS * 2 * CALLS["pairs_per_call"]  # two calls at a time
    assert len(pairs) == expected.scored.sum()
    assert_same(sm.StagedRanks.read(tmp_path / "x.npz"), expected)


@pytest.fixture
def journal(tmp_path):
    """The journal of a run that was stopped."""
    with pytest.raises(ConnectionError):
        staged(Asked(calls=20), file=tmp_path / "x.npz")
    return tmp_path / "x.npz.journal"


def test_a_journal_serves_another_depth(journal):
    whole = Asked()
    rest = Asked()
    file = journal.with_suffix("")
    expected = staged(whole, depth=10)
    with pytest.warns(UserWarning, match=r"goes on from .*x.npz.journal"):
        assert_same(staged(rest, depth=10, file=file), expected, but=("begun",))
    assert rest.pairs.total() < whole.pairs.total()


def test_a_second_run_on_the_file_is_refused(tmp_path):
    def score(users, items):
        with pytest.raises(sm.DataError, match=r"x.npz.journal"):
            staged(Asked(), file=tmp_path / "x.npz")
        return SCORES[users, items]

    staged(score, file=tmp_path / "x.npz", pairs_per_call=10**6)


@pytest.mark.parametrize(
    ("file", "content", "error", "says"),
    [
        ("x.csv", None, sm.ConfigError, "npz"),
        ("no/x.npz", None, sm.WriteError, "folder"),
        ("x.npz", None, ConnectionError, "no network"),
        ("x.npz", b"", sm.DataError, "x.npz"),
        ("x.npz.journal", b"user,item\n" * 100, sm.DataError, "journal"),
    ],
)
def test_wrong_files_are_left_and_none_is_made(tmp_path, file, content, error, says):
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(error, match=says):
        staged(Asked(calls=0), file=tmp_path / file.removesuffix(".journal"))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == (
        [] if content is None else [content]
    )


def test_a_journal_that_is_damaged_is_refused_and_left(journal):
    whole = journal.read_bytes()
    # the pages of the scores
    damaged = whole[: 2 * 4096] + b"\xff" * (len(whole) - 2 * 4096)
    journal.write_bytes(damaged)
    with pytest.raises(sm.DataError, match=r"x.npz.journal"):
        staged(Asked(calls=0), file=journal.with_suffix(""))
    assert journal.read_bytes() == damaged


@pytest.mark.filterwarnings("ignore:goes on from")
def test_doubled_and_missing_scores_of_a_journal_change_nothing(journal):
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("INSERT INTO scores SELECT * FROM scores")
        connection.execute("DELETE FROM scores WHERE rowid % 5 = 0")
    ranks = staged(Asked(), file=journal.with_suffix(""))
    assert_same(ranks, staged(Asked()), but=("begun",))


def test_a_function_that_changes_the_working_folder_moves_no_file(tmp_path, monkeypatch):
    def score(users, items):
        os.chdir(tmp_path / "other")
        return SCORES[users, items]

    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    staged(score, file="x.npz")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["other", "x.npz"]


SEVERAL = csr_array(
    (
        ~TRAINING & (RNG.random((USERS, ITEMS)) < 0.03) & (np.arange(USERS) > 2)[:, np.newaxis]
    ).astype(int)
)
"""Held-out items, of which users have up to six, and the first ones none."""


@pytest.mark.filterwarnings("ignore:.* users have no held-out item")
def test_each_of_several_held_out_items_stops_as_if_it_were_alone_and_no_pair_is_asked_twice():
    """The counts of an item are those of a run with the other items of the user in training."""
    for depth in (None, 15):
        scorer = Asked()
        ranks = sm.staged_ranks(scorer, TRAINING, SEVERAL, k=3, depth=depth)
        assert set(scorer.pairs.values()) == {1}
        assert ranks.scored.sum() == scorer.pairs.total()
    user, item = SEVERAL.nonzero()
    for row in np.flatnonzero(np.bincount(user)[user] == 3)[:9]:
        training = TRAINING | (SEVERAL.toarray() > 0)
        alone = np.full(USERS, -1)
        alone[user[row]] = item[row]
        training[user[row], item[row]] = False
        expected = sm.staged_ranks(
            Asked(), training, alone, k=3, depth=15, order=TRAINING.sum(axis=0)
        )
        for name in ("candidates", "above", "tied", "complete"):
            assert getattr(ranks, name)[row] == getattr(expected, name)[0], name


@pytest.mark.parametrize("concurrency", [1, 3])
def test_an_async_function_is_refused(concurrency):
    async def score(users, items):
        return SCORES[users, items]

    with pytest.raises(sm.DataError, match="coroutine"):
        staged(score, concurrency=concurrency)
    gc.collect()  # no coroutine is left to be warned of


def test_a_dask_collection_is_refused_with_what_to_do():
    class DaskArray:  # what tells a collection of Dask, which can be awaited, from a coroutine
        def __await__(self):
            yield

        def __dask_graph__(self):
            return {}

    with pytest.raises(sm.DataError, match=r"compute\(\)"):
        sm.rank(DaskArray(), TRAINING, HELD_OUT)
    with pytest.raises(sm.DataError, match=r"compute\(\)"):
        staged(lambda users, items: DaskArray())


def test_a_function_of_a_single_pair_may_be_vectorised_and_else_is_told_that_it_gets_arrays():
    """Without otypes, numpy would round all scores if the first is a whole number."""

    def score(user, item):
        return float(SCORES[int(user), item])

    assert_same(staged(np.vectorize(score, otypes=[float])), staged(Asked()))
    with pytest.raises(TypeError) as caught:
        staged(score)
    assert "np.vectorize(function, otypes=[float])" in caught.value.__notes__[0]
    with pytest.raises(sm.ConfigError, match="otypes"):
        staged(np.vectorize(score))


@pytest.mark.parametrize(
    ("score", "word"),
    [
        (lambda users, items: np.full(len(users), np.nan), "user 0 "),
        (lambda users, items: SCORES[users], "90 pairs"),
        (lambda users, items: sys.exit(0), "SystemExit"),
        (lambda users, items: 0.5, "one value"),
        (lambda users, items: pd.Series(1.0, index=pd.Index(items)), "labels"),
    ],
)
def test_refuses_scores(score, word):
    with pytest.raises(sm.DataError, match=word):
        sm.staged_ranks(score, TRAINING, HELD_OUT)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        ({"k": 6}, "k is 5 there"),
        ({"seed": 1}, "seed"),
        ({"order": np.arange(ITEMS)}, "order"),
        ({"users": slice(0, 40)}, "users"),
        ({"user_ids": [f"u{user}" for user in range(USERS)]}, "training"),
        ({"name": "B"}, "ranker"),
    ],
)
@pytest.mark.filterwarnings("ignore:goes on from", "ignore:reads ")
def test_files_of_other_runs_are_refused_and_left(journal, changes, word):
    file = journal.with_suffix("")
    for path in (journal, file):
        content = path.read_bytes()
        with pytest.raises(sm.DataError, match=rf"{path.name}.*{word}"):
            staged(Asked(calls=0), file=file, **changes)
        assert path.read_bytes() == content
        staged(Asked(), file=file)


@pytest.mark.parametrize(
    ("second", "word"),
    [
        ({}, "user 0 "),
        ({"users": slice(20, 90)}, "missing"),
        ({"users": slice(9, 90), "name": "B"}, "ranker"),
        ({"users": slice(9, 99), "depth": 9}, "depth"),
    ],
)
def test_parts_that_make_no_whole_are_refused(second, word):
    with pytest.raises(sm.DataError, match=word):
        sm.StagedRanks.concat([staged(Asked(), users=slice(0, 9)), staged(Asked(), **second)])
