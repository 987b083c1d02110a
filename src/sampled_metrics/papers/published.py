"""Say what published sampled metrics show of the true ones, from their values alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import lru_cache, partial
from itertools import chain, combinations
from math import ceil, floor
from typing import Any, NamedTuple

import numpy as np

from sampled_metrics._defaults import PUBLISHED
from sampled_metrics.checks import (
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
from sampled_metrics.core.evaluation.phrases import condition
from sampled_metrics.core.evaluation.result import Result, by_recommender
from sampled_metrics.core.evaluation.values import (
    NO_ASSUMPTION,
    assumption_of,
    finding_of_assumption,
)
from sampled_metrics.core.findings import Finding
from sampled_metrics.core.inference.setting import Setting
from sampled_metrics.core.metrics import Metric, MetricsLike, metrics_by_label
from sampled_metrics.core.ranks.reading import by_name
from sampled_metrics.core.ranks.sampled import BY_USER, POPULARITY
from sampled_metrics.core.sampling.distributions import SamplingDesign
from sampled_metrics.core.sampling.outcomes import Size
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.papers.known_means import MOST_VALUES, KnownMeans, KnownRegion
from sampled_metrics.running import on_one_thread


class _Written(NamedTuple):
    """A value as it is written.

    Attributes:
        name: the recommender.
        label: the metric, as it is written.
        metric: the label of the metric.
        value: the value.
    """

    name: str
    label: str
    metric: str
    value: float | str


def with_decimals(
    metrics: Mapping[str, Mapping[str, Metric]], values: Mapping[str, Mapping[str, float | str]]
) -> tuple[dict[str, dict[str, float | str]], list[Finding]]:
    """Return the values with the zeros that numbers lose at their end, and findings that say so.

    The metrics are by recommender and label, in the order of the values.
    """
    written = [
        _Written(name, label, metric.label, value)
        for name, by_label in metrics.items()
        for (label, metric), value in zip(by_label.items(), values[name].values(), strict=True)
    ]
    decimals: dict[str, int] = {}  # the largest number of each metric
    for row in written:
        decimals[row.metric] = max(_decimals(row.value), decimals.get(row.metric, 0))
    read = dict[str, dict[str, float | str]]()
    findings = list[Finding]()
    for name, label, metric_label, value in written:
        digits = f"{float(value):.{decimals[metric_label]}f}" if is_real(value) else str(value)
        is_longer = is_real(value) and len(digits) > len(str(value)) and float(digits) == value
        read.setdefault(name, {})[label] = digits if is_longer else value
        if is_longer:
            facts = {"label": label, "value": str(value), "read": digits}
            findings.append(Finding("read-with-decimals", metric_label, (name,), values=facts))
    return read, findings


def _decimals(value: float | str) -> int:
    """Return the number of decimals of a number, or 0 for text, which keeps its own."""
    return len(str(value).partition(".")[2]) if is_real(value) and "e" not in str(value) else 0


class _Mean(NamedTuple):
    """The means that round to a value of a metric.

    Attributes:
        label: the metric, as it is written.
        function: (m + 1,) values of the metric at x = 0 … m, relative to the largest one.
        low: the smallest mean, relative to the largest value.
        high: the largest mean.
    """

    label: str
    function: Floats
    low: float
    high: float


def known_means(
    metrics: Mapping[str, Metric], values: Sequence[float | str], negatives: int, users: int
) -> tuple[KnownMeans, list[Finding]]:
    """Return what rounded values of sampled metrics say, with findings.

    A finding says that no number of users has a share.
    """
    if len(metrics) > MOST_VALUES:
        raise ConfigError(
            f"values: at most {MOST_VALUES} values are taken together, not {len(metrics)}"
        )
    ranks = np.arange(1, negatives + 2)
    known: dict[bytes, _Mean] = {}  # by the function
    findings = []
    for (label, metric), value in zip(metrics.items(), values, strict=True):
        function = metric.of_rank(ranks, negatives + 1) / metric.largest
        if not np.ptp(function):
            raise DataError(
                f"{label}: k must be at most the {counted(negatives, 'negative')}, as the value "
                "is 1 otherwise"
            )
        low, high = _limits(label, value, metric)
        if np.isin(function, (0, 1)).all():  # the share of some of the users
            fewest_users = ceil(low * users - 1e-9)
            most_users = floor(high * users + 1e-9)
            if fewest_users <= most_users:
                low = fewest_users / users
                high = most_users / users
            else:
                shares = {
                    "value": str(value),
                    "users": users,
                    "below": most_users / users * metric.largest,
                    "above": fewest_users / users * metric.largest,
                }
                findings.append(Finding("no-share", label, values=shares))
        mean = _Mean(label, function, low, high)
        key = function.tobytes()
        known[key] = _in_common(known[key], mean) if key in known else mean
    labels, functions, lows, highs = zip(*known.values(), strict=True)
    written = dict(zip(metrics, map(str, values), strict=True))
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


def _in_common(earlier: _Mean, later: _Mean) -> _Mean:
    """Return the means that two values of the same share have in common.

    Raises:
        DataError: there are none.
    """
    are_ranges = earlier.low < earlier.high and later.low < later.high
    low = max(earlier.low, later.low)
    high = min(earlier.high, later.high)
    # ranges that meet at an end round to the same number, but not the same way
    if low > high or (are_ranges and low > high - 1e-12):
        raise DataError(
            f"values: {earlier.label} and {later.label} are the same share, so they contradict "
            "one another"
        )
    return earlier._replace(low=low, high=high)


def _contradiction(means: KnownMeans) -> str:
    """Return the fewest means that cannot be together, in words."""
    sizes = range(1, len(means.functions) + 1)
    subsets = (
        means.subset(rows)
        for size in sizes
        for rows in combinations(range(len(means.functions)), size)
    )
    impossible = next(subset for subset in subsets if not subset.are_possible())
    falling = np.argsort(-impossible.low, kind="stable")
    written = [f"{label} ({value})" for label, value in impossible.written.items()]
    texts = [written[row] for row in falling]
    if len(texts) == 1:
        return f"{texts[0]} cannot be: no sample has it"
    if len(texts) == 2:
        return f"{' above '.join(texts)} cannot be: no sample has both"
    return f"{enumerated(texts)} cannot be: no sample has all of them"


def _limits(label: str, value: float | str, metric: Metric) -> tuple[float, float]:
    """Return the smallest and the largest mean that are printed as a value of a metric.

    The means are relative to the largest mean of the metric.
    """
    try:
        digits = Decimal(str(value))
    except InvalidOperation:
        digits = Decimal("nan")
    if not digits.is_finite():
        raise DataError(f"{label}: the value must be a number, not {shown(value)}")
    mean = float(digits)
    exponent = int(digits.as_tuple().exponent)
    # half a unit of the last digit; whole numbers are not rounded
    half = 0.5 * 10.0**exponent if exponent < 0 else 0.0
    if not 0 <= mean <= metric.largest * (1 + 1e-9):
        share = mean / 100
        is_per_cent = 1 < mean <= 100 and share <= metric.largest
        hint = f"; in per cent? Write {share:.12g}" if is_per_cent else ""
        raise DataError(
            f"{label}: the value must be from 0 to {metric.largest:g}, not {value}{hint}"
        )
    return max(0.0, (mean - half) / metric.largest), min(1.0, (mean + half) / metric.largest)


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
    metrics_by_name = {
        name: metrics_by_label(list(metrics), "exact") for name, metrics in exact.items() if metrics
    }
    read, on_decimals = with_decimals(metrics_by_name, exact)
    exact_by_name = dict[str, list[_Exact]]()
    for name, metrics in metrics_by_name.items():
        exact_by_name[name] = []
        for (label, metric), value in zip(metrics.items(), read[name].values(), strict=True):
            try:
                low, high = _limits(label, value, metric)
            except DataError as error:
                raise DataError(f"{name}: exact: {error}") from None
            ends = (low * metric.largest, high * metric.largest)
            exact_by_name[name].append(_Exact(label, metric, str(value), *ends))
    return exact_by_name, on_decimals


def _is_within(
    exact: _Exact, bounds_by_size: Sequence[Mapping[str, _Bounds]], metrics: Sequence[str]
) -> bool:
    """Return whether an exact value is within the bounds of its metric under all assumptions.

    The bounds are at a larger error rate than that of exact values, so they are narrower.
    """
    if exact.label not in metrics:
        return False
    column = metrics.index(exact.label)
    for shape in bounds_by_size[0]:
        bounds = _together([by_shape[shape] for by_shape in bounds_by_size])
        low, high = bounds.ends[0, :, column]
        if not (low <= exact.high and exact.low <= high):
            return False
    return True


def _exact_contradicted(
    known: KnownMeans,
    exact: _Exact,
    mixtures_by_size: Sequence[Mapping[str, Mixture]],
    shapes: Sequence[str],
    alpha: float,
) -> list[Finding]:
    """Return a finding if sampled values exclude an exact one.

    The finding has values that do, none of which can be left out, and the weakest assumption.

    Args:
        known: the sampled values.
        exact: the exact value.
        mixtures_by_size: by n and by shape, the mixture whose only metric is the exact one.
        shapes: the assumptions, the weaker one first.
        alpha: the error rate.
    """
    for shape in shapes:
        mixtures = [by_shape[shape] for by_shape in mixtures_by_size]

        def excludes(subset: KnownMeans, mixtures: Sequence[Mixture] = mixtures) -> bool:
            low, high = _ends(subset, mixtures, alpha)
            return exact.high < low - 1e-9 or exact.low > high + 1e-9

        if excludes(known):
            contradicting = known.irreducible(excludes)
            low, high = _ends(contradicting, mixtures, alpha)
            values = {
                "value": exact.value,
                "low": low,
                "high": high,
                "assumption": shape,
                "condition": condition(shape),
                "values": contradicting.written,
            }
            return [Finding("exact-contradicted", exact.label, values=values)]
    return []


def _ends(known: KnownMeans, mixtures: Sequence[Mixture], alpha: float) -> tuple[float, float]:
    """Return the bounds of the only metric of mixtures of several n together.

    The bounds are NaN if no n explains the means.
    """
    ends = []
    for mixture in mixtures:
        region = KnownRegion(known, mixture)
        if not region.contradicts(alpha):
            ends.append(region.bounds([alpha])[0, :, 0])
    if not ends:
        return float("nan"), float("nan")
    low, high = np.transpose(ends)
    return float(low.min()), float(high.max())


def _with_metrics(mixtures: Mapping[str, Mixture], columns: slice) -> dict[str, Mixture]:
    return {
        shape: Mixture(mixture.probabilities, mixture.values[:, columns])
        for shape, mixture in mixtures.items()
    }


_SIZES = 5  # numbers of candidates that stand for a range


@on_one_thread
def published(
    values: Mapping[str, Mapping[str, float | str]],
    *,
    negatives: int,
    candidates: int | tuple[int, int],
    users: int,
    replacement: bool = False,
    drawn: str = BY_USER,
    estimators: EstimatorsLike = PUBLISHED,
    metrics: MetricsLike | None = None,
    exact: Mapping[str, Mapping[str, float | str]] | None = None,
    confidence_level: float = 0.95,
) -> Result:
    """Bound the true metrics behind published sampled ones.

    The table answers two questions. What would other users show among as many items (rows of
    uncorrected)? And what is the metric among all candidates (free and decreasing)?

    A published sampled metric is, for example, a hit rate of .62 among 99 negatives. If x of a
    user's m sampled negatives rank above the held-out item, a sampled metric is the mean over users
    of a function of x. The bounds hold for all distributions of true ranks that agree with all
    values of a recommender, up to rounding and the sampling error of this many users. For each two
    recommenders, remarks say whether the values order them, among all candidates and in samples.

    Args:
        values: for each recommender, by its name, the sampled metrics by label, such as hr@10,
            ndcg@10, mrr and auc. Several values of a recommender belong to the same users and
            negatives. A value is rounded as written: .62 stands for .615 to .625, and 1 for itself.
            Text keeps zeros at the end: "0.620". A number has as many decimals as the other
            recommenders' numbers for the metric: .7 and 1 next to .68 are read as 0.70 and 1.00,
            and a remark says that. A share that no whole number of users has, such as .333333 of
            100 users, is taken to be a mean over seeds, and a remark says so.
        negatives: m, the number of sampled negatives of each user, drawn anew for each user: the
            bounds do not hold for negatives that all users share.
        candidates: n, the number of items in an exact evaluation, including the held-out item. If
            it is not known, the least and the largest: the bounds then hold for five n in geometric
            steps together.
        users: the number of users, each with one held-out item.
        replacement: whether a negative could be sampled twice for the same user.
        drawn: "by user" if negatives are drawn uniformly and anew for each user. "popularity" if
            they are drawn in another way. Then there is no order, and the bounds, in the row free,
            are those of the users of the paper: x distinct negatives above the held-out item are x
            candidates above it, so its true rank r is at least x + 1, and f(r) <= f(x + 1) for a
            metric f that does not increase. So the true hit rate is at most the sampled one. With
            replacement, x draws may be one item: r >= 2 if x > 0, which bounds Hit rate@1 alone.
        estimators: free, decreasing and uncorrected, or some of them. Free and decreasing bound the
            metric among all candidates. Free takes the place of decreasing where the values
            contradict it. Uncorrected is the interval of a published value for users like these,
            among the held-out item and m negatives; if n = m + 1, the other rows are left out.
        metrics: the true metrics to bound, such as recall@10. By default, the metrics of all
            values.
        exact: metrics among all candidates, by recommender and label, where they are published too;
            not for negatives by popularity. Exact metrics move no bounds. A finding names those
            that the sampled values exclude, and values that exclude them, none of which can be left
            out: one of them is a misprint, or they do not come from the same ranks. The error rate
            is for all exact values of a recommender together (Bonferroni).
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
        [('decreasing', 0.003, 0.637), ('free', 0.0, 0.637), ('uncorrected', 0.603, 0.637)]

        Another recommender has .70, and the paper does not say which is better by the true hit
        rate:

        >>> values = {"GMF": {"hr@10": 0.68, "ndcg@10": 0.41}, "NCF": {"hr@10": 0.70}}
        >>> result = sm.published(values, negatives=99, candidates=3706, users=6040,
        ...     metrics="hr@10")
        >>> print(result.remarks[0])  # doctest: +NORMALIZE_WHITESPACE
        These numbers do not order GMF and NCF by Hit rate@10: the difference (NCF - GMF) is -0.2349
        to +0.6809 with 95 % confidence, if a better rank is at least as common as a worse one (up
        to rank n/2).

        Negatives by popularity bound the hit rate from above:

        >>> values = {"BERT4Rec": {"hr@10": "0.6975"}}
        >>> result = sm.published(values, negatives=100, candidates=3416, users=6040,
        ...     drawn="popularity", estimators="free")
        >>> [(row.low, round(row.high, 4)) for row in result.itertuples()]
        [(0.0, 0.6975)]

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
    for name, size in (("candidates", sizes[-1]), ("users", users)):
        if size > MOST:
            raise DataError(f"{name} must be 2^53 or less, not {size}")
    negatives = design.negatives  # numbers of numpy may be of few bits
    users = int(users)
    for n in sizes:
        design.check(n)
    _require_by_recommender(values)
    chosen = estimators_by_label(estimators)
    _require_bounds(chosen)
    is_popular = _is_popular(drawn, exact)
    uncorrected = [label for label, estimator in chosen.items() if estimator.is_uncorrected]
    bounding = {
        label: estimator for label, estimator in chosen.items() if not estimator.is_uncorrected
    }
    shapes = sorted(map(str, bounding.values()), key=SHAPES.index)
    are_all_drawn = sizes == [negatives + 1] and not replacement
    if uncorrected and are_all_drawn:  # both questions are the same
        bounding = {}
        shapes = [FREE]
    # read the values
    values = by_name(values)
    metrics_by_name = {
        name: metrics_by_label(list(by_label), "values") for name, by_label in values.items()
    }
    values, on_values = with_decimals(metrics_by_name, values)
    exact_by_name, on_exact = _exact_values(exact, values)
    known = dict[str, KnownMeans]()
    findings = dict[str, list[Finding]]()
    for name, by_label in values.items():
        try:
            known[name], findings[name] = known_means(
                metrics_by_name[name], list(by_label.values()), negatives, users
            )
        except DataError as error:
            raise DataError(f"{name}: {error}") from None
    known_metrics = dict[str, tuple[str, Metric]]()  # a metric with two names has the first one
    for metrics_of_name in metrics_by_name.values():
        for label, metric in metrics_of_name.items():
            known_metrics.setdefault(metric.label, (label, metric))
    known_only = tuple(metric for _, metric in known_metrics.values())
    wanted = dict(known_metrics.values()) if metrics is None else metrics_by_label(metrics)
    exact_metrics = {
        value.label: value.metric for value in chain.from_iterable(exact_by_name.values())
    }
    # bound the metrics, for each n
    alphas = sorted({1 - confidence_level, (1 - confidence_level) / len(values)}, reverse=True)
    most = np.array([metric.largest for metric in wanted.values()])
    all_metrics = (*wanted.values(), *exact_metrics.values())
    # by n and by shape
    bounds_by_name: dict[str, list[dict[str, _Bounds]]] = {name: [] for name in values}
    # of each exact metric alone, by n and by shape
    exact_mixtures: dict[str, list[dict[str, Mixture]]] = {label: [] for label in exact_metrics}
    for n in sizes if shapes and not is_popular else ():
        mixtures = _mixtures(Size(n, negatives, design.replacement, 1), all_metrics, known_only)
        for column, label in enumerate(exact_metrics, start=len(wanted)):
            exact_mixtures[label].append(_with_metrics(mixtures, slice(column, column + 1)))
        mixtures = _with_metrics(mixtures, slice(len(wanted)))
        for name, means in known.items():
            bounds_by_name[name].append(
                {shape: _bounds(means, mixtures, shape, alphas, most) for shape in shapes}
            )
    # say what they show
    range_of_n = f"{sizes[0]:,}" if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,}"
    setting = Setting(confidence_level, f"{users:,} users, n = {range_of_n}, m = {negatives:,}")
    results = {}
    ends_in_samples = {
        name: _ends_in_samples(known[name], wanted, alphas) for name in known if uncorrected
    }
    for name, bounds_by_size in bounds_by_name.items():
        for value in exact_by_name.get(name, ()) if shapes else ():
            if not _is_within(value, bounds_by_size, list(wanted)):
                alpha = (1 - confidence_level) / len(exact_by_name[name])
                findings[name] += _exact_contradicted(
                    known[name], value, exact_mixtures[value.label], shapes, alpha
                )
        if is_popular:
            ends = _by_popularity(known[name], wanted, sizes, design)
            table = Result(_rows(FREE, wanted, ends, NO_ASSUMPTION, users))
        else:
            table = _table(bounds_by_size, bounding, list(wanted), users)
        on_table = table.findings
        rows = table.to_dict("records")
        for label in uncorrected:
            widest = {metric: levels[0] for metric, levels in ends_in_samples[name].items()}
            rows += _rows(label, widest, list(widest.values()), NO_ASSUMPTION, users)
        on_drawn = Finding("drawn-by-popularity" if is_popular else "drawn-by-user")
        results[name] = Result(rows).found([*on_table, *findings[name], on_drawn], setting)
    table = by_recommender(results)
    on_tables = table.findings
    table.findings = ()
    on_order = list[Finding]()
    if not is_popular:
        on_order += _verdicts(bounds_by_name, list(wanted)) if bounding else []
        on_order += _verdicts_on_samples(ends_in_samples, negatives + 1)
    return table.found([*on_order, *on_tables, *on_values, *on_exact])


def _is_popular(drawn: str, exact: Any) -> bool:
    """Return whether negatives are drawn by popularity; raise ConfigError for a wrong option."""
    if drawn not in (BY_USER, POPULARITY):
        raise ConfigError(f"drawn must be '{BY_USER}' or '{POPULARITY}', not {shown(drawn)}")
    if drawn == POPULARITY and exact is not None:
        raise ConfigError("exact: is for negatives that are drawn by user; leave it out")
    return drawn == POPULARITY


def _rows(
    estimator: str,
    metrics: Iterable[str],
    ends: Iterable[tuple[float, float]],
    assumes: str,
    users: int,
) -> list[dict[str, Any]]:
    """Return the rows of an estimator: the ends of each metric."""
    return [
        {
            "estimator": estimator,
            "metric": metric,
            "low": low,
            "high": high,
            "assumes": assumes,
            "users": users,
        }
        for metric, (low, high) in zip(metrics, ends, strict=True)
    ]


def _ends_in_samples(
    known: KnownMeans, wanted: Mapping[str, Metric], alphas: Sequence[float]
) -> dict[str, list[tuple[float, float]]]:
    """Return the ends of the published metrics that are wanted, for other users, by error rate."""
    items = known.functions.shape[1]
    ends = {}
    for label, metric in wanted.items():
        function = metric.of_rank(np.arange(1, items + 1), items) / metric.largest
        for row in np.flatnonzero((known.functions == function).all(axis=1)).tolist():
            scaled = [known.ends_of_mean(row, alpha) for alpha in alphas]
            ends[label] = [(low * metric.largest, high * metric.largest) for low, high in scaled]
    return ends


def _by_popularity(
    known: KnownMeans, metrics: Mapping[str, Metric], sizes: Sequence[int], design: SamplingDesign
) -> list[tuple[float, float]]:
    """Return the smallest and largest mean of each metric over users with the known means.

    The best rank of a user has as many candidates above as there are distinct negatives above, and
    the worst one as many below as there are distinct negatives below.
    """
    from scipy.optimize import linprog  # slow to import

    above = np.arange(design.negatives + 1)
    below = design.negatives - above
    if design.replacement:
        above = np.minimum(above, 1)
        below = np.minimum(below, 1)
    rows = np.vstack((known.functions, -known.functions))
    limits = np.concatenate((known.high, -known.low)) + 1e-12
    total = np.ones((1, len(above)))

    def largest_mean(values: Floats) -> float:
        solution = linprog(-values, rows, limits, total, [1.0], method="highs")
        if solution.x is None:
            raise ArithmeticError(f"the bounds of a mean have no solution: {solution.message}")
        return float(-solution.fun)

    ends = []
    for metric in metrics.values():
        low = min(-largest_mean(-metric.of_rank(n - below, n)) for n in sizes)
        high = max(largest_mean(metric.of_rank(above + 1, n)) for n in sizes)
        ends.append((low + 0.0, high))  # 0.0, not -0.0
    return ends


def _require_by_recommender(values: Any) -> None:
    is_by_name = isinstance(values, Mapping) and bool(values)
    if not is_by_name or not all(isinstance(by_label, Mapping) for by_label in values.values()):
        raise ConfigError(
            f"values: give them by recommender, {{'GMF': {{'hit-rate@10': 0.62}}}}, not "
            f"{shown(values)}"
        )


def _require_bounds(estimators: Mapping[str, Estimator]) -> None:
    """Raise ConfigError if an estimator gives neither bounds nor the metric of the sample."""
    for label, estimator in estimators.items():
        if estimator.assumed_shape is None and not estimator.is_uncorrected:
            raise ConfigError(
                f"estimators: {label} needs all ranks; published takes {', '.join(PUBLISHED)}"
            )


def _table(
    bounds_by_size: Sequence[Mapping[str, _Bounds]],
    estimators: Mapping[str, Estimator],
    metrics: Sequence[str],
    users: int,
) -> Result:
    """Return the rows of a recommender, with findings on what its values show and contradict.

    The bounds are by n and shape.
    """
    rows = list[dict[str, Any]]()
    findings = list[Finding]()
    contradicted = list[Finding]()
    for label, estimator in estimators.items():
        together = _together([by_shape[str(estimator)] for by_shape in bounds_by_size])
        assumes = assumption_of(together.shape)
        low, high = together.ends[0]
        rows += _rows(label, metrics, zip(low, high, strict=True), assumes, users)
        if not np.isnan(together.ends[0]).any():
            findings += finding_of_assumption(assumes)
        kinds = {DECREASING: "published-contradicted"}
        if FREE in together.contradicted:
            kinds = {FREE: "published-unexplained"}
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
    """Return the mixtures of users of a size, which all recommenders share."""
    return mixtures_of([size], metrics, known=known)


class _Contradicted(NamedTuple):
    """An assumption that values contradict.

    Attributes:
        p_value: the p-value of the assumption.
        values: values that contradict it, none of which can be left out, as they are written, by
            label.
    """

    p_value: float
    values: Mapping[str, str]


class _Bounds(NamedTuple):
    """The bounds of a recommender under an assumption.

    Attributes:
        shape: the assumption, the strongest one that the values do not contradict.
        contradicted: the stronger ones; `free` is among them if no ranks explain the values.
        ends: (levels, 2, metrics) smallest and largest metrics at each error rate.
    """

    shape: str
    contradicted: dict[str, _Contradicted]
    ends: Floats


def _bounds(
    known: KnownMeans,
    mixtures: Mapping[str, Mixture],
    shape: str,
    alphas: Sequence[float],
    most: Floats,
) -> _Bounds:
    """Return the bounds with a shape, or with the next weaker one that is possible, by error rate.

    The first error rate is the largest.
    """
    contradicted: dict[str, _Contradicted] = {}
    for weaker in SHAPES[SHAPES.index(shape) :: -1]:
        region = KnownRegion(known, mixtures[weaker])
        deviance = region.deviance()
        if deviance <= known.limit(alphas[0]):
            ends = np.clip(region.bounds(alphas), 0.0, most)
            return _Bounds(weaker, contradicted, ends + 0.0)  # 0.0, not -0.0
        is_contradicted = partial(_contradict, mixture=mixtures[weaker], alpha=alphas[0])
        contradicting = known.irreducible(is_contradicted)
        contradicted[weaker] = _Contradicted(known.p_value(deviance), contradicting.written)
    return _Bounds(FREE, contradicted, np.full((len(alphas), 2, len(most)), np.nan))


def _contradict(known: KnownMeans, mixture: Mixture, alpha: float) -> bool:
    """Return whether no proportions of a mixture agree with the means."""
    return KnownRegion(known, mixture).contradicts(alpha)


def _together(bounds_by_size: Sequence[_Bounds]) -> _Bounds:
    """Return the bounds of several n together.

    An n with which no ranks explain the values is left out.
    """
    explained = [bounds for bounds in bounds_by_size if FREE not in bounds.contradicted]
    possible = explained or bounds_by_size
    weakest = min(possible, key=lambda bounds: SHAPES.index(bounds.shape))
    ends = np.stack([bounds.ends for bounds in possible])
    low = ends[:, :, 0].min(axis=0)
    high = ends[:, :, 1].max(axis=0)
    return weakest._replace(ends=np.stack((low, high), axis=1))


class _Ends(NamedTuple):
    """The bounds of a recommender for verdicts, as lists, since there may be many pairs.

    Attributes:
        shape: the assumption.
        is_explained: whether some ranks explain the values.
        low: (metrics,) smallest metrics at the smallest error rate.
        high: (metrics,) largest metrics.
    """

    shape: str
    is_explained: bool
    low: list[float]
    high: list[float]


def _difference(
    bounds_a: Sequence[Mapping[str, _Ends]],
    bounds_b: Sequence[Mapping[str, _Ends]],
    shape: str,
    column: int,
) -> tuple[str, float, float] | None:
    """Return the weakest assumption, and the ends of B minus A, of all n together.

    None if no ranks explain one of them.
    """
    used = list[str]()
    lows = list[float]()
    highs = list[float]()
    for by_shape_a, by_shape_b in zip(bounds_a, bounds_b, strict=True):
        a = by_shape_a[shape]
        b = by_shape_b[shape]
        if a.is_explained and b.is_explained:
            used += (a.shape, b.shape)
            lows.append(b.low[column] - a.high[column])
            highs.append(b.high[column] - a.low[column])
    return (min(used, key=SHAPES.index), min(lows), max(highs)) if used else None


def _verdicts(
    bounds_by_name: Mapping[str, Sequence[Mapping[str, _Bounds]]], metrics: Sequence[str]
) -> list[Finding]:
    """Return findings on the order of each two recommenders, from their bounds by n and shape.

    The weakest assumption that orders a pair is named, or else the strongest one, which does not
    order it either.
    """
    ends_by_name = {
        name: [
            {
                shape: _Ends(
                    bounds.shape, FREE not in bounds.contradicted, *bounds.ends[-1].tolist()
                )
                for shape, bounds in by_shape.items()
            }
            for by_shape in bounds_by_size
        ]
        for name, bounds_by_size in bounds_by_name.items()
    }
    findings = []
    for (a, bounds_a), (b, bounds_b) in combinations(ends_by_name.items(), 2):
        shapes = sorted(bounds_a[0], key=SHAPES.index)
        for column, label in enumerate(metrics):
            differences = [_difference(bounds_a, bounds_b, shape, column) for shape in shapes]
            explained = [difference for difference in differences if difference is not None]
            if not explained:
                continue
            ordering = [(shape, low, high) for shape, low, high in explained if low > 0 or high < 0]
            shape, low, high = (ordering or explained[-1:])[0]
            facts = {"assumption": shape, "condition": condition(shape)}
            findings.append(_on_order("published", label, (a, b), (low, high), facts))
    return findings


def _verdicts_on_samples(
    ends_by_name: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], items: int
) -> list[Finding]:
    """Return findings on whether other users would order two recommenders in the same way.

    The ends are by recommender and metric, at each error rate, among the items of a sample.
    """
    findings = []
    for (a, ends_a), (b, ends_b) in combinations(ends_by_name.items(), 2):
        for label in ends_a:
            if label in ends_b:
                low_a, high_a = ends_a[label][-1]
                low_b, high_b = ends_b[label][-1]
                ends = (low_b - high_a, high_b - low_a)
                findings.append(_on_order("sampled", label, (a, b), ends, {"items": items}))
    return findings


def _on_order(
    kind: str,
    label: str,
    names: tuple[str, str],
    ends: tuple[float, float],
    facts: Mapping[str, Any],
) -> Finding:
    """Return the finding on the order of A and B, from the ends of B minus A."""
    low, high = ends
    values = {"low": low, "high": high, **facts}
    if low <= 0 <= high:
        return Finding(f"{kind}-undecided", label, names, values=values)
    smallest, largest = sorted((abs(low), abs(high)))
    values |= {"smallest": smallest, "largest": largest}
    better_first = names[::-1] if low > 0 else names
    return Finding(f"{kind}-order", label, better_first, values=values)


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
