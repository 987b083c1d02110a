"""Draw a figure of the running example: one of Figures 1-4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.rendering import drawing
from sampled_metrics.study.paper import toy_figures
from sampled_metrics.study.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of the figure, and the figure."""
    compute, draw = toy_figures.FIGURES[snakemake.params.number]
    arguments, output = snakemake.params.arguments, snakemake.output
    table = compute(**arguments)
    _files.write_csv(output.csv, table)
    drawing.write(draw(table, toy_figures.note(**arguments)), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "figure {params.number} of the running example")
