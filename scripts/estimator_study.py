"""Join the estimator studies of all recommenders, and lay them out."""

from typing import Any

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import drawing, page
from sampled_metrics.study import estimator_report
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.stage_files import read_estimator_studies


def main(snakemake: Any) -> None:
    """Write the tables, their pages and the figure."""
    names, output = snakemake.params.recommenders, snakemake.output
    ranks = read_rank_tables(names, snakemake.input.ranks)  # refuses recommenders that cannot be compared
    studies = read_estimator_studies(names, snakemake.input.studies)
    compared = pd.concat(studies, names=["recommender"]).reset_index("recommender").reset_index(drop=True)
    ordered = estimator_report.order_probabilities(studies)
    _files.write_csv(output.csv, compared)
    _files.write_csv(output.order, ordered)
    page.write(estimator_report.TITLE, estimator_report.sections(compared, ordered), output.md, output.html)
    note = f"{snakemake.wildcards.dataset}: {next(iter(ranks.values())).description}"
    drawing.write(estimator_report.draw(compared, ordered, note), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "estimator study on {wildcards.dataset}")
