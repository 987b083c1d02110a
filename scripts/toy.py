"""Evaluate and draw the running example: Tables 1 and 2, and Figures 1-4."""

from functools import partial
from typing import Any

from sampled_metrics import _files
from sampled_metrics.rendering import drawing, page
from sampled_metrics.study.paper import toy_figures, toy_tables
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.seeds import stream


def main(snakemake: Any) -> None:
    """Write the tables, their pages, and the figures."""
    params, output = snakemake.params, snakemake.output
    for number, (title, compute) in toy_tables.TABLES.items():
        csv, *pages = (getattr(output, f"table_{number}_{kind}") for kind in ("csv", "md", "tex", "html"))
        table = compute(params.toy, partial(stream, params.seed, "toy"))
        _files.write_csv(csv, table)
        page.write(title, toy_tables.sections(table, params.toy["ranks"]), *pages)
    for number, (compute_figure, draw) in toy_figures.FIGURES.items():
        csv, *pictures = (getattr(output, f"figure_{number}_{kind}") for kind in ("csv", "svg", "png"))
        arguments = params.figures[number]
        table = compute_figure(**arguments)
        _files.write_csv(csv, table)
        drawing.write(draw(table, toy_figures.note(**arguments)), *pictures)


if __name__ == "__main__":
    run(main, snakemake, "tables and figures of the running example")
