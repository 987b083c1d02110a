"""What functions refuse of the tables of all packages."""

import pytest
from refused_tables import require_refusals

import sampled_metrics as sm

TABLES = [
    sm.exact_ranks([1, 4, 20, 3, 50], candidates=100),
    sm.sampled_ranks([1, 4, 2, 3, 5], negatives=9, candidates=100),
    sm.ranked_lists(
        {"ann": {"film": 0.9}, "bob": {"film": 0.1}},
        relevance={"ann": {"film": 1}, "bob": {"song": 1}},
    ),
]


@pytest.mark.parametrize("function", ["plan", "report"])
def test_other_ranks_are_refused_with_the_reader_to_call_or_the_functions_that_take_them(function):
    require_refusals(function, getattr(sm, function), TABLES)


@pytest.mark.parametrize("ranks", [[1, 2], {"A": 3}, {"A": []}], ids=repr)
def test_evaluate_names_the_tables_that_it_takes(ranks):
    with pytest.raises(sm.DataError, match="evaluate"):
        sm.evaluate(ranks)
