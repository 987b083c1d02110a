"""Users by rank: the counts by hand, and the bars that are drawn."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import table_of

from sampled_metrics.study.rank_histogram import rank_histogram


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

    def test_by_hand(self):
        # halves end at rank 5, 10 and 10
        tables = {"X": table_of([(10, 0, 2), (20, 9, 1), (21, 20, 0)]), "Y": table_of([(20, 4, 0)])}
        table = rank_histogram(tables, [2, 8])
        assert list(table.columns) == ["recommender", "bucket", "events"]
        of_x = table[table["recommender"] == "X"].set_index("bucket")["events"]
        assert of_x.to_dict() == pytest.approx({"1–2": 2 / 3, "3–8": 1 / 3, "9 to half": 1 / 2, "worse half": 3 / 2})
        of_y = table[table["recommender"] == "Y"].set_index("bucket")["events"]
        assert of_y.to_dict() == pytest.approx({"1–2": 0, "3–8": 1, "9 to half": 0, "worse half": 0})
