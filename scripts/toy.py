"""Make the running example: its tables and figures, and their comparison with the paper."""

from functools import partial
from typing import Any

from sampled_metrics_study import claims, comparison, fidelity
from sampled_metrics_study.entries import FIGURES, TABLES
from sampled_metrics_study.inputs import Inputs
from sampled_metrics_study.jobs import run, stream
from sampled_metrics_study.own_files import read_table


def main(snakemake: Any) -> None:
    """Write each table and figure, and the comparisons of numbers and claims."""
    params = snakemake.params
    output = snakemake.output
    inputs = Inputs(params.toy, partial(stream, params.seed, "toy"))
    for name, table in TABLES["toy"].items():
        table.write(name, inputs, output)
    for name, arguments in params.arguments.items():
        FIGURES["toy"][name].write(name, output, **arguments)
    if hasattr(output, "fidelity_csv"):
        table_1 = read_table(output.table_1_csv)
        printed = fidelity.compare_toy(
            table_1, read_table(output.table_2_csv), params.toy["repetitions"]
        )
        claimed = claims.check_toy(
            params.toy,
            table_1,
            read_table(output.figure_2_csv),
            read_table(output.figure_3_csv),
            read_table(output.figure_4_csv),
        )
        comparison.write(printed, claimed, "Tables 1 and 2", "sections 3 to 5", output)


if __name__ == "__main__":
    run(main, snakemake, "make the running example")
