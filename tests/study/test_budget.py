"""What a number of scores buys, on made-up models."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.data.split import Split
from sampled_metrics.recommenders.models import FactorModel
from sampled_metrics.study import budget

RNG = np.random.default_rng(2)
USERS, ITEMS = 300, 90
TRAINING = csr_array((RNG.random((USERS, ITEMS)) < 0.1).astype(np.int8))
TASTE, ITEM = RNG.normal(size=(USERS, 4)), RNG.normal(size=(ITEMS, 4))
LIKED = np.where(TRAINING.toarray(), -np.inf, TASTE @ ITEM.T + RNG.gumbel(size=(USERS, ITEMS))).argmax(axis=1)
HELD_OUT = csr_array((np.ones(USERS, np.int8), LIKED, np.arange(USERS + 1)), shape=(USERS, ITEMS))
SPLIT = Split(TRAINING, HELD_OUT, np.arange(USERS), np.arange(ITEMS))
MODELS = {
    name: FactorModel(TASTE, ITEM + noise * RNG.normal(size=ITEM.shape)) for name, noise in {"A": 1.0, "B": 0.3}.items()
}


@cache
def exact():
    return {name: model.rank(SPLIT) for name, model in MODELS.items()}


@cache
def pilots():
    return {name: budget.pilot_of(model, SPLIT, 10) for name, model in MODELS.items()}


@cache
def bought():
    """Return the tables of widths and of chances."""
    return budget.bought(pilots(), exact(), "recall@10", [20], [10, 30], ("A", "B"), replacement=False)


@pytest.mark.parametrize("numbers", [2**26, 70 * ITEMS])
def test_pilots_are_ranks_of_all_users_by_any_size_of_blocks(monkeypatch, numbers):
    monkeypatch.setattr(budget, "_NUMBERS", numbers)
    pilot = budget.pilot_of(MODELS["A"], SPLIT, 10)
    expected = [exact()["A"].values(sm.metric(label)) for label in ("recall@10", "ndcg@10")]
    metrics = [sm.metric("recall@10"), sm.metric("ndcg@10")]
    np.testing.assert_allclose(pilot.outcome_values(metrics).values, expected, atol=1e-14)


class TestBought:
    def test_has_each_way_for_each_recommender(self):
        ways = ["all candidates", "stop at k", "stages", "stop at k, part of users", "all candidates, part of users"]
        widths, chances = bought()
        for name in MODELS:
            of_name = widths[widths["recommender"] == name]
            assert of_name["way"].tolist() == [*ways, *["negatives"] * 4]
            assert of_name["estimator"].tolist()[-4:] == ["decreasing", "free"] * 2
        assert chances["way"].tolist() == [*ways, *["negatives"] * 4]
        assert chances[["worse", "better"]].drop_duplicates().to_numpy().tolist() == [["A", "B"]]

    def test_is_what_plan_says(self):
        widths, chances = bought()
        options = {"metric": "recall@10", "depths": [20], "negatives": [10, 30], "estimators": ["decreasing", "free"]}
        of_b = sm.plan([exact()["B"], pilots()["B"]], **options)
        columns = ["scores", "width", "width_low", "width_high", "completed"]
        ours = widths.loc[widths["recommender"] == "B", columns]
        np.testing.assert_array_equal(ours, pd.DataFrame(of_b)[columns])
        assert chances[["ordered", "decided", "wrong"]].stack().between(0, 1).all()

    def test_one_recommender_has_no_pair(self):
        widths, chances = budget.bought(
            {"A": pilots()["A"]}, {"A": exact()["A"]}, "recall@10", [20], [], None, replacement=False
        )
        assert len(widths) == 5
        assert chances.empty
        assert len(budget.sections(widths, chances, "recall@10")) == 1
        assert len(budget.draw(widths, chances, "recall@10").axes) == 1

    def test_two_recommenders_with_the_same_exact_metric_have_no_pair(self):
        same = {"A": pilots()["A"], "same": pilots()["A"]}, {"A": exact()["A"], "same": exact()["A"]}
        widths, chances = budget.bought(*same, "recall@10", [20], [], ("A", "same"), replacement=False)
        assert chances.empty
        _, (heading, reason) = budget.sections(widths, chances, "recall@10", ("A", "same"))
        assert (heading, reason["Pair"].item()) == ("Left out", "A and same")
        assert len(budget.draw(widths, chances, "recall@10").axes) == 2

    def test_the_figure_has_the_numbers_of_the_table(self):
        widths, chances = bought()
        figure = budget.draw(widths, chances, "recall@10")
        assert [panel.get_title() for panel in figure.axes] == ["A", "B", "B over A"]
        line = next(line for line in figure.axes[0].get_lines() if line.get_label() == "negatives, free")
        of_a = widths[(widths["recommender"] == "A") & (widths["estimator"] == "free")]
        np.testing.assert_array_equal(line.get_xydata(), np.c_[of_a["scores"], 100 * of_a["width"]])

    def test_tables(self):
        (_, widths), (heading, pair) = budget.sections(*bought(), "recall@10")
        assert len(widths) == len(bought()[0])
        assert heading == "How often B comes out better than A by Recall@10, in per cent"
        assert list(pair) == ["Way", "Scores for each user", "Ordered", "Decided", "Wrong"]
        assert "stages, depth 20" in set(widths["Way"])
