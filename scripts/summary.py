"""Write the summary of the run, a page for readers who open nothing else."""

from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.sampling.draws import EQUAL
from sampled_metrics.study.jobs import run
from sampled_metrics.study.reference import ARCHIVE_MD5, has_paper_users
from sampled_metrics.study.results import read_facts, read_rows, read_table
from sampled_metrics.study.summary import (
    Studied,
    cautions,
    checksums,
    code,
    dataset_facts,
    exact_standings,
    exact_values,
    made_from,
    on_exact_margin,
    provenance,
    software,
    summary,
)


def main(snakemake: Any) -> None:
    """Write the page from the tables, the figures and their captions."""
    given, params, config = snakemake.input, snakemake.params, snakemake.params.config
    captions = {
        Path(path).stem: jinja2.Template(Path(path).read_text(encoding="utf-8")).render(snakemake=snakemake)
        for path in given.captions
    }
    archives = {Path(path).parts[-2]: read_facts(path) for path in given.facts}
    studied, names, stand_ins = [], list(config["recommenders"]), []
    for index, (name, trained) in enumerate(params.trained.items()):
        files = given.ranks[index * len(names) : (index + 1) * len(names)]
        ranks = read_rank_tables(names, files)
        facts = archives.get(name)
        figures = [
            (params.titles[path.stem], path.read_text(encoding="utf-8"), captions[path.stem], f"{name}/{path.stem}.csv")
            for path in map(Path, given.figures)
            if path.parts[-2] == name
        ]
        table_3 = read_table(given.table_3[index], "table-3")
        exact = table_3[table_3["estimator"] == "exact"].groupby("metric")["mean"]
        all_equal = bool((exact.max() - exact.min() <= EQUAL).all())
        table_4 = read_table(given.table_4[index], "table-4", empty=all_equal)
        entry, ties = config["datasets"][name], config["split"]["ties"]
        rows = dataset_facts(ranks[names[0]], facts, entry, ties)
        standings = exact_standings(ranks, config["metrics"])
        values = exact_values(ranks, config["metrics"])
        budget = next((read_rows(path) for path in given.budgets if Path(path).parts[-2] == name), None)
        on_margin = on_exact_margin(ranks, config["metrics"], config["margin"]) if standings else []
        studied.append(
            Studied(
                name,
                rows,
                trained,
                table_3,
                table_4,
                figures,
                standings,
                values,
                budget,
                on_margin,
                one_item_each=all(table.weights is None for table in ranks.values()),
                cautions=cautions(facts, name, entry["test"] is not None) if facts else [],
            )
        )
        if facts and has_paper_users(ranks[names[0]]) and facts["md5"] != ARCHIVE_MD5:
            stand_ins.append(name)
    printed, claims = (
        pd.concat(map(read_rows, paths), ignore_index=True) if paths else None
        for paths in (given.fidelity, given.claims)
    )
    data = checksums(given.ranks, archives)
    made = made_from(code(), software(), data)
    page = summary(config, studied, captions, made, printed, claims, stand_ins)
    _files.write_text(snakemake.output.page, page)
    _files.write_json(snakemake.output.provenance, provenance(config, data))


if __name__ == "__main__":
    run(main, snakemake, "write the summary")
