"""A file of staged ranks belongs to a ranker: a nightly job does not report the model of yesterday."""

import functools
import subprocess
import sys

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.ranking.stages import fingerprint

SCORES = np.random.default_rng(1).random((40, 90))


def one(users, items):
    return SCORES[users, items]


def another(users, items):
    return -SCORES[users, items]


def stops(users, items, calls=[]):  # noqa: B006  # it counts its calls
    calls.append(1)
    if len(calls) > 3:
        raise ConnectionError("no network")
    return SCORES[users, items]


class Model:
    def __call__(self, users, items):
        return SCORES[users, items]

    def score(self, users, items):
        return SCORES[users, items]


def run(score, file, **options):
    return sm.staged_ranks(score, np.zeros((40, 90)), np.arange(40), depth=20, file=file, **options)


def test_another_function_is_refused(tmp_path):
    run(one, tmp_path / "night.parquet")
    with pytest.raises(sm.DataError, match=r"night\.parquet: is of another run: ranker is another one; .*--ranker"):
        run(another, tmp_path / "night.parquet")


def test_another_name_is_refused(tmp_path):
    run(one, tmp_path / "night.parquet", ranker="model of 24 November")
    with pytest.raises(sm.DataError, match="ranker is another one"):
        run(one, tmp_path / "night.parquet", ranker="model of 25 November")
    with pytest.warns(UserWarning, match=r"night\.parquet is complete; nothing was scored"):
        run(another, tmp_path / "night.parquet", ranker="model of 24 November")


def test_a_journal_of_another_function_is_refused(tmp_path):
    with pytest.raises(ConnectionError):
        run(stops, tmp_path / "night.parquet", ranker=fingerprint(one), pairs_per_call=50)
    with pytest.raises(sm.DataError, match="ranker is another one"):
        run(another, tmp_path / "night.parquet")
    assert run(one, tmp_path / "night.parquet").completed_users > 0


def test_parts_of_two_rankers_are_not_joined():
    first, second = (
        sm.staged_ranks(score, np.zeros((40, 90)), np.arange(40), users=users)
        for score, users in ((one, slice(0, 20)), (another, slice(20, 40)))
    )
    with pytest.raises(sm.DataError, match="part 2 has another ranker than part 1"):
        sm.StagedRanks.concat([first, second])


def test_fingerprints():
    assert fingerprint(one) == fingerprint(functools.partial(one)) != fingerprint(another)
    assert fingerprint(Model().score) == fingerprint(Model().score) != fingerprint(Model())
    assert fingerprint(Model()) == fingerprint(Model())
    typed: dict = {}
    exec("def f(u, i): return u\ndef g(u, i): return i", typed)
    assert fingerprint(typed["f"]) != fingerprint(typed["g"])


@pytest.mark.parametrize("ranker", [7, " "])
def test_a_name_is_text(ranker):
    with pytest.raises(sm.ConfigError, match="ranker must be a name"):
        run(one, None, ranker=ranker)


def test_the_command_does_not_say_that_it_wrote_yesterdays_file(tmp_path):
    """A second night with a changed file is refused; with the same one, it says that nothing was scored."""
    (tmp_path / "mine.py").write_text("def score(users, items): return [float(item) for item in items]\n")
    for name in ("train", "test"):
        rows = [f"u{user},i{(user + (name == 'test')) % 7}" for user in range(9)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["user,item", *rows]) + "\n")
    (tmp_path / "items.txt").write_text("".join(f"i{item}\n" for item in range(7)))
    command = [sys.executable, "-m", "sampled_metrics", "stages", "--score", "mine:score", "--training", "train.csv"]
    command += ["--held-out", "test.csv", "--item-ids", "items.txt", "-o", "night.parquet"]
    (tmp_path / "mine.py").write_text("def score(users, items): return [float(item[1:]) for item in items]\n")

    def night():
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert "night.parquet is written" in night().stdout
    again = night()
    assert (again.returncode, again.stdout) == (0, "")
    assert "night.parquet is complete; nothing was scored" in again.stderr
    (tmp_path / "mine.py").write_text("def score(users, items): return [-float(item[1:]) for item in items]\n")
    changed = night()
    assert changed.returncode == 1
    assert "ranker is another one" in changed.stderr
