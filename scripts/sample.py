"""Repeat the sampled evaluation of a recommender, and estimate every metric from each repetition."""

from sampled_metrics import files
from sampled_metrics.jobs import job, progress
from sampled_metrics.ranks import read_ranks
from sampled_metrics.seeds import stream
from sampled_metrics.study import Evaluation, repeat

if __name__ == "__main__":
    with job(snakemake.log[0]):
        dataset, recommender = snakemake.wildcards.dataset, snakemake.wildcards.recommender
        params = snakemake.params
        estimates = repeat(
            read_ranks(snakemake.input.ranks),
            Evaluation.configured(params.sampling, params.estimators, params.metrics, params.assume_replacement),
            stream(params.seed, dataset, recommender, "sample"),
            progress(f"sample {dataset} {recommender}"),
        )
        files.write_csv(snakemake.output.estimates, estimates)
