"""Calls that Python refuses: the message has a call that works, with the same arguments."""

import numpy as np
import pytest

import sampled_metrics as sm

RANKS = [1, 3, 2, 40, 7, 1, 12, 5]
TABLE = sm.exact_ranks(RANKS, candidates=50)


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("\n".join(map(str, RANKS)))


@pytest.mark.parametrize(
    ("call", "written"),
    [
        pytest.param(
            lambda: sm.correct(RANKS, negatives=39, candidates=100),
            "sm.correct(sm.sampled_ranks(ranks, negatives=39, candidates=100))",
            id="arguments of the reader",
        ),
        pytest.param(
            lambda: sm.correct(RANKS, m=39, n=np.int64(100)),
            "sm.correct(sm.sampled_ranks(ranks, negatives=39, candidates=100))",
            id="letters of the paper",
        ),
        pytest.param(
            lambda: sm.evaluate(RANKS, negatives=39, candidates=100),
            "sm.correct(sm.sampled_ranks(ranks, negatives=39, candidates=100))",
            id="sampled ranks are for correct",
        ),
        pytest.param(
            lambda: sm.evaluate("a.csv", candidates=50),
            'sm.evaluate(sm.exact_ranks("a.csv", candidates=50))',
            id="a file",
        ),
        pytest.param(
            lambda: sm.compare("a.csv", "b.csv", candidates=50),
            'sm.compare(sm.exact_ranks({"a": "a.csv", "b": "b.csv"}, candidates=50))',
            id="files by position",
        ),
        pytest.param(
            lambda: sm.compare("./a.csv", "a.csv", n=50, exact=True),
            'sm.compare(sm.exact_ranks({"A": "./a.csv", "B": "a.csv"}, candidates=50, exact=True))',
            id="files of one name",
        ),
        pytest.param(
            lambda: sm.compare(TABLE, TABLE),
            'sm.compare({"A": a, "B": b})',
            id="tables by position",
        ),
        pytest.param(
            lambda: sm.compare(RANKS, RANKS, negatives=39, n=100),
            'sm.compare(sm.sampled_ranks({"A": a, "B": b}, negatives=39, candidates=100))',
            id="numbers by position",
        ),
        pytest.param(
            lambda: sm.exact_ranks("a.csv", "b.csv", candidates=50),
            'sm.exact_ranks({"a": "a.csv", "b": "b.csv"}, candidates=50)',
            id="a reader of two files",
        ),
    ],
)
@pytest.mark.usefixtures("in_folder")
def test_the_message_has_a_call_that_python_takes(call, written):
    with pytest.raises(sm.ConfigError) as error:
        call()
    assert str(error.value).endswith(f": {written}")
    names = {"ranks": RANKS, "a": RANKS, "b": RANKS}
    if "_ranks" not in written:
        names |= {"a": TABLE, "b": TABLE}
    assert eval(written, {"sm": sm} | names) is not None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: sm.evaluate(TABLE, ["recall@10"]),
            "evaluate: only ranks has no name; the others are metrics, groups, confidence_level",
        ),
        (
            lambda: sm.exact_ranks(RANKS, 50),
            "exact_ranks: only ranks has no name; the others are candidates, exact, by, seeds, "
            "rank_column, zero_based, groups",
        ),
        (
            lambda: sm.evaluate(TABLE, k=10),
            'evaluate has no argument k; a metric has it: metrics="recall@10"',
        ),
        (
            lambda: sm.correct(TABLE, estimator="cls"),
            "correct has no argument estimator; write estimators; it has estimators, metrics, "
            "groups, confidence_level",
        ),
        (
            lambda: sm.expect(TABLE, m=9),
            "expect has no argument m; write negatives; it has negatives, metrics, replacement, "
            "estimators",
        ),
        (
            lambda: sm.evaluate(TABLE, confidence_levl=0.9),
            "evaluate has no argument confidence_levl; write confidence_level; it has metrics, "
            "groups, confidence_level",
        ),
    ],
    ids=["metric by position", "n by position", "k", "estimator", "m", "misspelt"],
)
def test_other_arguments(call, message):
    with pytest.raises(sm.ConfigError) as error:
        call()
    assert str(error.value) == message


def test_a_table_that_was_read_is_read_again():
    with pytest.raises(
        sm.ConfigError, match=r'of the reader: sm.exact_ranks\(ranks, by="model"\)$'
    ):
        sm.evaluate(TABLE, by="model")


def test_a_list_of_numbers_is_no_list_of_seeds():
    with pytest.raises(sm.DataError, match=r"^ranks: evaluate takes .*, not a list; read it first"):
        sm.evaluate(RANKS)
