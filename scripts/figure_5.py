"""Count users by the rank of their held-out item: Figure 5."""

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import figures
from sampled_metrics.study.repetitions import figure_5
from sampled_metrics.workflow.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        table = figure_5(ranks, snakemake.params.figure["edges"])
        _files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-5", table), snakemake.output.svg, snakemake.output.png)
