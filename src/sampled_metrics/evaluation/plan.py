"""Find the number of negatives, or of users, that orders two recommenders correctly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from sampled_metrics._validation import check_label, check_names, is_real, shown
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.estimators import estimator_labels, estimator_name, linear_estimator
from sampled_metrics.evaluation.intervals import Progress, no_progress
from sampled_metrics.evaluation.result import Result
from sampled_metrics.metrics.held_out import metric as metric_of
from sampled_metrics.metrics.held_out import metric_name
from sampled_metrics.ranks.frames import PerUser, RanksLike
from sampled_metrics.ranks.pairing import pair_users
from sampled_metrics.ranks.table import RankTable, rank_table
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.moments import EQUAL, probability_of_order, user_moments
from sampled_metrics.sampling.outcomes import Outcomes

ESTIMATORS = ("uncorrected", "rank-estimate", "cls", "bv-1", "bv-0.1", "bv-0.01")
"""The default estimators."""


def plan(
    a: RanksLike,
    b: RanksLike,
    *,
    metric: str = "recall@10",
    probability: float = 0.95,
    estimators: str | Sequence[str] = ESTIMATORS,
    replacement: bool = False,
    candidates: PerUser | None = None,
    names: tuple[str, str] = ("A", "B"),
    progress: Progress = no_progress,
) -> Result:
    """Find the smallest sample that orders two recommenders correctly with a given probability.

    Args:
        a: exact ranks of the first recommender, as in `evaluate`.
        b: exact ranks of the second recommender, of the same users, paired as in `compare`.
        metric: a label, as in `evaluate`.
        probability: the required probability of the correct order, above one half and below 1.
        estimators: labels of estimators that are linear in the sample.
        replacement: whether a negative may be sampled twice for the same user.
        candidates: as in `evaluate`.
        names: names of the two recommenders.
        progress: wraps the sample sizes that are tried, for a progress bar.

    Returns:
        A row for each estimator, with the columns estimator, negatives (the smallest m from which on these users reach
        the probability, or NA), probability (at that m, or at the largest m tried), gap (the expected difference at
        that m, better - worse; it is negative if the order is wrong on average), users (the number of users needed at
        that m if the users are a sample too, or NA). The last row, `exact`, ranks all candidates. The negatives of the
        two recommenders are drawn independently.

    Raises:
        DataError: the ranks are wrong, of different users or candidates, or equal by the exact metric.
        ConfigError: a metric or an estimator does not exist, an estimator is repeated, or probability is out of range.

    Examples:
        >>> import sampled_metrics as sm
        >>> x = [30, 25, 40, 12, 60, 33] * 50
        >>> y = [1, 300, 2, 500, 9, 700] * 50
        >>> result = sm.plan(x, y, candidates=1000, metric="ap", estimators=["uncorrected", "bv-0.1"])
        >>> [(row.estimator, row.negatives) for row in result.itertuples()]
        [('uncorrected', 64), ('bv-0.1', 21), ('exact', <NA>)]

    References:
        W. Krichene and S. Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, section 6.3 and Figure 6.
    """
    names, metric, estimators = check_names(names), check_label(metric, "metric"), estimator_labels(estimators)
    if not is_real(probability):
        raise ConfigError(f"probability must be a number above 0.5 and below 1, not {shown(probability)}")
    if not 0.5 < probability < 1:
        raise ConfigError(f"probability must be above 0.5 and below 1, not {probability}")
    one, other = rank_table(a, candidates, names[0]), rank_table(b, candidates, names[1])
    positions, paired = pair_users(one, other, names, candidates)
    other = other.rows(positions)
    differences = other.values(metric_of(metric)) - one.values(metric_of(metric))
    gap = float(differences.mean())
    if abs(gap) <= EQUAL:
        raise DataError(
            f"{names[0]} and {names[1]} have the same exact {metric_name(metric)}: no order is the right one"
        )
    better, worse = (other, one) if gap > 0 else (one, other)
    sizes = _sizes(one, other, replacement)
    known: dict[int, list[_Chance]] = {}
    for m in progress(sizes):
        known[m] = _chances(better, worse, metric, estimators, SamplingDesign(m, replacement))
    rows = []
    for number, label in enumerate(estimators):
        chances = {m: each[number] for m, each in known.items()}
        low, high = _bracket([chances[m].right >= probability for m in sizes], sizes)
        while high and high - low > 1:
            middle = (low + high) // 2
            if middle not in chances:
                (chances[middle],) = _chances(better, worse, metric, [label], SamplingDesign(middle, replacement))
            low, high = (low, middle) if chances[middle].right >= probability else (middle, high)
        rows.append(_row(label, high, chances[high or sizes[-1]], probability))
    error = float(differences.std(ddof=1)) if len(one) > 1 else np.nan
    rows.append(_row("exact", None, _Chance(abs(gap), 0.0, error), probability))
    table = Result(rows)
    sentences = _sentences(table, metric, names if gap > 0 else names[::-1], probability, sizes[-1])
    return table.with_remarks([*sentences, paired])


class _Chance(NamedTuple):
    """An expected difference, better - worse."""

    gap: float  # its expectation
    deviation: float  # its standard deviation over samples of negatives, for these users
    user_deviation: float  # standard deviation of one user's difference, over users and negatives

    @property
    def right(self) -> float:
        """Return the probability of the correct order on these users."""
        return probability_of_order(self.gap, self.deviation)


def _chances(
    better: RankTable, worse: RankTable, metric: str, estimators: list[str], design: SamplingDesign
) -> list[_Chance]:
    """Return the expected difference by estimator under a design."""
    moments = []
    for table in (better, worse):
        outcomes = Outcomes.of(design, table.mean_candidates)
        fitted = [linear_estimator(label).fit(outcomes, [metric_of(metric)]) for label in estimators]
        moments.append(user_moments(table, design, np.vstack([each.weights for each in fitted])))
    (better_means, better_variances), (worse_means, worse_variances) = moments
    gaps, variance = better_means - worse_means, better_variances + worse_variances
    users = len(gaps)
    spread = gaps.var(axis=0, ddof=1) if users > 1 else np.full(gaps.shape[1], np.nan)
    user_deviation = np.sqrt(spread + variance.mean(axis=0))
    deviation = np.sqrt(variance.sum(axis=0)) / users
    return [_Chance(*map(float, row)) for row in zip(gaps.mean(axis=0), deviation, user_deviation, strict=True)]


def _bracket(enough: list[bool], sizes: list[int]) -> tuple[int, int | None]:
    """Return the last size that is not enough, and the next size, or None if there is none."""
    if all(enough):
        return 0, sizes[0]
    last = len(enough) - 1 - enough[::-1].index(False)
    return sizes[last], sizes[last + 1] if last + 1 < len(sizes) else None


def _row(label: str, negatives: int | None, chance: _Chance, probability: float) -> dict[str, Any]:
    users: Any = pd.NA
    if chance.gap > 0 and np.isfinite(chance.user_deviation):
        users = max(2, int(np.ceil((float(ndtri(probability)) * chance.user_deviation / chance.gap) ** 2)))
    return {
        "estimator": label,
        "negatives": pd.NA if negatives is None else negatives,
        "probability": chance.right,
        "gap": chance.gap,
        "users": users,
    }


def _sizes(one: RankTable, other: RankTable, replacement: bool) -> list[int]:
    """Return the sample sizes to try, a tenth of a decade apart, up to all negatives that every user has."""
    candidates = np.concatenate((one.candidates, other.candidates))
    most = int(candidates.max() if replacement else candidates.min()) - 1
    if most < 1:
        raise DataError("a user has no candidates besides the held-out item, so that there is nothing to sample")
    return sorted({round(10 ** (tenth / 10)) for tenth in range(int(10 * np.log10(most)) + 1)} | {most})


def _sentences(table: Result, metric: str, names: tuple[str, str], probability: float, most: int) -> list[str]:
    """Return the result as sentences; names are (worse, better)."""
    what = metric_name(metric)
    sentences = [f"By the exact {what}, {names[1]} is better than {names[0]}, by {table['gap'].iloc[-1]:.4f}."]
    for row in table.iloc[:-1].to_dict("records"):
        name = estimator_name(str(row["estimator"]))
        if not pd.isna(row["negatives"]):
            sentences.append(
                f"{name}: {row['negatives']} negatives order the two rightly with a chance of {probability:g} or more."
            )
        elif row["gap"] > 0:
            sentences.append(
                f"{name}: no sample of up to {most} negatives is enough for these users; with {most} the chance is "
                f"{row['probability']:.2f}, and {row['users']} users would be needed."
            )
        else:
            sentences.append(
                f"{name}: orders the two wrongly on average even with {most} negatives; more users do not help."
            )
    return sentences
