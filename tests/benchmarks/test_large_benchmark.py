"""benchmarks/large.py: its count notices a wrong rank, and its table has the medians of the turns
after the first.
"""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def large():
    """The benchmark, imported as a script imports it."""
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("large")
    sys.path.remove(str(FOLDER))
    for name in ("large", "ranking"):
        del sys.modules[name]


@pytest.mark.parametrize("form", ["factors", "matrix", "function"])
def test_a_wrong_rank_is_noticed(large, form):
    data = large.Data.of(large.Case(120, 9000, 4, form))
    assert (np.bincount(data.training.indices, minlength=9000) > 0).all()
    scores = large.scores_of(data)
    table = sm.rank(scores, data.training, data.held_out, users=slice(100))
    large.check(data, scores, table)
    for above, tied in ((1, 0), (0, 1)):
        wrong = np.arange(100) == 7
        counts = SimpleNamespace(above=table.above + above * wrong, tied=table.tied + tied * wrong)
        with pytest.raises(SystemExit, match="the ranks are not those that were counted"):
            large.check(data, scores, counts)


def test_the_table_has_medians_of_turns_after_the_first(large):
    case = {"users": 1000, "items": 3000, "d": 32, "form": "factors"}
    seconds = {"limit": (9, 1, 2, 6), "this project": (9, 3, 1, 4), "RecBole": (50,)}
    turns = [
        case | {"way": way, "run": run - 1, "seconds": second, "megabytes": 100 + run}
        for way, values in seconds.items()
        for run, second in enumerate(values)
    ]
    assert large.table(large.medians(pd.DataFrame(turns))).splitlines() == [
        "| users × items × factors | limit | **this project** | times the limit | memory, MB | "
        "RecBole |",
        "|:---|---:|---:|---:|---:|---:|",
        "| 1,000 × 3,000 × 32 | 2 | **3** | 1.50 | 103 | 50 |",
    ]
