"""The page on evidence has the numbers of its csv files, and these are what the ranks say."""

import csv
import runpy
from collections import Counter
from decimal import Decimal
from itertools import combinations

import pandas as pd
import pytest
from docs_blocks import DOCS

EVIDENCE = runpy.run_path(str(DOCS / "evidence.py"))


def test_the_page_is_made_from_its_files():
    text = EVIDENCE["PAGE"].read_text(encoding="utf-8")
    assert EVIDENCE["filled"](text, EVIDENCE["Tables"].read()) == text


def test_the_page_counts_each_model_of_each_table():
    """Counted in pairs.csv: the models with a true value.

    Their negatives are uniform, and one item is held out.
    """
    with (EVIDENCE["FOLDER"] / "pairs.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["full"] and row["n"] and row["users"]]
    models = {
        (row["source"], row["place"], row["dataset"], row["model"], row["m"])
        for row in rows
        if row["sampling"].startswith("uniform") and "together" not in row["sampling"]
    }
    files = len(list(EVIDENCE["FOLDER"].rglob("*.csv.gz")))
    text = EVIDENCE["PAGE"].read_text(encoding="utf-8")
    assert (
        f"The page has {len(models) + files}: {files} from ranks, and {len(models)} from printed "
        "tables" in text
    )


def test_the_turned_orders_are_those_of_the_printed_values():
    """Counted from the printed text, two models of a setting and a metric at a time."""
    orders = pd.read_csv(EVIDENCE["ORDERS"])
    pairs = pd.read_csv(EVIDENCE["PAIRS"], dtype=str, keep_default_na=False)
    pairs = pairs[(pairs["full"] != "") & (pairs["sampled"] != "")]
    for row in orders.itertuples():
        rows = pairs[
            (pairs["source"] == row.source)
            & (pairs["dataset"] == row.dataset)
            & (pairs["n"] == str(row.n))
        ]
        signs = Counter()
        for _, models in rows.groupby("metric"):
            values = zip(models["full"].map(Decimal), models["sampled"].map(Decimal), strict=True)
            for (true_a, sampled_a), (true_b, sampled_b) in combinations(values, 2):
                if true_a != true_b:
                    signs[(true_a - true_b) * (sampled_a - sampled_b) > 0] += 1
                    signs["same"] += sampled_a == sampled_b
        assert row.pairs == signs[True] + signs[False]
        assert row.same == signs["same"]
        assert row.turn == signs[False] - signs["same"]


@pytest.mark.slow
def test_the_files_from_ranks_are_made_again():
    for path, rows in EVIDENCE["rank_tables"]().items():
        assert pd.DataFrame(rows).to_csv(index=False) == path.read_text(encoding="utf-8"), path.name


@pytest.mark.slow
def test_rows_of_printed_values_are_made_again():
    source = "Petrov & Macdonald 2022"
    pairs = pd.read_csv(EVIDENCE["PAIRS"], dtype=str, keep_default_na=False)
    pairs = pairs[EVIDENCE["is_covered"](pairs) & (pairs["source"] == source)]
    rows = []
    for _, cases in pairs.groupby(EVIDENCE["SETTING"], sort=False):
        setting = cases.iloc[0][EVIDENCE["SETTING"]].to_dict()
        rows += EVIDENCE["compared"](setting, cases)[0]
    lines = pd.DataFrame(rows).to_csv(index=False).splitlines()
    stored = EVIDENCE["PRINTED"].read_text(encoding="utf-8").splitlines()
    assert lines == [stored[0], *(line for line in stored if line.startswith(f"{source},"))]
