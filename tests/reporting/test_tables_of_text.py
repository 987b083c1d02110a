"""Tables of text."""

import pandas as pd

from sampled_metrics.reporting import tables


def test_the_best_is_the_largest_as_shown_of_its_group_and_none_where_all_are_equal():
    values = pd.Series([0.123, 0.1234, 0.1, 0.5, 0.5, float("nan"), 0.2])
    cells = pd.Series(list("1234567"))
    cells_with_best = tables.with_best(cells, values, [pd.Series(list("aaabbcc"))], 3)
    assert cells_with_best.tolist() == ["**1**", "**2**", "3", "4", "5", "6", "7"]
    assert tables.plus_minus(-0.001, 0.12, 2) == "0.00±0.12"
