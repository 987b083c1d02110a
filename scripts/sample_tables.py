"""Write what a sample tells: its intervals, and how often samples decide pairs of recommenders."""

from functools import partial
from typing import Any

from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics_study.decided import exact_findings
from sampled_metrics_study.entries import TABLES
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import run, stream


def main(snakemake: Any) -> None:
    """Write each table with its pages."""
    params = snakemake.params
    dataset = snakemake.wildcards.dataset
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    inputs = Inputs(
        {"sampling": params.sampling, "metrics": params.metrics},
        partial(stream, params.seed, dataset),
        ranks=ranks,
        exact=exact_findings(ranks, CompareOptions(metrics=params.metrics)),
    )
    for name, table in TABLES["samples"].items():
        table.write(name, inputs, snakemake.output, subject=dataset)


if __name__ == "__main__":
    run(main, snakemake, "what samples of {wildcards.dataset} tell")
