"""Compute what the sampled evaluation of a recommender gives on average, and how much it varies, without a draw."""

from sampled_metrics import files
from sampled_metrics.jobs import job
from sampled_metrics.ranks import read_ranks
from sampled_metrics.study import Evaluation, conditions, expect

if __name__ == "__main__":
    with job(snakemake.log[0]):
        params = snakemake.params
        table = read_ranks(snakemake.input.ranks)
        evaluation = Evaluation.configured(
            params.sampling, params.estimators, params.metrics, params.assume_replacement
        )
        files.write_csv(snakemake.output.expected, expect(table, evaluation))
        files.write_csv(snakemake.output.conditions, conditions(evaluation, table.typical_candidates))
