"""Compute the estimates from each repetition with their exact moments, and the tables of a dataset.

Where the study covers the paper's, compare it with the paper: Tables 3 and 4, and the claims of
section 6.
"""

from typing import Any

import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.ranks.exact import ExactRanks, read_rank_tables
from sampled_metrics_study import claims, comparison, fidelity
from sampled_metrics_study.decided import exact_findings
from sampled_metrics_study.entries import TABLES
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import run
from sampled_metrics_study.own_files import read_facts, read_table
from sampled_metrics_study.reference import RECOMMENDERS, require_paper_users
from sampled_metrics_study.repetitions import (
    Evaluation,
    by_size,
    conditions,
    estimates,
    exact_moments,
    read_samples,
)


def write_estimates(snakemake: Any, index: int, table: ExactRanks) -> None:
    """Write the estimates of a recommender, their moments, and the conditions of the fits."""
    params = snakemake.params
    output = snakemake.output
    path = snakemake.input.samples[index]
    evaluations = Evaluation.from_config(
        params.sampling, params.estimators, params.metrics, params.assume_replacement
    )
    parts = {}
    moments = {}
    fits = []
    for m, evaluation in evaluations.items():
        parts[m] = estimates(table, evaluation, read_samples(path, evaluation))
        moments[m] = exact_moments(table, evaluation)
        fits.append(conditions(evaluation, table.mean_candidates))
    file_io.write_csv(output.estimates[index], by_size(parts))
    file_io.write_csv(output.expected[index], by_size(moments))
    file_io.write_csv(output.conditions[index], pd.concat(fits))


def compare_with_paper(snakemake: Any, ranks: dict[str, ExactRanks]) -> None:
    """Write the comparisons with the paper's Tables 3 and 4 and the claims of section 6."""
    files = snakemake.input
    output = snakemake.output
    table_3 = read_table(output.table_3_csv)
    table_4 = read_table(output.table_4_csv)
    printed = fidelity.compare_study(table_3, table_4, read_table(files.seed_spread))
    claimed = claims.check_study(ranks, table_3, table_4, read_table(files.figure_6), printed)
    comparison.write(printed, claimed, "Tables 3 and 4", "section 6", output)


def main(snakemake: Any) -> None:
    """Write the estimates, each table with its pages, and the comparisons with the paper."""
    params = snakemake.params
    files = snakemake.input
    output = snakemake.output
    dataset = snakemake.wildcards.dataset
    names = params.recommenders
    ranks = read_rank_tables(names, files.ranks)
    is_compared = hasattr(output, "fidelity_csv")
    if is_compared:
        require_paper_users(ranks[RECOMMENDERS[0]], dataset)
    for index, table in enumerate(ranks.values()):
        write_estimates(snakemake, index, table)
    inputs = Inputs(
        {"repetitions": params.sampling["repetitions"], "metrics": params.metrics},
        ranks=ranks,
        estimates=dict(zip(names, map(read_table, output.estimates), strict=True)),
        expected=dict(zip(names, map(read_table, output.expected), strict=True)),
        facts=read_facts(files.facts) if files.facts else {},
        exact=exact_findings(ranks, CompareOptions(metrics=params.metrics)),
    )
    for name, entry in TABLES["dataset"].items():
        entry.write(name, inputs, output, subject=dataset)
    if is_compared:
        compare_with_paper(snakemake, ranks)


if __name__ == "__main__":
    run(main, snakemake, "tables of {wildcards.dataset}")
