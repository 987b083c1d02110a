"""Write the split as csv or parquet, for programs in other languages."""

from pathlib import Path
from typing import Any

from sampled_metrics import file_io
from sampled_metrics.ranking.split import read_split
from sampled_metrics_study.data.split import split_tables
from sampled_metrics_study.jobs import run


def main(snakemake: Any) -> None:
    """Write a file for each table."""
    tables = split_tables(read_split(snakemake.input.split, timestamps=True))
    for path in snakemake.output.tables:
        file_io.write_table(path, tables[Path(path).stem])


if __name__ == "__main__":
    run(main, snakemake, "write the split of {wildcards.dataset} as tables")
