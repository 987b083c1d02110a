"""Set the study beside the paper: Tables 3 and 4, and the claims of section 6."""

import pandas as pd

from sampled_metrics import claims, fidelity, files, tables
from sampled_metrics.jobs import job
from sampled_metrics.rank_tables import read_rank_tables

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        given = snakemake.input
        table_3, table_4, figure_6 = (pd.read_csv(path) for path in (given.table_3, given.table_4, given.figure_6))
        seed_spread = pd.read_csv(given.seed_spread)
        printed = fidelity.compare_study(table_3, table_4, snakemake.params.repetitions, seed_spread)
        claimed = claims.check_study(ranks, table_3, table_4, figure_6)
        files.write_csv(snakemake.output.fidelity_csv, printed)
        files.write_csv(snakemake.output.claims_csv, claimed)
        title = "The paper's printed numbers beside ours: Tables 3 and 4"
        tables.write(title, tables.fidelity(printed), snakemake.output.fidelity_md, snakemake.output.fidelity_html)
        title = "What the paper says in words, and what we find: section 6"
        tables.write(title, tables.claims(claimed), snakemake.output.claims_md, snakemake.output.claims_html)
