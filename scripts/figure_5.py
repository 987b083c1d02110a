"""Count users by the rank of their held-out item: Figure 5."""

from sampled_metrics import figures, files
from sampled_metrics.jobs import job
from sampled_metrics.rank_tables import read_rank_tables
from sampled_metrics.study import figure_5

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        table = figure_5(ranks, snakemake.params.figure["edges"])
        files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-5", table), snakemake.output.svg, snakemake.output.png)
