"""Write what the results of a study were made from, and the seconds of each of its jobs."""

import json
from pathlib import Path
from typing import Any

from sampled_metrics import _files
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.provenance import checksums, provenance


def main(snakemake: Any) -> None:
    """Write the provenance."""
    given = snakemake.input
    archives = {Path(path).parts[-2]: json.loads(Path(path).read_text(encoding="utf-8")) for path in given.archives}
    groups = dict(zip(snakemake.params.grouped, given.users, strict=True))
    data = checksums(given.ranks, archives, groups)
    made = provenance(snakemake.params.config, data, given.benchmarks)
    _files.write_json(snakemake.output.provenance, made)


if __name__ == "__main__":
    run(main, snakemake, "write the provenance")
