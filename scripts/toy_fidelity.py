"""Compare the running example with the paper: Tables 1 and 2, and the claims on Figures 1-4."""

from typing import Any

from sampled_metrics import file_io
from sampled_metrics_study import claims, fidelity, table_files
from sampled_metrics_study.jobs import run
from sampled_metrics_study.own_files import read_table


def main(snakemake: Any) -> None:
    """Write the comparisons of numbers and claims, and their pages."""
    toy = snakemake.params.toy
    output = snakemake.output
    figures = {
        f"figure_{number}": read_table(snakemake.input[f"figure_{number}"]) for number in (2, 3, 4)
    }
    table_1, table_2 = (read_table(snakemake.input[f"table_{number}"]) for number in (1, 2))
    printed = fidelity.compare_toy(table_1, table_2, toy["repetitions"])
    claimed = claims.check_toy(toy, table_1, **figures)
    file_io.write_csv(output.fidelity_csv, printed)
    file_io.write_csv(output.claims_csv, claimed)
    title = "The paper's printed numbers beside ours: Tables 1 and 2"
    table_files.write(title, fidelity.sections(printed), output.fidelity_md, output.fidelity_html)
    title = "What the paper says in words, and what we find: sections 3 to 5"
    table_files.write(title, claims.sections(claimed), output.claims_md, output.claims_html)


if __name__ == "__main__":
    run(main, snakemake, "compare the running example with the paper")
