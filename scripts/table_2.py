"""Evaluate the running example on samples: Table 2."""

from sampled_metrics import _files
from sampled_metrics.paper import toy
from sampled_metrics.sampling.design import SamplingDesign
from sampled_metrics.study import layout
from sampled_metrics.workflow.jobs import job
from sampled_metrics.workflow.seeds import stream

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example = snakemake.params.toy
        table = toy.table_2(
            example["ranks"],
            example["candidates"],
            example["metrics"],
            SamplingDesign(example["negatives"], example["replacement"]),
            example["repetitions"],
            lambda name: stream(snakemake.params.seed, "toy", name, "sample"),
        )
        _files.write_csv(snakemake.output.csv, table)
        title = "Table 2. The running example, evaluated on samples (mean ± standard deviation of a repetition)"
        sections = layout.table_2(table, example["ranks"])
        layout.write(title, sections, snakemake.output.md, snakemake.output.tex, snakemake.output.html)
