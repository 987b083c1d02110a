"""Compare estimators on the ranks of one recommender, by sample size."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import exact_ranks
from sampled_metrics.study.estimator_study import EstimatorStudy, study_estimators
from sampled_metrics.study.workflow.jobs import log_left_out, progress_bar, run
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the study of one recommender."""
    params, dataset, recommender = snakemake.params, snakemake.wildcards.dataset, snakemake.wildcards.recommender
    study = EstimatorStudy(
        **params.study,
        metrics=params.metrics,
        replacement=params.replacement,
        assume_replacement=params.assume_replacement,
    )
    table = exact_ranks(snakemake.input.ranks)
    possible = study.possible(table)
    log_left_out(study.negatives, possible.negatives)
    compared = study_estimators(
        table,
        possible,
        partial(stream, params.seed, dataset, recommender, "compare"),
        progress_bar(f"study estimators for {recommender} on {dataset}"),
    )
    _files.write_csv(snakemake.output.study, compared)


if __name__ == "__main__":
    run(main, snakemake, "study estimators for {wildcards.recommender} on {wildcards.dataset}")
