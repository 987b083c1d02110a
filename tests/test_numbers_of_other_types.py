"""Numbers of numpy, fractions, and numbers beyond double precision as arguments of the verbs."""

from fractions import Fraction

import numpy as np
import pytest

import sampled_metrics as sm

RANKS = sm.exact_ranks({"A": [1, 2, 3] * 20, "B": [2, 3, 4] * 20}, candidates=100, exact=True)
HUGE = 10**400
PUBLISHED = {"negatives": 10, "candidates": 100, "users": 100}


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (
            lambda: sm.evaluate(RANKS["A"], confidence_level=HUGE),
            "confidence_level must be a number above 0 and below 1",
        ),
        (lambda: sm.evaluate(RANKS["A"], confidence_level=Fraction(1, HUGE)), "confidence_level must be above 0"),
        (lambda: sm.compare(RANKS, margin=Fraction(HUGE)), "margin must be a number above 0"),
        (lambda: sm.plan(RANKS, metric="ap", negatives=(5,), users=2**63), "users must be a whole number from 2 to"),
        (
            lambda: sm.published({"A": {"recall@5": Fraction(1, 4)}}, **PUBLISHED),
            "A: recall@5: the value must be a number, not Fraction(1, 4)",
        ),
        (lambda: sm.published({"A": {"recall@5": HUGE}}, **PUBLISHED), "A: recall@5: the value must be from 0 to 1"),
        (
            lambda: sm.published({"A": {"recall@5": 0.2}}, **PUBLISHED | {"negatives": np.int64(3)}),
            "recall@5: k must be at most the 3 negatives",
        ),
    ],
)
def test_are_refused_in_a_line(call, says):
    with pytest.raises((sm.ConfigError, sm.DataError)) as refused:
        call()
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("level", [Fraction(9, 10), np.float64(0.9)])
@pytest.mark.parametrize(
    "verb",
    [
        lambda level: sm.published({"A": {"recall@5": 0.25}}, **PUBLISHED, confidence_level=level),
        lambda level: sm.plan(RANKS["A"], metric="recall@2", negatives=(5,), draws=40, confidence_level=level),
        lambda level: sm.compare(RANKS, confidence_level=level),
    ],
)
def test_give_the_result_of_the_float(verb, level):
    assert verb(level).equals(verb(0.9))


@pytest.mark.parametrize("number", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_of_few_bits_are_those_of_python(number):
    exact = RANKS["A"]
    assert sm.expect(exact, negatives=number(3)).equals(sm.expect(exact, negatives=3))
    of_numpy = sm.published({"A": {"recall@5": 0.25}}, negatives=number(10), candidates=number(100), users=number(100))
    assert str(of_numpy) == str(sm.published({"A": {"recall@5": 0.25}}, **PUBLISHED))


@pytest.mark.parametrize("label", [5, None, 0.5, True])
def test_a_metric_is_a_label(label):
    with pytest.raises(sm.ConfigError, match="a metric is a label such as 'recall@10', not "):
        sm.metric(label)


@pytest.mark.filterwarnings("error")
def test_a_plan_of_intervals_without_width():
    """Among 3 negatives, every user has a Recall@10 of 1, so that the uncorrected interval has no width."""
    result = sm.plan(RANKS["A"], metric="recall@10", negatives=(3,))
    row = result[result["estimator"] == "uncorrected"].iloc[0]
    assert (row["width"], row["width_low"], row["width_high"]) == (0, 0, 0)
