"""Compute what samples prove about the metrics of a dataset, by sample size."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing
from sampled_metrics.study.default_sizes import default_sizes
from sampled_metrics.study.proof import draw, proven
from sampled_metrics.study.workflow.jobs import log_left_out, progress_bar, run

STEPS = (1, 3)


def main(snakemake: Any) -> None:
    """Write the intervals, the decisions and the figure."""
    params, output = snakemake.params, snakemake.output
    figure = params.figure
    ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
    negatives = figure["negatives"] or default_sizes(ranks, STEPS)
    alone, paired = proven(
        ranks,
        figure["metric"],
        negatives,
        replacement=params.replacement,
        progress=progress_bar(f"proof on {snakemake.wildcards.dataset}"),
    )
    log_left_out(negatives, alone["negatives"])
    _files.write_csv(output.csv, alone)
    _files.write_csv(output.pairs, paired)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(draw(alone, paired, note), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "what samples prove on {wildcards.dataset}")
