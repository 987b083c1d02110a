"""Evaluate the running example on samples: Table 2."""

from sampled_metrics import files, tables, toy
from sampled_metrics.design import Design
from sampled_metrics.jobs import job
from sampled_metrics.seeds import stream

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example = snakemake.params.toy
        table = toy.table_2(
            example["ranks"],
            example["candidates"],
            example["metrics"],
            Design(example["negatives"], example["replacement"]),
            example["repetitions"],
            lambda name: stream(snakemake.params.seed, "toy", name, "sample"),
        )
        files.write_csv(snakemake.output.csv, table)
        title = "Table 2. The running example, evaluated on samples (mean ± standard deviation of a repetition)"
        sections = tables.table_2(table, example["ranks"])
        tables.write(title, sections, snakemake.output.md, snakemake.output.tex, snakemake.output.html)
