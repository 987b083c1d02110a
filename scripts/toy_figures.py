"""Draw the figures of the running example: Figures 1-4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.rendering import drawing
from sampled_metrics.study import toy
from sampled_metrics.study.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of each figure, and the figure."""
    params, output = snakemake.params, snakemake.output
    given = toy.arguments(params.toy, params.figures)
    for (number, (compute, draw)), csv, png in zip(toy.FIGURES.items(), output.csv, output.png, strict=True):
        table = compute(**given[number])
        _files.write_csv(csv, table)
        drawing.write(draw(table, toy.note(**given[number])), getattr(output, f"figure_{number}"), png)


if __name__ == "__main__":
    run(main, snakemake, "figures of the running example")
