"""Every code block of README.md and of the pages of docs/ is run, and prints what the page shows.

`python tests/docs_blocks.py` writes what they print into the pages.
"""

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from docs_blocks import DOCS, ROOT, blocks_of, pages, with_outputs
from made_up_project import complete_config

ADDING = "tests/docs/test_add_a_recommender.py does what it says, in a copy of the library"
FILMS = "tests/workflow/test_examples.py runs it as pasted"
CONFIG = "test_a_config_is_complete_and_allowed, below"
SLURM = "needs a cluster; make test-slurm brings one up"
RAW = "tests/data/test_raw_files.py reads a made-up file of each layout"
SERVICE = "takes 90 s; tests/docs/test_expensive_ranker.py runs its parts, and compares what it printed"
IMPORT = "tests/workflow/test_import.py imports the workflow in these ways"
OF_ADAPTERS = "tests/adapters/test_examples_of_the_page.py runs it, where the other library is installed"
OF_RECIPES = "a test of tests/adapters runs it, where the other library is installed"
NUMPY = "import numpy as np\n"
NOT_CODE = "not code"

ELSEWHERE = {
    ("README.md", "make demo"): "sets up an environment, and downloads MovieLens 1M; CI runs it from a local copy",
    (
        "docs/own-study.md",
        "pip install --no-deps --editable .",
    ): "is what make reproduce and make test run, in CI",
    ("docs/own-study.md", "make reproduce CONFIG=study.yaml"): "trains for a minute; its config is checked",
    ("docs/own-study.md", "# study.yaml"): CONFIG,
    ("docs/own-study.md", "study: [ours]"): CONFIG,
    ("docs/own-study.md", "study: [films]"): FILMS,
    ("docs/own-study.md", "snakemake --cores 2 --configfile examples/films.yaml"): FILMS,
    ("docs/own-study.md", "snakemake results/films/split/train.csv"): FILMS,
    ("docs/own-study.md", 'configfile: "study.yaml"'): IMPORT,
    ("docs/own-study.md", '"""Item-based'): ADDING,
    ("docs/own-study.md", " RECOMMENDERS = {"): ADDING,
    ("docs/own-study.md", "recommenders:"): ADDING,
    (
        "docs/cluster.md",
        "make demo                                                          # or any other target: sets up .venv",
    ): SLURM,
    ("docs/cluster.md", ".venv/bin/snakemake --workflow-profile profiles/slurm --configfile mine.yaml"): SLURM,
    ("docs/cluster.md", ".venv/bin/snakemake --workflow-profile profiles/slurm --set-scatter users=4"): SLURM,
    ("docs/workflow.md", ".venv/bin/snakemake --cores 4 --set-threads"): "tests/workflow/test_run.py sets them",
    (
        "docs/cluster.md",
        ".venv/bin/snakemake --workflow-profile profiles/slurm --set-resources train:mem_mb=64000 train:runtime=1440",
    ): SLURM,
    ("docs/cluster.md", "executor: cluster-generic"): SLURM,
    ("docs/workflow.md", "archive"): NOT_CODE,
    ("docs/architecture.md", "study"): NOT_CODE,
    ("docs/workflow.md", "train E on ml-1m failed"): "tests/workflow/test_messages.py has such a failure",
    ("docs/adapters.md", f"{NUMPY}import sampled_metrics as sm\n\n\ndef cornac"): OF_RECIPES,
    (
        "docs/adapters.md",
        "import numpy as np\nimport pandas as pd\nimport sampled_metrics as sm\nfrom pykeen",
    ): OF_RECIPES,
    ("docs/adapters.md", "import torch"): OF_ADAPTERS,
    ("docs/adapters.md", "def adjusted("): OF_RECIPES,
    ("docs/how-to/validate.md", "import torch"): OF_ADAPTERS,
    ("docs/how-to/validate.md", "import lightning"): OF_ADAPTERS,
    ("docs/how-to/validate.md", "import os"): OF_ADAPTERS,
    ("docs/how-to/validate.md", "from recbole.config"): "tests/adapters/test_recbole.py makes the same calls",
    ("docs/how-to/rank.md", "import torch"): "tests/adapters/test_arrays.py runs it, where torch is installed",
    ("docs/how-to/expensive-rankers.md", "return sm.staged_ranks("): SERVICE,
    ("docs/how-to/expensive-rankers.md", "python -m docs.examples.expensive_ranker"): SERVICE,
    ("docs/reference/datasets.md", "import csv"): RAW,
}
"""(page, beginning of a block) that test_what_blocks_print does not run, and why."""


def elsewhere(page: str, content: str) -> list[tuple[str, str]]:
    return [key for key in ELSEWHERE if key[0] == page and content.startswith(key[1])]


def is_run(page: str) -> bool:
    return any(block.is_run for block in blocks_of(text_of(page)) if not elsewhere(page, block.content))


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page, marks=[pytest.mark.slow] if page == "docs/how-to/large.md" else []
        )  # starts a cluster of Dask
        for page in pages()
        if is_run(page)
    ],
)
def test_blocks_print_what_the_page_shows(page: str) -> None:
    assert with_outputs(text_of(page)) == text_of(page)


@pytest.mark.parametrize("page", pages())
def test_every_block_is_run_here_or_elsewhere(page: str) -> None:
    for block in blocks_of(text_of(page)):
        if block.language.startswith("{"):  # a directive of the site
            continue
        assert block.is_run or elsewhere(page, block.content), block.content


def test_the_list_names_blocks_that_are_there() -> None:
    there = {key for page in pages() for block in blocks_of(text_of(page)) for key in elsewhere(page, block.content)}
    assert there == set(ELSEWHERE)


@pytest.mark.parametrize(
    ("page", "start"),
    [("docs/own-study.md", "# study.yaml"), ("docs/own-study.md", "study: [ours]")],
)
def test_a_config_is_complete_and_allowed(
    page: str, start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [block] = [block for block in blocks_of(text_of(page)) if block.content.startswith(start)]
    monkeypatch.chdir(tmp_path)
    for name in ("ml-1m.zip", "old.csv", "new.csv"):
        Path(name).touch()
    given = yaml.safe_load(block.content.replace("/where/it/is", str(tmp_path)))
    complete_config(given)


@pytest.mark.parametrize("page", pages())
def test_links_lead_to_files_that_are_there(page: str) -> None:
    links = re.findall(r"\]\(([^)#]+)\)", text_of(page))
    assert [link for link in links if "://" not in link and not (ROOT / page).parent.joinpath(link).exists()] == []


def test_the_examples_are_what_the_script_makes(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS / "examples/make.py"))["main"](tmp_path)
    made = {path.name: content(path) for path in tmp_path.iterdir()}
    kept = [path for path in (DOCS / "examples").iterdir() if path.suffix in (".csv", ".parquet")]
    assert made == {path.name: content(path) for path in kept}


def content(path: Path) -> Any:
    return path.read_bytes() if path.suffix == ".csv" else pd.read_parquet(path).to_dict()


@pytest.mark.parametrize("page", ["docs/how-to/expensive-rankers.md"])
def test_the_numbers_of_what_scores_buy_are_those_of_the_run(page):
    sys.path.append(str(ROOT))
    from docs.publish import budget_table

    assert f"<!-- budget -->\n{budget_table()}<!-- end of budget -->" in (ROOT / page).read_text(encoding="utf-8")
