"""Every printed number beside ours, with the standard error of the difference.

Both numbers are random if negatives are drawn: the paper's mean of 100 repetitions has an error, ours has one, and the
printed number is rounded. A cell of recommender X also varies over X's random starts, which neither side controls;
docs/seed-spread.csv holds that spread. A cell is ok if ours rounds to the printed digits, or lies within 3 standard
errors.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sampled_metrics.paper import reference
from sampled_metrics.study.page import Section
from sampled_metrics.study.tables import pair_names

LIMIT = 3.0
"""Standard errors that a difference may have."""
KEYS = ["table", "reading", "cell"]
COLUMNS = [*KEYS, "printed", "ours", "standard_error", "z", "ok"]


def compare_toy(table_1: pd.DataFrame, table_2: pd.DataFrame, repetitions: int) -> pd.DataFrame:
    """Compare Tables 1 and 2.

    Args:
        table_1: columns recommender, metric, value.
        table_2: columns recommender, metric, mean, sd.
        repetitions: of table_2.

    Returns:
        A row for each printed number, with `COLUMNS`.
    """
    exact = reference.table_1().merge(table_1, how="left", on=["recommender", "metric"], suffixes=("_printed", "_ours"))
    exact_rows = pd.DataFrame(
        {
            "table": 1,
            "reading": "default",
            "cell": exact["recommender"] + " " + exact["metric"],
            "printed": exact["value_printed"],
            "ours": exact["value_ours"],
            "variance": 0.0,
            "unit": exact["unit"],
        }
    )
    sampled = reference.table_2().merge(
        table_2, how="left", on=["recommender", "metric"], suffixes=("_printed", "_ours")
    )
    sampled["cell"] = sampled["recommender"] + " " + sampled["metric"]
    rows = _mean_and_sd_rows(sampled.assign(table=2, reading="default"), reference.TOY_REPETITIONS, repetitions)
    return _judged(pd.concat([exact_rows, rows], ignore_index=True))


def compare_study(
    table_3: pd.DataFrame, table_4: pd.DataFrame, repetitions: int, seed_spread: pd.DataFrame
) -> pd.DataFrame:
    """Compare Tables 3 and 4, under every reading.

    Args:
        table_3: columns reading, recommender, metric, estimator, mean, sd.
        table_4: columns reading, worse, better, metric, estimator, correct.
        repetitions: of both.
        seed_spread: result of `seed_spread`: the spread of cells over random starts.

    Returns:
        A row for each printed number and reading, with `COLUMNS`.
    """
    on = ["recommender", "metric", "estimator"]
    printed = reference.table_3().merge(pd.DataFrame({"reading": table_3["reading"].unique()}), how="cross")
    cells = printed.merge(table_3, on=["reading", *on], how="left", suffixes=("_printed", "_ours")).assign(table=3)
    cells["cell"] = _table_3_cell(cells)
    exact = cells[cells["estimator"] == "exact"]
    exact_rows = exact[["table", "reading", "cell", "unit"]].assign(
        printed=exact["mean_printed"],
        ours=exact["mean_ours"],
        variance=exact["sd_ours"] ** 2,  # the paper's is one random breaking of ties; ours is the expectation
    )
    sampled = cells[cells["estimator"] != "exact"]
    rows = [exact_rows, _mean_and_sd_rows(sampled, reference.REPETITIONS, repetitions)]
    orders = _table_4_cells(table_4).merge(
        reference.table_4().assign(pair=lambda table: table["one"] + " vs " + table["other"]),
        on=["pair", "metric", "estimator"],
        suffixes=("_ours", "_printed"),
    )
    pooled = (orders["correct_ours"] * repetitions + orders["correct_printed"] * reference.REPETITIONS) / (
        repetitions + reference.REPETITIONS
    )
    rows.append(
        orders[["reading", "cell"]].assign(
            table=4,
            printed=orders["correct_printed"],
            ours=orders["correct_ours"],
            variance=pooled * (1 - pooled) * (1 / repetitions + 1 / reference.REPETITIONS),
            unit=0.0,
        )
    )
    return _judged(_with_seed_spread(pd.concat(rows, ignore_index=True), seed_spread))


def seed_spread(runs: Sequence[tuple[pd.DataFrame, pd.DataFrame]], recommender: str) -> pd.DataFrame:
    """Summarise how the cells of Tables 3 and 4 vary over random starts.

    Args:
        runs: (table 3, table 4) of each random start.
        recommender: the recommender whose start is random; cells without it are left out.

    Returns:
        Columns table, reading, cell, seeds, mean, sd.
    """
    cells = [
        cell
        for table_3, table_4 in runs
        for cell in (
            table_3.assign(table=3, cell=_table_3_cell(table_3)).rename(columns={"mean": "value"}),
            _table_4_cells(table_4).assign(table=4).rename(columns={"correct": "value"}),
        )
    ]
    values = pd.concat(cells)[[*KEYS, "value"]]
    grouped = values[[recommender in cell.split() for cell in values["cell"]]].groupby(KEYS, sort=False)["value"]
    return grouped.agg(seeds="count", mean="mean", sd="std").reset_index()


def _table_3_cell(table: pd.DataFrame) -> pd.Series:
    return table["recommender"] + " " + table["metric"] + " " + table["estimator"]


def _table_4_cells(table: pd.DataFrame) -> pd.DataFrame:
    """Add the names of the pairs and cells of Table 4."""
    pair = pair_names(table)
    return table.assign(pair=pair, cell=pair + " " + table["metric"] + " " + table["estimator"])


def _mean_and_sd_rows(cells: pd.DataFrame, printed_repetitions: int, our_repetitions: int) -> pd.DataFrame:
    """Return a row for the mean and one for the standard deviation of each cell."""
    spread = cells["sd_printed"] ** 2 / printed_repetitions + cells["sd_ours"] ** 2 / our_repetitions
    halves = cells["sd_printed"] ** 2 / (2 * printed_repetitions - 2) + cells["sd_ours"] ** 2 / (
        2 * our_repetitions - 2
    )
    identity = cells[["table", "reading", "cell", "unit"]]
    means = identity.assign(printed=cells["mean_printed"], ours=cells["mean_ours"], variance=spread)
    deviations = identity.assign(
        cell=cells["cell"] + " ±", printed=cells["sd_printed"], ours=cells["sd_ours"], variance=halves
    )
    return pd.concat([means, deviations])


def _with_seed_spread(rows: pd.DataFrame, spread: pd.DataFrame) -> pd.DataFrame:
    """Raise the variance of cells that depend on a random start; ours and the paper's are one start each."""
    rows = rows.merge(spread[[*KEYS, "sd"]], on=KEYS, how="left")
    starts = 2 * rows.pop("sd").fillna(0.0) ** 2
    # over starts, the fractions of Table 4 also vary by sampling; the means of Table 3 hardly do
    rows["variance"] = np.where(rows["table"] == 4, np.maximum(rows["variance"], starts), rows["variance"] + starts)
    return rows


def _judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Add standard error, z and ok, rounding of the printed digits included, and bring the columns in order."""
    rounding = rows["unit"] ** 2 / 12
    difference = rows["ours"] - rows["printed"]
    rows["standard_error"] = np.sqrt(rows["variance"] + rounding)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["z"] = np.where(difference == 0, 0.0, difference / rows["standard_error"])
    # half a unit, with room for its rounding in binary
    same_digits = difference.abs() <= rows["unit"] / 2 * (1 + 1e-9)
    # a number that varies by less than a hundredth of the last digit is not random: its digits must agree
    random = np.sqrt(rows["variance"]) > rows["unit"] / 100
    within = random & (rows["z"].abs() <= LIMIT)
    rows["ok"] = same_digits | within
    return rows[COLUMNS].sort_values("table", kind="stable", ignore_index=True)


def sections(table: pd.DataFrame) -> list[Section]:
    """Lay out compared numbers: counts by table and reading, then the numbers that are not ok, then all numbers."""
    counts = table.groupby(["table", "reading"], sort=False)["ok"].agg(["sum", "size"]).reset_index()
    summary = pd.DataFrame(
        {
            "Table": counts["table"].astype(str),
            "Reading": counts["reading"],
            "Printed numbers": counts["size"].astype(str),
            "Reproduced": counts["sum"].astype(str),
        }
    )
    cells = pd.DataFrame(
        {
            "Table": table["table"].astype(str),
            "Reading": table["reading"],
            "Cell": table["cell"],
            "Printed": [f"{value:.4f}" for value in table["printed"]],
            "Ours": [f"{value:.4f}" for value in table["ours"]],
            "Standard error": [f"{value:.5f}" for value in table["standard_error"]],
            "z": [f"{value:+z.1f}" for value in table["z"]],
            "Reproduced": table["ok"].map({True: "yes", False: "no"}),
        }
    )
    off = cells[~table["ok"].to_numpy()]
    found = [("Printed numbers that are reproduced", summary)]
    if len(off):
        found.append(("Printed numbers that are not", off))
    return [*found, ("Every printed number beside ours", cells)]
