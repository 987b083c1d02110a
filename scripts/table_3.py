"""Summarise the repetitions of every recommender: Table 3."""

from sampled_metrics import files, tables
from sampled_metrics.jobs import job
from sampled_metrics.rank_tables import read_rank_tables
from sampled_metrics.stage_files import read_runs
from sampled_metrics.study import table_3

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        estimates, expected = read_runs(names, snakemake.input.estimates, snakemake.input.expected)
        table = table_3(ranks, estimates, expected)
        files.write_csv(snakemake.output.csv, table)
        title = "Table 3. Exact, sampled and corrected metrics in per cent (mean ± standard deviation of a repetition)"
        sections = tables.table_3(table, snakemake.params.repetitions)
        tables.write(title, sections, snakemake.output.md, snakemake.output.tex, snakemake.output.html)
