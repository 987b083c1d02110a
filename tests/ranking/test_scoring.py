"""How a function of scores is called: nothing is paid twice, in whatever order the answers come."""

import asyncio
import contextlib
import functools
import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import fields
from threading import Lock

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.ranking import stages

RNG = np.random.default_rng(4)
USERS, ITEMS = 90, 140
TRAINING = RNG.random((USERS, ITEMS)) < 0.1
SCORES = np.round(RNG.normal(size=(USERS, ITEMS)), 2)
HELD_OUT = np.where(TRAINING, -np.inf, SCORES + RNG.gumbel(size=SCORES.shape)).argmax(axis=1)
OPTIONS = {"k": 5, "depth": 20}
CALLS = {"name": "A", "pairs_per_call": 64}


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(stages, "BATCH", 8)


class Asked:
    """A scorer that notes the pairs that it is asked for, and stops with an error after some calls."""

    def __init__(self, calls=None):
        self.pairs, self.calls = Counter(), calls

    def __call__(self, users, items):
        if self.calls is not None:
            if self.calls == 0:
                raise ConnectionError("no network")
            self.calls -= 1
        self.pairs.update(zip(users.tolist(), items.tolist(), strict=True))
        return SCORES[users, items]


def score_later(users, items):
    time.sleep(float(users[0] % 3) / 500)  # answers come in another order than the calls
    return SCORES[users, items]


async def score_async(users, items):
    return SCORES[users, items]


def staged(score, **options):
    calls = CALLS | {name: options.pop(name) for name in ("name", "pairs_per_call", "concurrency") if name in options}
    return sm.staged_ranks(sm.Ranker(score, **calls), TRAINING, HELD_OUT, **OPTIONS | options)


def assert_same(one, other):
    for field in fields(one):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), field.name)


class TestConcurrency:
    @pytest.mark.parametrize("concurrency", [1, 2, 7])
    def test_ranks_are_the_same(self, concurrency):
        one = staged(Asked())
        assert_same(staged(Asked(), concurrency=concurrency), one)
        assert_same(staged(score_later, concurrency=concurrency), one)

    @pytest.mark.parametrize("concurrency", [1, 5])
    def test_at_most_so_many_calls_run_at_a_time(self, concurrency):
        running, most, lock = 0, 0, Lock()

        def score(users, items):
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            time.sleep(0.002)
            with lock:
                running -= 1
            return SCORES[users, items]

        staged(score, concurrency=concurrency)
        assert most == concurrency

    @pytest.mark.parametrize("concurrency", [1, 4])
    def test_an_error_of_the_function_is_raised_as_it_is(self, concurrency):
        with pytest.raises(ConnectionError, match="no network"):
            staged(Asked(calls=3), concurrency=concurrency)

    def test_an_async_function_is_refused_and_fits_into_one_that_is_not(self):
        with pytest.warns(RuntimeWarning, match="never awaited"), pytest.raises(sm.DataError, match="score is async"):
            staged(score_async)
        assert_same(staged(lambda *pairs: asyncio.run(score_async(*pairs)), concurrency=3), staged(Asked()))


class TestJournal:
    @pytest.mark.parametrize("concurrency", [1, 3])
    def test_a_run_that_was_stopped_goes_on_and_asks_for_nothing_again(self, tmp_path, concurrency, monkeypatch):
        file, whole = tmp_path / "x.parquet", tmp_path / "whole.parquet"
        expected, total = staged(Asked(), file=whole), Counter()
        for _ in range(100):
            scorer = Asked(calls=7)
            with suppress(ConnectionError):
                monkeypatch.setattr(stages, "BATCH", int(RNG.integers(1, 9)))
                ranks = staged(scorer, file=file, concurrency=concurrency)
            total += scorer.pairs
            if file.exists():
                break
        assert set(total.values()) == {1}
        assert_same_but_scored(ranks, expected)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["whole.parquet", "x.parquet"]

    def test_the_file_of_a_finished_run_is_read(self, tmp_path):
        written = staged(Asked(), file=tmp_path / "x.parquet")
        with pytest.warns(UserWarning, match=r"x\.parquet is complete; nothing was scored"):
            assert_same(staged(Asked(calls=0), file=tmp_path / "x.parquet"), written)
        assert_same(sm.StagedRanks.read(tmp_path / "x.parquet"), written)

    @pytest.mark.parametrize(
        ("changes", "what"),
        [
            ({"k": 6}, "k is 5 there, and 6 here"),
            ({"depth": None}, "depth is 20 there, and None here"),
            ({"seed": 1}, "seed is 0 there, and 1 here"),
            ({"order": np.arange(ITEMS)}, "order is another one"),
            ({"users": slice(0, 40)}, "users is another one"),
            ({"user_ids": [f"u{user}" for user in range(USERS)]}, "training is another one"),
        ],
    )
    def test_files_of_other_runs_are_refused(self, tmp_path, changes, what):
        with pytest.raises(ConnectionError):
            staged(Asked(calls=3), file=tmp_path / "x.parquet")
        for file in ("x.parquet.journal", "x.parquet"):
            with pytest.raises(sm.DataError, match=rf"{file}: is of another run: {what}"):
                staged(Asked(calls=0), file=tmp_path / "x.parquet", **changes)
            with contextlib.suppress(UserWarning):  # the second time, nothing is scored
                staged(Asked(), file=tmp_path / "x.parquet")

    def test_a_second_run_on_the_file_is_refused(self, tmp_path):
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
            ("x.parquet", b"", sm.DataError, "x.parquet: has no staged ranks, or is damaged"),
            ("x.sqlite", b"", sm.DataError, "x.sqlite: has no staged ranks, or is damaged"),
            ("x.parquet", pd.DataFrame({"a": [1]}).to_parquet(), sm.DataError, "x.parquet: has no staged ranks"),
            ("x.parquet.journal", b"user,item\n" * 100, sm.DataError, "is not a journal of staged ranks"),
        ],
    )
    def test_wrong_files(self, tmp_path, file, content, error, says):
        if content is not None:
            (tmp_path / file).write_bytes(content)
        with pytest.raises(error, match=says):
            staged(Asked(calls=0), file=tmp_path / file.removesuffix(".journal"))
        assert content is None or (tmp_path / file).read_bytes() == content

    def test_a_damaged_journal_is_refused_and_kept(self, tmp_path):
        with pytest.raises(ConnectionError):
            staged(Asked(calls=20), file=tmp_path / "x.parquet")
        journal = tmp_path / "x.parquet.journal"
        content = bytearray(journal.read_bytes())
        content[2 * 4096 :] = b"\xff" * (len(content) - 2 * 4096)  # the pages of the scores
        journal.write_bytes(content)
        with pytest.raises(sm.DataError, match=r"x.parquet.journal: is not a journal of staged ranks"):
            staged(Asked(calls=0), file=tmp_path / "x.parquet")
        assert journal.read_bytes() == content

    def test_a_name_that_is_too_long_is_refused(self, tmp_path):
        with pytest.raises(sm.WriteError, match="File name too long"):
            staged(Asked(calls=0), file=tmp_path / f"{'x' * 300}.parquet")

    def test_an_error_before_the_first_score_leaves_no_file(self, tmp_path):
        with pytest.raises(ConnectionError):
            staged(Asked(calls=0), file=tmp_path / "x.parquet")
        assert not list(tmp_path.iterdir())

    def test_killed_processes_lose_no_answer(self, tmp_path):
        """Three processes are killed; what the scorer logged is asked for once, but the calls that ran at the kill."""
        np.savez(tmp_path / "data.npz", scores=SCORES, training=TRAINING, held_out=HELD_OUT)
        expected = staged(Asked(), file=tmp_path / "whole.parquet")
        log = tmp_path / "log"
        log.touch()
        for kill in range(KILLS + 1):
            process = subprocess.Popen([sys.executable, "-c", KILLED], cwd=tmp_path)
            lines = log.read_text().count("\n") + int(RNG.integers(1, 6))
            while kill < KILLS and process.poll() is None and log.read_text().count("\n") < lines:
                time.sleep(0.002)
            if kill < KILLS:
                process.kill()
            assert process.wait() == (-signal.SIGKILL if kill < KILLS else 0)
        pairs = Counter(pair for line in (tmp_path / "log").read_text().splitlines() for pair in line.split())
        again = sum(count - 1 for count in pairs.values())
        assert again <= KILLS * 2 * CALLS["pairs_per_call"]  # two calls at a time
        assert len(pairs) == expected.scored.sum()
        assert (tmp_path / "x.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


KILLS = 3
KILLED = f"""
import time
import numpy as np
import sampled_metrics as sm
from sampled_metrics.ranking import stages
stages.BATCH = 8
data = np.load("data.npz")
scores = data["scores"]
def score(users, items):
    with open("log", "a") as log:
        log.write(" ".join(f"{{user}},{{item}}" for user, item in zip(users, items)) + "\\n")
    time.sleep(0.01)
    return scores[users, items]
ranker = sm.Ranker(score, concurrency=2, **{CALLS!r})
sm.staged_ranks(ranker, data["training"], data["held_out"], file="x.parquet", **{OPTIONS!r})
"""


def moves(folder):
    """Return a function of scores that changes the working folder."""

    def score(users, items):
        os.chdir(folder)
        return SCORES[users, items]

    return score


@pytest.mark.parametrize("concurrency", [1, 2])
def test_a_function_that_changes_the_working_folder_moves_no_file(tmp_path, monkeypatch, concurrency):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    staged(moves(tmp_path / "other"), file="ranks.sqlite", concurrency=concurrency)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "ranks.sqlite"]
    assert not list((tmp_path / "other").iterdir())


@pytest.mark.parametrize(
    ("ranker", "error", "says"),
    [
        (lambda: sm.Ranker(3), sm.ConfigError, "score must be a function of users and items, not 3"),
        (lambda: sm.Ranker(lambda users: users), sm.ConfigError, "score must be a function of two arguments"),
        (lambda: sm.Ranker(SCORES.take, name=" "), sm.ConfigError, "name of a ranker must be text"),
        (lambda: sm.Ranker(SCORES.take, name=7), sm.ConfigError, "name of a ranker must be text"),
        (lambda: sm.Ranker(SCORES.take, pairs_per_call=1.5), sm.ConfigError, "pairs_per_call must be a whole number"),
        (lambda: sm.Ranker(SCORES.take, concurrency=2**70), sm.ConfigError, "concurrency must be a whole number"),
        (lambda: lambda users, items: np.full(len(users), np.nan), sm.DataError, "score of user 0 and item .* is NaN"),
        (lambda: lambda users, items: np.full(len(users), np.inf), sm.DataError, "item .* is NaN or [+]inf"),
        (lambda: lambda users, items: [1.0], sm.DataError, r"the scores of 90 pairs must have shape \(90,\)"),
        (lambda: lambda users, items: ["a"] * len(users), sm.DataError, "scores must be numbers, one for each pair"),
        (lambda: lambda users, items: 2**53 + 1 + 0 * items, sm.DataError, "cannot hold 9007199254740993"),
        (lambda: lambda users, items: sys.exit(0), sm.DataError, "the function of scores ends by SystemExit: 0"),
        (lambda: lambda users, items: 0.5, sm.DataError, "one value for 90 pairs; .*np.vectorize"),
    ],
)
def test_refuses(ranker, error, says):
    with pytest.raises(error, match=says):
        sm.staged_ranks(ranker(), TRAINING, HELD_OUT)


class TestAFunctionOfASinglePair:
    def test_may_return_a_number(self):
        single = staged(lambda users, items: float(SCORES[users[0], items[0]]), pairs_per_call=1)
        np.testing.assert_array_equal(single.above, staged(Asked()).above)

    @pytest.mark.parametrize(
        "function",
        [
            lambda user, item: float(SCORES[user, item]),
            lambda user, item: {}[user, item],
            lambda user, item: 1.0 if user > item else 0.0,
        ],
    )
    def test_is_named_where_it_fails(self, function):
        with pytest.raises((TypeError, ValueError)) as caught:
            staged(function)
        assert "np.vectorize" in caught.value.__notes__[0]


def assert_same_but_scored(one, other):
    """Other sizes of batches score other numbers of candidates, and nothing else differs."""
    for name in ("above", "tied", "complete", "above_at", "uniform", "fold", "score", "item"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), name)


class TestSeveralHeldOutItems:
    HELD = csr_array(
        (~TRAINING & (RNG.random((USERS, ITEMS)) < 0.03) & (np.arange(USERS) > 2)[:, np.newaxis]).astype(int)
    )

    @pytest.mark.parametrize("depth", [15, None])
    def test_no_pair_is_asked_for_twice(self, depth):
        scorer = Asked()
        with pytest.warns(UserWarning, match="no held-out item"):
            ranks = sm.staged_ranks(scorer, TRAINING, self.HELD, k=3, depth=depth)
        assert set(scorer.pairs.values()) == {1}
        assert ranks.scored.sum() == sum(scorer.pairs.values())

    def test_each_item_stops_as_if_it_were_the_only_one(self):
        """The counts of an item are those of a run with the other items of the user in training."""
        with pytest.warns(UserWarning, match="no held-out item"):
            ranks = sm.staged_ranks(Asked(), TRAINING, self.HELD, k=3, depth=15)
        user, item = self.HELD.nonzero()
        for row in np.flatnonzero(np.isin(user, np.flatnonzero(np.bincount(user) == 3)))[:9]:
            training = TRAINING.copy()
            training[user[row], self.HELD[[user[row]]].indices] = True
            training[user[row], item[row]] = False
            alone = np.full(USERS, -1)
            alone[user[row]] = item[row]
            order = TRAINING.sum(axis=0)
            with pytest.warns(UserWarning, match="no held-out item"):
                one = sm.staged_ranks(Asked(), training, alone, k=3, depth=15, order=order)
            for name in ("candidates", "above", "tied", "complete"):
                assert getattr(one, name)[0] == getattr(ranks, name)[row], name


class TestParts:
    PARTS = (slice(60, 90), slice(0, 25), slice(25, 60))

    def test_parts_join_to_the_whole(self):
        whole = staged(Asked())
        joined = sm.StagedRanks.concat([staged(Asked(), users=part) for part in self.PARTS])
        pd.testing.assert_frame_equal(joined.to_frame().sort_values("user", ignore_index=True), whole.to_frame())
        one, other = (sm.evaluate(ranks, metrics=["recall@5", "mrr@3"]) for ranks in (joined, whole))
        pd.testing.assert_frame_equal(one, other, rtol=1e-12)

    @pytest.mark.parametrize(
        ("parts", "says"),
        [
            ([], "concat takes staged ranks"),
            ([{}, {}], "user 0 is in two parts"),
            ([{"users": slice(0, 9)}, {"users": slice(20, 90)}], "have 79 of 90 users; a part is missing"),
            ([{"users": slice(0, 9)}, {"users": slice(9, 90), "name": "B"}], "part 2 has another ranker than part 1"),
            ([{"users": slice(0, 9)}, {"users": slice(9, 99), "depth": 9}], "part 2 has another depth than part 1"),
            ([{"users": slice(0, 9)}, {"users": slice(9, 99), "order": np.arange(ITEMS)}], "part 2 has another order"),
        ],
    )
    def test_refuses(self, parts, says):
        with pytest.raises(sm.DataError, match=says):
            sm.StagedRanks.concat([staged(Asked(), **part) for part in parts])


def test_a_terminal_shows_scores_and_open_users(monkeypatch):
    shown = []
    monkeypatch.setattr(stages, "terminal_status", lambda: contextlib.nullcontext(shown.append))
    ranks = staged(Asked())
    numbers = [[int(number) for number in re.findall(r"\d+", text.replace(",", ""))] for text in shown]
    scores, shares = zip(*numbers, strict=True)
    assert shown[0].endswith("% of users need more")
    assert list(scores) == sorted(scores)
    assert scores[-1] == ranks.scored.sum()
    assert list(shares) == sorted(shares, reverse=True)
    assert shares[-1] == 0


class TestWhatIsNotAJournal:
    @pytest.fixture
    def stopped(self, tmp_path):
        """The journal of a run that was stopped."""
        with pytest.raises(ConnectionError):
            staged(Asked(calls=20), file=tmp_path / "x.parquet")
        return tmp_path / "x.parquet.journal"

    def test_a_database_of_another_program_is_left(self, tmp_path):
        path = tmp_path / "x.parquet.journal"
        with contextlib.closing(sqlite3.connect(path)) as connection:
            connection.execute("CREATE TABLE scores (name TEXT)")
            connection.commit()
        content = path.read_bytes()
        with pytest.raises(sm.DataError, match=r"x.parquet.journal: is a database of another program"):
            staged(Asked(calls=0), file=tmp_path / "x.parquet")
        assert path.read_bytes() == content

    @pytest.mark.parametrize(
        "change", ["score = NULL", "score = 9e999", "score = 'x'", "user = 1.5", "user = -1", "item = NULL"]
    )
    def test_a_row_that_no_run_has_written_is_refused(self, stopped, change):
        with contextlib.closing(sqlite3.connect(stopped)) as connection:
            connection.execute(f"UPDATE scores SET {change} WHERE rowid = 3")
            connection.commit()
        with pytest.raises(sm.DataError, match=r"x.parquet.journal: is damaged: score 3 is of user"):
            staged(Asked(), file=stopped.with_suffix(""))
        assert stopped.exists()


def other_function(users, items):
    return -SCORES[users, items]


class Model:
    def __call__(self, users, items):
        return SCORES[users, items]

    def score(self, users, items):
        return SCORES[users, items]


class Trained:
    """A model with weights, which stops with an error after some calls."""

    def __init__(self, weights, calls=None):
        self.weights, self.calls = weights, calls

    def __call__(self, users, items):
        if self.calls is not None:
            if self.calls == 0:
                raise ConnectionError("no network")
            self.calls -= 1
        return self.weights[users, items]


class TestNamesOfRankers:
    """A file of staged ranks belongs to a ranker: a nightly job does not report the model of yesterday."""

    @pytest.mark.parametrize(
        ("first", "second"), [((score_later, None), (other_function, None)), ((score_later, "A"), (score_later, "B"))]
    )
    def test_the_file_of_another_ranker_is_refused(self, tmp_path, first, second):
        staged(first[0], name=first[1], file=tmp_path / "night.parquet")
        with pytest.raises(sm.DataError, match=r"night\.parquet: is of another run: ranker is another one; .*--ranker"):
            staged(second[0], name=second[1], file=tmp_path / "night.parquet")

    def test_the_journal_of_another_function_is_refused(self, tmp_path):
        label = sm.Ranker(score_later).label
        with pytest.raises(ConnectionError):
            staged(Asked(calls=3), name=label, file=tmp_path / "night.parquet")
        with pytest.raises(sm.DataError, match="ranker is another one"):
            staged(other_function, name=None, file=tmp_path / "night.parquet")
        assert staged(score_later, name=None, file=tmp_path / "night.parquet").completed_users > 0

    def test_the_journal_of_a_model_that_was_trained_anew_is_refused(self, tmp_path):
        """The code and its label are the same, and the weights are others."""
        file, journal = tmp_path / "night.parquet", tmp_path / "night.parquet.journal"
        with pytest.raises(ConnectionError):
            staged(Trained(SCORES, calls=3), name=None, file=file)
        content = journal.read_bytes()
        with pytest.raises(
            sm.DataError, match=r"night.parquet.journal: is of another ranker: user \d+ and item \d+ have"
        ):
            staged(Trained(SCORES + RNG.normal(0, 0.2, SCORES.shape)), name=None, file=file)
        assert journal.read_bytes() == content
        other_rounding = Trained(SCORES * (1 + 1e-9))
        assert staged(other_rounding, name=None, file=file).completed_users > 0

    def test_the_file_of_a_model_that_was_trained_anew_is_refused(self, tmp_path):
        file, again = tmp_path / "night.parquet", Trained(SCORES + RNG.normal(0, 0.2, SCORES.shape))
        ranks = staged(Trained(SCORES), name=None, file=file)
        with pytest.raises(sm.DataError, match=r"night.parquet: is of another ranker: user \d+ and item \d+ have"):
            staged(again, name=None, file=file)
        with pytest.warns(UserWarning, match="is complete; nothing was scored, but for some pairs again"):
            assert_same(staged(Trained(SCORES), name=None, file=file), ranks)

    def test_default_names(self):
        def label(function):
            return sm.Ranker(function).label

        assert label(score_later) == label(functools.partial(score_later)) != label(other_function)
        assert label(Model().score) == label(Model().score) != label(Model()) == label(Model())
        typed: dict = {}
        exec("def f(u, i): return u\ndef g(u, i): return i", typed)
        assert label(typed["f"]) != label(typed["g"])
