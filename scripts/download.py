"""Download a dataset's archive and check it."""

from pathlib import Path

from sampled_metrics.data.download import download
from sampled_metrics.workflow.jobs import job

if __name__ == "__main__":
    with job(snakemake.log[0]):
        download(
            snakemake.params.urls,
            Path(snakemake.output.archive),
            md5=snakemake.params.md5,
            sha256=snakemake.params.sha256,
        )
