"""benchmarks/large.py: its count notices a wrong rank, and its table has medians of turns."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm


@pytest.fixture
def large(script):
    return script("large")


@pytest.mark.parametrize("form", ["factors", "matrix", "function"])
def test_a_wrong_rank_is_noticed(large, form):
    data = large.Data.of(large.Case(120, 9000, 4, form))
    assert (np.bincount(data.training.indices, minlength=9000) > 0).all()
    scores = large.scores_of(data)
    table = sm.rank(scores, data.training, data.held_out, users=slice(100))
    large.check(data, scores, table)
    is_wrong = np.arange(100) == 7
    for more_above, more_tied in ((1, 0), (0, 1)):
        counts = SimpleNamespace(
            above=table.above + more_above * is_wrong, tied=table.tied + more_tied * is_wrong
        )
        with pytest.raises(SystemExit, match="ranks"):
            large.check(data, scores, counts)


def test_the_table_has_medians_of_turns_after_the_first(large):
    case = {"users": 1000, "items": 3000, "d": 32, "form": "factors"}
    seconds = {"bare product": (9, 1, 2, 6), "this project": (9, 3, 1, 4), "RecBole": (50,)}
    turns = [
        case | {"way": way, "run": run, "seconds": second, "megabytes": 101 + run}
        for way, seconds_of_way in seconds.items()
        for run, second in enumerate(seconds_of_way, start=-1)
    ]
    assert large.table(large.medians(pd.DataFrame(turns))).splitlines() == [
        "| users × items × factors | bare product | **this project** | ratio | memory, MB | "
        "RecBole |",
        "|:---|---:|---:|---:|---:|---:|",
        "| 1,000 × 3,000 × 32 | 2 | **3** | 1.50 | 103 | 50 |",
    ]
