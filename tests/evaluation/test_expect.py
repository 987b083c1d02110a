"""What a sampled evaluation gives on average: against closed forms, enumeration, simulation and the paper's Table 3."""

from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sampled_metrics import expect
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranks.table import read_ranks

PUBLISHED = Path(__file__).resolve().parents[2] / "published" / "ml-1m"
RANKS = [1, 4, 9, 30]


def by_metric(table, column="expected"):
    return dict(zip(table["metric"], table[column], strict=True))


class TestClosedForms:
    @pytest.mark.parametrize("replacement", [False, True])
    @pytest.mark.parametrize("m", [1, 7, 29])
    def test_of_auc_is_auc(self, m, replacement):
        found = expect(RANKS, negatives=m, metrics=["auc"], candidates=30, replacement=replacement)
        assert found["expected"][0] == pytest.approx(np.mean([1 - (r - 1) / 29 for r in RANKS]), rel=1e-12)
        assert found["exact"][0] == pytest.approx(found["expected"][0], rel=1e-12)

    def test_of_recall_is_a_binomial_tail(self):
        """With replacement, E[Recall@k] = P(B(m, (r-1)/(n-1)) < k)."""
        m, k, n = 12, 3, 30
        tails = []
        for r in RANKS:
            p = (r - 1) / (n - 1)
            tails.append(sum(comb(m, x) * p**x * (1 - p) ** (m - x) for x in range(k)))
        found = expect(RANKS, negatives=m, metrics=[f"recall@{k}"], candidates=n, replacement=True)
        assert found["expected"][0] == pytest.approx(np.mean(tails), rel=1e-12)

    def test_of_recall_without_replacement_is_a_hypergeometric_tail(self):
        m, k, n = 12, 3, 30
        tails = [sum(comb(r - 1, x) * comb(n - r, m - x) for x in range(k)) / comb(n - 1, m) for r in RANKS]
        found = expect(RANKS, negatives=m, metrics=[f"recall@{k}"], candidates=n)
        assert found["expected"][0] == pytest.approx(np.mean(tails), rel=1e-12)

    def test_of_average_precision_is_that_of_a_truncated_geometric_sum(self):
        """With replacement, E[1/(x + 1)] = (1 - (1 - p)^(m+1)) / ((m + 1) p), and 1 where p = 0."""
        m, n = 12, 30
        means = [1.0]
        for r in RANKS[1:]:
            p = (r - 1) / (n - 1)
            means.append((1 - (1 - p) ** (m + 1)) / ((m + 1) * p))
        found = expect(RANKS, negatives=m, metrics=["ap"], candidates=n, replacement=True)
        assert found["expected"][0] == pytest.approx(np.mean(means), rel=1e-12)

    def test_of_a_sample_of_everything_is_exact_and_does_not_vary(self):
        found = expect(RANKS, negatives=29, candidates=30)
        assert found["expected"].to_numpy() == pytest.approx(found["exact"].to_numpy(), rel=1e-12)
        assert found["deviation"].to_numpy() == pytest.approx(0, abs=1e-7)

    def test_of_users_with_ties_and_candidates_of_their_own(self):
        ranks = pd.DataFrame({"candidates": [6, 9], "above": [0, 3], "tied": [2, 0]})
        found = expect(ranks, negatives=2, metrics=["recall@1", "auc"])

        def first(n, rank):
            return comb(n - rank, 2) / comb(n - 1, 2)

        assert by_metric(found)["recall@1"] == pytest.approx(
            (np.mean([first(6, r) for r in (1, 2, 3)]) + first(9, 4)) / 2
        )
        assert by_metric(found)["auc"] == pytest.approx((1 - 1 / 5 + 1 - 3 / 8) / 2)


class TestSimulation:
    def test_mean_and_deviation_of_one_evaluation(self):
        """20000 evaluations of four users by the definition: draw negatives, count those above."""
        rng = np.random.default_rng(5)
        m, n, repetitions = 6, 30, 20_000
        x = np.stack([rng.hypergeometric(r - 1, n - r, m, size=repetitions) for r in RANKS], axis=1)
        found = expect(RANKS, negatives=m, metrics=["recall@2", "ap"], candidates=n)
        for metric, values in (("recall@2", x < 2), ("ap", 1 / (x + 1))):
            means = values.mean(axis=1)
            assert by_metric(found)[metric] == pytest.approx(means.mean(), abs=4 * means.std() / np.sqrt(repetitions))
            assert by_metric(found, "deviation")[metric] == pytest.approx(means.std(), rel=0.03)


class TestWrongOrder:
    def test_two_recommenders_that_sampling_swaps(self):
        """B has one user at the top and the others far down; A has all in between."""
        a, b = [20] * 10, [1] * 3 + [900] * 7
        found = expect({"A": a, "B": b}, negatives=50, metrics=["recall@10"], candidates=1000)
        exact = dict(zip(found["recommender"], found["exact"], strict=True))
        assert exact == {"A": 0.0, "B": 0.3}
        assert len(found.remarks) == 1
        assert found.remarks[0].startswith(
            "Wrong order: B is better than A on Recall@10 (0.3000 against 0.0000), but among 50 sampled negatives"
        )

    def test_is_not_said_of_a_right_one_or_of_equals(self):
        assert expect({"A": [5] * 4, "B": [1] * 4}, negatives=50, candidates=1000).remarks == ()
        assert expect({"A": [5, 1], "B": [1, 5]}, negatives=50, candidates=1000).remarks == ()

    def test_of_the_published_ranks_is_that_of_the_paper(self):
        """Table 3: exactly Z > Y > X on Recall@10; among 100 negatives 66.77, 56.53 and 54.16 the other way round."""
        tables = {name: read_ranks(PUBLISHED / f"{name}.csv.gz") for name in "XYZ"}
        found = expect(tables, negatives=100, metrics=["recall@10", "auc"])
        recall = found[found["metric"] == "recall@10"].set_index("recommender")
        assert (100 * recall["exact"]).round(2).to_dict() == {"X": 7.80, "Y": 8.84, "Z": 9.42}
        printed = {"X": 66.77, "Y": 56.53, "Z": 54.16}
        for name, mean in printed.items():
            assert 100 * recall["expected"][name] == pytest.approx(mean, abs=0.03)
        swapped = [remark for remark in found.remarks if "Recall@10" in remark]
        pairs = [("Y", "X"), ("Z", "X"), ("Z", "Y")]
        assert [remark.split(" on ")[0] for remark in swapped] == [
            f"Wrong order: {better} is better than {worse}" for better, worse in pairs
        ]
        assert not [remark for remark in found.remarks if "AUC" in remark]


class TestForms:
    def test_columns_are_those_that_are_promised(self):
        found = expect({"A": RANKS, "B": RANKS}, negatives=5, candidates=30, estimators=["uncorrected", "bv-0.1"])
        assert list(found.columns) == ["recommender", "estimator", "metric", "exact", "expected", "deviation"]
        assert len(found) == 2 * 2 * 4
        assert found["recommender"].unique().tolist() == ["A", "B"]

    @pytest.mark.parametrize(
        ("arguments", "error", "says"),
        [
            ({"negatives": 30}, DataError, "30 negatives without replacement were asked for.* only 29"),
            ({"negatives": 0}, ConfigError, "1 or more, not 0"),
            ({"negatives": 5.5}, ConfigError, "the number of negatives must be a whole number, 1 or more, not 5.5"),
            ({"ranks": {1: RANKS, "1": RANKS}}, DataError, "two recommenders are called '1'"),
            ({"ranks": pd.DataFrame({"rank": RANKS, "negatives": 9})}, DataError, "ranks: has a column negatives"),
            ({"estimators": ["cls", "cls"]}, ConfigError, "'cls' is there twice"),
            ({"estimators": ["mle"]}, ConfigError, "mle"),
            ({"metrics": ["x"]}, ConfigError, "unknown metric"),
            ({"ranks": {}}, DataError, "no ranks"),
        ],
    )
    def test_refusals_say_why(self, arguments, error, says):
        with pytest.raises(error, match=says):
            expect(**{"ranks": RANKS, "negatives": 5, "candidates": 30, **arguments})
