"""Compare the archive of a dataset with the checksums of the config."""

from pathlib import Path
from typing import Any

from sampled_metrics import file_io
from sampled_metrics_study.data import archives
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write the name and the SHA-256 of the archive."""
    archive = Path(snakemake.input.archive)
    params = snakemake.params
    digests = archives.verify(archive, **params.checksums, is_own=params.is_own)
    facts = {"source": archive.name, "sha256": digests["sha256"]}
    file_io.write_json(snakemake.output.verified, facts)


if __name__ == "__main__":
    run(main, snakemake, "verify the archive of {wildcards.dataset}")
