"""Draw the error of samples from strata beside that of uniform samples."""

from typing import Any

import pandas as pd

from sampled_metrics import _drawing, _files
from sampled_metrics.ranks.pairing import described, read_rank_tables
from sampled_metrics.study.equal_cost import draw, mean_errors
from sampled_metrics.workflow.jobs import run
from sampled_metrics.workflow.stage_files import read_estimator_studies


def main(snakemake: Any) -> None:
    """Write the mean errors and the figure."""
    output = snakemake.output
    names = snakemake.params.recommenders
    ranks = read_rank_tables(names, snakemake.input.ranks)
    note = f"{snakemake.wildcards.dataset}: {described(next(iter(ranks.values())))}"
    studies = read_estimator_studies(names, snakemake.input.studies)
    errors = mean_errors(pd.concat(studies.values()))
    _files.write_csv(output.csv, errors)
    _drawing.write(draw(errors, note), output.svg, output.png)


if __name__ == "__main__":
    run(main, snakemake, "error at equal cost on {wildcards.dataset}")
