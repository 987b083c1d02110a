"""Every code block of README.md and of the pages of docs/ prints what the page shows.

The lists of pages are complete. `python tests/docs_blocks.py` writes what the blocks print into the
pages.
"""

import re
import runpy
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml
from docs_blocks import DOCS, ROOT, blocks_of, pages, with_outputs
from made_up_project import complete_config

import sampled_metrics
from sampled_metrics.core.evaluation.kinds import tables_of_kinds
from sampled_metrics_study.data.formats import FORMATS

ELSEWHERE = {
    "README.md": ["make demo"],  # CI runs it from a local copy of MovieLens 1M
    "docs/own-study.md": [
        "make reproduce CONFIG=study.yaml",  # trains for a minute; its config is checked below
        "snakemake --cores 2 --configfile study.yaml",  # is what make reproduce runs
        "# study.yaml",
        "study: [ours]",
        # tests/study/workflow/test_examples.py runs it as pasted, and the two commands
        "study: [films]",
        "snakemake --cores 2 --configfile examples/films.yaml",
        "snakemake results/films/split/train.csv",
        # tests/study/workflow/test_import.py imports the workflow in these ways
        'configfile: "study.yaml"',
        '"""Recommend what users had next',  # tests/study/workflow/test_scripts.py trains it
        '"""Item-based',  # test_add_a_recommender.py does what these say, in a copy of the library
        " RECOMMENDERS = {",
        "recommenders:",
    ],
    "docs/cluster.md": [  # make test-slurm brings a cluster up
        "make demo ",
        ".venv/bin/snakemake --workflow-profile profiles/slurm",
        "executor: cluster-generic",
    ],
    "docs/workflow.md": [
        ".venv/bin/snakemake --cores 4 --set-threads",  # tests/study/workflow/test_run.py sets them
        "archive",  # not code
        "train E on ml-1m failed",  # tests/study/workflow/test_run.py has such a failure
    ],
    # tests/adapters runs these where the other library is installed
    "docs/adapters.md": ["import numpy as np\n", "import torch"],
    # tests/adapters runs its code on a made-up graph; the command needs PyKEEN
    "docs/how-to/knowledge-graphs.md": ["python -m docs.examples", "def among_negatives"],
    # tests/adapters calls both functions with a model of fixed vectors
    "docs/how-to/dense-retrieval.md": ["from sampled_metrics import adapters", "lists = {"],
    # needs RecBole, torch and Lightning; test_tools_of_the_page.py has the examples
    "docs/how-to/validate.md": [
        "import torch",
        "import lightning",
        "from recbole.config",
        "pip install recbole",
    ],
    "docs/how-to/rank.md": ["import torch"],
    "docs/how-to/large.md": ["import torch"],
    # takes 90 s; test_expensive_ranker.py runs its parts, and compares what it printed
    "docs/how-to/expensive-rankers.md": [
        "return sm.staged_ranks(",
        "python -m docs.examples.expensive_ranker",
    ],
}
"""Page → beginnings of blocks that test_blocks_print_what_the_page_shows does not run."""
SLOW = ["README.md", "docs/benchmarks.md"]
SLOW += [
    f"docs/how-to/{name}.md"
    for name in (
        "compare",
        "correct",
        "plan",
        "published",
        "reviewer",
        "validate",
        "when-not-to-trust",
    )
]
"""Pages that take 2 to 12 s; CI runs them."""


def text_of(page):
    return (ROOT / page).read_text(encoding="utf-8")


def elsewhere(page, content):
    return [(page, start) for start in ELSEWHERE.get(page, []) if content.startswith(start)]


def is_run(page):
    return any(
        block.is_run for block in blocks_of(text_of(page)) if not elsewhere(page, block.content)
    )


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * (page in SLOW))
        for page in pages()
        if is_run(page)
    ],
)
def test_blocks_print_what_the_page_shows(page):
    assert with_outputs(text_of(page)) == text_of(page)


def test_every_block_is_run_here_or_elsewhere():
    seen = set()
    for page in pages():
        for block in blocks_of(text_of(page)):
            known = elsewhere(page, block.content)
            seen |= set(known)
            # {: a directive; pycon: a docstring's example, which tests/whole/test_public.py runs
            is_elsewhere = block.language.startswith("{") or block.language == "pycon"
            assert block.is_run or is_elsewhere or known, (
                page,
                block.content,
            )
    assert seen == {(page, start) for page, starts in ELSEWHERE.items() for start in starts}


@pytest.mark.parametrize("start", ["# study.yaml", "study: [ours]"])
def test_a_config_is_complete_and_allowed(start, tmp_path, monkeypatch):
    [block] = [
        block
        for block in blocks_of(text_of("docs/own-study.md"))
        if block.content.startswith(start)
    ]
    monkeypatch.chdir(tmp_path)
    Path("ml-1m.zip").touch()
    for name in ("old.csv", "new.csv"):
        Path(name).write_text("candidates,rank\n1000,1\n", encoding="utf-8")
    complete_config(yaml.safe_load(block.content.replace("/where/it/is", str(tmp_path))))


def test_links_lead_to_files_that_are_there():
    for page in pages():
        for link in re.findall(r"\]\(([^)#]+)\)", text_of(page)):
            assert "://" in link or (ROOT / page).parent.joinpath(link).exists(), (page, link)


def test_the_examples_are_what_the_script_makes(tmp_path):
    def contents(folder):
        tables = {path.name: pd.read_parquet(path).to_dict() for path in folder.glob("*.parquet")}
        return tables | {path.name: path.read_bytes() for path in folder.glob("*.csv")}

    runpy.run_path(str(DOCS / "examples/make.py"))["main"](tmp_path)
    assert contents(tmp_path) == contents(DOCS / "examples")


def test_the_numbers_of_what_scores_buy_are_those_of_the_run():
    sys.path.append(str(ROOT))
    from docs.publish import budget_table

    page = text_of("docs/how-to/expensive-rankers.md")
    assert f"<!-- budget -->\n{budget_table()}<!-- end of budget -->" in page


# --- lists of the reference, and of the architecture --------------------------------------------

REFERENCE = runpy.run_path(str(DOCS / "reference.py"))


@pytest.fixture(scope="module")
def shown():
    """The pages of the reference as the site shows them."""
    paths = [*DOCS.glob("reference/*.md"), DOCS / "adapters.md"]
    return {path.name: REFERENCE["filled"](path.read_text(encoding="utf-8")) for path in paths}


def test_every_public_function_and_class_is_listed_with_a_summary(shown):
    listed = "".join(shown.values())
    for name in sampled_metrics.__all__:
        is_listed = re.search(rf"- ({{py:obj}})?`{name}\b.*: \S", listed)
        assert is_listed or name.endswith("Error") or name == "__version__", name


def test_the_pages_of_the_reference_say_what_docstrings_say():
    paths = REFERENCE["pages_with_marks"]()
    assert [path.name for path in paths] == ["adapters.md", "functions.md", "modules.md"]
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert REFERENCE["written"](text) == text, "run `python docs/reference.py`"


def test_the_pages_of_the_reference_list_the_options_formats_and_findings(shown):
    assert "--relevant-from FLOAT" in shown["command.md"]
    row = r"^\| `([a-z0-9-]+)` \|.*\| (?:numbers|text) \|"
    assert re.findall(row, shown["datasets.md"], re.MULTILINE) == list(FORMATS)
    row = r"^\| `([a-z-]+)` \| \S.* \|.*\|$"
    kinds = re.findall(row, shown["findings.md"], re.MULTILINE)
    assert sorted(kinds) == sorted(kind.name for _, table in tables_of_kinds() for kind in table)


def test_the_page_of_the_architecture_lists_each_package():
    architecture = runpy.run_path(str(DOCS / "architecture.py"))
    listed = re.findall(r"^\| `(\w+)`", text_of("docs/architecture.md"), re.MULTILINE)
    assert set(architecture["files"]()) - set(listed) == {"base"}
