"""Download a dataset's archive and check it."""

import logging
from pathlib import Path
from typing import Any

from sampled_metrics_study.data.downloads import download
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the archive."""
    archive = Path(snakemake.output.archive)
    download(snakemake.params.urls, archive, **snakemake.params.checksums)
    logging.info("downloaded %.1f MB to %s", archive.stat().st_size / 1e6, archive)


if __name__ == "__main__":
    run(main, snakemake, "download {wildcards.archive}")
