"""Put the comparisons of estimators of all recommenders together."""

import pandas as pd

from sampled_metrics import figures, files, tables
from sampled_metrics.comparison import order
from sampled_metrics.jobs import job
from sampled_metrics.rank_tables import read_rank_tables
from sampled_metrics.stage_files import read_comparisons

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        read_rank_tables(names, snakemake.input.ranks)  # refuses those that cannot be compared
        each = read_comparisons(names, snakemake.input.comparisons)
        compared = pd.concat([table.assign(recommender=name) for name, table in each.items()], ignore_index=True)
        compared.insert(0, "recommender", compared.pop("recommender"))
        ordered = order(each)
        files.write_csv(snakemake.output.csv, compared)
        files.write_csv(snakemake.output.order, ordered)
        title = "Estimators compared, by sample size"
        tables.write(title, tables.comparison(compared, ordered), snakemake.output.md, snakemake.output.html)
        figures.write(figures.comparison(compared, ordered), snakemake.output.svg, snakemake.output.png)
