"""Count how often each pair of recommenders is ordered rightly: Table 4."""

from sampled_metrics import _files
from sampled_metrics.ranks.pairing import read_rank_tables
from sampled_metrics.study import layout
from sampled_metrics.study.repetitions import table_4
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.stage_files import read_runs

if __name__ == "__main__":
    with job(snakemake.log[0]):
        names = snakemake.params.recommenders
        ranks = read_rank_tables(names, snakemake.input.ranks)
        estimates, expected = read_runs(names, snakemake.input.estimates, snakemake.input.expected)
        table = table_4(ranks, estimates, expected)
        _files.write_csv(snakemake.output.csv, table)
        title = "Table 4. Repetitions in which a pair is ordered as by the exact metric, in per cent"
        layout.write(title, layout.table_4(table), snakemake.output.md, snakemake.output.tex, snakemake.output.html)
