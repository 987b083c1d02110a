"""Write the summary of the run, a page for readers who open nothing else."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jinja2
import pandas as pd

from sampled_metrics import file_io
from sampled_metrics.core.evaluation.compare import CompareOptions
from sampled_metrics.core.ranks.exact import read_rank_tables
from sampled_metrics.reporting.page import Image
from sampled_metrics_study import provenance
from sampled_metrics_study.decided import exact_findings
from sampled_metrics_study.jobs import run
from sampled_metrics_study.older import differences
from sampled_metrics_study.own_files import read_facts, read_table
from sampled_metrics_study.reference import stand_in
from sampled_metrics_study.summary import Studied, summary


def read_captions(snakemake: Any) -> dict[str, str]:
    """Return the captions of tables and figures by name, with the values of this run."""
    captions = {}
    for path in map(Path, snakemake.input.captions):
        template = jinja2.Template(path.read_text(encoding="utf-8"))
        captions[path.stem] = template.render(snakemake=snakemake)
    return captions


def read_studied(
    snakemake: Any, archives: dict[str, dict[str, Any]], captions: dict[str, str]
) -> list[Studied]:
    """Return the results on each dataset."""
    inputs = snakemake.input
    params = snakemake.params
    config = params.config
    budgets = {Path(path).parts[-2]: path for path in inputs.budgets}
    studied = []
    names = list(config["recommenders"])
    for index, (name, trained) in enumerate(params.trained.items()):
        ranks = read_rank_tables(names, inputs.ranks[index * len(names) : (index + 1) * len(names)])
        exact = exact_findings(ranks, CompareOptions.from_config(config))
        facts = archives.get(name)
        figures = [
            {
                "title": params.titles[path.stem],
                "image": Image.from_svg(path.read_text(encoding="utf-8")),
                "caption": captions[path.stem],
                "csv": f"{name}/{path.stem}.csv",
            }
            for path in map(Path, inputs.figures)
            if path.parts[-2] == name
        ]
        studied.append(
            Studied(
                name,
                trained,
                ranks,
                exact,
                read_table(inputs.table_3[index]),
                read_table(inputs.table_4[index]),
                read_table(inputs.sample_intervals[index]),
                read_table(inputs.sample_verdicts[index]),
                facts,
                figures,
                budget=read_table(budgets[name]) if name in budgets else None,
                stand_in=stand_in(facts, ranks[names[0]]),
            )
        )
    return studied


def main(snakemake: Any) -> None:
    """Write the page from the tables, the figures and their captions."""
    inputs = snakemake.input
    config = snakemake.params.config
    captions = read_captions(snakemake)
    archives = {Path(path).parts[-2]: read_facts(path) for path in inputs.facts}
    studied = read_studied(snakemake, archives, captions)
    printed, claims = (
        pd.concat(map(read_table, paths), ignore_index=True) if paths else None
        for paths in (inputs.fidelity, inputs.claims)
    )
    jobs = [read_facts(path) for path in inputs.versions]
    older = differences(inputs.versions, jobs, config)
    jobs.append(provenance.versions("write the summary"))
    versions = provenance.gathered(jobs)
    data = provenance.checksums(inputs.ranks, archives)
    files = {
        f"{dataset}: {file}": digest
        for dataset, digests in data.items()
        for file, digest in digests.items()
    }
    page = summary(
        config,
        studied,
        captions,
        {**versions, **files},
        printed,
        claims,
        snakemake.params.kinds,
        older,
    )
    file_io.write_text(snakemake.output.page, page)
    made_from = {
        "versions": versions,
        "jobs": jobs,
        "data": data,
        "seed": config["seed"],
        "config": config,
    }
    file_io.write_json(
        snakemake.output.provenance,
        {**made_from, "finished": datetime.now(UTC).isoformat(timespec="seconds")},
    )


if __name__ == "__main__":
    run(main, snakemake, "write the summary")
