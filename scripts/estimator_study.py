"""Put the studies of estimators of all recommenders together."""

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import figures, layout
from sampled_metrics.study.estimator_study import order
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.stage_files import read_estimator_studies

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        read_rank_tables(names, snakemake.input.ranks)  # refuses those that cannot be compared
        each = read_estimator_studies(names, snakemake.input.studies)
        compared = pd.concat([table.assign(recommender=name) for name, table in each.items()], ignore_index=True)
        compared.insert(0, "recommender", compared.pop("recommender"))
        ordered = order(each)
        _files.write_csv(snakemake.output.csv, compared)
        _files.write_csv(snakemake.output.order, ordered)
        title = "Estimators compared, by sample size"
        layout.write(title, layout.estimator_study(compared, ordered), snakemake.output.md, snakemake.output.html)
        figures.write(figures.estimator_study(compared, ordered), snakemake.output.svg, snakemake.output.png)
