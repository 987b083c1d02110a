"""Write the summary of the run, a page for readers who open nothing else."""

import json
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from sampled_metrics import _files
from sampled_metrics.ranks.exact import read_rank_tables
from sampled_metrics.sampling.moments import EQUAL
from sampled_metrics.study.groups import sentences
from sampled_metrics.study.paper.reference import ARCHIVE_MD5, has_paper_users
from sampled_metrics.study.workflow.jobs import run
from sampled_metrics.study.workflow.provenance import provenance
from sampled_metrics.study.workflow.stage_files import read_table
from sampled_metrics.study.workflow.summary import (
    Studied,
    dataset_facts,
    exact_standings,
    made_from,
    on_exact_margin,
    summary,
)


def main(snakemake: Any) -> None:
    """Write the page from the tables, the figures and their captions."""
    given, params = snakemake.input, snakemake.params
    captions = {
        Path(path).stem: jinja2.Template(Path(path).read_text(encoding="utf-8")).render(snakemake=snakemake)
        for path in given.captions
    }
    studied, names, data, stand_ins = [], list(params.recommenders), {}, []
    for index, (name, trained) in enumerate(params.trained.items()):
        files = given.ranks[index * len(names) : (index + 1) * len(names)]
        ranks = read_rank_tables(names, files)
        facts = [
            json.loads(Path(path).read_text(encoding="utf-8")) for path in given.facts if Path(path).parts[-2] == name
        ]
        figures = [
            (params.titles[path.stem], path.read_text(encoding="utf-8"), captions[path.stem])
            for path in map(Path, given.figures)
            if path.parts[-2] == name
        ]
        table_3 = read_table(given.table_3[index], "table-3")
        exact = table_3[table_3["estimator"] == "exact"].groupby("metric")["mean"]
        all_equal = bool((exact.max() - exact.min() <= EQUAL).all())
        table_4 = read_table(given.table_4[index], "table-4", empty=all_equal)
        rows = dataset_facts(ranks[names[0]], *facts)
        standings = exact_standings(ranks, params.metrics)
        on_margin = on_exact_margin(ranks, params.metrics, params.margin) if standings else []
        by_group = [
            text for path in given.groups if Path(path).parts[-2] == name for text in sentences(pd.read_csv(path))
        ]
        studied.append(Studied(name, rows, trained, table_3, table_4, figures, standings, on_margin, by_group))
        data[name] = {archive["source"]: archive["sha256"] for archive in facts}
        data[name] |= {file: _files.digest(file, "sha256") for file in files}
        if has_paper_users(ranks[names[0]]) and any(archive["md5"] != ARCHIVE_MD5 for archive in facts):
            stand_ins.append(name)
    printed, claims = (
        pd.concat(map(pd.read_csv, paths), ignore_index=True) if paths else None
        for paths in (given.fidelity, given.claims)
    )
    made = provenance(snakemake.config, data, Path("results/benchmarks"))
    _files.write_json(snakemake.output.provenance, made)
    page = summary(snakemake.config, studied, captions, made_from(made), printed, claims, stand_ins)
    _files.write_text(snakemake.output.page, page)


if __name__ == "__main__":
    run(main, snakemake, "write the summary")
