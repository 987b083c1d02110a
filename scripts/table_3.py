"""Summarise the repetitions of every recommender: Table 3."""

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import layout
from sampled_metrics.study.repetitions import table_3
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.stage_files import read_runs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        estimates, expected = read_runs(names, snakemake.input.estimates, snakemake.input.expected)
        table = table_3(ranks, estimates, expected)
        _files.write_csv(snakemake.output.csv, table)
        title = "Table 3. Exact, sampled and corrected metrics in per cent (mean ± standard deviation of a repetition)"
        sections = layout.table_3(table, snakemake.params.repetitions)
        layout.write(title, sections, snakemake.output.md, snakemake.output.tex, snakemake.output.html)
