"""Compute the exact mean and standard deviation of a recommender's sampled evaluation; nothing is drawn."""

from typing import Any

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.study.repetitions import Evaluation, by_size, conditions, exact_moments
from sampled_metrics.study.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the moments, and the condition numbers of the fits."""
    params = snakemake.params
    table = exact_ranks(snakemake.input.ranks)
    evaluations = Evaluation.from_config(params.sampling, params.estimators, params.metrics, params.assume_replacement)
    expected = by_size({m: exact_moments(table, evaluation) for m, evaluation in evaluations.items()})
    fits = [conditions(evaluation, table.mean_candidates) for evaluation in evaluations.values()]
    _files.write_csv(snakemake.output.expected, expected)
    _files.write_csv(snakemake.output.conditions, pd.concat(fits))


if __name__ == "__main__":
    run(main, snakemake, "exact moments of {wildcards.recommender} on {wildcards.dataset}")
