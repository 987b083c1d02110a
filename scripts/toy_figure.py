"""Compute and draw a figure of the running example: Figures 1-4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.paper.toy_figures import FIGURES, note
from sampled_metrics.rendering import drawing
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of a figure, and the figure."""
    compute, draw = FIGURES[snakemake.params.figure]
    arguments = snakemake.params.arguments
    table = compute(**arguments)
    _files.write_csv(snakemake.output.csv, table)
    drawing.write(draw(table, note(**arguments)), snakemake.output.svg, snakemake.output.png)


if __name__ == "__main__":
    run(main, snakemake, "figure {params.figure}")
