"""Rank tables: what they refuse, that a file gives them back, and their expectations against enumeration."""

import gzip
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampled_metrics.errors import DataError
from sampled_metrics.metrics.metric import metric
from sampled_metrics.ranks.exact import ExactRanks, exact_ranks

LABELS = ["auc", "ap", "ndcg@3", "recall@2", "precision@2"]


def rank_table(rows, users=None):
    """Rows of (candidates, above, tied)."""
    candidates, above, tied = np.array(rows, dtype=np.int64).T
    return ExactRanks(np.arange(len(rows)) if users is None else np.array(users), candidates, above, tied)


def orders(table):
    """Every way to break the ties of all events, each as likely: tuples of ranks."""
    return product(*(range(a + 1, a + t + 2) for a, t in zip(table.above, table.tied, strict=True)))


SMALL = rank_table([(6, 0, 2), (5, 3, 1), (9, 2, 0), (4, 0, 3)])
events = st.integers(1, 9).flatmap(
    lambda n: st.integers(0, n - 1).flatmap(
        lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - 1 - above))
    )
)


class TestValidation:
    @pytest.mark.parametrize(
        "row",
        [(5, -1, 0), (5, 0, -1), (5, 5, 0), (5, 3, 2), (0, 0, 0)],
        ids=["above negative", "tied negative", "above of all", "together all", "no candidate"],
    )
    def test_refuses_a_row_and_names_its_user(self, row):
        n, above, tied = row
        with pytest.raises(DataError) as caught:
            rank_table([(5, 0, 0), row], users=[17, 42])
        message = str(caught.value)
        if min(above, tied) < 0:
            assert message == f"user 42: above ({above}) and tied ({tied}) must be 0 or more"
        else:
            rank = above + tied + 1
            assert message == f"user 42: rank {rank} (ties included) is above the number of candidates, {n}"


class TestFile:
    def test_gives_back_what_was_written(self, tmp_path):
        table = rank_table([(6, 0, 2), (5, 3, 1)], users=[7, 3])
        table.write(tmp_path / "ranks.csv.gz")
        again = exact_ranks(tmp_path / "ranks.csv.gz")
        for name in ("user", "candidates", "above", "tied"):
            assert getattr(again, name).tolist() == getattr(table, name).tolist()
            assert getattr(again, name).dtype == np.int64
        content = gzip.decompress((tmp_path / "ranks.csv.gz").read_bytes())
        assert content == b"user,candidates,above,tied\n7,6,0,2\n3,5,3,1\n"

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (
                b"user,candidates,above\n1,5,0\n",
                ", line 1: lacks the column tied (the columns are 'user', 'candidates', 'above')",
            ),
            (b"above,tied\n1,5\n", ", line 1: lacks the column candidates, how many items"),
            (b"", ": is empty; ranks are a csv"),
            (b"candidates,above,tied\n", ": has no rows"),
            (b"candidates,above,tied\n5,0,0\nmany,0,0\n", ", line 3: candidates must be a whole number, 1 or more"),
            (b"candidates,above,tied\n5,0,0\n5,0,\n", ", line 3: tied must be a whole number, 0 or more, not ''"),
            (b"candidates,above,tied\n5,nan,0\n", ", line 2: above must be a whole number, 0 or more, not 'nan'"),
            (b"candidates,rank\n5,5\n5,6\n", ", line 3: rank 6 (ties included) is above the number of candidates, 5"),
            (b"user,candidates,rank\n,5,1\n", ", line 2: user is empty"),
            (b"candidates,above,tied,negatives\n50,1,0,9\n", ", line 1: has a column negatives, so its ranks are"),
            (b"candidates,rank,rank\n5,1,1\n", ", line 1: has the column 'rank' more than once"),
        ],
    )
    def test_refuses_another_file_and_names_it(self, tmp_path, content, says):
        path = tmp_path / "ranks.csv"
        path.write_bytes(content)
        with pytest.raises(DataError) as caught:
            exact_ranks(path)
        assert str(caught.value).startswith(f"{path}{says}")
        assert "\n" not in str(caught.value)


class TestExpectations:
    @pytest.mark.parametrize("label", LABELS)
    def test_tie_deviation_is_that_over_every_way_to_break_the_ties(self, label):
        means = [metric(label).of_rank(ranks, SMALL.candidates).mean() for ranks in orders(SMALL)]
        assert len(means) == 3 * 2 * 1 * 4
        assert SMALL.tie_deviation(metric(label)) == pytest.approx(np.std(means), rel=1e-9)
        assert SMALL.values(metric(label)).mean() == pytest.approx(np.mean(means), rel=1e-12)

    @given(st.lists(events, min_size=1, max_size=4), st.integers(1, 9), st.integers(0, 9))
    def test_expected_between_is_the_mean_over_every_way_to_break_the_ties(self, rows, first, last):
        table = rank_table(rows)
        counts = [sum(first <= rank <= last for rank in ranks) for ranks in orders(table)]
        assert table.expected_between(first, last) == pytest.approx(np.mean(counts), abs=1e-12)


@pytest.mark.parametrize(
    ("column", "values", "says"),
    [
        ("candidates", 9, "exact ranks: candidates must have one dimension"),
        ("above", [0, 0.5], "exact ranks: above must be integers, not float64"),
        ("tied", [[0], [1]], "exact ranks: tied must have one dimension"),
        ("user", ["ada", None], "exact ranks: user must not have missing values"),
    ],
)
def test_columns_of_another_form_are_refused(column, values, says):
    columns = {"user": ["ada", "ben"], "candidates": [9, 9], "above": [0, 1], "tied": [0, 0]}
    ExactRanks(**columns)
    with pytest.raises(DataError, match=says):
        ExactRanks(**{**columns, column: values})
