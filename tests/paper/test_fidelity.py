"""The comparison with the printed numbers: what is ok and what is not, by standard errors computed by hand."""

from functools import cache
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from rendering.read_pages import written

from sampled_metrics.study import fidelity, reference

NO_SPREAD = pd.DataFrame(columns=["table", "reading", "cell", "seeds", "mean", "sd"]).astype(
    {"table": int, "sd": float}
)


@cache
def toy_tables():
    """Ours are the printed numbers."""
    return reference.table_1().drop(columns="unit"), reference.table_2().drop(columns="unit")


@cache
def study_tables(readings=("default",)):
    """Ours are the printed numbers; exact ones have no ties."""
    table_3, table_4 = reference.table_3().drop(columns="unit").fillna({"sd": 0.0}), reference.table_4()
    # X is best on AUC, where the pairs are the other way round
    swapped, pair = table_4["metric"] == "auc", table_4.pop("pair")
    table_4 = table_4.assign(
        worse=pair.str[0].where(~swapped, pair.str[-1]), better=pair.str[-1].where(~swapped, pair.str[0])
    )
    table_3 = table_3.assign(mean_exact=table_3["mean"], sd_exact=table_3["sd"])
    table_4 = table_4.assign(correct_exact=table_4["correct"])
    return tuple(
        pd.concat([table.assign(reading=name) for name in readings], ignore_index=True) for table in (table_3, table_4)
    )


def with_value(table, column, value, **keys):
    """A table with one cell changed."""
    at = np.logical_and.reduce([table[key] == wanted for key, wanted in keys.items()])
    assert at.sum() == 1
    changed = table.copy()
    changed.loc[at, column] = value
    return changed


def toy_row(cell, column, value, table):
    """The row of a printed cell of Table 1 or 2, where ours is another number."""
    recommender, metric = cell.split()[:2]
    ours = [*toy_tables()]
    ours[table - 1] = with_value(ours[table - 1], column, value, recommender=recommender, metric=metric)
    rows = fidelity.compare_toy(*ours, repetitions=1000)
    return rows[(rows["table"] == table) & (rows["cell"] == cell)].iloc[0]


def study_rows(table_3=None, table_4=None, spread=NO_SPREAD):
    ours = [given if given is not None else own for given, own in zip((table_3, table_4), study_tables(), strict=True)]
    return fidelity.compare_study(*ours, spread)


def study_row(cell, value, table=None, **changes):
    """The row of a printed mean of Table 3, where ours is another number."""
    keys = dict(zip(("recommender", "metric", "estimator"), cell.split(), strict=True))
    table = with_value(study_tables()[0] if table is None else table, "mean_exact", value, **keys)
    rows = study_rows(table_3=table, **changes)
    return rows[rows["cell"] == cell].iloc[0]


OFF = [(2.9, True), (-2.9, True), (3.1, False), (-3.1, False)]


class TestToy:
    def test_has_a_row_for_each_of_the_36_printed_numbers_all_of_which_are_themselves(self):
        rows = fidelity.compare_toy(*toy_tables(), 1000)
        assert list(rows.columns) == fidelity.COLUMNS
        assert rows["table"].value_counts().to_dict() == {1: 12, 2: 24}
        assert not rows.duplicated(fidelity.KEYS).any()
        assert rows["ok"].all()
        assert (rows["z"] == 0).all()

    @pytest.mark.parametrize(("value", "ok"), [(0.9904, True), (0.9896, True), (0.9906, False), (0.9894, False)])
    def test_an_exact_number_must_round_to_the_printed_digits(self, value, ok):
        row = toy_row("A auc", "value", value, 1)
        assert (row["printed"], row["ours"], row["ok"]) == (0.990, value, ok)

    # B's AP is printed .336 ± .073: both means of 1000 have the variance .073² / 1000, and printing ± half of .001
    ERROR = sqrt(2 * 0.073**2 / 1000 + 0.001**2 / 12)

    @pytest.mark.parametrize(("errors", "ok"), OFF)
    def test_a_mean_may_be_3_standard_errors_off(self, errors, ok):
        row = toy_row("B ap", "mean", 0.336 + errors * self.ERROR, 2)
        assert row["standard_error"] == pytest.approx(self.ERROR) == pytest.approx(0.003277, abs=1e-6)
        assert (row["z"], row["ok"]) == (pytest.approx(errors), ok)

    @pytest.mark.parametrize(("sd", "ok"), [(0.0800, True), (0.0665, True), (0.0805, False), (0.0660, False)])
    def test_a_standard_deviation_too(self, sd, ok):
        row = toy_row("B ap ±", "sd", sd, 2)
        error = sqrt((0.073**2 + sd**2) / 1998 + 0.001**2 / 12)  # its variance is σ² / (2 N - 2)
        assert row["standard_error"] == pytest.approx(error)
        assert (row["z"], row["ok"]) == (pytest.approx((sd - 0.073) / error), ok)


class TestSharpness:
    """How large a common factor of our numbers must be to be noticed."""

    @pytest.mark.parametrize("factor", [0.99, 0.9996, 1.0, 1.0004, 1.0006, 1.01, 1.07])
    def test_cells_of_table_1_must_keep_their_digits(self, factor):
        rows = fidelity.compare_toy(*toy_tables(), 1000)
        rows = rows[rows["table"] == 1]
        by_hand = (np.abs(rows["printed"] * (factor - 1)) <= 0.0005).sum()
        assert fidelity.reproduced_times(rows, np.array([factor])).tolist() == [by_hand]

    def test_a_factor_is_noticed_once_more_is_lost_than_by_chance(self):
        """The first cell of Table 1 to change is .990, at 1 + .0005 / .990; of 12 cells, chance loses none."""
        rows = fidelity.compare_toy(*toy_tables(), 1000)
        assert fidelity.unnoticed_factor(rows[rows["table"] == 1]) == pytest.approx(np.floor(5 / 0.99) / 1e4)

    def test_shares_of_table_4_stay_at_most_100_per_cent(self):
        rows = study_rows()
        rows = rows[rows["table"] == 4]
        assert rows["printed"].isin([0, 1]).sum() == 50
        ends = rows[rows["printed"].isin([0, 1])]
        assert fidelity.reproduced_times(ends, np.array([1.0, 1.5, 3.0])).tolist() == [50, 50, 50]
        assert fidelity.unnoticed_factor(ends) == pytest.approx(0.5)
        assert 0.05 < fidelity.unnoticed_factor(rows) < 0.5

    def test_is_laid_out_by_table_and_reading(self):
        found = fidelity.sharpness(study_rows())
        assert found["Table"].tolist() == ["3", "4"]
        assert found["Printed as 0 or 100 %"].tolist() == ["0", "50"]
        assert found["Largest unnoticed factor"].str.endswith(" %").all()
        larger = found["Reproduced if ours were 5 % larger"].astype(int)
        assert (larger <= found["Reproduced if ours were 1 % larger"].astype(int)).all()

    def test_stands_behind_the_counts(self):
        headings = [heading for heading, _ in fidelity.sections(study_rows())]
        assert headings[:2] == ["Printed numbers that are reproduced", fidelity.SHARPNESS]


class TestStudy:
    def test_has_a_row_for_each_printed_number_and_reading_all_of_which_are_themselves(self):
        rows = fidelity.compare_study(*study_tables(("default", "as-printed")), NO_SPREAD)
        assert list(rows.columns) == fidelity.COLUMNS
        assert rows.groupby("reading")["table"].value_counts().to_dict() == {
            (name, number): count
            for name in ("default", "as-printed")
            for number, count in ((3, 12 + 84 + 84), (4, 84))
        }
        assert not rows.duplicated(fidelity.KEYS).any()
        assert rows["ok"].all()

    # Y's Recall by CLS is printed 8.42 ± 0.14 per cent
    ERROR = sqrt(0.0014**2 / 100 + 0.0001**2 / 12)

    @pytest.mark.parametrize(("errors", "ok"), OFF)
    def test_a_mean_may_be_3_standard_errors_off(self, errors, ok):
        row = study_row("Y recall@10 cls", 0.0842 + errors * self.ERROR)
        assert row["standard_error"] == pytest.approx(self.ERROR) == pytest.approx(1.4295e-4, abs=1e-8)
        assert (row["z"], row["ok"]) == (pytest.approx(errors), ok)

    @pytest.mark.parametrize(("mean", "ok"), [(0.08844, True), (0.08836, True), (0.08846, False), (0.0786, False)])
    def test_an_exact_number_without_ties_must_round_to_the_printed_digits(self, mean, ok):
        assert study_row("Y recall@10 exact", mean)["ok"] == ok

    @pytest.mark.parametrize(("errors", "ok"), [(2.9, True), (3.1, False)])
    def test_an_exact_number_has_the_error_of_breaking_its_ties_once(self, errors, ok):
        keys = {"recommender": "Z", "metric": "auc", "estimator": "exact"}
        error, table = sqrt(0.0021**2 + 0.0001**2 / 12), with_value(study_tables()[0], "sd_exact", 0.0021, **keys)
        row = study_row("Z auc exact", 0.7473 + errors * error, table)
        assert (row["standard_error"], row["ok"]) == (pytest.approx(error), ok)

    @pytest.mark.parametrize(("chance", "ok"), [(0.31, True), (0.44, True), (0.47, False), (0.19, False), (0.2, True)])
    def test_a_fraction_of_100_runs_has_a_binomial_error(self, chance, ok):
        keys = {"worse": "X", "better": "Y", "metric": "recall@10", "estimator": "cls"}
        rows = study_rows(table_4=with_value(study_tables()[1], "correct_exact", chance, **keys))
        row = rows[rows["cell"] == "X vs Y recall@10 cls"].iloc[0]
        error = sqrt(chance * (1 - chance) / 100 + 0.01**2 / 12)
        assert row["z"] == pytest.approx((chance - 0.31) / error)
        assert row["ok"] == ok


def test_numbers_that_are_wrong_everywhere_are_reported():
    """Y's Recall@10 is one point too high."""
    table_3 = study_tables()[0].copy()
    table_3.loc[(table_3["recommender"] == "Y") & (table_3["metric"] == "recall@10"), "mean_exact"] += 0.01
    rows = study_rows(table_3=table_3)
    off = rows[~rows["ok"]]
    assert sorted(off["cell"]) == sorted(f"Y recall@10 {name}" for name in ["exact", *reference.ESTIMATORS])
    assert (off["z"] > 3).all()


@pytest.mark.parametrize(("errors", "ok"), [(2.9, True), (3.1, False)])
def test_the_spread_of_seeds_widens_a_mean_by_two_random_starts(errors, ok):
    """X's Recall by CLS is printed 8.52 ± 0.16; ours and the paper's are a start each."""
    cell, error = "X recall@10 cls", sqrt(0.0016**2 / 100 + 2 * 0.0005**2 + 0.0001**2 / 12)
    spread = pd.DataFrame({"table": [3], "reading": ["default"], "cell": [cell], "sd": [0.0005]})
    row = study_row(cell, 0.0852 + errors * error, spread=spread)
    assert (row["standard_error"], row["ok"]) == (pytest.approx(error), ok)


def test_the_layout_counts_and_lists_what_is_not_reproduced_first(tmp_path):
    table_1, table_2 = toy_tables()
    table = fidelity.compare_toy(table_1.replace({"value": {0.99: 0.97}}), table_2, 1000)
    counts, _, off, every = written(tmp_path, fidelity.sections(table))[0]
    assert counts[1:] == [["1", "default", "12", "11", "-"], ["2", "default", "24", "24", "0.00"]]
    assert off[1:] == [["1", "default", "A auc", "0.9900", "0.9700", "0.00029", "-69.3", "no"]]
    assert len(every) == 1 + 36
