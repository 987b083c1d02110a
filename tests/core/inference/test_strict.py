"""Samples by user: pseudo-values, and strict bounds.

Of strict bounds, it is how often their intervals hold, and what they say of a shape.
"""

import numpy as np
import pytest
from read_and import correct

from sampled_metrics.core.estimators import estimator, strict_bounds
from sampled_metrics.core.estimators.shapes import DECREASING, FREE, SHAPES
from sampled_metrics.core.inference import strict
from sampled_metrics.core.inference.means import intervals
from sampled_metrics.core.inference.strict import (
    FOLDS,
    MOST_LEFT_OUT,
    Sample,
    pseudo_values,
    strict_values,
    unexplained,
)
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.sampled import SampledRanks

N = 100
M = 15
RANKS = np.arange(1, N + 1)
POWER = RANKS**-0.8 / np.sum(RANKS**-0.8)


def draw(seed, users, law=POWER, m=M):
    """Return the sampled ranks of users whose true ranks have a law."""
    rng = np.random.default_rng(seed)
    ranks = rng.choice(len(law), size=users, p=law / law.sum()) + 1
    return 1 + rng.hypergeometric(ranks - 1, len(law) - ranks, m)


def sample_of(sampled, user=None):
    """Return a sample of one row for each user, or of rows with these users."""
    ranks = SampledRanks(
        np.asarray(sampled) - 1, np.full(len(sampled), M), np.full(len(sampled), N)
    )
    return Sample.from_ranks(ranks, np.arange(len(sampled)) if user is None else user)


def values_of(sample, shape, labels=("recall@10",)):
    """Return the values of users by the bounds of a shape, and the fitted estimate."""
    estimate = estimator(shape).fit(sample.outcomes, [metric(label) for label in labels])
    _, variances = estimate.moments(sample.counts)
    return strict_values(estimate, sample, variances, 0.05), estimate


def with_rows(users, most):
    """A sample of users with one row, two, … up to so many, in turn."""
    user = np.repeat(np.arange(users), np.arange(users) % most + 1)
    return sample_of(1 + np.random.default_rng(0).binomial(M, np.linspace(0, 1, users)[user]), user)


@pytest.mark.parametrize("rows", [1, 2])
def test_pseudo_values_are_those_of_a_loop_over_users_moved_to_the_estimate(rows, monkeypatch):
    monkeypatch.setattr(strict, "_NUMBERS", 40)  # a few users at a time
    sample = with_rows(12, rows)
    estimate = estimator("mle-5").fit(sample.outcomes, [metric("recall@10"), metric("ap")])
    whole = estimate.estimate(sample.counts)
    shares = sample.shares.toarray()
    without = [estimate.estimate(sample.counts - shares_of_user) for shares_of_user in shares]
    plain = np.transpose([12 * whole - 11 * without_user for without_user in without])
    expected = plain - plain.mean(axis=1, keepdims=True) + whole[:, np.newaxis]
    np.testing.assert_allclose(pseudo_values(estimate, sample), expected, atol=1e-12)


@pytest.mark.parametrize("users", [60, 5 * MOST_LEFT_OUT])
def test_pseudo_values_of_a_linear_estimator_are_its_weights_and_in_blocks_have_their_spread(users):
    sample = with_rows(users, 3)
    estimate = estimator("bv-0.1").fit(sample.outcomes, [metric("recall@10"), metric("ap")])
    values = pseudo_values(estimate, sample)
    weights = sample.of_users(estimate.weights)
    np.testing.assert_allclose(values.mean(axis=1), estimate.estimate(sample.counts), rtol=1e-9)
    if users <= MOST_LEFT_OUT:
        np.testing.assert_allclose(values, weights, atol=1e-9)
    else:
        np.testing.assert_allclose(values.std(axis=1), weights.std(axis=1), rtol=0.06)


def test_intervals_hold_the_truth_and_stronger_assumptions_have_narrower_ones(monkeypatch):
    monkeypatch.setattr(strict_bounds, "_DECISIVE", 0)  # so that no shape is contradicted
    truth = np.stack((RANKS <= 10, 1 / RANKS)) @ POWER
    held = []
    widths = []
    for seed in range(6):
        sample = sample_of(draw([1, seed], 150))
        for shape in SHAPES:
            values, _ = values_of(sample, shape, ["recall@10", "ap"])
            limits = np.array([[0.0, 1.0]] * 2)
            interval = intervals(values.low, values.high, values.bounds, limits, 0.05)
            held.append((interval.low <= truth) & (truth <= interval.high))
            widths.append(interval.high - interval.low)
    assert np.mean(np.reshape(held, (6, 2, 2)), axis=0).min() >= 0.8
    free, decreasing = np.mean(np.reshape(widths, (6, 2, 2)), axis=0)
    assert (free > 1.2 * decreasing).all()


@pytest.mark.parametrize(("n", "m", "x"), [(2, 1, [0, 0]), (3541, 1, [0, 1] * 10), (12, 0, [0, 0])])
def test_edges_are_intervals(n, m, x):
    ranks = np.array(x) + 1
    table = correct(ranks, candidates=n, negatives=m, estimators=[*SHAPES], metrics=["ap", "auc"])
    assert (table["low"] >= 0).all()
    assert (table["low"] <= table["high"]).all()
    assert (table["high"] <= 1).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_values_have_a_width_and_say_what_the_sample_supports(shape):
    values, _ = values_of(sample_of(draw(14, 300)), shape)
    assert values.assumption == shape
    assert (values.low.mean(axis=1) < values.high.mean(axis=1)).all()
    assert [finding.kind for finding in values.findings] == ["supported"] * (shape == DECREASING)
    assert all(0.05 < finding.values["p_value"] <= 1 for finding in values.findings)


def test_weights_of_a_fold_do_not_depend_on_its_users():
    sampled = draw(13, 300)
    in_fold = sample_of(sampled).fold == 0
    shuffled = np.where(in_fold, np.random.default_rng(0).permutation(sampled), sampled)

    def weights_in_fold(ranks):
        values, _ = values_of(sample_of(ranks), FREE)
        return dict(zip(ranks[in_fold].tolist(), values.low[0, in_fold].tolist(), strict=True))

    weights = weights_in_fold(sampled)
    weights_of_shuffled = weights_in_fold(shuffled)
    common = weights.keys() & weights_of_shuffled.keys()
    assert len(common) > 8
    for rank in common:
        assert weights[rank] == pytest.approx(weights_of_shuffled[rank], abs=1e-12)


def test_folds_are_equal_in_size():
    assert [*np.bincount(sample_of(draw(15, 300)).fold)] == [300 // FOLDS] * FOLDS
    assert [*np.bincount(sample_of([1, 2]).fold)] == [1, 1]


@pytest.mark.parametrize(
    "law", [POWER, np.where(RANKS <= 30, 1.0, 1e-3)], ids=["power", "flat at the top"]
)
def test_a_shape_is_seldom_rejected_if_it_is_right(law):
    p_values = []
    for seed in range(20):
        sample = sample_of(draw([2, seed], 300, law))
        fitted = estimator(DECREASING).fit(sample.outcomes, [metric("recall@10")])
        ones = np.ones(len(sample), dtype=np.int64)
        p_values.append(fitted.p_value(ones, sample.shares, fitted.fits(sample.counts), 0, 0.05))
    assert (np.array(p_values) < 0.05).sum() <= 3  # a fourth one is as rare as 1 in 60
    assert np.median(p_values) > 0.2


def test_a_shape_that_is_wrong_is_rejected_and_a_weaker_one_takes_its_place():
    sample = sample_of(draw(0, 600, np.exp(-0.5 * ((RANKS - 30) / 5) ** 2)))
    (decreasing, _), (free, _) = (
        values_of(sample, shape, ["recall@10", "ap"]) for shape in (DECREASING, FREE)
    )
    assert decreasing.assumption == FREE
    np.testing.assert_allclose((decreasing.low, decreasing.high), (free.low, free.high), atol=1e-12)
    [finding] = decreasing.findings
    assert (finding.kind, finding.values["assumption"]) == ("contradicted", DECREASING)
    assert finding.values["p_value"] <= 0.05


def test_a_sample_that_no_ranks_explain_has_no_values():
    """Every one of 500 users has x = 7 of 15: the spread is smaller than that of any sample."""
    sample = sample_of([8] * 500)
    values, _ = values_of(sample, FREE)
    assert np.isnan([values.low, values.high]).all()
    [finding] = values.findings
    assert finding.kind == "unexplained"
    assert finding.values == {"assumption": "free", "p_value": pytest.approx(1 / 1000, rel=0.01)}
    assert unexplained(sample) == [finding]
    assert unexplained(sample_of(draw(17, 100))) == []


def test_an_assumption_that_is_wrong_unnoticed_and_would_decide_alone_is_left_out():
    """Of 3561 ranks that are 1.2 times too rare at the top, Recall@10 is .0124.

    `decreasing` gives .017 to .021.
    """
    n = 3561
    rng = np.random.default_rng(0)
    ranks = np.clip(np.ceil(n * rng.beta(1.2, 10, 6040)), 1, n).astype(int)
    sampled = 1 + rng.hypergeometric(ranks - 1, n - ranks, 99)
    table = correct(sampled, candidates=n, negatives=99, estimators=DECREASING, metrics="recall@10")
    assert "narrow" in [finding.kind for finding in table.findings]
    assert table["assumes"].item() == "uniform negatives"
    assert table["low"].item() <= 0.0124 <= table["high"].item()
