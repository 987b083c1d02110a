"""Count what was studied, and make the tables of the repetitions of every recommender: Tables 3 and 4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import page
from sampled_metrics.study import decided, tables
from sampled_metrics.study.jobs import run
from sampled_metrics.study.own_files import read_facts, read_table
from sampled_metrics.study.repetitions import by_size, of_size, sizes_of


def main(snakemake: Any) -> None:
    """Write the tables and their pages."""
    given, params, output = snakemake.input, snakemake.params, snakemake.output
    ranks = read_rank_tables(params.recommenders, given.ranks)
    estimates = dict(zip(params.recommenders, map(read_table, given.estimates), strict=True))
    expected = dict(zip(params.recommenders, map(read_table, given.expected), strict=True))
    exact = decided.exact_findings(ranks, params.metrics)
    studied = tables.studied(ranks)
    facts = read_facts(given.facts) if given.facts else {}  # none of ready-made ranks
    title = f"{tables.STUDIED}: {snakemake.wildcards.dataset}"
    _files.write_csv(output.studied_csv, studied)
    page.write(title, tables.studied_sections(facts, studied), output.studied_md, output.studied_html)
    for number, compute, layout in (
        (3, tables.table_3, decided.sections_3),
        (4, tables.table_4, decided.sections_4),
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
            for heading, cells in layout(table, exact, params.repetitions)
        ]
        page.write(decided.TITLES[number], sections, *pages)


if __name__ == "__main__":
    run(main, snakemake, "tables on {wildcards.dataset}")
