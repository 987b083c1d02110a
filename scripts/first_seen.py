"""Record the checksum of a download when it is first seen, and refuse another file later."""

from pathlib import Path
from typing import Any

from sampled_metrics import _files
from sampled_metrics.data.archives import verify_as_first_seen
from sampled_metrics.study.workflow.jobs import run


def main(snakemake: Any) -> None:
    """Write the checksum, or compare it with the one that is recorded."""
    archive, record = Path(snakemake.input.archive), Path(snakemake.output.record)
    verify_as_first_seen(archive, _files.digest(archive, "sha256"), record)
    record.touch()


if __name__ == "__main__":
    run(main, snakemake, "look at the download of {wildcards.dataset}")
