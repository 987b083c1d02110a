"""The config files in examples/ are complete, and docs/own-study.md walks through one of them."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import ROOT, Project, complete_config

NAMES = [
    "beauty",
    "demo",
    "as-written",
    "everything",
    "films",
    "large",
    "local-copy",
    "own-ranks",
    "paper-from-ranks",
]
GUIDE = (ROOT / "docs/own-study.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", NAMES)
def test_a_config_is_complete_and_allowed(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for folder in ("examples", "published"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    for archive in ("large.zip", "ml-1m.zip"):
        (tmp_path / archive).touch()
    complete_config(ROOT / f"examples/{name}.yaml")


def test_the_config_of_the_catalog_is_complete_and_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT / ".test")
    assert complete_config(ROOT / ".test/config.yaml")["study"] == ["films"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["demo", "large", "own-ranks"])
def test_a_dry_run_plans_the_study(project: Project, name: str) -> None:
    shutil.copytree(ROOT / "examples", project.folder / "examples")
    for archive in ("large.zip", "ml-1m.zip"):
        (project.folder / archive).touch()  # a dry run only sees that it is there
    shutil.copy(ROOT / f"examples/{name}.yaml", project.folder / "study.yaml")
    planned = project.planned()
    assert "tables" in planned
    assert ("train" in planned) == (name != "own-ranks")
    assert ("download" in planned) == (name == "demo")


@pytest.mark.slow
def test_beauty_is_studied_from_the_exact_ranks(project: Project) -> None:
    """The exact values are counted from the files, and samples turn the two recommenders."""
    shutil.copytree(ROOT / "examples", project.folder / "examples")
    shutil.copy(ROOT / "examples/beauty.yaml", project.folder / "study.yaml")
    ran = project.snakemake("--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    table = pd.read_csv(project.folder / "results/beauty/table-3.csv")
    means = table[table["metric"] == "recall@10"].set_index(["recommender", "estimator"])["mean"]
    for name in ("FMLP-Rec", "S3-Rec"):
        ranks = pd.read_csv(ROOT / f"published/evidence/beauty-{name}.csv.gz")
        exact = (ranks["exact_rank"] <= 10).mean()
        sampled = (ranks["sampled_rank"] <= 10).mean()  # of other negatives of the same kind
        assert means[name, "exact"] == pytest.approx(exact)
        assert means[name, "uncorrected"] == pytest.approx(sampled, abs=0.01)
    assert means["FMLP-Rec", "exact"] > means["S3-Rec", "exact"]
    assert means["FMLP-Rec", "uncorrected"] < means["S3-Rec", "uncorrected"]
    assert (project.folder / "results/summary.html").exists()


def test_films_are_those_of_the_guide() -> None:
    assert f"```yaml\n{(ROOT / 'examples/films.yaml').read_text(encoding='utf-8')}```" in GUIDE
    assert "snakemake --cores 2 --configfile examples/films.yaml" in GUIDE


@pytest.mark.slow
def test_films_end_with_the_results_of_the_guide(project: Project) -> None:
    """Ten users, whose ranks by popularity are counted.

    Above the held-out film are candidates with more training events.
    """
    shutil.copytree(ROOT / "examples", project.folder / "examples")
    shutil.copy(ROOT / "examples/films.yaml", project.folder / "study.yaml")
    target, *options = re.search(r"^snakemake (\S+/train\.csv.*)$", GUIDE, re.MULTILINE)[1].split()
    for arguments in (["--cores", "2"], [target, *options]):
        ran = project.snakemake(*arguments)
        assert ran.returncode == 0, ran.stdout + ran.stderr
    films = pd.read_csv(project.folder / "examples/films.csv")
    films = films.iloc[:, :3].set_axis(["user", "film", "day"], axis=1)
    last = films.loc[films.groupby("user")["day"].idxmax()].set_index("user")["film"]
    training = films[films["film"] != films["user"].map(last)]
    assert len(last) == 10
    assert len(training) == len(films) - 10
    assert len(pd.read_csv(project.folder / target)) == len(training)
    held_out = pd.read_csv(project.folder / target.replace("train", "held_out"))
    assert len(held_out) == len(last)
    folder = project.folder / "results/films"
    recommenders = pd.read_csv(folder / "table-3.csv")["recommender"].unique()
    assert [*recommenders] == ["item-cf", "popularity"]
    counts = training["film"].value_counts().reindex(films["film"].unique(), fill_value=0)
    table = pd.read_csv(folder / "ranks/popularity.csv.gz", dtype={"user": str}).set_index("user")
    for user, film in last.items():
        seen = training.loc[training["user"] == user, "film"]
        others = counts.drop([*seen, film])
        assert table.loc[str(user), ["candidates", "above", "tied"]].to_dict() == {
            "candidates": len(others) + 1,
            "above": (others > counts[film]).sum(),
            "tied": (others == counts[film]).sum(),
        }
