"""Train the recommenders of the paper with other choices, and count the printed numbers that are reproduced."""

from typing import Any

import pandas as pd

from sampled_metrics import _files
from sampled_metrics.data.split import read_split
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.paper import choices, fidelity
from sampled_metrics.study.paper.reference import RECOMMENDERS, require_paper_users
from sampled_metrics.study.repetitions import Evaluation, exact_moments, repeat
from sampled_metrics.study.tables import table_3, table_4
from sampled_metrics.study.workflow.jobs import progress_bar, run
from sampled_metrics.study.workflow.seeds import stream
from sampled_metrics.study.workflow.stage_files import read_table


def main(snakemake: Any) -> None:
    """Write a row for each choice."""
    dataset, params, given = snakemake.wildcards.dataset, snakemake.params, snakemake.input
    ranks = read_rank_tables(RECOMMENDERS, given.ranks)
    require_paper_users(ranks[RECOMMENDERS[0]], dataset)
    rows = []
    split, spread = read_split(given.split), read_table(given.seed_spread, "seed-spread")
    # the comparison takes expectations; the repetitions only name the rows of the tables
    sampling = params.sampling | {"repetitions": 2, "readings": ["default"]}
    options = params.estimators, params.metrics, params.assume_replacement
    evaluation = Evaluation.from_config(sampling, *options)[None]
    for choice in progress_bar("choices of the paper")(choices.CHOICES):
        tables = dict(ranks)
        for name, entry in choices.changed(params.entries, choice.otherwise).items():
            rng = stream(params.seed, dataset, name, "train")
            tables[name] = recommender(entry).fit(split.training, rng).rank(split, precision=params.precision)
        expected = {name: exact_moments(table, evaluation) for name, table in tables.items()}
        runs = {
            name: repeat(table, evaluation, stream(params.seed, dataset, name, "sample"))
            for name, table in tables.items()
        }
        of_choice = table_3(tables, runs, expected), table_4(tables, runs, expected)
        rows.append(choices.row(choice, params.entries, fidelity.compare_study(*of_choice, spread)))
    _files.write_csv(snakemake.output.choices, pd.DataFrame(rows, columns=choices.COLUMNS))


if __name__ == "__main__":
    run(main, snakemake, "count what other choices reproduce on {wildcards.dataset}")
