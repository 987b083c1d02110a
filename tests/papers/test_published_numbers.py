"""Numbers as arguments of `published`: of numpy, fractions, beyond double precision; and flags."""

from fractions import Fraction

import numpy as np
import pytest
from no_numbers import require_a_flag

import sampled_metrics as sm
from sampled_metrics.errors import ConfigError, DataError

HUGE = 10**400


def published(value, **options):
    return sm.published(
        {"A": {"recall@5": value}}, **{"negatives": 10, "candidates": 100, "users": 100} | options
    )


@pytest.mark.parametrize(
    ("value", "options", "message"),
    [
        (Fraction(1, 4), {}, "A: recall@5: the value must be a number, not Fraction(1, 4)"),
        (HUGE, {}, "A: recall@5: the value must be from 0 to 1"),
        (0.2, {"negatives": np.int64(3)}, "recall@5: k must be at most the 3 negatives"),
    ],
    ids=["a fraction", "beyond double precision", "fewer negatives of numpy than k"],
)
def test_numbers_out_of_range_are_refused_in_a_line(value, options, message):
    with pytest.raises((ConfigError, DataError)) as error:
        published(value, **options)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("number", [np.int8, np.uint64])
def test_numbers_of_few_bits_are_those_of_python(number):
    result = published(0.25, negatives=number(10), candidates=number(100), users=number(100))
    assert str(result) == str(published(0.25))


def test_replacement_is_true_or_false():
    require_a_flag(lambda flag: published(0.5, replacement=flag), "replacement")
