"""Evaluate the running example: Tables 1 and 2."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.paper import toy_tables
from sampled_metrics.rendering import page
from sampled_metrics.workflow.jobs import run
from sampled_metrics.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write a table and its pages."""
    params, output = snakemake.params, snakemake.output
    title, compute = toy_tables.TABLES[params.table]
    table = compute(params.toy, partial(stream, params.seed, "toy"))
    _files.write_csv(output.csv, table)
    page.write(title, toy_tables.sections(table, params.toy["ranks"]), output.md, output.tex, output.html)


if __name__ == "__main__":
    run(main, snakemake, "table {params.table}")
