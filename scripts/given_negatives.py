"""Put together what the given negatives show of all recommenders."""

from typing import Any

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.ranks.csv import read_columns
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import page
from sampled_metrics.study.given_negatives import TITLE, estimate_from_given, sections
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the table and its pages."""
    given, output, params = snakemake.input, snakemake.output, snakemake.params
    options = params.estimators, params.metrics, params.estimator_model
    ranks = read_rank_tables(params.recommenders, given.ranks)
    found = {
        name: estimate_from_given(ranks[name], read_columns(path), *options)
        for name, path in zip(params.recommenders, given.among, strict=True)
    }
    _files.write_csv(output.csv, pd.concat(found, names=["recommender"]).reset_index("recommender"))
    page.write(f"{TITLE}: {snakemake.wildcards.dataset}", sections(found), output.md, output.html)


if __name__ == "__main__":
    run(main, snakemake, "given negatives on {wildcards.dataset}")
