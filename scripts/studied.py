"""Count what was studied: the events of a dataset, and the ranks and ties of its recommenders."""

from typing import Any

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.rendering import page
from sampled_metrics.study.studied import TITLE, sections, studied
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.stage_files import read_facts


def main(snakemake: Any) -> None:
    """Write the table and its pages."""
    given, output = snakemake.input, snakemake.output
    facts = read_facts(given.facts) if given.facts else {}  # none of ready-made ranks
    table = studied(read_rank_tables(snakemake.params.recommenders, given.ranks))
    _files.write_csv(output.csv, table)
    page.write(f"{TITLE}: {snakemake.wildcards.dataset}", sections(facts, table), output.md, output.html)


if __name__ == "__main__":
    run(main, snakemake, "what was studied on {wildcards.dataset}")
