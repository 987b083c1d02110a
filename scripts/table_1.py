"""Evaluate the running example exactly: Table 1."""

from sampled_metrics import _files
from sampled_metrics.paper import toy
from sampled_metrics.study import layout
from sampled_metrics.workflow.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example = snakemake.params.toy
        table = toy.table_1(example["ranks"], example["candidates"], example["metrics"])
        _files.write_csv(snakemake.output.csv, table)
        title = "Table 1. The running example, evaluated exactly"
        sections = layout.table_1(table, example["ranks"])
        layout.write(title, sections, snakemake.output.md, snakemake.output.tex, snakemake.output.html)
