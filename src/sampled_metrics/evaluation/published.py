"""Say what published sampled metrics show of the true ones, from their values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from itertools import combinations
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from sampled_metrics._defaults import ESTIMATORS
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import MOST, Floats, counted, is_whole, shown
from sampled_metrics.errors import ConfigError, DataError, printable
from sampled_metrics.estimators import EstimatorsLike, estimators_by_label
from sampled_metrics.estimators.shapes import ASSUMPTIONS, SHAPES, Mixture
from sampled_metrics.estimators.strict_bounds import class_mixtures
from sampled_metrics.evaluation.correct import knowledge, rounded_outward
from sampled_metrics.evaluation.result import Result, by_recommender, with_clauses
from sampled_metrics.inference.intervals import IntervalOptions
from sampled_metrics.inference.known_means import KnownMeans, KnownRegion
from sampled_metrics.inference.strict_intervals import Support, contradictions
from sampled_metrics.metrics.metric import Metric, MetricsLike, metric_name, metrics_by_label
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.outcomes import Outcomes

MOST_VALUES = 6
"""Largest number of values of a recommender that are taken together."""

_SIZES = 5  # numbers of candidates that stand for a range


@on_one_thread
def published(
    values: Mapping[str, Mapping[str, float | str]],
    *,
    negatives: int,
    candidates: int | tuple[int, int],
    users: int,
    replacement: bool = False,
    estimators: EstimatorsLike = ESTIMATORS,
    metrics: MetricsLike | None = None,
    confidence_level: float = 0.95,
) -> Result:
    """Bound the true metrics behind published sampled ones, such as a hit rate of .62 among 99 negatives.

    If x of a user's m sampled negatives rank above the held-out item, a sampled metric is the mean over users of a
    function of x. The bounds hold for all distributions of true ranks that agree with all values of a recommender, up
    to rounding and the error of so many users. For each two recommenders, a remark says whether the values order them.

    Args:
        values: for each recommender, by its name, the sampled metrics by label, such as hr@10, ndcg@10, mrr and auc.
            Several values of a recommender are of the same users and negatives. A value is rounded as it is written:
            .62 stands for .615 to .625. Text keeps zeros at the end: "0.620". A number has as many decimals as the
            other recommenders' numbers for the metric: .7 beside .68 is read as 0.70, and a remark says so. A share
            that no whole number of users has, such as .333333 of 100 users, is refused; a mean over seeds needs fewer
            digits.
        negatives: m, the number of sampled negatives of each user.
        candidates: n, the number of items in an exact evaluation, including the held-out item. If it is not known, the
            least and the largest: the bounds are those of five n in geometric steps together.
        users: the number of users, each with one held-out item.
        replacement: whether a negative could be sampled twice for the same user.
        estimators: some of free, decreasing and convex, which bound the metric. A weaker one takes the place of one
            that the values contradict.
        metrics: the true metrics to bound, such as recall@10. The default is those of all values.
        confidence_level: probability that the interval covers the true metric. The verdicts hold together for all
            recommenders (Bonferroni), whether their users are the same or not.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator, metric, low, high,
        assumes, users. There is no value between the ends, as the values do not determine one.

    Raises:
        ConfigError: values are not by name and label, an estimator is not one of bounds, or an option does not exist.
        DataError: a value is not a number that its metric can have, the values contradict one another, or candidates,
            negatives and users do not fit.

    Examples:
        A paper reports a hit rate at 10 of .62 among 99 sampled negatives, for 6040 users and 20,000 items:

        >>> import sampled_metrics as sm
        >>> values = {"GMF": {"hit-rate@10": 0.62}}
        >>> result = sm.published(values, negatives=99, candidates=20000, users=6040)
        >>> [(row.estimator, round(row.low, 3), round(row.high, 3)) for row in result.itertuples()]
        [('decreasing', 0.003, 0.637), ('free', 0.0, 0.637)]

        Another recommender has .70, and the paper does not say which is better by the true hit rate:

        >>> values = {"GMF": {"hr@10": 0.68, "ndcg@10": 0.41}, "NCF": {"hr@10": 0.70}}
        >>> result = sm.published(values, negatives=99, candidates=3706, users=6040, metrics="hr@10")
        >>> print(result.remarks[-2])  # doctest: +NORMALIZE_WHITESPACE
        These numbers do not order GMF and NCF by Hit rate@10 (GMF may be better by up to 0.23, NCF by up to 0.68),
        with 95 % confidence, even if better ranks are more frequent than worse ones in the better half of the ranks.

    References:
        P. B. Stark, Inference in infinite-dimensional inverse problems: discretization and duality, Journal of
        Geophysical Research 97, 1992.
    """
    IntervalOptions(confidence_level)  # checks it
    sizes, design = _sizes(candidates), SamplingDesign(negatives, replacement)
    if not is_whole(users) or users < 1:
        raise DataError(f"users must be a whole number, 1 or more, not {shown(users)}")
    for name, number in (("candidates", sizes[-1]), ("users", users)):
        if number > MOST:
            raise DataError(f"{name} must be 2^53 or less, not {number}")
    for n in sizes:
        design.check(n)
    if not isinstance(values, Mapping) or not values or not all(isinstance(one, Mapping) for one in values.values()):
        raise ConfigError(f"values: give them by recommender, {{'GMF': {{'hit-rate@10': 0.62}}}}, not {shown(values)}")
    chosen = estimators_by_label(estimators)
    for label, estimator in chosen.items():
        if estimator.assumed_shape is None:
            raise ConfigError(f"estimators: {label} needs all ranks; of a value, there are bounds: {', '.join(SHAPES)}")
    values = {printable(str(name)): of_one for name, of_one in values.items()}
    given = {name: metrics_by_label(list(of_one), "values") for name, of_one in values.items()}
    values, notes = _with_decimals(given, values)
    known = {name: _known(given[name], list(values[name].values()), negatives, users) for name in values}
    wanted = _distinct(given) if metrics is None else metrics_by_label(metrics)
    limits = np.array([metric.largest for metric in wanted.values()])
    alphas = sorted({1 - confidence_level, (1 - confidence_level) / len(values)}, reverse=True)
    found: dict[str, list[dict[str, _Bounds]]] = {name: [] for name in values}  # by n, and by shape
    for n in sizes:
        [(_, mixtures)] = class_mixtures(Outcomes.from_design(design, n), tuple(wanted.values()), None)
        for name, means in known.items():
            found[name].append(
                {str(one): _bounds(means, mixtures, str(one), alphas, limits) for one in chosen.values()}
            )
    results = {}
    for name, by_size in found.items():
        rows: list[tuple[object, ...]] = []
        cautions: list[str] = []
        for label, estimator in chosen.items():
            together = _together([of_shapes[str(estimator)] for of_shapes in by_size])
            assumes = "none" if together.shape == SHAPES[0] else together.shape
            rows += [(label, *row, assumes, users) for row in zip(wanted, *together.ends[0], strict=True)]
            cautions += contradictions(Support(together.shape, 1.0, together.contradicted))
        table = Result(rows, columns=["estimator", "metric", "low", "high", "assumes", "users"])
        n_text = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
        parameters = f"{users:,} users, n = {n_text}, m = {negatives:,}"
        table.attrs = {"confidence_level": confidence_level, "parameters": parameters}
        remarks = knowledge(table, chosen, confidence_level, np.array([negatives]))
        results[name] = table.with_remarks(remarks).with_cautions(cautions)
    return by_recommender(results).with_remarks([*_verdicts(found, list(wanted), confidence_level), *notes])


class _Bounds(NamedTuple):
    """The bounds of a recommender under an assumption.

    Attributes:
        shape: the assumption, the strongest one that the values do not contradict.
        contradicted: p-values of the stronger ones; `free` is among them if no ranks explain the values.
        ends: (levels, 2, metrics) smallest and largest metrics at each error rate.
    """

    shape: str
    contradicted: dict[str, float]
    ends: Floats


def _bounds(
    known: KnownMeans, mixtures: Mapping[str, Mixture], shape: str, alphas: Sequence[float], most: Floats
) -> _Bounds:
    """Return the bounds at error rates, the largest first, with a shape or the next weaker one that is possible."""
    contradicted: dict[str, float] = {}
    for weaker in SHAPES[SHAPES.index(shape) :: -1]:
        region = KnownRegion(known, mixtures[weaker])
        deviance = region.deviance()
        if deviance <= known.limit(alphas[0]):
            ends = [np.clip(region.bounds(known.limit(alpha)), 0.0, most) + 0.0 for alpha in alphas]  # 0.0, not -0.0
            return _Bounds(weaker, contradicted, np.array(ends))
        contradicted[weaker] = known.p_value(deviance)
    return _Bounds(SHAPES[0], contradicted, np.full((len(alphas), 2, len(most)), np.nan))


def _together(bounds: Sequence[_Bounds]) -> _Bounds:
    """Return the bounds of several n together; an n with which no ranks explain the values is left out."""
    possible = [one for one in bounds if SHAPES[0] not in one.contradicted] or bounds
    weakest = min(possible, key=lambda one: SHAPES.index(one.shape))
    ends = np.stack([one.ends for one in possible])
    return weakest._replace(ends=np.stack((ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)), axis=1))


def _difference(
    of_first: Sequence[Mapping[str, _Bounds]], of_second: Sequence[Mapping[str, _Bounds]], shape: str
) -> _Bounds | None:
    """Return the bounds of the second minus the first, of all n together; None if no ranks explain one of them."""
    differences = []
    for one, other in zip(of_first, of_second, strict=True):
        first, second = one[shape], other[shape]
        ends = second.ends - first.ends[:, ::-1]
        if np.isfinite(ends).all():
            differences.append(_Bounds(min(first.shape, second.shape, key=SHAPES.index), {}, ends))
    return _together(differences) if differences else None


def _verdicts(
    found: Mapping[str, Sequence[Mapping[str, _Bounds]]], metrics: Sequence[str], confidence_level: float
) -> list[str]:
    """Return sentences on the order of each two recommenders, from their bounds by n and shape."""
    confidence, remarks = f"with {100 * confidence_level:g} % confidence", []
    for (first, of_first), (second, of_second) in combinations(found.items(), 2):
        differences = [_difference(of_first, of_second, shape) for shape in sorted(of_first[0], key=SHAPES.index)]
        explained = [one for one in differences if one is not None]
        for column, label in enumerate(metrics if explained else ()):
            by_metric = f"by {metric_name(label)}"
            ends = [tuple(map(float, one.ends[-1, :, column])) for one in explained]
            orders = [low > 0 or high < 0 for low, high in ends]
            if any(orders):
                weakest = orders.index(True)
                low, high = ends[weakest]
                better, worse = (second, first) if low > 0 else (first, second)
                least, most = rounded_outward(*sorted((abs(low), abs(high))))
                assumption = ASSUMPTIONS[explained[weakest].shape]
                condition = f"if {assumption}" if assumption else "without an assumption on the ranks"
                sentence = f"By these numbers, {confidence} and {condition}, {{}}."
                remarks.append((sentence, f"{better} is better than {worse} {by_metric} ({least} to {most})"))
            else:
                low, high = ends[-1]
                for_first, for_second = (rounded_outward(0.0, end)[1] for end in (-low, high))
                assumption = ASSUMPTIONS[explained[-1].shape]
                condition = f", even if {assumption}" if assumption else ""
                clause = f"{first} may be better by up to {for_first}, {second} by up to {for_second}"
                sentence = f"These numbers do not order {{}}, {confidence}{condition}."
                remarks.append((sentence, f"{first} and {second} {by_metric} ({clause})"))
    return with_clauses(remarks)


def _sizes(candidates: int | tuple[int, int]) -> list[int]:
    """Return the numbers of candidates that stand for one, or for a range."""
    ends = list(candidates) if isinstance(candidates, tuple | list) else [candidates]
    if not all(is_whole(n) and n >= 1 for n in ends):
        raise DataError(f"candidates must be a whole number, 1 or more, or two of them, not {shown(candidates)}")
    if len(ends) > 2 or ends[0] > ends[-1]:
        raise DataError(f"candidates: give one number, or the least and the largest, not {shown(candidates)}")
    return sorted({round(n) for n in np.geomspace(ends[0], ends[-1], _SIZES)})


def _distinct(given: Mapping[str, Mapping[str, Metric]]) -> dict[str, Metric]:
    """Return the metrics of all recommenders by label; one with several names has the first."""
    distinct: dict[str, tuple[str, Metric]] = {}
    for metrics in given.values():
        for label, metric in metrics.items():
            distinct.setdefault(metric.label, (label, metric))
    return dict(distinct.values())


def _with_decimals(
    given: Mapping[str, Mapping[str, Metric]], values: Mapping[str, Mapping[str, float | str]]
) -> tuple[dict[str, dict[str, float | str]], list[str]]:
    """Return the values with the zeros at the end that numbers have lost, and sentences that say so."""
    decimals: dict[str, int] = {}
    for name, metrics in given.items():
        for metric, value in zip(metrics.values(), values[name].values(), strict=True):
            places = len(str(value).partition(".")[2]) if isinstance(value, float) and "e" not in str(value) else 0
            decimals[metric.label] = max(decimals.get(metric.label, 0), places)
    read: dict[str, dict[str, float | str]] = {}
    notes = []
    for name, metrics in given.items():
        read[name] = {}
        for (label, metric), value in zip(metrics.items(), values[name].values(), strict=True):
            number = f"{value:.{decimals[metric.label]}f}" if isinstance(value, float) else str(value)
            is_longer = isinstance(value, float) and len(number) > len(str(value)) and float(number) == value
            read[name][label] = number if is_longer else value
            if is_longer:
                notes.append(
                    f"{name}: {label} is read as {number}, with the decimals of the others. Text keeps its own: "
                    f'"{value}".'
                )
    return read, notes


def _known(given: Mapping[str, Metric], values: Sequence[float | str], negatives: int, users: int) -> KnownMeans:
    """Return what rounded values of sampled metrics say.

    Raises:
        ConfigError: there are too many values.
        DataError: a value is not a number that its metric can have, or the values contradict one another.
    """
    if len(given) > MOST_VALUES:
        raise ConfigError(f"values: at most {MOST_VALUES} values are taken together, not {len(given)}")
    ranks = np.arange(1, negatives + 2)
    known: dict[bytes, tuple[str, Floats, float, float]] = {}
    for (label, metric), value in zip(given.items(), values, strict=True):
        function = metric.of_rank(ranks, negatives + 1) / metric.largest
        if not np.ptp(function):
            raise DataError(
                f"{label}: k must be at most the {counted(negatives, 'negative')}, as the value is 1 otherwise"
            )
        low, high = _limits(label, value, metric, users, is_share=bool(np.isin(function, (0, 1)).all()))
        before, _, least, most = known.get(function.tobytes(), (label, function, low, high))
        are_ranges = low < high and least < most
        low, high = max(low, least), min(high, most)
        if low > high or (are_ranges and low > high - 1e-12):  # both round to the same number, but not the same way
            raise DataError(f"values: {before} and {label} are the same share, so they contradict one another")
        known[function.tobytes()] = before, function, low, high
    labels, functions, lows, highs = zip(*known.values(), strict=True)
    means = KnownMeans(np.array(functions), np.array(lows), np.array(highs), users)
    if not means.are_possible():
        raise DataError(f"values: {', '.join(labels)} cannot be: no sample has all of them")
    return means


def _limits(label: str, value: float | str, metric: Metric, users: int, *, is_share: bool) -> tuple[float, float]:
    """Return the least and the largest mean, relative to the largest one, that is written as a value.

    Args:
        label: the label of the metric.
        value: the value.
        metric: the metric.
        users: the number of users.
        is_share: whether the mean is the share of some of the users, so that it is a multiple of 1 / users.
    """
    number, half = _rounded(label, value)
    if not 0 <= number <= metric.largest * (1 + 1e-9):
        raise DataError(f"{label}: the value must be from 0 to {metric.largest:g}, not {value}")
    low, high = max(0.0, (number - half) / metric.largest), min(1.0, (number + half) / metric.largest)
    if not is_share:
        return low, high
    least, most = ceil(low * users - 1e-9), floor(high * users + 1e-9)
    if least > most:
        nearest = " and ".join(f"{one / users * metric.largest:.6g}" for one in (most, least))
        raise DataError(
            f"{label}: no number of {users} users has the value {value}; the nearest are {nearest}. Give a mean over "
            "seeds with fewer digits"
        )
    return least / users, most / users


def _rounded(label: str, value: float | str) -> tuple[float, float]:
    """Return a value, and half of its last digit; whole numbers are not rounded."""
    try:
        digits = Decimal(str(value))
    except InvalidOperation:
        raise DataError(f"{label}: the value must be a number, not {shown(value)}") from None
    if not digits.is_finite():
        raise DataError(f"{label}: the value must be a number, not {shown(value)}")
    exponent = int(digits.as_tuple().exponent)
    return float(digits), 0.5 * 10.0**exponent if exponent < 0 else 0.0
