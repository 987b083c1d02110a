"""The page on evidence has the numbers of its csv files, and these are what the ranks say."""

import re
import runpy

import pandas as pd
import pytest
from docs_blocks import DOCS

EVIDENCE = runpy.run_path(str(DOCS / "evidence.py"))


@pytest.mark.parametrize("part", ["held", "orders", "cases"])
def test_a_table_of_the_page_is_that_of_the_files(part: str) -> None:
    of_ranks, of_pairs = pd.read_csv(EVIDENCE["OF_RANKS"]), pd.read_csv(EVIDENCE["OF_PAIRS"])
    of_tables = pd.read_csv(EVIDENCE["PRINTED"]) if EVIDENCE["PRINTED"].exists() else pd.DataFrame()
    lines = {
        "held": lambda: EVIDENCE["held"](of_ranks, of_tables),
        "orders": lambda: EVIDENCE["orders_of"](of_pairs),
        "cases": lambda: EVIDENCE["cases_of"](of_ranks),
    }[part]()
    shown = re.search(f"<!-- {part} -->\\n(.*?)\\n<!-- end of", EVIDENCE["PAGE"].read_text(encoding="utf-8"), re.DOTALL)
    assert shown is not None
    assert shown[1].splitlines() == lines


@pytest.mark.parametrize("name", ["lastfm-S3-Rec", "trained/latest-small-implicit-BPR"])
def test_a_row_of_the_files_is_what_the_ranks_say(name: str) -> None:
    """The shares of ranks up to 10 counted here, and the intervals of `correct`, which hold the true value."""
    path = EVIDENCE["FOLDER"] / f"{name}.csv.gz"
    ranks = pd.read_csv(path)
    row = EVIDENCE["case_of"](path).row
    assert row["true"] == pytest.approx((ranks["exact_rank"] <= 10).mean(), abs=5e-5)
    assert row["sampled"] == pytest.approx((ranks["sampled_rank"] <= 10).mean(), abs=5e-5)
    table = pd.read_csv(EVIDENCE["OF_RANKS"]).set_index(["source", "dataset", "model"])
    stored = table.loc[row["source"], row["dataset"], row["model"]]
    for column in ("free_low", "free_high", "decreasing_low", "decreasing_high", "true", "sampled", "users", "n", "m"):
        assert stored[column] == pytest.approx(row[column]), column
    assert row["holds_free"]
    assert row["holds_decreasing"]
