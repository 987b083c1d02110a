"""Compare the archive of a dataset with the checksums of the config."""

from pathlib import Path
from typing import Any

from sampled_metrics import file_io
from sampled_metrics_study.data import archives
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the name and the SHA-256 of the archive."""
    archive = Path(snakemake.input.archive)
    is_own = bool(snakemake.config["datasets"][snakemake.wildcards.dataset]["path"])
    archives.verify(
        archive, md5=snakemake.params.md5, sha256=snakemake.params.sha256, is_own=is_own
    )
    facts = {"source": archive.name, "sha256": file_io.digest(archive, "sha256")}
    file_io.write_json(snakemake.output.verified, facts)


if __name__ == "__main__":
    run(main, snakemake, "verify the archive of {wildcards.dataset}")
