"""The tables of repeated sampled evaluations: metrics (Table 3) and orders (Table 4)."""

from collections.abc import Mapping
from itertools import combinations

import numpy as np
import pandas as pd

from sampled_metrics.core.estimators import estimator_name
from sampled_metrics.core.metrics import metric, metric_name
from sampled_metrics.core.ranks.exact import ExactRanks, half_tied, tied_shares, ties_remark
from sampled_metrics.core.sampling.draws import EQUAL, probability_of_order
from sampled_metrics.reporting.tables import Section, number, plus_minus
from sampled_metrics_study.inputs import Inputs


def worse_and_better(pair: tuple[str, str], exact: Mapping[str, float]) -> tuple[str, str] | None:
    """Return a pair of recommenders, the one with the lower exact metric first.

    The result is None if the metrics are equal.
    """
    gap = exact[pair[1]] - exact[pair[0]]
    if abs(gap) <= EQUAL:
        return None
    return pair if gap > 0 else (pair[1], pair[0])


def pair_names(table: pd.DataFrame) -> "pd.Series[str]":
    """Return the names of the pairs of Table 4, each in alphabetical order, as in the paper."""
    return table[["worse", "better"]].min(axis=1) + " vs " + table[["worse", "better"]].max(axis=1)


KEYS = ["reading", "metric", "estimator"]


def table_3(
    ranks: Mapping[str, ExactRanks],
    estimates: Mapping[str, pd.DataFrame],
    expected: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """Return the mean and the standard deviation of the repetitions of each recommender.

    `estimates` and `expected` are results of `repetitions.estimates` and of
    `repetitions.exact_moments`. The columns mean_exact and sd_exact use no repetition. The first
    estimator of each metric is `exact`. Its standard deviation is that of breaking ties at random
    once.
    """
    rows: list[tuple[object, ...]] = []
    for reading in _readings(estimates):
        for recommender, runs in estimates.items():
            moments = expected[recommender].set_index(KEYS)
            table = ranks[recommender]
            runs_of_reading = runs[runs["reading"] == reading]
            for label, metric_rows in runs_of_reading.groupby("metric", sort=False):
                key = (reading, recommender, label)
                target = metric(str(label))
                exact = table.mean(target), table.tie_deviation(target)
                rows.append((*key, "exact", *exact, *exact))
                for estimator, estimator_rows in metric_rows.groupby("estimator", sort=False):
                    repeated = estimator_rows["estimate"].to_numpy()
                    mean = float(repeated.mean())
                    sd = float(repeated.std(ddof=1)) if len(repeated) > 1 else np.nan
                    expected_moments = moments.loc[
                        (reading, label, estimator), ["mean_exact", "sd_exact"]
                    ]
                    rows.append((*key, estimator, mean, sd, *expected_moments))
    columns = [
        "reading",
        "recommender",
        "metric",
        "estimator",
        "mean",
        "sd",
        "mean_exact",
        "sd_exact",
    ]
    return pd.DataFrame(rows, columns=columns)


def table_4(
    ranks: Mapping[str, ExactRanks],
    estimates: Mapping[str, pd.DataFrame],
    expected: Mapping[str, pd.DataFrame],
) -> pd.DataFrame:
    """Return how often the estimates order each pair of recommenders as the exact metric does.

    The column correct has the fraction of the repetitions, and correct_exact its expectation by the
    normal approximation, without repetitions. A pair with equal exact metrics has no row. Equal
    estimates are not correct.
    """
    moments = {recommender: table.set_index(KEYS) for recommender, table in expected.items()}
    rows: list[tuple[object, ...]] = []
    for reading in _readings(estimates):
        for pair in combinations(estimates, 2):
            left, right = (estimates[name][estimates[name]["reading"] == reading] for name in pair)
            both = left.merge(right, on=[*KEYS, "repetition"], suffixes=("_left", "_right"))
            for (label, estimator), group in both.groupby(KEYS[1:], sort=False):
                exact = {name: ranks[name].mean(metric(label)) for name in pair}
                order = worse_and_better(pair, exact)
                if order is None:
                    continue
                gaps = group["estimate_right"] - group["estimate_left"]
                correct = gaps > 0 if order == pair else gaps < 0
                low, high = (moments[name].loc[(reading, label, estimator)] for name in order)
                sd = float(np.hypot(low["sd_exact"], high["sd_exact"]))
                correct_exact = probability_of_order(high["mean_exact"] - low["mean_exact"], sd)
                rows.append((reading, *order, label, estimator, correct.mean(), correct_exact))
    columns = ["reading", "worse", "better", "metric", "estimator", "correct", "correct_exact"]
    return pd.DataFrame(rows, columns=columns)


def _readings(estimates: Mapping[str, pd.DataFrame]) -> list[str]:
    """Return the names of all readings, in their order."""
    return list(
        dict.fromkeys(name for runs in estimates.values() for name in runs["reading"].unique())
    )


def cells_3(table: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 with a column cell: the mean in per cent, and its standard deviation.

    The deviation is that over repetitions.
    """
    rows = zip(table["estimator"], table["mean"], table["sd"], strict=True)
    cells = [
        f"{100 * mean:.2f}" if estimator == "exact" else plus_minus(100 * mean, 100 * sd, 2)
        for estimator, mean, sd in rows
    ]
    return table.assign(cell=cells)


def cells_4(table: pd.DataFrame, column: str = "correct") -> pd.DataFrame:
    """Return Table 4 with a column pair, and a column cell: a share in per cent."""
    return table.assign(
        pair=pair_names(table), cell=[number(100 * value, ".0f") for value in table[column]]
    )


def wide(cells: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Lay out the column cell: a row for each value of two keys, a column for each estimator."""
    # pivot sorts, and the order of the cells is wanted
    rows = pd.MultiIndex.from_product([cells[key].unique() for key in keys], names=keys)
    columns = cells["estimator"].unique()
    table = cells.pivot(index=keys, columns="estimator", values="cell")
    table = table.reindex(index=rows, columns=columns).dropna(how="all").fillna("-")
    table = table.rename(columns=estimator_name).rename_axis(columns=None).reset_index()
    table = table.assign(metric=table["metric"].map(metric_name))
    return table.rename(columns={key: key.capitalize() for key in keys})


FACTS = {
    "events_in_file": "Events in the file",
    "events_left_out_malformed": "Lines left out: malformed (on_bad_lines: skip)",
    "events_left_out_below_min_rating": "Events left out: rating below min_rating",
    "events_left_out_repeated": "Events left out: user and item repeat",
    "events_left_out_by_core": "Events left out: core",
    "users_left_out_by_core": "Users left out: core",
    "items_left_out_by_core": "Items left out: core",
    "users_left_out_with_few_training_events": "Users left out: too few training events",
    "users": "Users with training events",
    "users_without_held_out_items": "Users without a held-out item",
    "items": "Items",
    "training_events": "Training events",
    "users_whose_last_time_is_shared": "Users whose last time several events share (ties)",
    "held_out_items": "Held-out items",
    "held_out_items_without_training_events": "Held-out items without training events",
}
"""Key of dataset.json → its wording."""


def studied(inputs: Inputs) -> pd.DataFrame:
    """Return counts of the ranked items and of their ties, by recommender.

    share_with_ties is a share of the items, mean_share_tied of an item's other candidates, and
    half_tied counts the items that tie with half of their other candidates or more.
    """
    rows = [
        {
            "recommender": name,
            "held_out_items": len(table),
            "mean_candidates": float(table.candidates.mean()),
            "fewest_candidates": int(table.candidates.min()),
            "share_with_ties": float((table.tied > 0).mean()),
            "mean_share_tied": float(tied_shares(table).mean()),
            "half_tied": half_tied(table),
            "remark": ties_remark(table),
        }
        for name, table in inputs.ranks.items()
    ]
    return pd.DataFrame(rows)


def studied_sections(table: pd.DataFrame, inputs: Inputs) -> list[Section]:
    """Lay out the facts of dataset.json, if any, and the counts of each recommender.

    Shares are in per cent.
    """
    facts = inputs.facts
    fact_rows = [(words, f"{facts[key]}") for key, words in FACTS.items() if facts]
    rank_cells = pd.DataFrame(
        {
            "Recommender": table["recommender"],
            "Held-out items": table["held_out_items"].astype(str),
            "Candidates, mean": table["mean_candidates"].map("{:.1f}".format),
            "Fewest": table["fewest_candidates"].astype(str),
            "Items with ties, %": (100 * table["share_with_ties"]).map("{:.2f}".format),
            "Candidates tied, mean %": (100 * table["mean_share_tied"]).map("{:.3f}".format),
            "Half or more tied": table["half_tied"].astype(str),
        }
    )
    remarks = table.loc[table["remark"] != "", ["recommender", "remark"]]
    tables = [
        ("Events", pd.DataFrame(fact_rows, columns=["Dataset", ""])),
        ("Ranks and ties of each recommender", rank_cells),
        ("Remarks", remarks.rename(columns=str.capitalize)),
    ]
    return [(heading, rows) for heading, rows in tables if len(rows)]
