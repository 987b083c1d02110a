"""Compute the expected estimates of a metric by sample size: Figure 6."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing
from sampled_metrics.reporting.sample_sizes import draw, expected_by_sample_size
from sampled_metrics.study.default_sizes import default_sizes
from sampled_metrics.study.workflow.jobs import log_left_out, progress_bar, run

STEPS = (1, 1.5, 2, 3, 5, 7)


def main(snakemake: Any) -> None:
    """Write the table of the figure, and the figure."""
    params = snakemake.params
    figure = params.figure
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    negatives = figure["negatives"] or default_sizes(ranks, STEPS)
    table = expected_by_sample_size(
        ranks,
        figure["metric"],
        figure["estimators"],
        negatives,
        replacement=params.replacement,
        assume_replacement=params.assume_replacement,
        progress=progress_bar(f"figure 6 on {snakemake.wildcards.dataset}"),
    )
    log_left_out(negatives, table["negatives"])
    _files.write_csv(snakemake.output.csv, table)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(draw(table, note), snakemake.output.svg, snakemake.output.png)


if __name__ == "__main__":
    run(main, snakemake, "figure 6 on {wildcards.dataset}")
