"""Set the running example beside the paper: Tables 1 and 2, and the claims on Figures 1-4."""

import pandas as pd

from sampled_metrics import claims, fidelity, files, tables
from sampled_metrics.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example, given = snakemake.params.toy, snakemake.input
        table_1, table_2 = pd.read_csv(given.table_1), pd.read_csv(given.table_2)
        printed = fidelity.compare_toy(table_1, table_2, example["repetitions"])
        figure_2, figure_3, figure_4 = (pd.read_csv(path) for path in (given.figure_2, given.figure_3, given.figure_4))
        claimed = claims.check_toy(table_1, table_2, figure_2, figure_3, figure_4, example["candidates"])
        files.write_csv(snakemake.output.fidelity_csv, printed)
        files.write_csv(snakemake.output.claims_csv, claimed)
        title = "The paper's printed numbers beside ours: Tables 1 and 2"
        tables.write(title, tables.fidelity(printed), snakemake.output.fidelity_md, snakemake.output.fidelity_html)
        title = "What the paper says in words, and what we find: sections 3 to 5"
        tables.write(title, tables.claims(claimed), snakemake.output.claims_md, snakemake.output.claims_html)
