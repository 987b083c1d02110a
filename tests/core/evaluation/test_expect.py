"""What a sampled evaluation gives on average: against closed forms and the paper's Table 3."""

from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from read_and import expect
from scipy import stats

from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics.errors import ConfigError

PUBLISHED = Path(__file__).resolve().parents[3] / "published" / "ml-1m"
RANKS = [1, 4, 9, 30]


@pytest.mark.parametrize(("m", "replacement"), [(29, False), (5, True)])
def test_of_auc_is_auc_and_of_recall_with_replacement_a_binomial_tail(m, replacement):
    table = expect(
        RANKS, negatives=m, metrics=["auc", "recall@3"], candidates=30, replacement=replacement
    )
    auc, recall = table.to_dict("records")
    better = (np.array(RANKS) - 1) / 29
    assert auc["expected"] == auc["exact"] == pytest.approx(np.mean(1 - better), rel=1e-12)
    if replacement:
        tail = np.mean(stats.binom.cdf(2, m, better))
        assert recall["expected"] == pytest.approx(tail, rel=1e-12)
    else:  # everything is in the sample
        assert recall["expected"] == pytest.approx(recall["exact"], rel=1e-12)
        assert table["deviation"].to_numpy() == pytest.approx(0, abs=1e-7)


def test_of_users_with_ties_and_candidates_and_rows_of_their_own():
    """A user with two rows counts with their mean."""
    ranks = pd.DataFrame(
        {"user": [0, 1, 1], "candidates": [6, 9, 9], "above": [0, 3, 0], "tied": [2, 0, 0]}
    )
    recall, auc = expect(ranks, negatives=2, metrics=["recall@1", "auc"]).to_dict("records")
    tied = np.mean([comb(6 - rank, 2) / comb(5, 2) for rank in (1, 2, 3)])
    chance = comb(9 - 4, 2) / comb(8, 2)
    assert recall["expected"] == pytest.approx((tied + (chance + 1) / 2) / 2)
    assert auc["expected"] == pytest.approx((1 - 1 / 5 + (1 - 3 / 8 + 1) / 2) / 2)
    variance = tied * (1 - tied) / 4 + chance * (1 - chance) / 16
    assert recall["deviation"] == pytest.approx(np.sqrt(variance))


def test_of_the_published_ranks_is_that_of_the_paper():
    """Table 3: exactly Z > Y > X on Recall@10; among 100 negatives 66.77, 56.53 and 54.16 the other
    way round.
    """
    tables = {name: exact_ranks(PUBLISHED / f"{name}.csv.gz") for name in "XYZ"}
    assert {(len(table), table.findings) for table in tables.values()} == {(6040, ())}
    table = expect(tables, negatives=100, metrics=["recall@10", "auc"])
    recall = table[table["metric"] == "recall@10"].set_index("recommender")
    assert (100 * recall["exact"]).round(2).to_dict() == {"X": 7.80, "Y": 8.84, "Z": 9.42}
    printed = {"X": 66.77, "Y": 56.53, "Z": 54.16}
    for name, mean in printed.items():
        assert 100 * recall["expected"][name] == pytest.approx(mean, abs=0.03)
    swapped = [finding for finding in table.findings if finding.kind == "wrong-order"]
    assert {finding.metric for finding in swapped} == {"recall@10"}
    assert [finding.names for finding in swapped] == [("Y", "X"), ("Z", "X"), ("Z", "Y")]
    values = swapped[1].values
    assert values["chance"] == pytest.approx(0, abs=1e-6)
    for side, name in (("better", "Z"), ("worse", "X")):
        assert values[f"exact_{side}"] == recall["exact"][name]
        assert values[f"expected_{side}"] == recall["expected"][name]


def test_refuses_an_estimator_that_is_not_linear():
    with pytest.raises(ConfigError, match="mle"):
        expect(RANKS, negatives=5, candidates=30, estimators=["mle"])
