"""Compare estimators on the ranks of one recommender, by sample size."""

import logging
from functools import partial

from sampled_metrics import files
from sampled_metrics.comparison import Comparison, compare_estimators
from sampled_metrics.jobs import job, progress
from sampled_metrics.ranks import read_ranks
from sampled_metrics.seeds import stream

if __name__ == "__main__":
    with job(snakemake.log[0]):
        dataset, recommender = snakemake.wildcards.dataset, snakemake.wildcards.recommender
        params = snakemake.params
        comparison = Comparison.configured(
            params.comparison, params.metrics, params.replacement, params.assume_replacement
        )
        table = read_ranks(snakemake.input.ranks)
        possible = comparison.possible(table)
        left_out = sorted(set(comparison.negatives) - set(possible.negatives))
        if left_out:
            logging.warning("left out, as a user has fewer other candidates: m = %s", ", ".join(map(str, left_out)))
        compared = compare_estimators(
            table,
            possible,
            partial(stream, params.seed, dataset, recommender, "compare"),
            progress(f"compare {dataset} {recommender}"),
        )
        files.write_csv(snakemake.output.comparison, compared)
