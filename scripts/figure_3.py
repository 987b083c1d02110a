"""Draw the expected metrics by true rank: Figure 3."""

from sampled_metrics import figures, files, toy
from sampled_metrics.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        example, figure = snakemake.params.toy, snakemake.params.figure
        table = toy.figure_3(example["candidates"], example["metrics"], figure["negatives"], figure["zoom"])
        files.write_csv(snakemake.output.csv, table)
        figures.write(figures.draw("figure-3", table), snakemake.output.svg, snakemake.output.png)
