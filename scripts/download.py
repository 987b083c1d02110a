"""Download a dataset's archive and check it."""

import logging
from pathlib import Path
from typing import Any

from sampled_metrics_study.data.downloads import download
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the archive."""
    archive = Path(snakemake.output.archive)
    # other checksums do not download again
    dataset = snakemake.config["datasets"][snakemake.params.dataset]
    download(snakemake.params.urls, archive, md5=dataset["md5"], sha256=dataset["sha256"])
    logging.info("downloaded %.1f MB to %s", archive.stat().st_size / 1e6, archive)


if __name__ == "__main__":
    run(main, snakemake, "download {wildcards.archive}")
