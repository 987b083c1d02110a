from typing import Any

import numpy as np
import pandas as pd
import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.evaluation.correct import correct
from sampled_metrics.ranks.frames import columns_of
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.study.given_negatives import estimate_from_given, sections

# exact ranks 1, 3 and 2 or 3 (a tie) among 5 candidates
TABLE = RankTable(np.array([1, 2, 3]), np.full(3, 5), np.array([0, 2, 1]), np.array([0, 0, 1]))
METRICS = ["recall@2", "ap", "auc"]


def sampled(**changes: Any) -> pd.DataFrame:
    columns = {"user": [1, 2, 3], "candidates": 5, "negatives": 2, "rank": [1, 2, 3], "repeated": 0}
    return pd.DataFrame(columns | changes)


def estimated(ranks: pd.DataFrame, labels: list[str], model: str = "design") -> pd.DataFrame:
    found = estimate_from_given(TABLE, columns_of(ranks, "ranks"), labels, METRICS, model)
    return found.set_index(["metric", "estimator"])


def test_values_by_hand() -> None:
    found = estimated(sampled(), ["uncorrected", "rank-estimate"])
    assert found.loc["recall@2", "exact"].tolist() == pytest.approx([(1 + 0 + 1 / 2) / 3] * 2)
    assert found.loc["ap", "exact"].tolist() == pytest.approx([(1 + 1 / 3 + (1 / 2 + 1 / 3) / 2) / 3] * 2)
    values, expected = found["value"], found["mean_exact"]
    assert values["recall@2", "uncorrected"] == pytest.approx(2 / 3)
    assert values["ap", "uncorrected"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    # x = 0, 1, 2 of m = 2 estimate the ranks 1 + x (n - 1) / m = 1, 3, 5
    assert values["ap", "rank-estimate"] == pytest.approx((1 + 1 / 3 + 1 / 5) / 3)
    assert values["auc", "rank-estimate"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    # AUC is linear in the rank, so its mean from uniform negatives is the exact one
    assert expected["auc", "uncorrected"] == pytest.approx(found["exact"]["auc", "uncorrected"])
    # AUC is 1 - x / 2. The variances of x are 0 for rank 1, 1/3 for rank 3 and 17/48 for rank 2 or 3
    assert found["sd_exact"]["auc", "uncorrected"] == pytest.approx(np.sqrt((1 / 3 + 17 / 48) / 4) / 3)
    assert (found["negatives"] == 2).all()


@pytest.mark.parametrize("repeated", [0, 1])
def test_the_corrections_are_those_of_the_library(repeated: int) -> None:
    labels = ["cls", "bv-0.1", "mle"]
    found = estimated(sampled(repeated=[0, repeated, 0]), labels)
    options = {"estimators": labels, "metrics": METRICS, "n_resamples": 100}
    wanted = correct(sampled(), replacement=bool(repeated), **options).set_index(["metric", "estimator"])
    assert found["value"].to_dict() == pytest.approx(wanted["value"].to_dict())


def test_binomial_counts_negatives_as_drawn_with_replacement() -> None:
    binomial = estimated(sampled(), ["cls"], "binomial")["value"]
    assert binomial.equals(estimated(sampled(repeated=1), ["cls"])["value"])
    assert not binomial.equals(estimated(sampled(), ["cls"])["value"])


@pytest.mark.parametrize("changes", [{"user": [1, 3, 2]}, {"candidates": [5, 5, 6]}])
def test_ranks_of_others_are_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(DataError, match="the users and candidates are not those of the rank table; remove both"):
        estimated(sampled(**changes), ["uncorrected"])


def test_the_page_has_the_exact_value_the_estimates_and_what_uniform_negatives_show() -> None:
    found = {
        name: estimated(sampled(rank=ranks), ["uncorrected", "mle"]).reset_index() for name, ranks in RANKS.items()
    }
    [(heading, values), (_, uniform)] = sections(found)
    assert heading.startswith("Exact metrics, and what the 2 given negatives of each user show")
    assert list(values.columns) == ["Metric", "Recommender", "Exact", "Sampled (uncorrected)", "MLE"]
    assert values.iloc[0, :4].tolist() == ["Recall@2", "A", "50.00", "66.67"]
    assert values.iloc[1, :4].tolist() == ["Recall@2", "B", "50.00", "**100.00**"]
    assert list(uniform.columns) == ["Metric", "Recommender", "Sampled (uncorrected)"]


RANKS = {"A": [1, 2, 3], "B": [1, 2, 2]}
