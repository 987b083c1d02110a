"""Evaluate the running example exactly: Table 1."""

from sampled_metrics import files, tables, toy
from sampled_metrics.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example = snakemake.params.toy
        table = toy.table_1(example["ranks"], example["candidates"], example["metrics"])
        files.write_csv(snakemake.output.csv, table)
        title = "Table 1. The running example, evaluated exactly"
        sections = tables.table_1(table, example["ranks"])
        tables.write(title, sections, snakemake.output.md, snakemake.output.tex, snakemake.output.html)
