"""The script that sets published sampled values beside the true ones, and its table."""

import runpy

import pandas as pd
import pytest
from docs_blocks import DOCS

EVIDENCE = runpy.run_path(str(DOCS / "evidence.py"))
SETTING = {
    "source": "s",
    "place": "p",
    "dataset": "d",
    "users": "10000",
    "n": "200",
    "m": "20",
    "sampling": "uniform",
}


@pytest.mark.parametrize(
    ("text", "n"),
    [("3706", 3706), ("18345-26744", (18345, 26744)), ("1089 (mean; 1054-1093)", (1054, 1093))],
)
def test_reads_the_number_of_candidates(text, n):
    assert EVIDENCE["candidates_of"](text) == n


@pytest.mark.parametrize(
    ("true", "is_held"), [("0.07", True), ("0.065", True), ("0.064", False), ("0.1", True)]
)
def test_an_interval_holds_a_number_that_is_written_so(true, is_held):
    """From .0655 to .08: .065 is .0645 to .0655, and .1 is .05 to .15."""
    assert EVIDENCE["holds"](true, 0.0655, 0.08) is is_held


def test_counts_turns_and_verdicts_and_names_what_contradicts():
    """AUC orders A and B rightly. By HR@1, A leads and B is better.

    C's exact HR@1 is above that of its sample.
    """
    cells = [
        ("A", "auc", "0.700", "0.702"),
        ("B", "auc", "0.900", "0.899"),
        ("A", "hr@1", "0.300", "0.050"),
        ("B", "hr@1", "0.290", "0.060"),
        ("C", "hr@1", "0.100", "0.400"),
    ]
    cases = pd.DataFrame(
        [dict(zip(("model", "metric", "sampled", "full"), cell, strict=True)) for cell in cells]
    )
    rows, counts = EVIDENCE["compared"](SETTING, cases)
    assert [row["holds_free"] for row in rows] == [True, True, True, True, False]
    assert [bool(row["contradiction"]) for row in rows] == [False, False, False, False, True]
    assert (counts["models"], counts["values"], counts["contradictions"]) == (3, 5, 1)
    assert (counts["pairs"], counts["turn"]) == (4, 3)
    # .3 and .1 may both be of .05
    assert (counts["right"], counts["undecided"], counts["wrong"]) == (
        1,
        3,
        0,
    )


def test_the_table_has_every_covered_pair_and_what_its_intervals_hold():
    pairs = pd.read_csv(EVIDENCE["PAIRS"], dtype=str, keep_default_na=False)
    covered = pairs[EVIDENCE["is_covered"](pairs) & (pairs["full"] != "")]
    table = pd.read_csv(EVIDENCE["PRINTED"], dtype={"true": str})
    assert sorted(table["true"]) == sorted(covered["full"])
    for shape in ("free", "decreasing"):
        columns = [table[name] for name in ("true", f"{shape}_low", f"{shape}_high")]
        holds = [EVIDENCE["holds"](*row) for row in zip(*columns, strict=True)]
        assert holds == table[f"holds_{shape}"].tolist()
