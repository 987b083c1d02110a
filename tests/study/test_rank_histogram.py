"""Users by rank: the counts by hand, and the bars that are drawn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import table_of
from study.read_figures import texts

from sampled_metrics.ranks.table import RankTable
from sampled_metrics.study.rank_histogram import draw, rank_histogram

TABLES = {
    name: RankTable(np.arange(3), np.full(3, 40), np.array(above), np.array([0, 2, 0]))
    for name, above in (("X", [0, 9, 30]), ("Y", [1, 2, 3]), ("Z", [0, 1, 35]))
}


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


class TestDrawing:
    def test_a_bar_for_each_bucket_and_recommender_as_high_as_its_users(self):
        [panel] = draw(rank_histogram(TABLES, [5, 10])).axes
        table = rank_histogram(TABLES, [5, 10])
        buckets = ["1–5", "6–10", "11–n/2", "n/2–n"]
        assert [label.get_text() for label in panel.get_xticklabels()] == buckets
        assert [bars.get_label() for bars in panel.containers] == ["X", "Y", "Z"]
        for bars in panel.containers:
            of_one = table[table["recommender"] == bars.get_label()]
            assert [bar.get_height() for bar in bars] == pytest.approx(of_one["events"].tolist())
        assert (panel.get_xlabel(), panel.get_ylabel()) == ("predicted rank of the held-out item", "users")
        assert texts(panel.get_legend()) == ["X", "Y", "Z"]
        heights = [bar.get_height() for bars in panel.containers for bar in bars]
        assert [text.get_text() for text in panel.texts] == [f"{height:.0f}" for height in heights]
