"""How a function of scores is called: nothing is paid twice, in whatever order the answers come."""

import asyncio
import contextlib
import functools
import gc
import json
import os
import re
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from dataclasses import fields
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.stages import counting
from sampled_metrics.stages import rank as staged_runs

RNG = np.random.default_rng(4)
USERS = 90
ITEMS = 140
TRAINING = RNG.random((USERS, ITEMS)) < 0.1
SCORES = np.round(RNG.normal(size=(USERS, ITEMS)), 2)
HELD_OUT = np.where(TRAINING, -np.inf, SCORES + RNG.gumbel(size=SCORES.shape)).argmax(axis=1)
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


def assert_same(ranks, expected, but=()):
    for field in fields(ranks):
        if field.name not in but:
            np.testing.assert_array_equal(
                getattr(ranks, field.name), getattr(expected, field.name), field.name
            )


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


class Busy:
    """Scores that take a millisecond each, and the seconds and pairs of the calls."""

    def __init__(self):
        self.seconds = []
        self.pairs = []

    def __call__(self, users, items):
        begin = time.perf_counter()
        time.sleep(len(users) / 1000)
        self.seconds.append(time.perf_counter() - begin)
        self.pairs.append(len(users))
        return SCORES[users, items]


def test_threads_are_busy_until_the_end_and_the_ranks_are_those_of_one():
    """With calls of 1024 pairs, all held-out items are in one call, and few users keep one thread
    busy.
    """
    busy = Busy()
    begin = time.perf_counter()
    table = staged(busy, concurrency=16, pairs_per_call=1024)
    share = sum(busy.seconds) / (16 * (time.perf_counter() - begin))
    assert share > 0.3
    assert max(busy.pairs) <= 1024
    single = Asked()
    assert_same(table, staged(single))
    assert sum(busy.pairs) == single.pairs.total()


@pytest.mark.parametrize("concurrency", [1, 3])
def test_the_traceback_of_an_interruption_ends_where_the_run_was_called(concurrency):
    def score(users, items):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interruption:
        sm.staged_ranks(sm.Ranker(score, concurrency=concurrency), TRAINING, HELD_OUT)
    assert [entry.name for entry in interruption.traceback][1:] == ["staged_ranks"]


def test_an_async_function_is_refused_and_fits_into_one_that_is_not():
    async def score(users, items):
        return SCORES[users, items]

    async def score_of_pair(user, item):
        return SCORES[user, item]

    for function in (score, np.vectorize(score_of_pair, otypes=[object])):
        for concurrency in (1, 3):
            with pytest.raises(sm.DataError, match=r"score must be .* coroutine"):
                staged(function, concurrency=concurrency)
            gc.collect()  # no coroutine is left to be warned of
    with pytest.raises(sm.DataError, match=r"scores must be .* coroutine"):
        sm.rank(lambda users: score(users, 0), TRAINING, HELD_OUT)
    with pytest.raises(sm.DataError, match=r"order must be .* coroutine"):
        staged(Asked(), order=lambda user: score(user, 0))
    gc.collect()
    assert_same(staged(lambda *pairs: asyncio.run(score(*pairs)), concurrency=3), staged(Asked()))


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


def test_a_function_of_a_single_pair_may_return_a_number_or_be_vectorised():
    """Its first score is a whole number, and the others are not."""

    def score(user, item):
        return 0 if (user + item) % 3 else float(SCORES[user, item])

    by_arrays = staged(
        lambda users, items: [float(score(*pair)) for pair in zip(users, items, strict=True)]
    )
    vectorised = np.vectorize(score, otypes=[float])
    np.testing.assert_array_equal(staged(vectorised).above, by_arrays.above)
    assert sm.Ranker(functools.partial(vectorised)).label == sm.Ranker(score).label
    single = staged(
        lambda users, items: score(users[0], items[0]), pairs_per_call=1, users=slice(9)
    )
    np.testing.assert_array_equal(single.above, by_arrays.above[:9])
    with pytest.raises(ValueError, match="not a score") as caught:
        staged(lambda user, item: float("not a score"))
    assert "np.vectorize(function, otypes=[float])" in caught.value.__notes__[0]


@pytest.mark.parametrize("concurrency", [1, 3])
@pytest.mark.parametrize("pairs_per_call", [1, 1024])
@pytest.mark.parametrize(
    ("score", "cause"),
    [
        pytest.param(lambda user, item: {}[user, item], "TypeError: unhashable type", id="dict"),
        pytest.param(
            lambda user, item: user.lower(), "AttributeError: .* has no attribute", id="text"
        ),
        pytest.param(lambda user, item: json.dumps([user]), "TypeError: .* not JSON", id="request"),
        pytest.param(lambda user, item: [3.0][user], "TypeError: only .* arrays", id="list"),
    ],
)
def test_a_function_of_a_single_pair_is_told_that_it_gets_arrays(
    score, cause, pairs_per_call, concurrency
):
    says = (
        rf"^score failed, {cause}.*; it is called with arrays of users and items; .*np\.vectorize"
    )
    with pytest.raises(sm.DataError, match=says) as error:
        staged(score, pairs_per_call=pairs_per_call, concurrency=concurrency)
    assert error.value.__cause__ is not None


def test_a_comparison_of_arrays_is_told_that_it_gets_arrays():
    with pytest.raises(
        sm.DataError, match=r"[Tt]he truth value of an array .*; it is called with arrays"
    ):
        staged(lambda user, item: 1.0 if user > item else 0.0)


@pytest.mark.parametrize(
    ("score", "options", "says"),
    [
        (3, {}, "score must be a function of users and items, not 3"),
        (lambda users: users, {}, "score must be a function of two arguments"),
        (np.vectorize(lambda user, item: 0), {}, r"type of the first one; .*otypes=\[float\]"),
        (SCORES.take, {"name": " "}, "name of a ranker must be text"),
        (SCORES.take, {"name": 7}, "name of a ranker must be text"),
        (SCORES.take, {"pairs_per_call": 1.5}, "pairs_per_call must be a whole number"),
        (SCORES.take, {"concurrency": 2**70}, "concurrency must be a whole number"),
    ],
)
def test_refuses_rankers(score, options, says):
    with pytest.raises(sm.ConfigError, match=says):
        sm.staged_ranks(sm.Ranker(score, **options) if options else score, TRAINING, HELD_OUT)


@pytest.mark.parametrize(
    ("score", "says"),
    [
        (lambda users, items: np.full(len(users), np.nan), "score of user 0 and item .* is NaN"),
        (lambda users, items: np.full(len(users), np.inf), "item .* is NaN or [+]inf"),
        (lambda users, items: [1.0], r"the scores of 90 pairs must have shape \(90,\)"),
        (lambda users, items: ["a"] * len(users), "scores must be numbers, one for each pair"),
        (lambda users, items: 2**53 + 1 + 0 * items, "cannot hold 9007199254740993"),
        (lambda users, items: sys.exit(0), "the function of scores ends by SystemExit: 0"),
        (lambda users, items: 0.5, "one value for 90 pairs; .*np.vectorize"),
    ],
)
def test_refuses_scores(score, says):
    with pytest.raises(sm.DataError, match=says):
        sm.staged_ranks(score, TRAINING, HELD_OUT)


@pytest.mark.parametrize("concurrency", [1, 3])
def test_a_run_that_was_stopped_goes_on_and_asks_for_nothing_again(
    tmp_path, concurrency, monkeypatch
):
    file = tmp_path / "x.parquet"
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
    assert_same(ranks, expected, but=("scored", "digests"))
    assert os.listdir(tmp_path) == ["x.parquet"]
    with pytest.warns(UserWarning, match=r"x\.parquet is complete; nothing was scored"):
        assert_same(staged(Asked(calls=0), file=file), ranks)


KILLS = 3
KILLED = f"""
import os, random, signal, time
import numpy as np
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
        sm.staged_ranks(ranker, data["training"], data["held_out"], file="x.parquet", **{OPTIONS!r})
        os._exit(0)
    assert os.waitpid(child, 0)[1] == (signal.SIGALRM if is_killed else 0)
"""


def test_killed_processes_lose_no_answer(tmp_path):
    """Three processes are killed; what the scorer logged is asked for once, but the calls that ran
    at the kill.
    """
    np.savez(tmp_path / "data.npz", scores=SCORES, training=TRAINING, held_out=HELD_OUT)
    expected = staged(Asked(), file=tmp_path / "whole.parquet")
    subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, check=True, timeout=300)
    pairs = Counter((tmp_path / "log").read_text().split())
    assert pairs.total() - len(pairs) <= KILLS * 2 * CALLS["pairs_per_call"]  # two calls at a time
    assert len(pairs) == expected.scored.sum()
    assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.fixture
def journal(tmp_path):
    """The journal of a run that was stopped."""
    with pytest.raises(ConnectionError):
        staged(Asked(calls=20), file=tmp_path / "x.parquet")
    return tmp_path / "x.parquet.journal"


@pytest.mark.parametrize(
    ("changes", "what"),
    [
        ({"k": 6}, "k is 5 there, and 6 here"),
        ({"seed": 1}, "seed is 0 there, and 1 here"),
        ({"order": np.arange(ITEMS)}, "order is another one"),
        ({"users": slice(0, 40)}, "users is another one"),
        ({"user_ids": [f"u{user}" for user in range(USERS)]}, "training is another one"),
        ({"name": "B"}, "ranker is another one; .*--ranker"),
    ],
)
def test_files_of_other_runs_are_refused(journal, changes, what):
    file = journal.with_suffix("")
    with pytest.raises(sm.DataError, match=rf"x.parquet.journal: is of another run: {what}"):
        staged(Asked(calls=0), file=file, **changes)
    staged(Asked(), file=file)
    with pytest.raises(sm.DataError, match=rf"x.parquet: is of another run: {what}"):
        staged(Asked(calls=0), file=file, **changes)


def test_a_journal_serves_another_depth(journal):
    whole = Asked()
    rest = Asked()
    file = journal.with_suffix("")
    expected = staged(whole, depth=10)
    assert_same(staged(rest, depth=10, file=file), expected)
    assert rest.pairs.total() < whole.pairs.total()
    content = file.read_bytes()
    smaller = Asked(calls=0)
    with pytest.warns(
        UserWarning, match=r"x.parquet has depth 10, of which depth 5 is a part; it stays as it is"
    ):
        assert_same(staged(smaller, depth=5, file=file), staged(Asked(), depth=5))
    assert file.read_bytes() == content


def test_a_model_that_was_trained_anew_is_refused_although_its_code_is_the_same(tmp_path):
    """A nightly job does not report the model of yesterday; another rounding is the same model."""
    file = tmp_path / "x.parquet"
    new_scores = SCORES + RNG.normal(0, 0.2, SCORES.shape)
    with pytest.raises(ConnectionError):
        staged(Asked(calls=3), name=None, file=file)
    content = (tmp_path / "x.parquet.journal").read_bytes()
    with pytest.raises(
        sm.DataError, match=r"x.parquet.journal: is of another ranker: user \d+ and item \d+ have"
    ):
        staged(Asked(scores=new_scores), name=None, file=file)
    assert (tmp_path / "x.parquet.journal").read_bytes() == content
    ranks = staged(Asked(scores=SCORES * (1 + 1e-9)), name=None, file=file)
    with pytest.raises(
        sm.DataError, match=r"x.parquet: is of another ranker: user \d+ and item \d+ have"
    ):
        staged(Asked(scores=new_scores), name=None, file=file)
    with pytest.warns(
        UserWarning, match="is complete; nothing was scored, but for some pairs again"
    ):
        assert_same(staged(Asked(), name=None, file=file), ranks)


def test_default_names_of_rankers():
    def label(function):
        return sm.Ranker(function).label

    function_label = label(score_plainly)
    assert label(functools.partial(score_plainly)) == function_label
    assert label(lambda users, items: 0) != function_label

    scorer = Asked()
    same_scorer = Asked()
    assert label(same_scorer) == label(scorer)
    assert label(same_scorer.__call__) == label(scorer.__call__)
    assert label(scorer.__call__) != label(scorer)

    typed: dict = {}
    exec("def f(u, i): return u\ndef g(u, i): return i", typed)
    assert label(typed["f"]) != label(typed["g"])


def test_a_second_run_on_the_file_is_refused(tmp_path):
    def score(users, items):
        with pytest.raises(sm.DataError, match=r"x.parquet.journal: another run is using it"):
            staged(Asked(), file=tmp_path / "x.parquet")
        return SCORES[users, items]

    staged(score, file=tmp_path / "x.parquet", pairs_per_call=10**6)


@pytest.mark.parametrize(
    ("file", "content", "error", "says"),
    [
        ("x.csv", None, sm.ConfigError, "the name of the file must end in .parquet or .sqlite"),
        ("no/x.parquet", None, sm.WriteError, "there is no folder"),
        (f"{'x' * 300}.parquet", None, sm.WriteError, "File name too long"),
        ("x.parquet", None, ConnectionError, "no network"),
        ("x.parquet", b"", sm.DataError, "x.parquet: has no staged ranks, or is damaged"),
        ("x.sqlite", b"", sm.DataError, "x.sqlite: has no staged ranks, or is damaged"),
        (
            "x.parquet",
            pd.DataFrame({"a": [1]}).to_parquet(),
            sm.DataError,
            "x.parquet: has no staged ranks",
        ),
        (
            "x.parquet.journal",
            b"user,item\n" * 100,
            sm.DataError,
            "is not a journal of staged ranks",
        ),
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


def test_a_journal_that_is_damaged_or_of_another_program_is_refused_and_left(journal):
    def assert_refused(says):
        content = journal.read_bytes()
        with pytest.raises(sm.DataError, match=rf"x.parquet.journal: {says}"):
            staged(Asked(calls=0), file=journal.with_suffix(""))
        assert journal.read_bytes() == content

    def assert_refused_after(statement, says):
        with closing(sqlite3.connect(journal)) as connection, connection:
            connection.execute(statement)
        assert_refused(says)

    whole = journal.read_bytes()
    # the pages of the scores
    journal.write_bytes(whole[: 2 * 4096] + b"\xff" * (len(whole) - 2 * 4096))
    assert_refused("is not a journal of staged ranks")
    for change in (
        "score = NULL",
        "score = 9e999",
        "score = 'x'",
        "user = 1.5",
        "user = -1",
        "item = NULL",
    ):
        journal.write_bytes(whole)
        assert_refused_after(
            f"UPDATE scores SET {change} WHERE rowid = 3", "is damaged: score 3 is of user"
        )
    changes = ("score = score + 0.01", "item = item + 1", "user = user + 1", "mark = mark + 1")
    for change in changes:
        journal.write_bytes(whole)
        assert_refused_after(
            f"UPDATE scores SET {change} WHERE rowid = 3",
            "score 3 was changed after it was written",
        )
    journal.write_bytes(whole)
    assert_refused_after(
        "INSERT INTO scores SELECT user, item, -score, mark FROM scores WHERE rowid = 3", "score "
    )
    for content in ("NULL", "'x'", "'[1]'", "5"):
        journal.write_bytes(whole)
        assert_refused_after(
            f"UPDATE run SET content = {content}", "is damaged: it does not say of what run it is"
        )
    journal.write_bytes(whole)
    assert_refused_after("ALTER TABLE scores DROP COLUMN mark", "is a journal of another version")
    journal.unlink()
    assert_refused_after("CREATE TABLE scores (name TEXT)", "is a database of another program")


def test_scores_of_another_run_are_no_scores_of_this_one(journal):
    """Scores that are copied from one journal to another have the marks of their run."""
    foreign_journal = journal.with_name("y.parquet.journal")
    with pytest.raises(ConnectionError):
        staged(Asked(calls=20, scores=-SCORES), name="B", file=foreign_journal.with_suffix(""))
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("ATTACH ? AS other", (os.fspath(foreign_journal),))
        connection.execute("INSERT INTO scores SELECT * FROM other.scores")
    with pytest.raises(sm.DataError, match="was changed after it was written"):
        staged(Asked(), file=journal.with_suffix(""))


def test_doubled_and_missing_scores_of_a_journal_change_nothing(journal):
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("INSERT INTO scores SELECT * FROM scores")
        connection.execute("DELETE FROM scores WHERE rowid % 5 = 0")
    assert_same(staged(Asked(), file=journal.with_suffix("")), staged(Asked()))


@pytest.mark.parametrize("ends_well", [True, False])
def test_nothing_is_left_of_a_journal_that_is_removed_during_the_run(tmp_path, ends_well):
    file = tmp_path / "x.sqlite"
    calls = []

    def score(users, items):
        calls.append(1)
        if len(calls) == 4:
            (tmp_path / "x.sqlite.journal").unlink()
        if len(calls) == 6 and not ends_well:
            raise ConnectionError("no network")
        return SCORES[users, items]

    if ends_well:
        assert_same(staged(score, file=file), staged(Asked()))
    else:
        with pytest.raises(ConnectionError) as caught:
            staged(score, file=file)
        assert "x.sqlite.journal was removed during the run" in caught.value.__notes__[-1]
    assert os.listdir(tmp_path) == (["x.sqlite"] if ends_well else [])


def test_a_journal_that_took_the_place_of_a_removed_one_stays(tmp_path):
    path = tmp_path / "x.sqlite.journal"
    calls = []

    def score(users, items):
        calls.append(1)
        if len(calls) == 4:
            path.unlink()
            path.write_text("of another run")
        return SCORES[users, items]

    staged(score, file=tmp_path / "x.sqlite")
    assert path.read_text() == "of another run"


def test_a_function_that_changes_the_working_folder_moves_no_file(tmp_path, monkeypatch):
    def score(users, items):
        os.chdir(tmp_path / "other")
        return SCORES[users, items]

    (tmp_path / "other").mkdir()
    for concurrency in (1, 2):
        monkeypatch.chdir(tmp_path)
        staged(score, file=f"{concurrency}.sqlite", concurrency=concurrency)
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["1.sqlite", "2.sqlite", "other"]


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


@pytest.mark.parametrize(
    ("second", "says"),
    [
        ({}, "user 0 is in two parts"),
        ({"users": slice(20, 90)}, "have 79 of 90 users; a part is missing"),
        ({"users": slice(9, 90), "name": "B"}, "part 2 has another ranker than part 1"),
        ({"users": slice(9, 99), "depth": 9}, "part 2 has another depth than part 1"),
        ({"users": slice(9, 99), "order": np.arange(ITEMS)}, "part 2 has another order"),
    ],
)
def test_parts_that_make_no_whole_are_refused(second, says):
    with pytest.raises(sm.DataError, match=says):
        sm.StagedRanks.concat([staged(Asked(), users=slice(0, 9)), staged(Asked(), **second)])
    for no_parts in ([], 5):
        with pytest.raises(sm.DataError, match="concat takes staged ranks"):
            sm.StagedRanks.concat(no_parts)


def test_a_terminal_shows_scores_and_open_users(monkeypatch):
    lines = []
    monkeypatch.setattr(
        staged_runs, "terminal_status", lambda: contextlib.nullcontext(lines.append)
    )
    ranks = staged(Asked())
    numbers = [re.findall(r"\d+", line.replace(",", "")) for line in lines]
    scores = [int(score_count) for score_count, _ in numbers]
    percents = [int(percent) for _, percent in numbers]
    assert scores == sorted(scores)
    assert scores[-1] == ranks.scored.sum()
    assert percents == sorted(percents, reverse=True)
    assert percents[-1] == 0
