"""Compute the expected estimates of a metric by sample size: Figure 6."""

import logging

from sampled_metrics import figures, files
from sampled_metrics.jobs import job, progress
from sampled_metrics.rank_tables import read_rank_tables
from sampled_metrics.study import figure_6

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
            watch=progress(f"figure 6 of {snakemake.wildcards.dataset}"),
        )
        left_out = sorted(set(figure["negatives"]) - set(table["negatives"]))
        if left_out:
            logging.warning("left out, as a user has fewer other candidates: m = %s", ", ".join(map(str, left_out)))
        files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-6", table), snakemake.output.svg, snakemake.output.png)
