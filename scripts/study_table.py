"""Make a table of the repetitions of every recommender: Tables 3 and 4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.rendering import page
from sampled_metrics.study.repetitions import by_size, of_size, sizes_of
from sampled_metrics.study.tables import TABLES
from sampled_metrics.workflow.jobs import run
from sampled_metrics.workflow.stage_files import read_runs


def main(snakemake: Any) -> None:
    """Write a table and its pages."""
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    title, compute, layout = TABLES[params.table]
    ranks = read_rank_tables(params.recommenders, given.ranks)
    runs = read_runs(params.recommenders, given.estimates, given.expected)
    sizes = sizes_of(runs[0][params.recommenders[0]])
    tables = {m: compute(ranks, *({name: of_size(each, m) for name, each in by.items()} for by in runs)) for m in sizes}
    _files.write_csv(output.csv, by_size(tables))
    sections = [
        (heading if m is None else f"m = {m}. {heading}", cells)
        for m, table in tables.items()
        for heading, cells in layout(table, **params.layout)
    ]
    page.write(title, sections, output.md, output.tex, output.html)


if __name__ == "__main__":
    run(main, snakemake, "table {params.table} on {wildcards.dataset}")
