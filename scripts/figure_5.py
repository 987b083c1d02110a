"""Count users by the rank of their held-out item: Figure 5."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing
from sampled_metrics.reporting.rank_histogram import draw, rank_histogram
from sampled_metrics.study.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of the figure, and the figure."""
    ranks = read_rank_tables(snakemake.params.recommenders, snakemake.input.ranks)
    table = rank_histogram(ranks, snakemake.params.edges)
    _files.write_csv(snakemake.output.csv, table)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(draw(table, note), snakemake.output.svg, snakemake.output.png)


if __name__ == "__main__":
    run(main, snakemake, "figure 5 on {wildcards.dataset}")
