"""The reference, the contenders and the error rates of comparisons of epochs."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtr
from scores_of_epochs import HELD_OUT, NOTHING, USERS, scores_of_hits

import sampled_metrics as sm
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.validation.kept import KeptValues
from sampled_metrics.validation.standing import EpochStanding, Spending, most_deviance

DIFFERENCES = (4, 8, 12)
"""Of hits, of which some are decided and others are not."""


def values_of(by_user):
    """Values of one metric from 0 to 1."""
    low = by_user[np.newaxis].astype(np.float64)
    limits = np.array([[0.0, 1.0]])
    return UserValues(low, low, True, np.stack((limits, limits), axis=1), limits, low.mean(axis=1))


@pytest.mark.parametrize("epochs", [2, 50])
def test_the_rates_sum_to_alpha(epochs):
    spending = Spending(0.05, epochs)
    later = range(2, epochs + 1)
    assert sum((k - 1) * spending.of_pair(k) for k in later) == pytest.approx(0.05, rel=1e-12)
    intervals = [spending.of_interval(k) for k in range(1, epochs + 1)]
    assert sum(intervals) == pytest.approx(0.05, rel=1e-12)
    assert spending.of_pair(epochs + 1) == spending.of_interval(epochs + 1) == 0


def test_the_rates_of_endless_epochs_sum_to_alpha():
    """The sum of k^(-3/2) from K + 1 on is between 2 / √(K + 1) and 2 / √K; ζ(3/2) = 2.612375…"""
    spending = Spending(0.05)
    epoch = np.arange(1, 10**6 + 1)  # elementwise
    pair_rates = (epoch[1:] - 1) * spending.of_pair(epoch[1:])
    beyond = 0.05 * 2 / np.sqrt(10**6)
    assert pair_rates.sum() + beyond / 1.612375 == pytest.approx(0.05, rel=1e-6)
    interval_rates = spending.of_interval(epoch)
    assert interval_rates.sum() + beyond / 2.612375 == pytest.approx(0.05, rel=1e-6)


@pytest.mark.parametrize(
    ("epoch", "sign", "epochs"),
    [
        pytest.param(3, -1, None, id="worse, unknown"),
        pytest.param(3, 1, 7, id="better, known"),
    ],
)
def test_a_pair_is_decided_where_compare_s_p_value_is_at_most_its_rate(epoch, sign, epochs):
    """The first epochs are one model. Then one has some hits more, or fewer."""
    rate = 0.05 / (6 * (epoch - 1)) if epochs else 0.05 / (1.612375 * epoch**1.5 * (epoch - 1))
    answers = []
    expected = []
    for difference in DIFFERENCES:
        models = {"old": scores_of_hits(80), "new": scores_of_hits(80 + sign * difference)}
        validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1", epochs=epochs)
        for _ in range(epoch - 1):
            validate(models["old"])
        tables = {name: sm.rank(scores, NOTHING, HELD_OUT) for name, scores in models.items()}
        [p_value] = sm.compare(tables, metrics="recall@1")["p_value"]
        decided = "yes" if sign > 0 else "no"
        expected.append(decided if p_value <= rate else "undecided")
        answers.append(validate(models["new"]).better)
    assert answers == expected
    assert len(set(expected)) == 2


def answered(*epochs_of_hits):
    """The answers, the references and the last standing of epochs with hits of some of 200
    users.
    """
    standing = EpochStanding()
    answers = []
    for epoch, hits in enumerate(epochs_of_hits, start=1):
        by_user = np.isin(np.arange(USERS), hits)
        answers.append(standing.answer(epoch, values_of(by_user), 0.001))
        standing = answers[-1].standing
    return [answer.better for answer in answers], [answer.reference for answer in answers], standing


def test_an_epoch_is_compared_with_the_last_one_that_was_better():
    """Each step of 8 hits is undecided (2 × 2^-8 > .001), and two of them are decided (2 ×
    2^-16).
    """
    better, reference, standing = answered(*(np.arange(hits) for hits in (20, 28, 36, 44, 52)))
    assert better == ["first", "undecided", "yes", "undecided", "yes"]
    assert reference == [None, 1, 1, 3, 3]
    assert (standing.reference, standing.best) == (5, 5)
    assert set(standing.contenders) == {4, 5}


def test_an_epoch_is_worse_if_it_is_worse_than_the_best_one():
    """Epoch 3 has 8 hits fewer than the reference, which is undecided, and 16 fewer than the best,
    which is not.
    """
    better, reference, standing = answered(np.arange(30), np.arange(38), np.arange(22))
    assert better == ["first", "undecided", "no"]
    assert reference == [None, 1, 1]
    assert (standing.reference, standing.best, set(standing.contenders)) == (1, 2, {1, 2})


def test_an_epoch_that_leads_without_being_better_takes_out_what_is_worse_than_it():
    """Epoch 3 has the hits of epoch 2 and 20 more; those of the reference are other users."""
    better, _, standing = answered(np.arange(100, 150), np.arange(40), np.arange(60))
    assert better == ["first", "undecided", "undecided"]
    assert (standing.reference, standing.best, set(standing.contenders)) == (1, 3, {1, 3})


@pytest.mark.parametrize("reach", [1.0, 0.3])
def test_the_bound_of_the_deviance_is_above_it(reach):
    """The deviance of a mean of 0 is at the root of its slope, for differences of many shapes."""
    rng = np.random.default_rng(2)
    largest = (1 - 1e-9) / reach
    for _ in range(100):
        shape = rng.uniform(0.05, 3, size=2)
        sizes = rng.beta(*shape, size=30) * rng.choice([-1, 1, 3], size=30)
        differences = np.maximum(reach * sizes - rng.uniform(0, 0.3), -reach)
        differences[0] += max(0.0, 0.01 - differences.sum())

        def slope(tilt, differences=differences):
            return (differences / (1 + tilt * differences)).sum()

        tilt = brentq(slope, 0, largest) if slope(largest) < 0 else largest
        deviance = np.log1p(tilt * differences).sum()
        assert most_deviance(differences, reach) >= deviance - 1e-9


def hits_of_training(chances, memory, users, rng):
    """Yield the hits of users in epochs, whose normal numbers have a correlation from epoch to
    epoch.
    """
    noise = rng.normal(size=users)
    for chance in chances:
        yield ndtr(noise) < chance
        noise = memory * noise + np.sqrt(1 - memory**2) * rng.normal(size=users)


@pytest.mark.parametrize(
    ("memory", "epochs", "runs"),
    [
        (0.9, None, 15),
        (0.9, 50, 15),
        pytest.param(0.0, 50, 1000, marks=pytest.mark.slow),
        pytest.param(0.99, None, 1000, marks=pytest.mark.slow),
    ],
)
def test_a_training_has_seldom_a_wrong_answer(memory, epochs, runs):
    """The chances of a hit stay for 15 epochs, rise and fall again.

    An answer is wrong if an epoch is called better than one that is as good, or worse than all
    that are not better, or if the truly best epoch so far is no contender.
    """
    rng = np.random.default_rng(8)
    chances = np.interp(np.arange(40), [0, 14, 29, 39], [0.05, 0.05, 0.3, 0.15])
    spending = Spending(0.05, epochs)
    wrong_runs = 0
    contender_counts = []
    for _ in range(runs):
        standing = EpochStanding()
        is_wrong = False
        for epoch, hits in enumerate(hits_of_training(chances, memory, 500, rng), start=1):
            answer = standing.answer(epoch, values_of(hits), spending.of_pair(max(epoch, 2)))
            standing = answer.standing
            so_far = chances[:epoch]
            if answer.better == "yes":
                is_wrong |= so_far[-1] <= chances[answer.reference - 1]
            is_wrong |= answer.better == "no" and so_far[-1] == so_far.max()
            if epoch > 15:
                is_wrong |= 1 + so_far.argmax() not in standing.contenders
        wrong_runs += is_wrong
        contender_counts.append(len(standing.contenders))
    assert wrong_runs / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)
    assert np.mean(contender_counts) < 30


@pytest.mark.parametrize(
    ("by_user", "most_bytes"),
    [
        (np.arange(1000) % 2, 1000 + 2 * 8),
        (1 / (1 + np.arange(100_000) % 3000), 200_000 + 3000 * 8),
        (np.random.default_rng(1).random(1000), 8000),
    ],
    ids=["two values", "3000 values", "all differ"],
)
def test_values_are_kept_to_the_bit_in_few_bytes(by_user, most_bytes):
    """One byte a user for up to 256 values, two for up to 65,536; 48 bytes for limits and
    bounds.
    """
    values = values_of(by_user)
    kept = KeptValues.from_values(values)
    assert kept.nbytes <= most_bytes + 48
    for copy in (kept, KeptValues.from_plain(kept.to_plain())):
        read = copy.values()
        np.testing.assert_array_equal(read.low, values.low)
        np.testing.assert_array_equal(read.bounds, values.bounds)
        assert (read.limits.tolist(), read.point) == (values.limits.tolist(), values.point)
