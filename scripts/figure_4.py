"""Draw corrected metrics by sampled and by true rank: Figure 4."""

from sampled_metrics import _files
from sampled_metrics.paper import toy
from sampled_metrics.study import figures
from sampled_metrics.workflow.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example, figure = snakemake.params.toy, snakemake.params.figure
        table = toy.figure_4(example["candidates"], figure["metric"], figure["negatives"], figure["estimators"])
        _files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-4", table), snakemake.output.svg, snakemake.output.png)
