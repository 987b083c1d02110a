"""Compute the numbers of figures, and draw them: those of a dataset, or of the running example."""

from typing import Any

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics.reporting import drawing
from sampled_metrics_study.entries import FIGURES, function
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the table of each figure, and the figure."""
    params = snakemake.params
    inputs: list[Any] = []  # the first argument of all figures of a dataset
    note_on_ranks = ""
    if params.place == "dataset":
        ranks = read_rank_tables(params.recommenders, snakemake.input.ranks)
        inputs = [ranks]
        note_on_ranks = f"{params.subject}: {next(iter(ranks.values())).description}"
    for name, figure in FIGURES[params.place].items():
        arguments = params.arguments[name]
        table = function(figure.numbers)(*inputs, **arguments)
        note = function(figure.note)(**arguments) if figure.note else note_on_ranks
        csv, svg, png = (
            getattr(snakemake.output, f"{name}_{kind}".replace("-", "_"))
            for kind in ("csv", "svg", "png")
        )
        file_io.write_csv(csv, table)
        drawing.write(function(figure.draw)(table, note), svg, png)


if __name__ == "__main__":
    run(main, snakemake, "figures of {params.subject}")
