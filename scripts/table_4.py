"""Count how often each pair of recommenders is ordered rightly: Table 4."""

import pandas as pd

from sampled_metrics import files, tables
from sampled_metrics.jobs import job
from sampled_metrics.ranks import read_ranks
from sampled_metrics.study import table_4

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = {name: read_ranks(path) for name, path in zip(names, snakemake.input.ranks, strict=True)}
        estimates = {name: pd.read_csv(path) for name, path in zip(names, snakemake.input.estimates, strict=True)}
        expected = {name: pd.read_csv(path) for name, path in zip(names, snakemake.input.expected, strict=True)}
        table = table_4(ranks, estimates, expected)
        files.write_csv(snakemake.output.csv, table)
        title = "Table 4. Repetitions in which a pair is ordered as by the exact metric, in per cent"
        tables.write(title, tables.table_4(table), snakemake.output.md, snakemake.output.tex, snakemake.output.html)
