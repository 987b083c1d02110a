"""Compute metrics and verdicts by group of users and of held-out items."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing
from sampled_metrics.study.groups import by_groups, draw
from sampled_metrics.study.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the metrics, the comparisons and the figure."""
    params, output = snakemake.params, snakemake.output
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    values, pairs = by_groups(ranks, read_split(snakemake.input.split), params.groups, params.metrics)
    _files.write_csv(output.csv, values)
    _files.write_csv(output.pairs, pairs)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(draw(values, note), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "metrics by group on {wildcards.dataset}")
