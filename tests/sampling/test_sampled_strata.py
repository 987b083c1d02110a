"""Samples from strata: tables, outcomes, and the chances of samples at nodes."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

from sampled_metrics import DataError, correct, metric
from sampled_metrics.ranks.frames import columns_of
from sampled_metrics.sampling.split_nodes import SplitNodes
from sampled_metrics.sampling.strata import StratifiedOutcomes, StratifiedRanks, stratified_ranks

TABLE = {
    "user": [1, 2, 3],
    "above_top": [3, 0, 1],
    "negatives_top": [5, 5, 0],
    "size_top": [5, 8, 0],
    "above_rest": [2, 1, 0],
    "negatives_rest": [4, 4, 4],
    "size_rest": [20, 21, 22],
}


def changed(**columns):
    return pd.DataFrame(TABLE | {"above_top": [3, 0, 0]} | columns)


class TestTable:
    def test_columns_of_strata(self):
        found = stratified_ranks(columns_of(changed(), "x"))
        assert found.strata == ("top", "rest")
        assert found.x.tolist() == [[3, 2], [0, 1], [0, 0]]
        assert found.candidates.tolist() == [26, 30, 23]
        assert found.negatives.tolist() == [9, 9, 4]

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            ({"above_top": [3, 0, 1]}, r"x, user 3: above_top is 1, but 0 negatives were drawn \(negatives_top\)"),
            (
                {"negatives_rest": [4, 22, 4]},
                r"x, user 2: negatives_rest is 22, but the stratum has 21 candidates \(size_rest\)",
            ),
            ({"above_rest": [2, -1, 0]}, "x, user 2: above_rest must be a whole number, 0 or more, not -1"),
            ({"candidates": [26, 30, 24]}, "x, user 3: candidates is 24, but the strata have 23"),
            ({"tied_rest": [3, 0, 0]}, "x, user 1: above_rest and tied_rest are more than negatives_rest"),
            ({"rank": [1, 2, 3]}, "has strata and a column rank"),
            ({"size_top": [5, 8, 1]}, r"x, user 3: negatives_top is 0, but the stratum has 1 candidates \(size_top\)"),
        ],
    )
    def test_wrong_numbers_name_the_stratum(self, columns, message):
        with pytest.raises(DataError, match=message):
            stratified_ranks(columns_of(changed(**columns), "x"))

    def test_a_stratum_without_numbers_above(self):
        with pytest.raises(DataError, match="lacks the column above_rest"):
            stratified_ranks(columns_of(changed().drop(columns="above_rest"), "x"))

    def test_a_column_above_something_is_no_stratum(self):
        ranks = pd.DataFrame({"rank": [1, 3], "above_average": [0, 1]})
        assert len(correct(ranks, candidates=50, negatives=10, metrics="auc", estimators="bv-0.1")) == 1

    def test_a_missing_column(self):
        with pytest.raises(DataError, match="lacks the column size_rest"):
            stratified_ranks(columns_of(changed().drop(columns="size_rest"), "x"))

    def test_ties_put_the_item_at_a_random_place_among_them(self):
        users = 20_000
        table = {"above_a": 1, "tied_a": 2, "negatives_a": 4, "size_a": 9, "above_b": 0, "tied_b": 1}
        table = pd.DataFrame(table | {"negatives_b": 3, "size_b": 9}, index=range(users))
        x = stratified_ranks(columns_of(table, "x")).x
        places = np.bincount(x.sum(axis=1) - 1, minlength=4) / users
        assert places == pytest.approx([1 / 4] * 4, abs=4 * np.sqrt(0.25 * 0.75 / users))

    def test_one_stratum_is_a_uniform_sample(self):
        rng = np.random.default_rng(0)
        x = np.minimum(rng.geometric(0.2, 300) - 1, 20)
        strata = pd.DataFrame({"above_all": x, "negatives_all": 20, "size_all": 199})
        one = correct(strata, estimators=["decreasing", "smooth"], metrics="ap")
        other = correct(x + 1, candidates=200, negatives=20, estimators=["decreasing", "smooth"], metrics="ap")
        pd.testing.assert_frame_equal(pd.DataFrame(one), pd.DataFrame(other))

    def test_other_arguments_are_refused(self):
        with pytest.raises(DataError, match="has strata, whose columns say what was drawn"):
            correct(changed(), candidates=100)
        with pytest.raises(DataError, match=r"bv-0\.1 is not for samples from strata"):
            correct(changed(), estimators="bv-0.1")


def outcomes_of(x, drawn, sizes):
    rows = np.broadcast_arrays(x, drawn, sizes)
    return StratifiedOutcomes.observed(StratifiedRanks(tuple("abc")[: rows[0].shape[1]], *rows))


class TestNodes:
    def test_small_n_has_every_split_once(self):
        nodes = SplitNodes.of(np.array([3, 6]), set())
        splits = {tuple(each) for each in nodes.split}
        assert splits == {(a, b) for a in range(4) for b in range(7)}
        assert len(nodes.split) == 28
        assert (nodes.first[nodes.range_of] == nodes.split.sum(axis=1)).all()

    def test_three_strata(self):
        nodes = SplitNodes.of(np.array([2, 2, 1]), set())
        assert {tuple(each) for each in nodes.split} == {
            (a, b, c) for a in range(3) for b in range(3) for c in range(2)
        }

    def test_chances_are_products_of_hypergeometric_ones(self):
        sizes, drawn = np.array([3, 6]), np.array([2, 4])
        x = np.array([(a, b) for a in range(3) for b in range(5)])
        outcomes, _ = outcomes_of(x, drawn, sizes)
        nodes = SplitNodes.of(sizes, set())
        found, row = nodes.likelihood(outcomes)
        for at, seen in zip(row, outcomes.x, strict=True):
            expected = [
                np.prod([hypergeom.pmf(seen[s], sizes[s], split[s], drawn[s]) for s in range(2)])
                for split in nodes.split
            ]
            assert found[at] == pytest.approx(expected, abs=1e-12)
        assert found.sum(axis=0) == pytest.approx(np.ones(len(nodes.split)))

    def test_chances_are_the_shares_of_draws(self):
        rng, sizes, drawn, above = np.random.default_rng(1), np.array([40, 300]), np.array([10, 20]), np.array([7, 60])
        x = rng.hypergeometric(above, sizes - above, drawn, size=(20_000, 2))
        outcomes, _ = outcomes_of(x, drawn, sizes)
        exact = SplitNodes(*(np.array(each) for each in ([67], [67], [0])), *(above[np.newaxis] for _ in range(3)))
        found, row = exact.likelihood(outcomes)
        likely = found[row, 0] > 2e-3
        shares = outcomes.events / 20_000
        assert likely.sum() > 40
        assert shares[likely] == pytest.approx(found[row, 0][likely], abs=4.5 * np.sqrt(0.05 / 20_000))

    def test_known_and_empty_strata(self):
        outcomes, _ = outcomes_of(np.array([[2, 1]]), np.array([3, 2]), np.array([3, 9]))
        nodes = SplitNodes.of(np.array([3, 9]), set())
        found, _ = nodes.likelihood(outcomes)
        assert (nodes.split[found[0] > 0, 0] == 2).all()
        outcomes, _ = outcomes_of(np.array([[0, 1]]), np.array([0, 2]), np.array([0, 9]))
        found, _ = nodes.likelihood(outcomes)
        assert (nodes.split[found[0] > 0, 0] == 0).all()

    def test_values_are_means_over_the_ranks_of_a_range(self):
        nodes = SplitNodes.of(np.array([50, 900]), {10, 25})
        n = np.array([951])
        values = nodes.values((metric("recall@25"), metric("ap"), metric("auc")), n, np.array([1]))
        for at, (first, last) in enumerate(zip(nodes.first, nodes.last, strict=True)):
            ranks = np.arange(first, last + 1) + 1.0
            expected = (ranks <= 25).mean(), (1 / ranks).mean(), ((951 - ranks) / 950).mean()
            assert values[at] == pytest.approx(expected, rel=2e-3)
        assert set(values[:, 0]) == {0.0, 1.0}
