"""Comparisons of staged ranks, attribute by attribute."""

from dataclasses import fields

import numpy as np


def assert_same(ranks, expected, but=()):
    """All attributes are the same, but some."""
    names = {field.name for field in fields(expected)}
    assert_same_attributes(ranks, expected, names - {*but})


def assert_same_rows(ranks, expected):
    """The depth is the same, and every column."""
    assert_same_attributes(ranks, expected, ["depth", *expected.per_row])


def assert_same_attributes(ranks, expected, names):
    for name in names:
        np.testing.assert_array_equal(getattr(ranks, name), getattr(expected, name), name)
