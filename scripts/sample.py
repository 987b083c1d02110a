"""Repeat the sampled evaluation of a recommender, and estimate every metric from each repetition."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.study.repetitions import Evaluation, by_size, repeat
from sampled_metrics.study.workflow.jobs import progress_bar, run
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the estimates."""
    params, dataset, recommender = snakemake.params, snakemake.wildcards.dataset, snakemake.wildcards.recommender
    table = exact_ranks(snakemake.input.ranks)
    evaluations = Evaluation.from_config(params.sampling, params.estimators, params.metrics, params.assume_replacement)
    progress = progress_bar(f"sample {recommender} on {dataset}")
    estimates = {
        # each m has the same stream, so its numbers do not depend on the other m
        m: repeat(table, evaluation, stream(params.seed, dataset, recommender, "sample"), progress)
        for m, evaluation in evaluations.items()
    }
    _files.write_csv(snakemake.output.estimates, by_size(estimates))


if __name__ == "__main__":
    run(main, snakemake, "sample {wildcards.recommender} on {wildcards.dataset}")
