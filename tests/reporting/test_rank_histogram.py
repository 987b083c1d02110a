"""Users by rank: the counts by hand, and the bars that are drawn."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import table_of

from sampled_metrics.reporting.rank_histogram import rank_histogram


class TestCounts:
    @settings(max_examples=50)
    @given(
        st.lists(
            st.integers(1, 40).flatmap(
                lambda n: st.integers(0, n - 1).flatmap(
                    lambda above: st.tuples(st.just(n), st.just(above), st.integers(0, n - 1 - above))
                )
            ),
            min_size=1,
            max_size=8,
        ),
        st.sets(st.integers(1, 30), max_size=4).map(sorted),
    )
    def test_the_buckets_add_up_to_the_users(self, rows, edges):
        table = rank_histogram({"X": table_of(rows)}, edges)
        assert table["events"].sum() == pytest.approx(len(rows))
        assert (table["events"] >= 0).all()
