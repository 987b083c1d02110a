"""Numbers by their type, and how messages show them."""

from fractions import Fraction

import numpy as np
import pytest

from sampled_metrics._validation import is_real, is_whole, shown

NEITHER = [True, np.True_, None, "5", [5], np.array(5), 1j]


@pytest.mark.parametrize("value", [5, -5, 0, np.int64(5), np.uint8(5)])
def test_whole(value):
    assert is_whole(value)
    assert is_real(value)


@pytest.mark.parametrize("value", [5.0, 5.5, float("nan"), float("inf"), np.float32(5), Fraction(1, 2)])
def test_real(value):
    assert not is_whole(value)
    assert is_real(value)


@pytest.mark.parametrize("value", NEITHER, ids=repr)
def test_neither(value):
    assert not is_whole(value)
    assert not is_real(value)


def test_shown_as_people_write_them():
    assert [shown(each) for each in ("a", 5, np.int64(5), np.str_("a"), None)] == ["'a'", "5", "5", "'a'", "None"]
    assert len(shown("x" * 1000)) == 80
