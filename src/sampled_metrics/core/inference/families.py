"""Families of comparisons, and the margin: the smallest difference that matters.

With an absolute margin d, the second recommender is better than the first one by more than the
margin if b - a > d. With a relative one, b must be above (1 + d) a. A margin that is estimated from
the data is not fixed, so this is a statement on the mean of b - (1 + d) a over users, which has an
interval of its own. The values of users of this mean fall as d rises, and so do the ends of its
interval. So all statements on a pair, whether it is ordered and by how much, are right if the
interval at the true ratio is; they need no adjustment for one another.

Among twenty pairs without a difference, one is expected to differ at 95 %. So the intervals of a
family hold together: each one is computed at a higher level, 1 - α', such that all of them hold the
truth in 95 % of evaluations.

The largest |t| over the pairs has the distribution of the largest component of a multivariate t
distribution, with the correlation matrix of the differences and as many degrees of freedom as
users, less one. The quantile at 1 - α is the critical value c, and α' = 2 P(t > c) by Student's
distribution. Pairs that share a recommender have differences that go together, so α' is larger than
Bonferroni's α / pairs. A smaller α' is never taken, because Bonferroni's is enough for any pairs.
The quantile is that of draws from the distribution, always the same ones.

References:
    S. Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of
    Statistics 6, 1979. T. Hothorn, F. Bretz and P. Westfall, Simultaneous Inference in General
    Parametric Models, Biometrical Journal 50, 2008. H.-P. Piepho, An Algorithm for a Letter-Based
    Representation of All-Pairwise Comparisons, Journal of Computational and Graphical Statistics
    13, 2004.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import stdtr

from sampled_metrics.checks import Floats, is_real, shown
from sampled_metrics.core.metrics import Metric
from sampled_metrics.errors import ConfigError


@dataclass(frozen=True)
class Margin:
    """The smallest difference of a metric that matters.

    Attributes:
        size: the difference, or its part of the worse value.
        is_relative: whether it is relative to the worse value.
    """

    size: float
    is_relative: bool = False

    @classmethod
    def from_given(cls, option: Any) -> "Margin":
        """Return the margin of a number, or of text such as "0.005" or "2%".

        Raises:
            ConfigError: it is neither, or not above 0.
        """
        text = option.strip() if isinstance(option, str) else ""
        try:
            number = float(text.removesuffix("%") if text or not is_real(option) else option)
        except ValueError:
            number = 0.0
        is_percent = text.endswith("%")
        largest = MOST_PERCENT if is_percent else float("inf")
        if not (0 < number < float("inf") and number <= largest):
            raise ConfigError(
                "margin must be a number above 0, such as 0.005, or a part of the worse value, "
                f'such as "2%" and up to {MOST_PERCENT:,.0f}%, not {shown(option)}'
            )
        return cls(number / 100, is_relative=True) if is_percent else cls(number)

    def require_possible(self, metrics: Mapping[str, Metric]) -> None:
        """Raise ConfigError if a metric, by label, cannot differ by more than the margin."""
        for label, metric in metrics.items():
            if not self.is_relative and self.size >= metric.largest:
                raise ConfigError(
                    f"margin: a difference of {label} is never above {self.size:g}, as its "
                    f"values are from 0 to {metric.largest:g}; "
                    'a part of the worse value is text, such as "2%"'
                )

    @property
    def text(self) -> str:
        """Return the margin as a sentence names it."""
        if self.is_relative:
            return f"{100 * self.size:.4g} % of the worse value"
        return f"{self.size:.4g}"


MOST_PERCENT = 1e6
"""Largest margin that is relative to the worse value, in per cent."""

Pair = tuple[int, int]
"""Numbers of two recommenders."""

_SEED = 0  # of the draws from a multivariate t distribution
_DRAWS = (4_000, 50_000)  # smallest and largest number of draws
_NUMBERS = 20_000_000  # of all draws and pairs, if the number of draws is between the two
_ROUNDING = 1e-7  # spreads up to this, relative to the largest one, are none


def pairs_of(recommenders: int) -> list[Pair]:
    """Return all pairs of recommenders, the earlier one first."""
    return list(combinations(range(recommenders), 2))


def holm(p_values: Floats) -> Floats:
    """Return p-values that are adjusted by the method of Holm, over the first axis.

    The k-th smallest of P p-values is multiplied by P - k + 1, and is at least as large as the one
    before it.

    Examples:
        >>> holm(np.array([0.01, 0.04, 0.03])).round(4)
        array([0.03, 0.06, 0.06])
    """
    order = np.argsort(p_values, axis=0)
    factors = np.arange(len(p_values), 0, -1).reshape(-1, *[1] * (p_values.ndim - 1))
    rising = np.maximum.accumulate(np.take_along_axis(p_values, order, 0) * factors, axis=0)
    adjusted = np.empty_like(rising)
    np.put_along_axis(adjusted, order, np.minimum(rising, 1.0), 0)
    return adjusted


def max_t_rate(values: Floats, alpha: float) -> float:
    """Return the error rate α' of each pair of a family of means over users, by the largest |t|.

    Args:
        values: (recommenders, users) values of a metric.
        alpha: error rate of the family.

    Returns:
        The error rate, from alpha / pairs to alpha.

    Examples:
        Three recommenders whose users have nothing to do with one another:

        >>> values = np.random.default_rng(0).normal(size=(3, 1000))
        >>> 0.05 / 3 < max_t_rate(values, 0.05) < 0.022
        True
    """
    first_of_pair, second_of_pair = np.transpose(pairs_of(len(values)))
    users = values.shape[1]
    pairs = len(first_of_pair)
    if users < 2:
        return alpha / pairs
    covariance = np.cov(values - values.mean(axis=0))  # only differences count
    variance = np.diag(covariance)
    variance_of_difference = (
        variance[first_of_pair]
        + variance[second_of_pair]
        - 2 * covariance[first_of_pair, second_of_pair]
    )
    spread = np.sqrt(np.maximum(variance_of_difference, 0.0))
    has_spread = spread > _ROUNDING * spread.max(initial=0)
    if not np.isfinite(spread).all() or has_spread.sum() < 2:
        return alpha / pairs
    scale = np.divide(1, spread, out=np.zeros_like(spread), where=has_spread)
    eigenvalues, directions = np.linalg.eigh(covariance)
    is_rounding = eigenvalues <= _ROUNDING**2 * eigenvalues.max()
    # the symmetric root: the signs of the directions, and equal eigenvalues, do not change it
    root = directions * np.sqrt(np.where(is_rounding, 0.0, eigenvalues)) @ directions.T
    rng = np.random.default_rng(_SEED)
    draws = int(np.clip(_NUMBERS // pairs, *_DRAWS))
    normal = rng.standard_normal((draws, len(values)))
    chi = np.sqrt(rng.chisquare(users - 1, draws) / (users - 1))
    means = np.ascontiguousarray((normal @ root).T)
    largest = np.zeros(draws)
    for row in range(len(values) - 1):
        scale_of_rivals = scale[first_of_pair == row][:, np.newaxis]
        gaps = np.abs(means[row + 1 :] - means[row]) * scale_of_rivals
        np.maximum(largest, gaps.max(axis=0), out=largest)
    critical = np.quantile(largest / chi, 1 - alpha, method="higher")
    return float(np.clip(2 * stdtr(users - 1, -critical), alpha / pairs, alpha))


def groups(undecided: Sequence[Pair], recommenders: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the largest groups of recommenders of which all pairs are undecided.

    Each recommender is in at least one group. The groups are those of a compact letter display,
    found by the method of Bron and Kerbosch for maximal cliques.

    Args:
        undecided: the undecided pairs.
        recommenders: their numbers, best first.

    Returns:
        Groups in the order of their best members, each best first.

    Examples:
        Of three recommenders, the middle one is not decided against either of the others:

        >>> groups([(0, 1), (1, 2)], [0, 1, 2])
        [(0, 1), (1, 2)]
    """
    rivals: dict[int, set[int]] = {recommender: set() for recommender in recommenders}
    for recommender, rival in undecided:
        if recommender in rivals:
            rivals[recommender].add(rival)
        if rival in rivals:
            rivals[rival].add(recommender)
    largest: list[set[int]] = []

    # `candidates` may join the group. Groups with one of `joined` are known already.
    def extend(group: set[int], candidates: set[int], joined: set[int]) -> None:
        if not candidates and not joined:
            largest.append(group)
            return
        pivot = max(candidates | joined, key=lambda member: len(rivals[member] & candidates))
        for member in candidates - rivals[pivot]:
            extend(group | {member}, candidates & rivals[member], joined & rivals[member])
            candidates = candidates - {member}
            joined = joined | {member}

    extend(set(), set(recommenders), set())
    position = {recommender: index for index, recommender in enumerate(recommenders)}
    ordered = [tuple(sorted(group, key=position.__getitem__)) for group in largest]
    return sorted(ordered, key=lambda group: [position[recommender] for recommender in group])
