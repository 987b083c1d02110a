"""What is known of the epochs so far: the best one, the reference, and those that may be the best.

All answers on a metric are right together with the probability 1 - α. Each pair of epochs that
could ever be compared has its own error rate, and the sum of the rates is at most α (a union
bound). So it does not matter which pairs are compared, how they are chosen by earlier values, or
how the epochs depend on each other.

Epoch k has a share of α, and each pair of it and one of the k - 1 epochs before it has an equal
part of that share. With K epochs that are known before the first, all shares are equal, and a pair
has the rate

    α / ((K - 1) (k - 1)).

Otherwise the share falls as k^(-3/2), and a pair has the rate

    α / ((ζ(3/2) - 1) k^(3/2) (k - 1)),

where ζ(3/2) - 1 = 1.612. The sum over all k from 2 on is α in both cases.

The intervals of the values of a metric are a family of their own with the error rate α. The
interval of epoch k has the rate α / K, or α / (ζ(3/2) k^(3/2)). So all of them hold together, also
that of an epoch that is chosen by its value.

A confidence sequence is for a sample that grows. Here the users stay and the model changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.special import chdtri, zeta

from sampled_metrics.checks import Floats
from sampled_metrics.core.evaluation.values import UserValues
from sampled_metrics.core.inference.means import LowerSide, threshold
from sampled_metrics.validation.kept import KeptValues

YES = "yes"
NO = "no"
UNDECIDED = "undecided"
FIRST = "first"
"""Whether an epoch is better than the reference; the first epoch has none before it."""

_POWER = 1.5
_SUM = float(zeta(_POWER) - 1)


@dataclass(frozen=True)
class Spending:
    """The error rates of the comparisons of a training.

    Attributes:
        alpha: the error rate of all comparisons together, and of all intervals together.
        epochs: K, the number of epochs; None if it is not known.
    """

    alpha: float
    epochs: int | None = None

    def of_interval(self, position: int) -> float:
        """Return the error rate of the interval of an epoch, counted from 1; 0 beyond K epochs."""
        if self.epochs is None:
            return self.alpha / (_SUM + 1) / position**_POWER
        return self.alpha / self.epochs if position <= self.epochs else 0.0

    def of_pair(self, later: int) -> float:
        """Return the error rate of a pair of epochs; 0 beyond K epochs.

        The later epoch of a pair has a number from 2 on.
        """
        if self.epochs is None:
            return self.alpha / _SUM / later**_POWER / (later - 1)
        return self.alpha / (self.epochs - 1) / (later - 1) if later <= self.epochs else 0.0


@dataclass(frozen=True)
class Answer:
    """What is said of an epoch.

    Attributes:
        better: yes, no, undecided or first.
        reference: the epoch that it was compared with; None if there was none.
        standing: what is known with this epoch.
    """

    better: str
    reference: int | None
    standing: EpochStanding


@dataclass(frozen=True)
class EpochStanding:
    """What is known of one metric, by epochs with rising numbers.

    The reference and the epoch with the highest value are always contenders, because only epochs
    that are worse than one of these leave.

    Attributes:
        best: the epoch with the highest value; None if no epoch has a value.
        reference: the last epoch that was better than the reference before it; at first the first
            one.
        contenders: the epochs that may be the best, with the values of their users. The others are
            worse than one that was compared with them.
    """

    best: int | None = None
    reference: int | None = None
    contenders: Mapping[int, KeptValues] = field(default_factory=dict)

    def answer(self, epoch: int, values: UserValues, rate: float) -> Answer:
        """Compare an epoch with the reference and the best so far.

        If it leads, it is compared with all contenders, too.

        Args:
            epoch: its number.
            values: of its users, of one metric.
            rate: the error rate of each comparison with an epoch before it.
        """
        value = float(values.point[0])
        if np.isnan(value):
            return Answer(UNDECIDED, self.reference, self)
        kept = KeptValues.from_values(values)
        if self.best is None or self.reference is None:
            return Answer(FIRST, None, EpochStanding(epoch, epoch, {epoch: kept}))
        leaders = {self.best, self.reference}
        if any(is_better(self.contenders[leader].values(), values, rate) for leader in leaders):
            return Answer(NO, self.reference, self)
        is_reference = is_better(values, self.contenders[self.reference].values(), rate)
        is_best = value > self.contenders[self.best].value
        contenders = dict(self.contenders)
        if is_reference or is_best:
            contenders = {
                contender_epoch: contender
                for contender_epoch, contender in contenders.items()
                if not is_better(values, contender.values(), rate)
            }
        standing = EpochStanding(
            epoch if is_best else self.best,
            epoch if is_reference else self.reference,
            contenders | {epoch: kept},
        )
        return Answer(YES if is_reference else UNDECIDED, self.reference, standing)


def is_better(values: UserValues, reference: UserValues, rate: float) -> bool:
    """Return whether the mean of some users is above their mean with another model.

    The answer is yes if the p-value of `compare` is at most the error rate. Only the side that
    decides is computed.
    """
    if not values.point[0] > reference.point[0] or rate <= 0:
        return False
    difference = values.minus(reference)
    bounds = difference.bounds[0, 0]
    if not np.isfinite(bounds).all():
        return bool(difference.interval(0.05, test=True).p_value[0] <= rate)
    by_user = difference.low[0]
    if len(by_user) < 2 or most_deviance(by_user, -float(bounds[0])) < chdtri(1, rate) / 2:
        return False
    levels, counts = np.unique(by_user, return_counts=True)
    side = LowerSide.from_values(levels, counts, bounds)
    return side.mean > 0 and side.deviance_at(side.mean) >= threshold(rate, side.deciding)


def most_deviance(differences: Floats, reach: float) -> float:
    """Return an upper bound of the deviance of a mean of 0.

    The deviance is the largest Σ log(1 + λ d) for 0 <= λ <= 1 / reach. With x = λ d, log(1 + x) <=
    x - x²/2 + max(x, 0)³/3, and λ³ <= λ² / reach, so that the sum is at most a parabola of λ, whose
    top needs three sums, no sorting and no search. The threshold is never below that of many users,
    so most pairs of epochs are known to be undecided by it.

    Args:
        differences: (users,) differences with a sum above 0.
        reach: minus the smallest possible difference.
    """
    total = float(differences.sum())
    squares = float((differences**2).sum())
    cubes = float((np.maximum(differences, 0.0) ** 3).sum())
    curvature = squares - 2 / 3 * cubes / reach
    return total**2 / (2 * curvature) if curvature > 0 else np.inf
