"""Make a table of the repetitions of every recommender: Tables 3 and 4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import page
from sampled_metrics.study.tables import TABLES
from sampled_metrics.workflow.jobs import run
from sampled_metrics.workflow.stage_files import read_runs


def main(snakemake: Any) -> None:
    """Write a table and its pages."""
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    title, compute, layout = TABLES[params.table]
    ranks = read_rank_tables(params.recommenders, given.ranks)
    table = compute(ranks, *read_runs(params.recommenders, given.estimates, given.expected))
    _files.write_csv(output.csv, table)
    page.write(title, layout(table, **params.layout), output.md, output.tex, output.html)


if __name__ == "__main__":
    run(main, snakemake)
