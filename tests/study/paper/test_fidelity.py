"""The comparison with the printed numbers, by standard errors computed by hand."""

from math import sqrt

import numpy as np
import pandas as pd
import pytest
from study.read_tables import printed_as_ours

from sampled_metrics_study import fidelity, reference


def ours_of_toy():
    """Tables 1 and 2: ours are the printed numbers."""
    return reference.table_1().drop(columns="unit"), reference.table_2().drop(columns="unit")


def ours_of_study(readings=("default",)):
    """Tables 3 and 4: ours are the printed numbers."""
    return [
        pd.concat([table.assign(reading=name) for name in readings], ignore_index=True)
        for table in printed_as_ours()
    ]


def rows_of(ours, number, spread=None):
    """The comparison of Tables 1 and 2, or 3 and 4.

    The spread of a cell over random starts is (cell, deviation).
    """
    if number < 3:
        return fidelity.compare_toy(*ours, repetitions=1000)
    columns = ["table", "reading", "cell", "sd"]
    rows = pd.DataFrame([(number, "default", *spread)] if spread else [], columns=columns)
    return fidelity.compare_study(*ours, rows.astype({"table": int, "sd": float}))


def compared(number, cell, spread=None, **values):
    """The row of a printed cell of a table, where ours has other values in some columns."""
    ours = ours_of_toy() if number < 3 else ours_of_study()
    table = ours[(number - 1) % 2]
    *names, label, estimator = (cell.removesuffix(" ±") + (" exact" if number < 3 else "")).split()
    keys = {"metric": label, "estimator": estimator, "recommender": names[0]}
    keys |= {"worse": names[0], "better": names[-1]}
    is_cell = np.logical_and.reduce(
        [table[key] == value for key, value in keys.items() if key in table]
    )
    assert is_cell.sum() == 1
    table.loc[is_cell, [*values]] = [*values.values()]
    rows = rows_of(ours, number, spread)
    [row] = rows[(rows["table"] == number) & (rows["cell"] == cell)].itertuples()
    return row


def test_numbers_that_are_the_printed_ones_are_all_reproduced():
    toy = rows_of(ours_of_toy(), 1)
    study = rows_of(ours_of_study(["default", "as-printed"]), 3)
    assert toy["table"].value_counts().to_dict() == {1: 12, 2: 24}
    assert study.groupby("reading")["table"].value_counts().to_dict() == {
        (name, number): count
        for name in ("default", "as-printed")
        for number, count in ((3, 12 + 84 + 84), (4, 84))
    }
    for table in (toy, study):
        assert list(table.columns) == fidelity.COLUMNS
        assert not table.duplicated(fidelity.KEYS).any()
        assert table["ok"].all()
        assert (table["z"] == 0).all()


@pytest.mark.parametrize(
    ("number", "cell", "column", "good", "bad"),
    [
        # printed .990
        (1, "A auc", "value", (0.9904, 0.9896), (0.9906, 0.9894)),
        # 8.84 per cent
        (3, "Y recall@10 exact", "mean_exact", (0.08844, 0.08836), (0.08846, 0.0786)),
    ],
    ids=["table 1", "table 3"],
)
def test_an_exact_number_must_round_to_the_printed_digits(number, cell, column, good, bad):
    for value in good:
        assert compared(number, cell, **{column: value}).ok
    for value in bad:
        assert not compared(number, cell, **{column: value}).ok


# of B's AP, both means of 1000 have the variance .073² / 1000; printing adds ± half of the last
# digit
SAMPLES_OF_BOTH = sqrt(2 * 0.073**2 / 1000 + 0.001**2 / 12)
SAMPLES = sqrt(0.0014**2 / 100 + 0.0001**2 / 12)
TIES = sqrt(0.0021**2 + 0.0001**2 / 12)
STARTS = sqrt(0.0016**2 / 100 + 2 * 0.0005**2 + 0.0001**2 / 12)


@pytest.mark.parametrize(
    ("number", "cell", "column", "printed", "error", "options"),
    [
        (2, "B ap", "mean", 0.336, SAMPLES_OF_BOTH, {}),
        (3, "Y recall@10 cls", "mean_exact", 0.0842, SAMPLES, {}),
        # ties are broken once
        (3, "Z auc exact", "mean_exact", 0.7473, TIES, {"sd_exact": 0.0021}),
        # ours and the paper's are a random start each
        (
            3,
            "X recall@10 cls",
            "mean_exact",
            0.0852,
            STARTS,
            {"spread": ("X recall@10 cls", 0.0005)},
        ),
    ],
    ids=["samples of both", "samples", "ties", "starts"],
)
def test_a_mean_may_be_3_standard_errors_off(number, cell, column, printed, error, options):
    for errors, ok in ((2.9, True), (-2.9, True), (3.1, False), (-3.1, False)):
        row = compared(number, cell, **{column: printed + errors * error}, **options)
        assert row.standard_error == pytest.approx(error)
        assert row.z == pytest.approx(errors)
        assert row.ok == ok


@pytest.mark.parametrize(
    ("sd", "ok"), [(0.0800, True), (0.0665, True), (0.0805, False), (0.0660, False)]
)
def test_a_standard_deviation_may_be_too(sd, ok):
    row = compared(2, "B ap ±", sd=sd)
    error = sqrt((0.073**2 + sd**2) / 1998 + 0.001**2 / 12)  # its variance is σ² / (2 N - 2)
    assert row.standard_error == pytest.approx(error)
    assert row.z == pytest.approx((sd - 0.073) / error)
    assert row.ok == ok


def test_a_fraction_of_100_runs_has_a_binomial_error_which_its_spread_over_starts_holds():
    cell = "X vs Y recall@10 cls"
    for chance, ok in ((0.44, True), (0.47, False), (0.19, False), (0.2, True)):
        row = compared(4, cell, correct_exact=chance)
        error = sqrt(chance * (1 - chance) / 100 + 0.01**2 / 12)
        assert (row.z, row.ok) == (pytest.approx((chance - 0.31) / error), ok)
    sampling = 0.31 * 0.69 / 100
    error = sqrt(sampling + 2 * (0.06**2 - sampling) + 0.01**2 / 12)
    assert compared(4, cell, (cell, 0.06)).standard_error == pytest.approx(error)


def test_a_common_factor_is_noticed_by_the_digits_of_table_1_and_in_the_shares_of_table_4():
    rows = rows_of(ours_of_toy(), 1)
    rows = rows[rows["table"] == 1]
    for factor in (0.99, 0.9996, 1.0004, 1.0006, 1.07):
        by_hand = (np.abs(rows["printed"] * (factor - 1)) <= 0.0005).sum()
        assert fidelity.reproduced_times(rows, np.array([factor])).tolist() == [by_hand]
    # the first cell to change is .990, at 1 + .0005 / .990; of 12 cells, chance loses none
    assert fidelity.unnoticed_factor(rows) == pytest.approx(np.floor(5 / 0.99) / 1e4)
    rows = rows_of(ours_of_study(), 4)
    rows = rows[rows["table"] == 4]
    ends = rows[rows["printed"].isin([0, 1])]  # a share is at most 100 per cent
    assert fidelity.reproduced_times(ends, np.array([1.0, 1.5, 3.0])).tolist() == [50, 50, 50]
    assert fidelity.unnoticed_factor(ends) == pytest.approx(0.5)
    assert 0.05 < fidelity.unnoticed_factor(rows) < 0.5
