"""The tables of repeated sampled evaluations: metrics (Table 3) and the order of recommenders (Table 4)."""

import math
from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from sampled_metrics.estimators import estimator_name
from sampled_metrics.metrics.metric import metric, metric_name
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.rendering.tables import Section, number, plus_minus, with_best
from sampled_metrics.sampling.moments import EQUAL, probability_of_order
from sampled_metrics.study.variants import VARIANTS

KEYS = ["reading", "metric", "estimator"]
WITHOUT_REPETITIONS = "Without repetitions"
"""Start of the headings of sections on exact expectations."""


def table_3(
    ranks: Mapping[str, ExactRanks], estimates: Mapping[str, pd.DataFrame], expected: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Summarise the repetitions of each recommender: mean, and standard deviation of one repetition.

    Args:
        ranks: rank tables by recommender.
        estimates: results of `repetitions.repeat` by recommender.
        expected: results of `repetitions.exact_moments` by recommender.

    Returns:
        Columns reading, recommender, metric, estimator, mean, sd, mean_exact, sd_exact; the last two use no repetition.
        The first estimator of each metric is `exact`; its standard deviation is that of breaking ties at random once.
    """
    rows: list[tuple[object, ...]] = []
    for name in _variants(estimates):
        for recommender, runs in estimates.items():
            moments, table = expected[recommender].set_index(KEYS), ranks[recommender]
            for label, metric_rows in runs[runs["reading"] == name].groupby("metric", sort=False):
                exact = metric(str(label))
                values = table.mean(exact), table.tie_deviation(exact)
                rows.append((name, recommender, label, "exact", *values, *values))
                for estimator, estimator_rows in metric_rows.groupby("estimator", sort=False):
                    repeated = estimator_rows["estimate"].to_numpy()
                    sd = float(repeated.std(ddof=1)) if len(repeated) > 1 else np.nan
                    without = moments.loc[(name, label, estimator), ["mean_exact", "sd_exact"]]
                    rows.append((name, recommender, label, estimator, float(repeated.mean()), sd, *without))
    columns = ["reading", "recommender", "metric", "estimator", "mean", "sd", "mean_exact", "sd_exact"]
    return pd.DataFrame(rows, columns=columns)


def table_4(
    ranks: Mapping[str, ExactRanks], estimates: Mapping[str, pd.DataFrame], expected: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Compute how often the estimates order each pair of recommenders as the exact metric does.

    Args:
        ranks: rank tables by recommender.
        estimates: results of `repetitions.repeat` by recommender, with the same repetitions.
        expected: results of `repetitions.exact_moments` by recommender.

    Returns:
        Columns reading, worse, better, metric, estimator, correct (fraction of the repetitions), correct_exact (its
        expectation by the normal approximation, without repetitions). A pair with equal exact metrics has no row. Equal
        estimates are not correct.
    """
    moments = {name: each.set_index(KEYS) for name, each in expected.items()}
    rows: list[tuple[object, ...]] = []
    for name in _variants(estimates):
        for one, other in combinations(estimates, 2):
            first, second = (each[each["reading"] == name] for each in (estimates[one], estimates[other]))
            pairs = first.merge(second, on=[*KEYS, "repetition"], suffixes=("_one", "_other"))
            for (label, estimator), group in pairs.groupby(KEYS[1:], sort=False):
                exact = metric(label)
                gap = ranks[other].mean(exact) - ranks[one].mean(exact)
                if abs(gap) > EQUAL:
                    correct = np.sign(group["estimate_other"] - group["estimate_one"]) == np.sign(gap)
                    worse, better = (one, other) if gap > 0 else (other, one)
                    low, high = (moments[each].loc[(name, label, estimator)] for each in (worse, better))
                    sd = float(np.hypot(low["sd_exact"], high["sd_exact"]))
                    chance = probability_of_order(high["mean_exact"] - low["mean_exact"], sd)
                    rows.append((name, worse, better, label, estimator, correct.mean(), chance))
    columns = ["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
    return pd.DataFrame(rows, columns=columns)


def _variants(estimates: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the names of all readings, in their order."""
    return list(dict.fromkeys(name for runs in estimates.values() for name in runs["reading"].unique()))


def cells_3(table: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 with a column cell: the mean in per cent, and its standard deviation over repetitions."""
    return table.assign(
        cell=[
            f"{100 * mean:.2f}" if estimator == "exact" else plus_minus(100 * mean, 100 * sd, 2)
            for estimator, mean, sd in zip(table["estimator"], table["mean"], table["sd"], strict=True)
        ]
    )


def sections_3(table: pd.DataFrame, repetitions: int) -> list[Section]:
    """Lay out Table 3, a section for each reading; values in per cent. The largest value of each column is bold.

    The last section compares the means with their exact expectations.
    """
    cells = cells_3(table)
    cells["cell"] = with_best(cells["cell"], 100 * cells["mean"], [cells[key] for key in KEYS], 2)
    sections = [
        (VARIANTS[str(name)].heading, wide(rows, ["metric", "recommender"]))
        for name, rows in cells.groupby("reading", sort=False)
    ]
    linear = table[(table["estimator"] != "exact") & table["mean_exact"].notna()]
    # 1e-12: if nothing varies, the two differ only by rounding
    error = (linear["sd_exact"] / math.sqrt(repetitions)).clip(lower=1e-12)
    off = ((linear["mean"] - linear["mean_exact"]) / error).abs()
    heading = f"{WITHOUT_REPETITIONS}: the means of the repetitions and their exact expectations, in standard errors"
    return [*sections, (heading, _agreement(linear["reading"], off))]


def _agreement(readings: pd.Series, off: pd.Series) -> pd.DataFrame:
    """Count the numbers by reading and by distance in standard errors."""
    rows = [
        [str(name), str(len(errors)), f"{errors.max():.1f}", *(str((errors > limit).sum()) for limit in (2, 3, 4))]
        for name, errors in off.groupby(readings, sort=False)
    ]
    columns = ["Reading", "Numbers", "Largest difference", "Beyond 2", "Beyond 3", "Beyond 4"]
    return pd.DataFrame(rows, columns=columns)


def cells_4(table: pd.DataFrame, column: str = "correct") -> pd.DataFrame:
    """Return Table 4 with a column pair, and a column cell: a share in per cent."""
    return table.assign(pair=pair_names(table), cell=[number(100 * value, ".0f") for value in table[column]])


def sections_4(table: pd.DataFrame) -> list[Section]:
    """Lay out Table 4, a section for each reading; per cent of the repetitions. The largest shares of a row are bold.

    The exact order is taken as it is, whether a comparison of the exact ranks decides it or not. Sections with the
    exact probabilities follow. A table without pairs has no section.
    """
    if table.empty:
        return []
    beside = f"{WITHOUT_REPETITIONS}: the probability of the right order, by the normal approximation. "
    sections = []
    for prefix, column in (("", "correct"), (beside, "correct_exact")):
        cells = cells_4(table, column)
        keys = [cells[key] for key in ("reading", "pair", "metric")]
        cells["cell"] = with_best(cells["cell"], 100 * cells[column], keys, 0)
        for name, rows in cells.groupby("reading", sort=False):
            sections.append((prefix + VARIANTS[str(name)].heading, wide(rows, ["pair", "metric"])))
    return sections


def wide(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Lay out the column cell: a row for each value of two keys, a column for each estimator."""
    wide = cells.pivot(index=keys, columns="estimator", values="cell")
    order = pd.MultiIndex.from_product([cells[key].unique() for key in keys], names=keys)
    wide = wide.reindex(index=order, columns=cells["estimator"].unique()).dropna(how="all").fillna("-")
    wide = wide.rename(columns=estimator_name).rename_axis(columns=None).reset_index()
    return wide.assign(metric=wide["metric"].map(metric_name)).rename(columns={key: key.capitalize() for key in keys})


def pair_names(table: pd.DataFrame) -> "pd.Series[str]":
    """Name the pairs of Table 4 in alphabetical order, as the paper does."""
    return table[["worse", "better"]].min(axis=1) + " vs " + table[["worse", "better"]].max(axis=1)


TITLES = {
    3: "Table 3. Exact, sampled and corrected metrics in per cent (mean ± standard deviation of a repetition; "
    "bold: the largest value of each column, as shown, distinguishable from the others or not)",
    4: "Table 4. Repetitions in which a pair is ordered as by the exact metric, in per cent "
    "(the exact order as it is, decided or not; bold: the largest shares of a row)",
}
