"""Compute the numbers of tables, of a dataset or of the running example, and lay them out.

Those of a dataset begin with the estimates from each repetition, and their exact moments.
"""

from functools import partial
from typing import Any

import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.ranks.exact import ExactRanks, read_rank_tables
from sampled_metrics_study import table_files
from sampled_metrics_study.entries import TABLES, function
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import run, stream
from sampled_metrics_study.own_files import read_facts, read_table
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


def read_inputs(snakemake: Any) -> Inputs:
    """Return what the tables are made from; of a dataset, write the estimates first."""
    params = snakemake.params
    files = snakemake.input
    output = snakemake.output
    if params.place == "toy":
        return Inputs(params.options, partial(stream, params.seed, "toy"))
    names = params.recommenders
    ranks = read_rank_tables(names, files.ranks)
    for index, table in enumerate(ranks.values()):
        write_estimates(snakemake, index, table)
    return Inputs(
        {"repetitions": params.sampling["repetitions"], "metrics": params.metrics},
        ranks=ranks,
        estimates=dict(zip(names, map(read_table, output.estimates), strict=True)),
        expected=dict(zip(names, map(read_table, output.expected), strict=True)),
        facts=read_facts(files.facts) if files.facts else {},
        exact=function("decided.exact_findings")(ranks, CompareOptions(metrics=params.metrics)),
    )


def main(snakemake: Any) -> None:
    """Write each table, and its pages."""
    inputs = read_inputs(snakemake)
    for name, table in TABLES[snakemake.params.place].items():
        key = name.replace("-", "_")
        csv, *pages = (getattr(snakemake.output, f"{key}_{kind}") for kind in table.kinds)
        numbers = function(table.numbers)(inputs)
        file_io.write_csv(csv, numbers)
        sections = function(table.layout)(numbers, inputs)
        heading = table.heading.format(subject=snakemake.params.subject)
        table_files.write(heading, sections, *pages)


if __name__ == "__main__":
    run(main, snakemake, "tables of {params.subject}")
