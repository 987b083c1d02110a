"""Compute the expected estimates of a metric by sample size: Figure 6."""

import logging

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import figures
from sampled_metrics.study.repetitions import figure_6
from sampled_metrics.workflow.jobs import job, progress_bar

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        figure = snakemake.params.figure
        table = figure_6(
            ranks,
            figure["metric"],
            figure["estimators"],
            figure["negatives"],
            replacement=snakemake.params.replacement,
            assume_replacement=snakemake.params.assume_replacement,
            progress=progress_bar(f"figure 6 of {snakemake.wildcards.dataset}"),
        )
        left_out = sorted(set(figure["negatives"]) - set(table["negatives"]))
        if left_out:
            logging.warning("left out, as a user has fewer other candidates: m = %s", ", ".join(map(str, left_out)))
        _files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-6", table), snakemake.output.svg, snakemake.output.png)
