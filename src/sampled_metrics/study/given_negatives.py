"""What the negatives that come with a dataset show of each recommender, beside the exact metric."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from sampled_metrics.metrics.held_out import metric
from sampled_metrics.ranks.frames import Columns, refuse_rows
from sampled_metrics.ranks.table import RankTable
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.sampling.sampled_ranks import sampled_ranks
from sampled_metrics.study.page import Section, number, plus_minus, with_best
from sampled_metrics.study.repetitions import Evaluation, exact_moments
from sampled_metrics.study.tables import wide

TITLE = "Given negatives"


def estimate_from_given(
    table: RankTable, sampled: Columns, estimators: Sequence[str], metrics: Sequence[str], estimator_model: str
) -> pd.DataFrame:
    """Estimate every metric from the ranks among given negatives, with the fits of Table 3.

    Args:
        table: exact ranks of the held-out items by the recommender.
        sampled: ranks of the same items among the given negatives, with the columns user, candidates, negatives, rank
            and repeated: the negatives of the user that are there again. If there are any, the negatives count as drawn
            with replacement.
        estimators: labels of estimators.
        metrics: labels of metrics.
        estimator_model: binomial or design, as in the config.

    Returns:
        Columns metric, exact, estimator, negatives (m), value, and mean_exact and sd_exact: mean and standard deviation
        of the estimate from uniform negatives, missing for estimators that are not linear in the sample.

    Raises:
        DataError: the ranks are not those of the same users and candidates.
    """
    replacement = bool(sampled.whole_numbers("repeated", 0).any())
    found = sampled_ranks(sampled, replacement=replacement)
    same = len(found) == len(table) and np.array_equal(np.asarray(found.user), table.users)
    wrong = found.candidates != table.candidates if same else np.ones(len(found), dtype=bool)
    message = "the users and candidates are not those of the rank table; remove both files, and run again"
    refuse_rows(wrong, lambda row: message, sampled.place)
    design, assume = SamplingDesign(int(found.negatives[0]), replacement), replacement or estimator_model == "binomial"
    evaluation = Evaluation(design, 1, ["default"], estimators, metrics, assume)
    fitted, counts = evaluation.fit(table.mean_candidates), np.bincount(found.x, minlength=design.negatives + 1)
    values = np.stack([fitted[label].estimate(counts) for label in estimators], axis=1)  # metrics × estimators
    rows = exact_moments(table, evaluation).assign(value=values.ravel())
    exact = rows["metric"].map(lambda label: table.mean(metric(label)))
    rows = rows.assign(exact=exact, negatives=design.negatives)
    return rows[["metric", "exact", "estimator", "negatives", "value", "mean_exact", "sd_exact"]]


def sections(found: Mapping[str, pd.DataFrame]) -> list[Section]:
    """Lay out the values, in per cent, and what uniform negatives show; the best recommender by a column is bold."""
    table = pd.concat(found, names=["recommender"]).reset_index("recommender")
    exact = table.drop_duplicates(["recommender", "metric"]).assign(estimator="exact", value=lambda row: row["exact"])
    shown = pd.concat([exact, table], ignore_index=True)
    cells = (100 * shown["value"]).map(lambda value: number(value, ".2f"))
    shown["cell"] = with_best(cells, 100 * shown["value"], [shown[key] for key in ("metric", "estimator")], 2)
    uniform = table[table["mean_exact"].notna()].copy()
    moments = zip(100 * uniform["mean_exact"], 100 * uniform["sd_exact"], strict=True)
    uniform["cell"] = [plus_minus(mean, sd, 2) for mean, sd in moments]
    keys, m = ["metric", "recommender"], table["negatives"].iloc[0]
    given = (
        f"Exact metrics, and what the {m} given negatives of each user show, in per cent (bold: the best recommender "
        "by each column)"
    )
    expected = "What uniform negatives show: mean ± standard deviation of one sample, computed without a draw"
    return [(given, wide(shown, keys)), *([(expected, wide(uniform, keys))] if len(uniform) else [])]
