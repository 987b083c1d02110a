"""Download a dataset's archive and check it."""

from pathlib import Path
from typing import Any

from sampled_metrics.data.download import download
from sampled_metrics.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the archive."""
    params = snakemake.params
    download(params.urls, Path(snakemake.output.archive), md5=params.md5, sha256=params.sha256)


if __name__ == "__main__":
    run(main, snakemake)
