"""Make the tables of the repetitions of every recommender: Tables 3 and 4."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import page
from sampled_metrics.study.repetitions import by_size, of_size, sizes_of
from sampled_metrics.study.tables import TITLES, sections_3, sections_4, table_3, table_4
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.stage_files import read_runs


def main(snakemake: Any) -> None:
    """Write both tables and their pages."""
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    ranks = read_rank_tables(params.recommenders, given.ranks)
    estimates, expected = read_runs(params.recommenders, given.estimates, given.expected)
    for number, compute, layout in (
        (3, table_3, partial(sections_3, repetitions=params.repetitions)),
        (4, table_4, sections_4),
    ):
        csv, *pages = (getattr(output, f"table_{number}_{kind}") for kind in ("csv", "md", "tex", "html"))
        tables = {}
        for m in sizes_of(estimates[params.recommenders[0]]):
            runs = ({name: of_size(table, m) for name, table in by_name.items()} for by_name in (estimates, expected))
            tables[m] = compute(ranks, *runs)
        _files.write_csv(csv, by_size(tables))
        sections = [
            (heading if m is None else f"m = {m}. {heading}", cells)
            for m, table in tables.items()
            for heading, cells in layout(table)
        ]
        page.write(TITLES[number], sections, *pages)


if __name__ == "__main__":
    run(main, snakemake, "Tables 3 and 4 on {wildcards.dataset}")
