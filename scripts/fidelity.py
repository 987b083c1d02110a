"""Compare the study with the paper: Tables 3 and 4, and the claims of section 6."""

from typing import Any

from sampled_metrics import file_io
from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics_study import claims, fidelity, table_files
from sampled_metrics_study.jobs import run
from sampled_metrics_study.own_files import read_table
from sampled_metrics_study.reference import RECOMMENDERS, require_paper_users


def main(snakemake: Any) -> None:
    """Write the comparisons of numbers and claims, and their pages."""
    files = snakemake.input
    params = snakemake.params
    output = snakemake.output
    ranks = read_rank_tables(params.recommenders, files.ranks)
    require_paper_users(ranks[RECOMMENDERS[0]], snakemake.wildcards.dataset)
    table_3 = read_table(files.table_3)
    table_4 = read_table(files.table_4)
    spread = read_table(files.seed_spread)
    printed = fidelity.compare_study(table_3, table_4, spread)
    claimed = claims.check_study(ranks, table_3, table_4, read_table(files.figure_6), printed)
    file_io.write_csv(output.fidelity_csv, printed)
    file_io.write_csv(output.claims_csv, claimed)
    title = "The paper's printed numbers beside ours: Tables 3 and 4"
    table_files.write(title, fidelity.sections(printed), output.fidelity_md, output.fidelity_html)
    title = "What the paper says in words, and what we find: section 6"
    table_files.write(title, claims.sections(claimed), output.claims_md, output.claims_html)


if __name__ == "__main__":
    run(main, snakemake, "compare with the paper on {wildcards.dataset}")
