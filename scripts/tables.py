"""Compute the numbers of tables, of a dataset or of the running example, and lay them out."""

from functools import partial
from typing import Any

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics_study import table_files
from sampled_metrics_study.entries import TABLES, function
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import run, stream
from sampled_metrics_study.own_files import read_facts, read_table


def read_inputs(snakemake: Any) -> Inputs:
    """Return what the tables are made from."""
    params = snakemake.params
    files = snakemake.input
    if params.place == "toy":
        return Inputs(params.options, partial(stream, params.seed, "toy"))
    names = params.recommenders
    ranks = read_rank_tables(names, files.ranks)
    return Inputs(
        params.options,
        ranks=ranks,
        estimates=dict(zip(names, map(read_table, files.estimates), strict=True)),
        expected=dict(zip(names, map(read_table, files.expected), strict=True)),
        facts=read_facts(files.facts) if files.facts else {},
        exact=function("decided.exact_findings")(ranks, params.options["metrics"]),
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
