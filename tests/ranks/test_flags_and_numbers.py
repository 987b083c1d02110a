"""Options that are True or False, and numbers for all rows or for each."""

import warnings

import numpy as np
import pandas as pd
import pytest
from read_and import evaluate

import sampled_metrics as sm

RANKS = [1, 3, 40]
EXACT = sm.exact_ranks(RANKS, candidates=100)
PAIR = {"x": EXACT, "y": sm.exact_ranks([2, 5, 6], candidates=100)}
SCORES = np.arange(12.0).reshape(3, 4)
TRAINING, HELD_OUT = np.eye(3, 4), np.eye(3, 4, 1)
FLAGS = {
    "replacement of sampled_ranks": lambda flag: sm.sampled_ranks(
        RANKS, negatives=50, candidates=100, replacement=flag
    ),
    "replacement of SampledRanks": lambda flag: sm.SampledRanks(np.array([0]), 5, 9, replacement=flag),
    "replacement of expect": lambda flag: sm.expect(EXACT, negatives=9, replacement=flag),
    "replacement of plan": lambda flag: sm.plan(PAIR, replacement=flag),
    "replacement of report": lambda flag: sm.report(EXACT, replacement=flag),
    "replacement of published": lambda flag: sm.published(
        {"a": {"hr@10": 0.5}}, negatives=99, candidates=999, users=10, replacement=flag
    ),
    "replacement of rank_among_negatives": lambda flag: sm.rank_among_negatives(
        SCORES, TRAINING, HELD_OUT, negatives=2, replacement=flag
    ),
    "exact of exact_ranks": lambda flag: sm.exact_ranks(RANKS, candidates=1000, exact=flag),
    "zero_based of exact_ranks": lambda flag: sm.exact_ranks(RANKS, candidates=1000, zero_based=flag),
    "zero_based of sampled_ranks": lambda flag: sm.sampled_ranks(RANKS, negatives=50, candidates=99, zero_based=flag),
}


@pytest.mark.parametrize("flag", ["no", "False", "", 0, 1, None, np.array(True), []], ids=repr)
@pytest.mark.parametrize("name", FLAGS)
def test_what_is_neither_true_nor_false_is_refused(name, flag):
    with pytest.raises(sm.ConfigError) as caught:
        FLAGS[name](flag)
    assert str(caught.value).startswith(f"{name.split()[0]}: is True or False, not {flag!r}")


@pytest.mark.parametrize("name", FLAGS)
def test_true_and_false_of_numpy_are_taken(name):
    FLAGS[name](np.False_)


@pytest.mark.parametrize("numbers", [[1000], np.array([1000]), [1000, 1000], (1000,) * 4])
def test_numbers_for_each_row_are_as_many_as_rows(numbers):
    says = f"must be one number, or one for each of the 3 rows, not {len(numbers)}"
    with pytest.raises(sm.DataError, match=f"candidates {says}"):
        sm.exact_ranks(RANKS, candidates=numbers)
    with pytest.raises(sm.DataError, match=f"negatives {says}"):
        sm.sampled_ranks(RANKS, negatives=numbers, candidates=5000)
    assert sm.exact_ranks(RANKS[:1], candidates=numbers[:1]).candidates.tolist() == [1000]


@pytest.mark.parametrize(
    ("x", "negatives", "candidates"),
    [([0, 1], [9], 99), ([0, 1], 9, [99]), ([0], [9, 9], 99), ([0, 1], 9, [[99, 99]]), ([0, 1], 9, [99] * 3)],
)
def test_columns_of_sampled_ranks_are_as_long_as_one_another(x, negatives, candidates):
    with pytest.raises(sm.DataError, match="must be one number each, or one for each row, not"):
        sm.SampledRanks(np.array(x), negatives, candidates)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_of_any_precision_are_read_without_a_warning(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = evaluate(np.array([1, 2, 300], dtype=kind), candidates=np.array([500, 500, 2048], dtype=kind))
    assert result["users"].tolist() == [3, 3, 3, 3]


def test_a_batch_of_any_size():
    for rank in (sm.rank, lambda *given, **options: sm.rank_among_negatives(*given, negatives=2, **options)):
        found = rank(SCORES, TRAINING, HELD_OUT, batch_size=2**70).to_frame()
        assert found.equals(rank(SCORES, TRAINING, HELD_OUT).to_frame())


@pytest.mark.parametrize(
    "numbers", [None, 1.5, np.nan, 2**70, "9", [9, None], [[9], [9, 9]], {}, 1j, [9, 2.5]], ids=repr
)
@pytest.mark.parametrize("column", ["x", "negatives", "candidates"])
def test_columns_of_sampled_ranks_are_integers(column, numbers):
    with pytest.raises(sm.DataError, match=f"^{column} must be integers"):
        sm.SampledRanks(**({"x": np.array([0, 1]), "negatives": 9, "candidates": 99} | {column: numbers}))


def test_a_name_in_a_column_with_half_a_pair_of_surrogates():
    frame = pd.DataFrame({"model": pd.Series(["a\udcff", "b"], dtype=object), "rank": [1, 2]})
    assert list(sm.exact_ranks(frame, candidates=9, by="model")) == [r"a\udcff", "b"]
