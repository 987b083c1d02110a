"""Comparison of every printed number with ours, and how sharp the comparison is.

A comparison has the standard error of the difference.

The printed numbers of Tables 2 to 4 are random: they come from 1000 or 100 repetitions, and are
rounded. Ours are expectations without repetitions, except in Table 2. The cells of recommender X
also vary over X's random starts; docs/seed-spread.csv holds that spread. A cell is ok if our number
rounds to the printed digits, or lies within 3 standard errors.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import bdtr, ndtr

from sampled_metrics.checks import Floats, Ints
from sampled_metrics.reporting.tables import Section
from sampled_metrics_study import reference
from sampled_metrics_study.tables import pair_names

LIMIT = 3.0
"""Largest allowed difference, in standard errors."""
_LAST_DIGIT = {1: 0.001, 2: 0.001, 3: 0.0001, 4: 0.01}  # of the printed numbers, by table
KEYS = ["table", "reading", "cell"]
COLUMNS = [*KEYS, "printed", "ours", "standard_error", "z", "ok"]
SUFFIXES = ("_printed", "_ours")
SHARPNESS = "How sharp the comparison is: a common factor of all our numbers"
FACTORS = (1.01, 1.05)
"""Common factors of our numbers for which the reproduced cells are counted."""
_STEP = 1e-4  # step and largest value of the common factors that are tried, less 1
_MOST = 0.5


def compare_toy(table_1: pd.DataFrame, table_2: pd.DataFrame, repetitions: int) -> pd.DataFrame:
    """Return a row with `COLUMNS` for each printed number of Tables 1 and 2.

    Repetitions are those of table_2.
    """
    on = ["recommender", "metric"]
    exact = reference.table_1().merge(table_1, how="left", on=on, suffixes=SUFFIXES)
    sampled = reference.table_2().merge(table_2, how="left", on=on, suffixes=SUFFIXES)
    rows = [
        _rows(_with_cells(exact, 1, on).assign(reading="default"), "value", 0.0),
        *_mean_and_sd_rows(
            _with_cells(sampled, 2, on).assign(reading="default"),
            reference.TOY_REPETITIONS,
            repetitions,
        ),
    ]
    return _judged(pd.concat(rows, ignore_index=True))


def compare_study(
    table_3: pd.DataFrame, table_4: pd.DataFrame, seed_spread: pd.DataFrame
) -> pd.DataFrame:
    """Return a row with `COLUMNS` for each printed number of Tables 3 and 4, under every reading.

    Ours are expectations over all samples. The spread of cells over random starts is that of
    docs/seed-spread.csv.
    """
    printed = reference.table_3().merge(table_3[["reading"]].drop_duplicates(), how="cross")
    expected = table_3.drop(columns=["mean", "sd"]).rename(
        columns={"mean_exact": "mean", "sd_exact": "sd"}
    )
    cells = printed.merge(expected, how="left", on=["reading", *_CELLS_3], suffixes=SUFFIXES)
    cells = _with_cells(cells, 3, _CELLS_3)
    exact = cells[cells["estimator"] == "exact"]
    sampled = cells[cells["estimator"] != "exact"]
    orders = table_4.assign(pair=pair_names(table_4), correct=table_4["correct_exact"])
    orders = orders.merge(reference.table_4(), on=_CELLS_4, suffixes=SUFFIXES[::-1])
    orders = _with_cells(orders, 4, _CELLS_4).assign(unit=0.01)
    probability = orders["correct_ours"]
    rows = [
        # the paper breaks ties at random once; ours is the expectation
        _rows(exact, "mean", exact["sd_ours"] ** 2),
        *_mean_and_sd_rows(sampled, reference.REPETITIONS, np.inf),
        _rows(orders, "correct", probability * (1 - probability) / reference.REPETITIONS),
    ]
    return _judged(_with_seed_spread(pd.concat(rows, ignore_index=True), seed_spread))


_CELLS_3 = ["recommender", "metric", "estimator"]
_CELLS_4 = ["pair", "metric", "estimator"]


def _with_cells(table: pd.DataFrame, number: int, keys: list[str]) -> pd.DataFrame:
    """Return a table with its number, and with the names of its cells."""
    return table.assign(table=number, cell=table[keys[0]].str.cat(table[keys[1:]], sep=" "))


def _rows(
    cells: pd.DataFrame, column: str, variance: "pd.Series[float] | float", suffix: str = ""
) -> pd.DataFrame:
    """Return a row for each cell, with the printed number and ours from a column of the tables."""
    rows = cells[["table", "reading", "unit"]].assign(
        cell=cells["cell"] + suffix, variance=variance
    )
    return rows.assign(printed=cells[f"{column}_printed"], ours=cells[f"{column}_ours"])


def _mean_and_sd_rows(
    cells: pd.DataFrame, printed_repetitions: int, our_repetitions: float
) -> list[pd.DataFrame]:
    """Return a row for the mean and one for the standard deviation of each cell."""
    printed = cells["sd_printed"] ** 2
    ours = cells["sd_ours"] ** 2
    return [
        _rows(cells, "mean", printed / printed_repetitions + ours / our_repetitions),
        _rows(
            cells,
            "sd",
            printed / (2 * printed_repetitions - 2) + ours / (2 * our_repetitions - 2),
            " ±",
        ),
    ]


def _with_seed_spread(rows: pd.DataFrame, spread: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the variance over random starts added.

    The paper and we have one start each.
    """
    rows = rows.merge(spread[[*KEYS, "sd"]], on=KEYS, how="left")
    over_starts = rows.pop("sd").fillna(0.0) ** 2
    # over starts, the fractions of Table 4 also vary by sampling; the means of Table 3 hardly do
    without_sampling = np.maximum(over_starts - rows["variance"], 0.0)
    rows["variance"] += 2 * np.where(rows["table"] == 4, without_sampling, over_starts)
    return rows


def _judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with `COLUMNS`, sorted by table.

    The standard error includes the rounding of the printed digits.
    """
    difference = rows["ours"] - rows["printed"]
    rows["standard_error"] = np.sqrt(rows["variance"] + rows["unit"] ** 2 / 12)
    with np.errstate(divide="ignore", invalid="ignore"):
        rows["z"] = np.where(difference == 0, 0.0, difference / rows["standard_error"])
    unit, error = (rows[name].to_numpy(dtype=np.float64) for name in ("unit", "standard_error"))
    rows["ok"] = _is_reproduced(difference.to_numpy(dtype=np.float64), unit, error)
    return rows[COLUMNS].sort_values("table", kind="stable", ignore_index=True)


def _is_reproduced(difference: Floats, unit: Floats, error: Floats) -> NDArray[np.bool_]:
    """Return whether numbers are reproduced, (…, cells).

    The arguments are (…, cells) differences from the printed numbers, (cells,) units of their last
    digits, and (cells,) standard errors.
    """
    # half a unit, with a margin for binary rounding
    same_digits = np.abs(difference) <= unit / 2 * (1 + 1e-9)
    # a number that varies by less than a hundredth of the last digit is not random, so its digits
    # must agree
    is_random = error**2 - unit**2 / 12 > (unit / 100) ** 2
    return same_digits | (is_random & (np.abs(difference) <= LIMIT * error))


def reproduced_times(rows: pd.DataFrame, factors: Floats) -> Ints:
    """Return (factors,) numbers of cells that are reproduced if ours are multiplied by a factor.

    The standard errors are unchanged, and the shares of Table 4 are at most 1.
    """
    printed, ours, error = (
        rows[name].to_numpy(dtype=np.float64) for name in ("printed", "ours", "standard_error")
    )
    unit = rows["table"].map(_LAST_DIGIT).to_numpy()
    largest = np.where(rows["table"] == 4, 1.0, np.inf)
    multiplied = np.minimum(np.asarray(factors)[:, np.newaxis] * ours, largest)
    return _is_reproduced(multiplied - printed, unit, error).sum(axis=1)


def unnoticed_factor(rows: pd.DataFrame) -> float:
    """Return the largest e for which a common factor of our numbers is unnoticed.

    The factor is 1 + e or 1 - e, and no factor between it and 1 is noticed either.

    A factor is noticed if more cells are lost than chance explains at 95 %. A cell is beyond 3
    standard errors with the probability of a normal variable. Steps of 0.01 % are tried, up to 50
    %.
    """
    steps: Floats = np.linspace(0.0, _MOST, round(_MOST / _STEP) + 1)
    lost = np.arange(len(rows) + 1)
    by_chance = lost[bdtr(lost, len(rows), 2 * ndtr(-LIMIT)) >= 0.95][0]
    fewest = reproduced_times(rows, np.ones(1))[0] - by_chance
    unnoticed = []
    for sign in (1.0, -1.0):
        factors: Floats = 1.0 + sign * steps
        noticed = np.flatnonzero(reproduced_times(rows, factors) < fewest)
        unnoticed.append(float(steps[noticed[0] - 1] if len(noticed) else steps[-1]))
    return max(unnoticed)


def sharpness(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out how sharp the comparison is, by table and reading, as text.

    Columns: how many printed numbers are 0 or 100 %, how many would be reproduced if all of ours
    were larger by a factor of `FACTORS`, and `unnoticed_factor` in per cent.
    """
    rows = []
    for (number, reading), cells in table.groupby(["table", "reading"], sort=False):
        at_ends = int(cells["printed"].isin([0.0, 1.0]).sum())
        reproduced = reproduced_times(cells, np.array(FACTORS))
        unnoticed = f"{100 * unnoticed_factor(cells):.2f} %"
        rows.append((number, reading, len(cells), at_ends, *reproduced, unnoticed))
    larger = [f"Reproduced if ours were {100 * (factor - 1):.0f} % larger" for factor in FACTORS]
    names = [
        "Table",
        "Reading",
        "Printed numbers",
        "Printed as 0 or 100 %",
        *larger,
        "Largest unnoticed factor",
    ]
    return pd.DataFrame(rows, columns=names).astype(str)


def counts(table: pd.DataFrame) -> pd.DataFrame:
    """Lay out the counts of printed and of reproduced numbers, by table and reading, as text.

    The root mean square of z is over the numbers whose standard error is more than half of the last
    digit; the others vary little. A value near 1 means that the standard errors are right.
    """
    varies = table["standard_error"] > table["table"].map(_LAST_DIGIT) / 2
    squares = table.assign(square=(table["z"] ** 2).where(varies))
    counted = squares.groupby(["table", "reading"], sort=False).agg(
        printed=("ok", "size"),
        reproduced=("ok", "sum"),
        rms=("square", lambda square: np.sqrt(square.mean())),
    )
    counted = counted.reset_index()
    counted["rms"] = counted["rms"].map("{:.2f}".format, na_action="ignore")
    counted = counted.astype(object)
    text = counted.where(counted.notna(), "-").map(str)
    names = ["Table", "Reading", "Printed numbers", "Reproduced", "RMS of z"]
    return text.set_axis(names, axis=1)


def sections(table: pd.DataFrame) -> list[Section]:
    """Lay out compared numbers: counts, sharpness, the numbers not reproduced, and all numbers."""
    cells = pd.DataFrame(
        {
            "Table": table["table"].astype(str),
            "Reading": table["reading"],
            "Cell": table["cell"],
            "Printed": table["printed"].map("{:.4f}".format),
            "Ours": table["ours"].map("{:.4f}".format),
            "Standard error": table["standard_error"].map("{:.5f}".format),
            "z": table["z"].map("{:+z.1f}".format),
            "Reproduced": table["ok"].map({True: "yes", False: "no"}),
        }
    )
    wrong = cells[~table["ok"].to_numpy()]
    tables = [("Printed numbers that are reproduced", counts(table)), (SHARPNESS, sharpness(table))]
    tables += [("Printed numbers that are not", wrong)] if len(wrong) else []
    return [*tables, ("Every printed number beside ours", cells)]
