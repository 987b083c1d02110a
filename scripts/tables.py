"""Count what was studied, and make the tables of the repetitions of every recommender: Tables 3 and 4."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import page
from sampled_metrics.study import tables
from sampled_metrics.study.jobs import run
from sampled_metrics.study.repetitions import by_size, of_size, sizes_of
from sampled_metrics.study.results import read_facts, read_runs


def main(snakemake: Any) -> None:
    """Write the tables and their pages."""
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    ranks = read_rank_tables(params.recommenders, given.ranks)
    estimates, expected = read_runs(params.recommenders, given.estimates, given.expected)
    studied = tables.studied(ranks)
    facts = read_facts(given.facts) if given.facts else {}  # none of ready-made ranks
    title = f"{tables.STUDIED}: {snakemake.wildcards.dataset}"
    _files.write_csv(output.studied_csv, studied)
    page.write(title, tables.studied_sections(facts, studied), output.studied_md, output.studied_html)
    for number, compute, layout in (
        (3, tables.table_3, partial(tables.sections_3, repetitions=params.repetitions)),
        (4, tables.table_4, tables.sections_4),
    ):
        csv, *pages = (getattr(output, f"table_{number}_{kind}") for kind in ("csv", "md", "tex", "html"))
        of_sizes = {}
        for m in sizes_of(estimates[params.recommenders[0]]):
            runs = ({name: of_size(table, m) for name, table in by_name.items()} for by_name in (estimates, expected))
            of_sizes[m] = compute(ranks, *runs)
        _files.write_csv(csv, by_size(of_sizes))
        sections = [
            (heading if m is None else f"m = {m}. {heading}", cells)
            for m, table in of_sizes.items()
            for heading, cells in layout(table)
        ]
        page.write(tables.TITLES[number], sections, *pages)


if __name__ == "__main__":
    run(main, snakemake, "tables on {wildcards.dataset}")
