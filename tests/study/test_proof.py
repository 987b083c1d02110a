"""What samples prove: the intervals of expected samples, against samples that were drawn, and their figure."""

import numpy as np
import pytest
from read_and import compare, correct
from study.read_figures import assert_texts_are_apart

from sampled_metrics.errors import DataError
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.study.proof import draw, proven

USERS, N = 2000, 300


def table(exponent, seed):
    """Ranks of a power law, in a random order of users."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(1, N + 1) ** exponent
    above = rng.choice(N, USERS, p=chances / chances.sum())
    return ExactRanks(rng.permutation(USERS), np.full(USERS, N), above, np.zeros(USERS, dtype=int))


TABLES = {"good": table(1.2, 1), "bad": table(0.7, 2), "worse": table(0.6, 3)}


@pytest.fixture(scope="module")
def found():
    return proven(TABLES, "recall@10", [150, 10, 40, 300], replacement=False)


def sampled(name, m, rng):
    above = TABLES[name].above[np.argsort(TABLES[name].users)]
    return rng.hypergeometric(above, N - 1 - above, m) + 1


def test_sizes_are_sorted_and_larger_ones_left_out(found):
    alone, paired = found
    assert alone["negatives"].unique().tolist() == [10, 40, 150] == paired["negatives"].unique().tolist()
    with pytest.raises(DataError, match="negatives of the figure: each is above 299"):
        proven(TABLES, "ap", [300], replacement=False)


def test_the_ends_are_near_those_of_samples(found):
    rng = np.random.default_rng(4)
    cell = found[0].query("recommender == 'bad' and negatives == 40 and assumption == 'decreasing'")
    drawn = [
        correct(sampled("bad", 40, rng), candidates=N, negatives=40, estimators="decreasing", metrics="recall@10")
        for _ in range(8)
    ]
    explained = [table for table in drawn if table["low"].notna().all()]
    assert len(explained) >= 7  # one in a hundred samples is refused
    width = float((cell["high"] - cell["low"]).iloc[0])
    for end in ("low", "high"):
        assert np.mean([each[end].iloc[0] for each in explained]) == pytest.approx(cell[end].iloc[0], abs=0.15 * width)


def test_the_decisions_are_near_those_of_samples(found):
    """Users are the same in all samples here, so clear decisions are a little more frequent."""
    rng = np.random.default_rng(5)
    cells = found[1].query("better == 'bad' and worse == 'worse' and negatives == 150").set_index("assumption")
    drawn = [
        compare(
            sampled("worse", 150, rng),
            sampled("bad", 150, rng),
            candidates=N,
            negatives=150,
            estimator="decreasing",
            metrics="recall@10",
            names=("worse", "bad"),
        )["conclusion"].iloc[0]
        for _ in range(8)
    ]
    assert "worse" not in drawn
    assert np.mean([each == "bad" for each in drawn]) == pytest.approx(cells.loc["decreasing", "right"], abs=0.3)
    assert (cells["wrong"] < 0.01).all()


def test_the_figure_has_a_panel_for_each_recommender_and_assumption(found):
    figure = draw(*found)
    titles = [panel.get_title() for panel in figure.axes if panel.get_visible()]
    assert titles == ["good", "bad", "worse", "if free", "if decreasing", "if convex"]
    exact = found[0].groupby("recommender", sort=False)["exact"].first()
    said = [panel.get_legend().get_title().get_text() for panel in figure.axes[:3]]
    assert said == [f"exact {100 * each:.1f} %" for each in exact]
    assert_texts_are_apart(figure)
    assert all(panel.get_xscale() == "log" for panel in figure.axes)
