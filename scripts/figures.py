"""Compute the numbers of the figures of a dataset, and draw them."""

from typing import Any

from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics_study.entries import FIGURES
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of each figure, and the figure."""
    params = snakemake.params
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    for name, arguments in params.arguments.items():
        FIGURES["dataset"][name].write(name, snakemake.output, ranks, note=note, **arguments)


if __name__ == "__main__":
    run(main, snakemake, "figures of {wildcards.dataset}")
