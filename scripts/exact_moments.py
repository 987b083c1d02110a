"""Compute the exact mean and standard deviation of a recommender's sampled evaluation; nothing is drawn."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.study.repetitions import Evaluation, conditions, exact_moments
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the moments, and the condition numbers of the fits."""
    params = snakemake.params
    table = read_ranks(snakemake.input.ranks, unique_users=True)
    evaluation = Evaluation.configured(params.sampling, params.estimators, params.metrics, params.assume_replacement)
    _files.write_csv(snakemake.output.expected, exact_moments(table, evaluation))
    _files.write_csv(snakemake.output.conditions, conditions(evaluation, table.mean_candidates))


if __name__ == "__main__":
    run(main, snakemake)
