"""Repeat the sampled evaluation of a recommender, and estimate every metric from each repetition."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.table import read_ranks
from sampled_metrics.study.repetitions import Evaluation, repeat
from sampled_metrics.workflow.jobs import progress_bar, run
from sampled_metrics.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the estimates."""
    params, dataset, recommender = snakemake.params, snakemake.wildcards.dataset, snakemake.wildcards.recommender
    estimates = repeat(
        read_ranks(snakemake.input.ranks, unique_users=True),
        Evaluation.configured(params.sampling, params.estimators, params.metrics, params.assume_replacement),
        stream(params.seed, dataset, recommender, "sample"),
        progress_bar(f"sample {dataset} {recommender}"),
    )
    _files.write_csv(snakemake.output.estimates, estimates)


if __name__ == "__main__":
    run(main, snakemake)
