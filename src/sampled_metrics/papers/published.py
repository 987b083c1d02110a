"""Say what published sampled metrics show of the true ones, from their values alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from itertools import chain, combinations
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._defaults import ESTIMATORS
from sampled_metrics._running import on_one_thread
from sampled_metrics._validation import (
    MOST,
    Floats,
    counted,
    enumerated,
    is_real,
    is_whole,
    require_confidence_level,
    shown,
)
from sampled_metrics.core.estimators import Estimator, EstimatorsLike, estimators_by_label
from sampled_metrics.core.estimators.shapes import DECREASING, FREE, SHAPES, Mixture
from sampled_metrics.core.estimators.shapes import mixtures as mixtures_of
from sampled_metrics.core.evaluation.result import Result, by_recommender
from sampled_metrics.core.evaluation.values import assumption_of, finding_of_bounds
from sampled_metrics.core.findings import Finding, grouped
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import Metric, MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.reading import by_name
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Size
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.papers.known_means import KnownMeans, KnownRegion

MOST_VALUES = 6
"""Largest number of values of a recommender that are taken together."""


def with_decimals(
    given: Mapping[str, Mapping[str, Metric]], values: Mapping[str, Mapping[str, float | str]]
) -> tuple[dict[str, dict[str, float | str]], list[Finding]]:
    """Return the values with the zeros at the end that numbers have lost, and findings that say
    so.
    """
    written = [
        (name, label, metric.label, value)
        for name, metrics in given.items()
        for (label, metric), value in zip(metrics.items(), values[name].values(), strict=True)
    ]
    decimals = {
        metric: max(
            len(str(value).partition(".")[2]) if is_real(value) and "e" not in str(value) else 0
            for *_, value in of_metric
        )
        for metric, of_metric in grouped(written, lambda row: row[2]).items()
    }
    read = dict[str, dict[str, float | str]]()
    findings = list[Finding]()
    for name, label, metric, value in written:
        number = f"{float(value):.{decimals[metric]}f}" if is_real(value) else str(value)
        is_longer = is_real(value) and len(number) > len(str(value)) and float(number) == value
        read.setdefault(name, {})[label] = number if is_longer else value
        if is_longer:
            numbers = {"label": label, "value": str(value), "read": number}
            findings.append(Finding("read-with-decimals", metric, (name,), values=numbers))
    return read, findings


def known_means(
    given: Mapping[str, Metric], values: Sequence[float | str], negatives: int, users: int
) -> tuple[KnownMeans, list[Finding]]:
    """Return what rounded values of sampled metrics say, and findings on shares that no number of
    users has.
    """
    if len(given) > MOST_VALUES:
        raise ConfigError(
            f"values: at most {MOST_VALUES} values are taken together, not {len(given)}"
        )
    ranks = np.arange(1, negatives + 2)
    known: dict[bytes, tuple[str, Floats, float, float]] = {}
    findings = []
    for (label, metric), value in zip(given.items(), values, strict=True):
        function = metric.of_rank(ranks, negatives + 1) / metric.largest
        if not np.ptp(function):
            raise DataError(
                f"{label}: k must be at most the {counted(negatives, 'negative')}, as the value "
                "is 1 otherwise"
            )
        low, high = _limits(label, value, metric)
        if np.isin(function, (0, 1)).all():  # the share of some of the users
            fewest = ceil(low * users - 1e-9)
            most_users = floor(high * users + 1e-9)
            below = most_users / users
            above = fewest / users
            if fewest <= most_users:
                low = above
                high = below
            else:
                nearest = {"below": below * metric.largest, "above": above * metric.largest}
                findings.append(
                    Finding(
                        "no-share", label, values={"value": str(value), "users": users} | nearest
                    )
                )
        share = function.tobytes()
        if share not in known:
            known[share] = label, function, low, high
            continue
        before, _, least, most = known[share]
        are_ranges = low < high and least < most
        low = max(low, least)
        high = min(high, most)
        # both round to the same number, but not the same way
        if low > high or (are_ranges and low > high - 1e-12):
            raise DataError(
                f"values: {before} and {label} are the same share, so they contradict one another"
            )
        known[share] = before, function, low, high
    labels, functions, lows, highs = zip(*known.values(), strict=True)
    written = dict(zip(given, map(str, values), strict=True))
    means = KnownMeans(
        np.array(functions),
        np.array(lows),
        np.array(highs),
        users,
        {label: written[label] for label in labels},
    )
    if not means.are_possible():
        raise DataError(f"values: {_contradiction(means)}")
    return means, findings


def _contradiction(means: KnownMeans) -> str:
    """Return which of the means cannot be together, in words; as few as can be."""
    sizes = range(1, len(means.functions) + 1)
    parts = (
        means.part(rows)
        for size in sizes
        for rows in combinations(range(len(means.functions)), size)
    )
    part = next(part for part in parts if not part.are_possible())
    falling = np.argsort(-part.low, kind="stable")
    items = [*part.written.items()]
    texts = [f"{label} ({value})" for label, value in (items[row] for row in falling)]
    if len(texts) <= 2:
        return (
            f"{' above '.join(texts)} cannot be: no sample has "
            f"{'both' if len(texts) == 2 else 'it'}"
        )
    return f"{enumerated(texts)} cannot be: no sample has all of them"


def _limits(label: str, value: float | str, metric: Metric) -> tuple[float, float]:
    """Return the least and the largest mean, relative to the largest one, that is written as a
    value of a metric.
    """
    try:
        digits = Decimal(str(value))
    except InvalidOperation:
        digits = Decimal("nan")
    if not digits.is_finite():
        raise DataError(f"{label}: the value must be a number, not {shown(value)}")
    number = float(digits)
    exponent = int(digits.as_tuple().exponent)
    # of the last digit; whole numbers are not rounded
    half = 0.5 * 10.0**exponent if exponent < 0 else 0.0
    if not 0 <= number <= metric.largest * (1 + 1e-9):
        share = number / 100
        hint = (
            f"; in per cent? Write {share:.12g}"
            if 1 < number <= 100 and share <= metric.largest
            else ""
        )
        raise DataError(
            f"{label}: the value must be from 0 to {metric.largest:g}, not {value}{hint}"
        )
    return max(0.0, (number - half) / metric.largest), min(1.0, (number + half) / metric.largest)


class _Exact(NamedTuple):
    """A published metric among all candidates.

    Attributes:
        label: its label.
        metric: the metric.
        value: the value as it is written.
        low: the smallest value that is written so.
        high: the largest such value.
    """

    label: str
    metric: Metric
    value: str
    low: float
    high: float


def _exact_values(
    exact: Mapping[str, Mapping[str, float | str]] | None, names: Mapping[str, Any]
) -> tuple[dict[str, list[_Exact]], list[Finding]]:
    """Return published exact metrics by recommender, and findings on how they are read."""
    if exact is None:
        return {}, []
    if not isinstance(exact, Mapping) or not all(
        isinstance(metrics, Mapping) for metrics in exact.values()
    ):
        raise ConfigError(
            f"exact: give values by recommender, {{'GMF': {{'hit-rate@10': 0.07}}}}, not "
            f"{shown(exact)}"
        )
    if not exact:
        return {}, []
    exact = by_name(exact)
    if unknown := [name for name in exact if name not in names]:
        raise ConfigError(
            f"exact: there are no sampled values of {shown(unknown[0])}; there are of "
            f"{', '.join(names)}"
        )
    metrics_of = {
        name: metrics_by_label(list(metrics), "exact") for name, metrics in exact.items() if metrics
    }
    read, on_decimals = with_decimals(metrics_of, exact)
    by_recommender = dict[str, list[_Exact]]()
    for name, metrics in metrics_of.items():
        by_recommender[name] = []
        for (label, metric), value in zip(metrics.items(), read[name].values(), strict=True):
            try:
                low, high = _limits(label, value, metric)
            except DataError as error:
                raise DataError(f"{name}: exact: {error}") from None
            ends = (low * metric.largest, high * metric.largest)
            by_recommender[name].append(_Exact(label, metric, str(value), *ends))
    return by_recommender, on_decimals


def _is_within(
    exact: _Exact, by_size: Sequence[Mapping[str, _Bounds]], metrics: Sequence[str]
) -> bool:
    """Return whether an exact value is within the bounds of its metric of all shapes, which are at
    a larger rate.
    """
    if exact.label not in metrics:
        return False
    bounds = [_together([of_shapes[shape] for of_shapes in by_size]) for shape in by_size[0]]
    ends = [of_shape.ends[0, :, metrics.index(exact.label)] for of_shape in bounds]
    return all(low <= exact.high and exact.low <= high for low, high in ends)


def _exact_contradicted(
    known: KnownMeans,
    exact: _Exact,
    of_sizes: Sequence[Mapping[str, Mixture]],
    shapes: Sequence[str],
    alpha: float,
) -> list[Finding]:
    """Return a finding if sampled values exclude an exact one, with the fewest that do and the
    weakest assumption.

    Args:
        known: the sampled values.
        exact: the exact value.
        of_sizes: by n and by shape, the mixture whose only metric is the exact one.
        shapes: the assumptions, the weaker one first.
        alpha: the error rate.
    """
    for shape in shapes:
        mixtures = [of_shapes[shape] for of_shapes in of_sizes]

        def excludes(part: KnownMeans, mixtures: Sequence[Mixture] = mixtures) -> bool:
            low, high = _ends(part, mixtures, alpha)
            return exact.high < low - 1e-9 or exact.low > high + 1e-9

        if excludes(known):
            fewest = known.fewest(excludes)
            low, high = _ends(fewest, mixtures, alpha)
            values = {
                "value": exact.value,
                "low": low,
                "high": high,
                "assumption": shape,
                "values": fewest.written,
            }
            return [Finding("exact-contradicted", exact.label, values=values)]
    return []


def _ends(known: KnownMeans, mixtures: Sequence[Mixture], alpha: float) -> tuple[float, float]:
    """Return the bounds of the only metric of mixtures of several n together; NaN if no n explains
    the means.
    """
    ends = []
    for mixture in mixtures:
        region = KnownRegion(known, mixture)
        if not region.contradicts(alpha):
            ends.append(region.bounds(known.limit(alpha))[:, 0])
    if not ends:
        return float("nan"), float("nan")
    low, high = np.transpose(ends)
    return float(low.min()), float(high.max())


def _by_metrics(mixtures: Mapping[str, Mixture], first: int) -> list[dict[str, Mixture]]:
    """Return mixtures with the first metrics alone, and with each of the others."""
    columns = [
        slice(first),
        *(slice(column, column + 1) for column in range(first, len(mixtures[FREE].values.T))),
    ]
    return [
        {
            shape: Mixture(mixture.probabilities, mixture.values[:, some])
            for shape, mixture in mixtures.items()
        }
        for some in columns
    ]


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
    exact: Mapping[str, Mapping[str, float | str]] | None = None,
    confidence_level: float = 0.95,
) -> Result:
    """Bound the true metrics behind published sampled ones, such as a hit rate of .62 among 99
    negatives.

    If x of a user's m sampled negatives rank above the held-out item, a sampled metric is the mean
    over users of a function of x. The bounds hold for all distributions of true ranks that agree
    with all values of a recommender, up to rounding and the error of so many users. For each two
    recommenders, a remark says whether the values order them.

    Args:
        values: for each recommender, by its name, the sampled metrics by label, such as hr@10,
            ndcg@10, mrr and auc. Several values of a recommender are of the same users and
            negatives. A value is rounded as it is written: .62 stands for .615 to .625, and 1 for
            itself. Text keeps zeros at the end: "0.620". A number has as many decimals as the other
            recommenders' numbers for the metric: .7 and 1 beside .68 are read as 0.70 and 1.00, and
            a remark says so. A share that no whole number of users has, such as .333333 of 100
            users, is taken to be a mean over seeds, and a remark says so.
        negatives: m, the number of sampled negatives of each user, drawn anew for each user: the
            bounds do not hold for negatives that all users share.
        candidates: n, the number of items in an exact evaluation, including the held-out item. If
            it is not known, the least and the largest: the bounds are those of five n in geometric
            steps together.
        users: the number of users, each with one held-out item.
        replacement: whether a negative could be sampled twice for the same user.
        estimators: free or decreasing or both, which bound the metric. Free takes the place of
            decreasing where the values contradict it.
        metrics: the true metrics to bound, such as recall@10. The default is those of all values.
        exact: metrics among all candidates, by recommender and label, where they are published too.
            They move no bounds. A finding names those that the sampled values exclude, and the
            fewest values that do: one of them is a misprint, or they are not of the same ranks. The
            error rate is that of all exact values of a recommender together (Bonferroni).
        confidence_level: probability that the interval covers the true metric. The verdicts hold
            together for all recommenders (Bonferroni), whether their users are the same or not.

    Returns:
        A row for each recommender, estimator and metric, with the columns recommender, estimator,
        metric, low, high, assumes, users. There is no value between the ends, as the values do not
        determine one. If no distribution of true ranks explains the values, the ends are NaN, and a
        finding names the fewest that contradict one another.

    Raises:
        ConfigError: values are not by name and label, exact has another name, an estimator is not
            one of bounds, or an option does not exist.
        DataError: a value is not a number that its metric can have, no sample has all values of a
            recommender, or candidates, negatives and users do not fit.

    Examples:
        A paper reports a hit rate at 10 of .62 among 99 sampled negatives, for 6040 users and
        20,000 items:

        >>> import sampled_metrics as sm
        >>> values = {"GMF": {"hit-rate@10": 0.62}}
        >>> result = sm.published(values, negatives=99, candidates=20000, users=6040)
        >>> [(row.estimator, round(row.low, 3), round(row.high, 3)) for row in result.itertuples()]
        [('decreasing', 0.003, 0.637), ('free', 0.0, 0.637)]

        Another recommender has .70, and the paper does not say which is better by the true hit
        rate:

        >>> values = {"GMF": {"hr@10": 0.68, "ndcg@10": 0.41}, "NCF": {"hr@10": 0.70}}
        >>> result = sm.published(values, negatives=99, candidates=3706, users=6040,
        ...     metrics="hr@10")
        >>> print(result.remarks[0])  # doctest: +NORMALIZE_WHITESPACE
        These numbers do not order GMF and NCF by Hit rate@10 (GMF may be better by up to 0.23,
        NCF by up to 0.68), with 95 % confidence, even if better ranks are more frequent than worse
        ones in the better half of the ranks.

        Misprints are named, here of the recall of captions among 1000 and among 5000 images:

        >>> result = sm.published(
        ...     {"CAMERA": {"hr@1": "0.644", "hr@5": "0.814"}},
        ...     negatives=999,
        ...     candidates=5000,
        ...     users=25000,
        ...     exact={"CAMERA": {"hr@5": "0.534"}},
        ... )
        >>> contradicted = [
        ...     finding for finding in result.findings if finding.kind == "exact-contradicted"
        ... ]
        >>> [dict(finding.values["values"]) for finding in contradicted]
        [{'hr@1': '0.644', 'hr@5': '0.814'}]

    References:
        P. B. Stark, Inference in infinite-dimensional inverse problems: discretization and duality,
        Journal of Geophysical Research 97, 1992.
    """
    confidence_level = require_confidence_level(confidence_level)
    sizes = _sizes(candidates)
    design = SamplingDesign(negatives, replacement)
    if not is_whole(users) or users < 1:
        raise DataError(f"users must be a whole number, 1 or more, not {shown(users)}")
    for name, number in (("candidates", sizes[-1]), ("users", users)):
        if number > MOST:
            raise DataError(f"{name} must be 2^53 or less, not {number}")
    negatives = design.negatives  # numbers of numpy may be of few bits
    users = int(users)
    for n in sizes:
        design.check(n)
    if (
        not isinstance(values, Mapping)
        or not values
        or not all(isinstance(one, Mapping) for one in values.values())
    ):
        raise ConfigError(
            f"values: give them by recommender, {{'GMF': {{'hit-rate@10': 0.62}}}}, not "
            f"{shown(values)}"
        )
    chosen = estimators_by_label(estimators)
    for label, estimator in chosen.items():
        if estimator.assumed_shape is None:
            raise ConfigError(
                f"estimators: {label} needs all ranks; of a value, there are bounds: "
                f"{', '.join(SHAPES)}"
            )
    values = by_name(values)
    given = {name: metrics_by_label(list(of_one), "values") for name, of_one in values.items()}
    values, on_values = with_decimals(given, values)
    also_exact, on_exact = _exact_values(exact, values)
    known = dict[str, KnownMeans]()
    said = dict[str, list[Finding]]()
    for name, of_one in values.items():
        try:
            known[name], said[name] = known_means(
                given[name], list(of_one.values()), negatives, users
            )
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    named = grouped(
        (one for metrics in given.values() for one in metrics.items()), lambda one: one[1].label
    )
    all_known = {alike[0][1].label: alike[0][1] for alike in named.values()}
    wanted = (
        dict(alike[0] for alike in named.values()) if metrics is None else metrics_by_label(metrics)
    )
    alphas = sorted({1 - confidence_level, (1 - confidence_level) / len(values)}, reverse=True)
    exact_metrics = {
        value.label: value.metric for value in chain.from_iterable(also_exact.values())
    }
    found: dict[str, list[dict[str, _Bounds]]] = {name: [] for name in values}  # by n, and by shape
    of_exact = list[dict[str, dict[str, Mixture]]]()  # by n, label of an exact metric, and shape
    for n in sizes:
        size = Size(n, negatives, design.replacement, 1)
        all_metrics = (*wanted.values(), *exact_metrics.values())
        mixtures, *others = _by_metrics(
            _mixtures(size, all_metrics, tuple(all_known.values())), len(wanted)
        )
        of_exact.append(dict(zip(exact_metrics, others, strict=True)))
        most = np.array([metric.largest for metric in wanted.values()])
        for name, means in known.items():
            found[name].append(
                {
                    str(one): _bounds(means, mixtures, str(one), alphas, most)
                    for one in chosen.values()
                }
            )
    of_n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    shapes = sorted(map(str, chosen.values()), key=SHAPES.index)
    results = {}
    for name, by_size in found.items():
        table = _table(by_size, chosen, list(wanted), users, negatives)
        for value in also_exact.get(name, ()):
            if not _is_within(value, by_size, list(wanted)):
                of_sizes = [of_labels[value.label] for of_labels in of_exact]
                alpha = (1 - confidence_level) / len(also_exact[name])
                said[name] += _exact_contradicted(known[name], value, of_sizes, shapes, alpha)
        parameters = f"{users:,} users, n = {of_n}, m = {negatives:,}"
        results[name] = table.found(
            [*said[name], Finding("drawn-by-user")], Setting(confidence_level, parameters)
        )
    table = by_recommender(results)
    return table.found([*_verdicts(found, list(wanted)), *on_values, *on_exact])


def _table(
    by_size: Sequence[Mapping[str, _Bounds]],
    estimators: Mapping[str, Estimator],
    metrics: Sequence[str],
    users: int,
    negatives: int,
) -> Result:
    """Return the rows of a recommender, from its bounds by n and shape, with what its values show
    and contradict.
    """
    rows = list[dict[str, Any]]()
    findings = list[Finding]()
    contradicted = list[Finding]()
    for label, estimator in estimators.items():
        together = _together([of_shapes[str(estimator)] for of_shapes in by_size])
        assumes = assumption_of(together.shape)
        for metric, low, high in zip(metrics, *together.ends[0], strict=True):
            row = {
                "estimator": label,
                "metric": metric,
                "low": low,
                "high": high,
                "assumes": assumes,
                "users": users,
            }
            rows.append(row)
            if not np.isnan(low):
                findings.append(finding_of_bounds(rows[-1], np.array([negatives])))
        kinds = (
            {FREE: "unexplained"} if FREE in together.contradicted else {DECREASING: "contradicted"}
        )
        contradicted += [
            Finding(
                kinds[shape], values={"assumption": shape, "p_value": p_value, "values": values}
            )
            for shape, (p_value, values) in together.contradicted.items()
            if shape in kinds
        ]
    return Result(rows).found([*contradicted, *findings])


@lru_cache(maxsize=2)
def _mixtures(
    size: Size, metrics: tuple[Metric, ...], known: tuple[Metric, ...]
) -> dict[str, Mixture]:
    """Return the mixtures of users of a size.

    They do not depend on the values, so that all recommenders share them.
    """
    return mixtures_of([size], metrics, known=known)


class _Bounds(NamedTuple):
    """The bounds of a recommender under an assumption.

    Attributes:
        shape: the assumption, the strongest one that the values do not contradict.
        contradicted: p-values of the stronger ones, and the fewest values that contradict them, by
            label; `free` is among them if no ranks explain the values.
        ends: (levels, 2, metrics) smallest and largest metrics at each error rate.
    """

    shape: str
    contradicted: dict[str, tuple[float, Mapping[str, str]]]
    ends: Floats


def _bounds(
    known: KnownMeans,
    mixtures: Mapping[str, Mixture],
    shape: str,
    alphas: Sequence[float],
    most: Floats,
) -> _Bounds:
    """Return the bounds at error rates, the largest first, with a shape or the next weaker one that
    is possible.
    """
    contradicted: dict[str, tuple[float, Mapping[str, str]]] = {}
    for weaker in SHAPES[SHAPES.index(shape) :: -1]:
        region = KnownRegion(known, mixtures[weaker])
        deviance = region.deviance()
        if deviance <= known.limit(alphas[0]):
            # 0.0, not -0.0
            ends = [np.clip(region.bounds(known.limit(alpha)), 0.0, most) + 0.0 for alpha in alphas]
            return _Bounds(weaker, contradicted, np.array(ends))
        fewest = known.fewest(partial(_contradict, mixture=mixtures[weaker], alpha=alphas[0]))
        contradicted[weaker] = (known.p_value(deviance), fewest.written)
    return _Bounds(FREE, contradicted, np.full((len(alphas), 2, len(most)), np.nan))


def _contradict(known: KnownMeans, mixture: Mixture, alpha: float) -> bool:
    return KnownRegion(known, mixture).contradicts(alpha)


def _together(bounds: Sequence[_Bounds]) -> _Bounds:
    """Return the bounds of several n together; an n with which no ranks explain the values is left
    out.
    """
    possible = [one for one in bounds if FREE not in one.contradicted] or bounds
    weakest = min(possible, key=lambda one: SHAPES.index(one.shape))
    ends = np.stack([one.ends for one in possible])
    return weakest._replace(
        ends=np.stack((ends[:, :, 0].min(axis=0), ends[:, :, 1].max(axis=0)), axis=1)
    )


def _difference(
    of_first: Sequence[Mapping[str, _Bounds]],
    of_second: Sequence[Mapping[str, _Bounds]],
    shape: str,
) -> _Bounds | None:
    """Return the bounds of the second minus the first, of all n together; None if no ranks explain
    one of them.
    """
    differences = []
    for one, other in zip(of_first, of_second, strict=True):
        first = one[shape]
        second = other[shape]
        ends = second.ends - first.ends[:, ::-1]
        if np.isfinite(ends).all():
            differences.append(_Bounds(min(first.shape, second.shape, key=SHAPES.index), {}, ends))
    return _together(differences) if differences else None


def _verdicts(
    found: Mapping[str, Sequence[Mapping[str, _Bounds]]], metrics: Sequence[str]
) -> list[Finding]:
    """Return findings on the order of each two recommenders, from their bounds by n and shape.

    The weakest assumption that orders a pair is named, or else the strongest one, which does not
    order it either.
    """
    findings = []
    for (a, of_a), (b, of_b) in combinations(found.items(), 2):
        differences = [
            _difference(of_a, of_b, shape) for shape in sorted(of_a[0], key=SHAPES.index)
        ]
        explained = [one for one in differences if one is not None]
        for column, label in enumerate(metrics if explained else ()):
            bounds = [
                (one.shape, float(one.ends[-1, 0, column]), float(one.ends[-1, 1, column]))
                for one in explained
            ]
            ordering = [(shape, low, high) for shape, low, high in bounds if low > 0 or high < 0]
            shape, low, high = (ordering or bounds[-1:])[0]
            values = {"low": low, "high": high, "assumption": shape, "is_decided": bool(ordering)}
            findings.append(
                Finding("published-order", label, (b, a) if low > 0 else (a, b), values=values)
            )
    return findings


def _sizes(candidates: int | tuple[int, int]) -> list[int]:
    """Return the numbers of candidates that stand for one, or for a range."""
    ends = list(candidates) if isinstance(candidates, tuple | list) else [candidates]
    if not all(is_whole(n) and 1 <= n <= MOST for n in ends):
        raise DataError(
            f"candidates must be a whole number from 1 to {MOST}, or two of them, not "
            f"{shown(candidates)}"
        )
    if len(ends) not in (1, 2) or ends[0] > ends[-1]:
        raise DataError(
            f"candidates: give one number, or the least and the largest, not {shown(candidates)}"
        )
    return sorted({round(n) for n in np.geomspace(ends[0], ends[-1], _SIZES)})
