"""Compare the running example with the paper: Tables 1 and 2, and the claims on Figures 1-4."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.rendering import page
from sampled_metrics.study.paper import claims, fidelity, toy_claims
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.stage_files import read_table


def main(snakemake: Any) -> None:
    """Write the comparisons of numbers and claims, and their pages."""
    toy, output = snakemake.params.toy, snakemake.output
    tables = {
        name: read_table(getattr(snakemake.input, name), name.replace("_", "-"))
        for name in ("table_1", "table_2", "figure_2", "figure_3", "figure_4")
    }
    printed = fidelity.compare_toy(tables["table_1"], tables.pop("table_2"), toy["repetitions"])
    claimed = toy_claims.check(toy, **tables)
    _files.write_csv(output.fidelity_csv, printed)
    _files.write_csv(output.claims_csv, claimed)
    title = "The paper's printed numbers beside ours: Tables 1 and 2"
    page.write(title, fidelity.sections(printed), output.fidelity_md, output.fidelity_html)
    title = "What the paper says in words, and what we find: sections 3 to 5"
    page.write(title, claims.sections(claimed), output.claims_md, output.claims_html)


if __name__ == "__main__":
    run(main, snakemake, "compare the running example with the paper")
