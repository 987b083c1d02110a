"""Repeat the sampled evaluation of a recommender, and estimate every metric from each repetition.

The exact mean and standard deviation of a repetition need no draws.
"""

from typing import Any

import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics_study.jobs import progress_bar, run, stream
from sampled_metrics_study.repetitions import Evaluation, by_size, conditions, exact_moments, repeat


def main(snakemake: Any) -> None:
    """Write the estimates, their exact moments, and the condition numbers of the fits."""
    params = snakemake.params
    dataset = snakemake.wildcards.dataset
    recommender = snakemake.wildcards.recommender
    table = exact_ranks(snakemake.input.ranks)
    evaluations = Evaluation.from_config(
        params.sampling, params.estimators, params.metrics, params.assume_replacement
    )
    progress = progress_bar(f"sample {recommender} on {dataset}")
    estimates = {
        # each m has the same stream, so its numbers do not depend on the other m
        m: repeat(table, evaluation, stream(params.seed, dataset, recommender, "sample"), progress)
        for m, evaluation in evaluations.items()
    }
    expected = {m: exact_moments(table, evaluation) for m, evaluation in evaluations.items()}
    fits = [conditions(evaluation, table.mean_candidates) for evaluation in evaluations.values()]
    file_io.write_csv(snakemake.output.estimates, by_size(estimates))
    file_io.write_csv(snakemake.output.expected, by_size(expected))
    file_io.write_csv(snakemake.output.conditions, pd.concat(fits))


if __name__ == "__main__":
    run(main, snakemake, "sample {wildcards.recommender} on {wildcards.dataset}")
