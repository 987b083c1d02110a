"""What a number of scores buys, on made-up models: the rows of `plan` (tests/planning)."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import sampled_metrics as sm
from sampled_metrics.ranking.split import Split
from sampled_metrics_study import budget
from sampled_metrics_study.recommenders.models import FactorModel
from sampled_metrics_study.recommenders.ranking import rank_by_model

RNG = np.random.default_rng(2)
USERS = 40
ITEMS = 24
TRAINING = csr_array((RNG.random((USERS, ITEMS)) < 0.1).astype(np.int8))
TASTE = RNG.normal(size=(USERS, 4))
ITEM = RNG.normal(size=(ITEMS, 4))
LIKED = np.where(
    TRAINING.toarray(), -np.inf, TASTE @ ITEM.T + RNG.gumbel(size=(USERS, ITEMS))
).argmax(axis=1)
HELD_OUT = csr_array((np.ones(USERS, np.int8), LIKED, np.arange(USERS + 1)), shape=(USERS, ITEMS))
SPLIT = Split(TRAINING, HELD_OUT, np.arange(USERS), np.arange(ITEMS))
MODELS = {
    name: FactorModel(TASTE, ITEM + noise * RNG.normal(size=ITEM.shape))
    for name, noise in {"A": 1.0, "B": 0.3}.items()
}
EXACT = {name: rank_by_model(model, SPLIT) for name, model in MODELS.items()}
PILOTS = {name: budget.pilot_of(model, SPLIT, 5) for name, model in MODELS.items()}
WAYS = [
    "all candidates",
    "stop at k",
    "stages",
    "stop at k, part of users",
    "all candidates, part of users",
]


def bought(exact, pilots, negatives, pair):
    """The tables of widths and of chances."""
    return budget.bought(pilots, exact, "recall@5", [10], negatives, pair, replacement=False)


@pytest.fixture(scope="module")
def both():
    return bought(EXACT, PILOTS, [3], ("A", "B"))


@pytest.mark.parametrize("scores", [2**26, 7 * ITEMS], ids=["one block", "blocks of 7 users"])
def test_pilots_are_ranks_of_all_users_by_any_size_of_blocks(monkeypatch, scores):
    monkeypatch.setattr(budget, "_BLOCK_SCORES", scores)
    metrics = [sm.metric("recall@5"), sm.metric("ndcg@5")]
    values = budget.pilot_of(MODELS["A"], SPLIT, 5).outcome_values(metrics).values
    expected = [EXACT["A"].values(metric) for metric in metrics]
    np.testing.assert_allclose(values, expected, atol=1e-14)


def test_rows_are_those_of_plan(both):
    widths, chances = both
    options = {
        "metric": "recall@5",
        "depths": [10],
        "negatives": [3],
        "estimators": ["decreasing", "free"],
    }
    planned = pd.DataFrame(sm.plan([EXACT["B"], PILOTS["B"]], **options))
    columns = ["way", "scores", "width", "width_low", "width_high"]
    rows_of_b = widths.loc[widths["recommender"] == "B", columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(rows_of_b, planned[columns])
    for rows in (widths[widths["recommender"] == "A"], chances):
        assert rows["way"].tolist() == [*WAYS, *["negatives"] * 2]
        assert rows["estimator"].tolist()[-2:] == ["decreasing", "free"]
    assert chances[["worse", "better"]].drop_duplicates().to_numpy().tolist() == [["A", "B"]]


def test_the_figure_has_the_numbers(both):
    widths, chances = both
    figure = budget.draw(widths, chances, "recall@5")
    assert [panel.get_title() for panel in figure.axes] == ["A", "B", "B over A"]
    line = next(
        line for line in figure.axes[0].get_lines() if line.get_label() == "negatives, free"
    )
    rows = widths[(widths["recommender"] == "A") & (widths["estimator"] == "free")]
    np.testing.assert_array_equal(line.get_xydata(), np.c_[rows["scores"], 100 * rows["width"]])
    # the bars of the chances of the first way of which the pilot knows them
    ends = figure.axes[2].collections[0].get_segments()
    rows = chances[chances["estimator"] == "decreasing"]
    np.testing.assert_allclose(
        [end[:, 1] for end in ends], 100 * rows[["decided_low", "decided_high"]]
    )


@pytest.mark.parametrize(
    ("names", "pair", "left_out"),
    [(["A"], None, []), (["A", "same"], ("A", "same"), ["A and same"])],
    ids=["one recommender", "equal recommenders"],
)
def test_without_a_better_one_there_are_no_chances(names, pair, left_out):
    exact = dict.fromkeys(names, EXACT["A"])
    pilots = dict.fromkeys(names, PILOTS["A"])
    widths, chances = bought(exact, pilots, [], pair)
    assert chances.empty
    assert widths["way"].tolist() == WAYS * len(names)
    _, *reasons = budget.sections(widths, chances, "recall@5", pair)
    assert [reason["Pair"].item() for _, reason in reasons] == left_out
    assert len(budget.draw(widths, chances, "recall@5").axes) == len(names)
