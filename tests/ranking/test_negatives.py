"""Ranks among sampled negatives: by hand, by their distribution, and against exact ranks."""

import numpy as np
import pandas as pd
import pytest
from read_and import compare, correct, evaluate
from scipy import stats
from scipy.sparse import csr_array

from sampled_metrics import rank, rank_among_negatives
from sampled_metrics.errors import ConfigError, DataError

RNG = np.random.default_rng(3)
USERS, ITEMS = 60, 40
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.2) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
FACTORS = RNG.integers(-3, 4, (USERS, 3)).astype(float), RNG.integers(-3, 4, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T


class Scorer:
    """Scores by item number: item j scores j, so ranks show which items were drawn."""

    def __init__(self, users: int, items: int) -> None:
        self.rows = np.tile(np.arange(items, dtype=float), (users, 1))

    def __call__(self, users: slice) -> np.ndarray:
        return self.rows[users]


@pytest.mark.parametrize("replacement", [False, True])
def test_all_forms_of_scores_give_the_same(replacement: bool) -> None:
    forms = FACTORS, tuple(each.astype(np.float32) for each in FACTORS), SCORES, csr_array(SCORES), lambda u: SCORES[u]
    tables = [
        rank_among_negatives(form, TRAINING, HELD_OUT, negatives=9, replacement=replacement, seed=4) for form in forms
    ]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table.to_frame(), tables[0].to_frame())
    for size in (1, 7):
        again = rank_among_negatives(
            SCORES, TRAINING, HELD_OUT, negatives=9, replacement=replacement, seed=4, batch_size=size
        )
        pd.testing.assert_frame_equal(again.to_frame(), tables[0].to_frame())
    other = rank_among_negatives(SCORES, TRAINING, HELD_OUT, negatives=9, replacement=replacement, seed=5)
    assert not other.to_frame().equals(tables[0].to_frame())


def test_all_other_candidates_as_negatives_give_the_exact_ranks() -> None:
    scores = RNG.random((USERS, ITEMS))
    exact = rank(scores, TRAINING, HELD_OUT)
    kept = exact.candidates == exact.candidates.min()
    table = rank_among_negatives(scores[kept], TRAINING[kept], HELD_OUT[kept], negatives=exact.candidates.min() - 1)
    assert table.x.tolist() == exact.above[kept].tolist()
    assert table.candidates.tolist() == exact.candidates[kept].tolist()


@pytest.mark.parametrize("replacement", [False, True])
def test_ranks_have_the_distribution_of_uniform_negatives(replacement: bool) -> None:
    """8 candidates are above the held-out item and 11 below: hypergeometric, or binomial, with 5 draws."""
    users, items = 20_000, 30
    training = np.zeros((1, items), dtype=bool)
    training[:, [0, 3, 4, 17, 20, 21, 22, 28, 29]] = True
    above = int((~training[0, 16:]).sum())
    below = int((~training[0, :15]).sum())
    table = rank_among_negatives(
        Scorer(users, items), np.tile(training, (users, 1)), np.full(users, 15), negatives=5, replacement=replacement
    )
    expected = (
        stats.binom(5, above / (above + below)) if replacement else stats.hypergeom(above + below, above, 5)
    ).pmf(np.arange(6))
    observed = np.bincount(table.x, minlength=6)
    assert stats.chisquare(observed, expected * users).pvalue > 0.001


WEIGHTS = np.arange(1.0, ITEMS + 1)


def test_the_uniform_part_needs_replacement_and_weights_above_0() -> None:
    options = {"negatives": 5, "replacement": True}
    ranks = rank_among_negatives(SCORES, TRAINING, HELD_OUT, weights=WEIGHTS, **options)
    assert ranks.replacement
    assert ranks.negatives.max() > 0
    assert (ranks.ranked_items.candidates == 6).all()
    for weights, more in ((WEIGHTS - 1, {}), (WEIGHTS, {"replacement": False})):
        ranks = rank_among_negatives(SCORES, TRAINING, HELD_OUT, weights=weights, **(options | more))
        assert (ranks.negatives == 0).all()
        assert ranks.ranked_items.above.max() > 0
        result = correct(ranks, metrics="recall@10")
        assert "So none of them is kept as a uniform sample, and nothing is known" in result.cautions[0]
        free = result[result["estimator"] == "free"].iloc[0]
        assert (free["low"], free["high"]) == (0, 1)


def test_the_uniform_part_is_uniform() -> None:
    """Item j of seven scores j, and the held-out item j + 1/2 for its user: the kept negatives above it."""
    users, weights = 6000, np.array([4.0, 3, 2, 1, 5, 7])
    scores = np.tile(np.append(np.arange(6), 2.5), (users, 1))
    held_out = np.full(users, 6)
    options = {"negatives": 10, "weights": np.append(weights, 1), "replacement": True}
    table = rank_among_negatives(scores, np.zeros_like(scores), held_out, **options)
    kept, above = table.negatives, table.x
    assert stats.binomtest(int(kept.sum()), 10 * users, 6 / weights.sum()).pvalue > 0.001  # 6 items of weight 1 of 22
    assert stats.binomtest(int(above.sum()), int(kept.sum()), 1 / 2).pvalue > 0.001  # 3 of 6 items score more
    again = rank_among_negatives(scores, np.zeros_like(scores), held_out, **options, batch_size=7)
    pd.testing.assert_frame_equal(again.to_frame(), table.to_frame())


def test_users_without_a_uniform_part_are_not_left_out() -> None:
    """A popular item has weight 10, nine others have weight 1. Half of the users have the popular item in training.

    They keep each of 3 negatives. The others keep each with the chance 10/19, so some keep none, and they have their
    held-out items at worse ranks. So the mean over those who keep a negative is too high.
    """
    users = 4000
    training = np.zeros((users, 11))
    training[::2, 0] = 1
    scores = np.tile(np.arange(11.0), (users, 1))
    held_out = np.where(np.arange(users) % 2, 4, 10)  # six of ten negatives score more, or none
    options = {"negatives": 3, "weights": np.append(10, np.ones(10)), "replacement": True}
    table = rank_among_negatives(scores, training, held_out, **options)
    stays = table.negatives > 0
    assert stays[::2].all()
    chance = 1 - (1 - 10 / 19) ** 3
    assert stats.binomtest(int(stays[1::2].sum()), users // 2, chance).pvalue > 0.001
    truth = evaluate(rank(scores, training, held_out), metrics="auc")["value"][0]
    assert truth == pytest.approx((1 + 4 / 10) / 2)
    left_in = correct(table.to_frame()[stays], replacement=True, estimators="uncorrected", metrics="auc").iloc[0]
    assert left_in["value"] - truth > 4 * left_in["standard_error"]

    without = int((~stays).sum())
    says = f"bv-0.1 has no weights for the {without} of {users} rows without a uniformly sampled negative"
    with pytest.raises(DataError, match=says):
        correct(table, estimators="bv-0.1")
    with pytest.raises(DataError, match=says):
        compare(table, table, estimator="bv-0.1")
    assert correct(table, estimators=["decreasing", "mle"], metrics="auc")["users"].eq(users).all()


def test_popular_negatives_are_corrected_without_bias_and_intervals_cover() -> None:
    rng = np.random.default_rng(5)
    users, items = 200, 80
    popularity = np.exp(rng.normal(size=items))
    scores = rng.normal(size=(users, items)) + np.log(popularity)
    held_out = np.argmax(scores + rng.gumbel(scale=1.5, size=scores.shape), axis=1)
    nothing = np.zeros_like(scores)
    truth = evaluate(rank(scores, nothing, held_out), metrics=["auc", "recall@10"])["value"].to_numpy()
    naive, found, covered = [], [], 0
    for seed in range(20):
        table = rank_among_negatives(
            scores, nothing, held_out, negatives=80, weights=popularity + 0.3, replacement=True, seed=seed
        )
        naive.append(evaluate(table.ranked_items, metrics="auc")["value"].item())
        result = correct(table, estimators="bv-0.001", metrics=["auc", "recall@10"])
        found.append(result["value"])
        covered += int(result["low"][0] <= truth[0] <= result["high"][0])
    error = np.std(found, axis=0, ddof=1) / np.sqrt(20)
    assert np.abs(np.mean(found, axis=0) - truth)[0] < 4 * error[0]  # AUC has no bias
    assert np.abs(np.mean(found, axis=0) - truth)[1] < 4 * error[1] + 0.01
    assert abs(np.mean(naive) - truth[0]) > 10 * error[0]
    assert covered >= 18  # the users stay the same, so intervals over users cover more than 95 %
    assert "negatives are kept, as a uniform sample." in result.remarks[-1]
    other = rank_among_negatives(
        rng.normal(size=scores.shape), nothing, held_out, negatives=80, weights=popularity + 0.3, replacement=True
    )
    against = compare(other, table, estimator="bv-0.1", metrics="recall@10")
    assert against["conclusion"].item() == "B"
    assert any("of 80 negatives are kept" in each for each in against.remarks)


SMALL = {"scores": np.zeros((2, 5)), "training": [[1, 0, 0, 0, 0], [0] * 5], "held_out": [1, 1]}


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        (
            {"negatives": 4},
            DataError,
            "user 0: 4 negatives cannot be drawn from 3 items; take fewer, or draw",
        ),
        (
            {"negatives": 2, "replacement": True, "training": [[1, 0, 1, 1, 1], [0] * 5]},
            DataError,
            "user 0: 2 negatives cannot be drawn from 0 items$",
        ),
        ({"negatives": 2, "weights": [9, 9, 1, 0, 0]}, DataError, "cannot be drawn from 1 items with a weight above 0"),
        ({"negatives": 2, "weights": [1, 2]}, DataError, "weights must be a number of 0 or more for each of the 5"),
        ({"negatives": 2, "weights": [1, 1, 1, 1, -1]}, DataError, "weights must be a number of 0 or more"),
        ({"negatives": [[2], [3]], "weights": [1] * 5}, ConfigError, "weights are for negatives that are drawn"),
        ({"negatives": 0}, ConfigError, "negatives must be 1 or more, not 0"),
        ({"negatives": 2.5}, DataError, "negatives must be their number, a list of items for each of the 2 users"),
        ({"negatives": [[2, 3]]}, DataError, "negatives must be their number, a list of items for each of the 2 users"),
        ({"negatives": {0: [2, 3]}}, DataError, "negatives, user 1: has no negatives"),
        (
            {"negatives": {0: [2, 3], 1: [2, 1]}},
            DataError,
            "user 1: item 1 is not a negative, but a training or held-out",
        ),
        (
            {"negatives": {0: [2, 0], 1: [2, 3]}},
            DataError,
            "user 0: item 0 is not a negative, but a training or held-out",
        ),
        ({"negatives": [[2, 2], [2, 3]]}, DataError, "user 0: item 2 is there twice; give replacement=True"),
        ({"negatives": [[2, 5], [2, 3]]}, DataError, "negatives, user 0: item 5 is not an index from 0 to 4"),
        ({"negatives": 2, "seed": -1}, ConfigError, "seed must be a whole number, 0 or more, not -1"),
        (
            {"negatives": 3, "scores": [[0, 0, np.nan, 0, 0]] * 2},
            DataError,
            r"gives user 0 a score that is NaN or \+inf",
        ),
        (
            {"negatives": 3, "scores": (np.ones((2, 1)), np.array([[1.0], [-np.inf], [1], [1], [1]]))},
            DataError,
            "gives user 0 a score that is not a finite number",
        ),
    ],
)
def test_refuses(changes: dict, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        rank_among_negatives(**(SMALL | changes))


def test_weights_by_item_are_found_by_id() -> None:
    ids = [f"i{item}" for item in range(ITEMS)]
    options = {"negatives": 3, "replacement": True, "item_ids": ids, "seed": 3}
    in_order = rank_among_negatives(SCORES, TRAINING, HELD_OUT, weights=WEIGHTS, **options)
    named = pd.Series(WEIGHTS, index=ids).iloc[::-1]
    for weights in (named, named.to_dict()):
        found = rank_among_negatives(SCORES, TRAINING, HELD_OUT, weights=weights, **options)
        pd.testing.assert_frame_equal(found.to_frame(), in_order.to_frame())
    with pytest.raises(DataError, match="weights: lack item 'i7'"):
        rank_among_negatives(SCORES, TRAINING, HELD_OUT, weights=named.drop("i7"), **options)
