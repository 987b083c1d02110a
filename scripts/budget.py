"""Compute what a number of scores buys, from the models of a dataset."""

import logging
from typing import Any

from sampled_metrics import file_io
from sampled_metrics.core.metrics import metric
from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics.ranking.split import read_split
from sampled_metrics.reporting import drawing
from sampled_metrics_study import budget, table_files
from sampled_metrics_study.jobs import progress_bar, run
from sampled_metrics_study.recommenders.models import read_model


def main(snakemake: Any) -> None:
    """Write the widths, the chances of the pair, their page and the figure."""
    params = snakemake.params
    output = snakemake.output
    dataset = snakemake.wildcards.dataset
    figure = params.figure
    names = params.recommenders
    exact = read_rank_tables(names, snakemake.input.ranks)
    split = read_split(snakemake.input.split)
    logging.warning("plans the evaluations of %d recommenders, which takes minutes", len(names))
    progress = progress_bar(f"what scores buy on {dataset}")
    pilots = {}
    k = int(metric(figure["metric"]).cutoff or 1)
    for name, path in zip(names, snakemake.input.models, strict=True):
        model = read_model(path)
        model.check(split, path)
        pilots[name] = budget.pilot_of(model, split, k)
    widths, chances = budget.bought(
        pilots,
        exact,
        figure["metric"],
        figure["depths"],
        figure["negatives"],
        params.pair,
        replacement=params.replacement,
        progress=progress,
    )
    file_io.write_csv(output.csv, widths)
    file_io.write_csv(output.pair, chances)
    table_files.write(
        budget.TITLE,
        budget.sections(widths, chances, figure["metric"], params.pair),
        output.md,
        output.html,
    )
    note = f"{dataset}: {next(iter(exact.values())).description}"
    drawing.write(budget.draw(widths, chances, figure["metric"], note), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "what scores buy on {wildcards.dataset}")
