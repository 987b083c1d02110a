"""Draw the expected metrics by true rank: Figure 3."""

from sampled_metrics import _files
from sampled_metrics.paper import toy
from sampled_metrics.study import figures
from sampled_metrics.workflow.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example, figure = snakemake.params.toy, snakemake.params.figure
        table = toy.figure_3(example["candidates"], example["metrics"], figure["negatives"], figure["zoom"])
        _files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-3", table), snakemake.output.svg, snakemake.output.png)
