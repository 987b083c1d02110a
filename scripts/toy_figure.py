"""Compute and draw a figure of the running example: Figures 1-4."""

from typing import Any

from sampled_metrics import _drawing, _files
from sampled_metrics.paper.toy_figures import FIGURES
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of a figure, and the figure."""
    compute, draw = FIGURES[snakemake.params.figure]
    table = compute(**snakemake.params.arguments)
    _files.write_csv(snakemake.output.csv, table)
    _drawing.write(draw(table), snakemake.output.svg, snakemake.output.png)


if __name__ == "__main__":
    run(main, snakemake)
