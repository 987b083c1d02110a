"""The walk-through of docs/own-study.md with a dataset of ten users, as pasted."""

import re
import shutil
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import ROOT, Project


@pytest.mark.slow
def test_films(project: Project) -> None:
    text = (ROOT / "docs/own-study.md").read_text(encoding="utf-8")
    [config] = re.findall(r"```yaml\n(study: \[films\].*?)```", text, re.DOTALL)
    shutil.copytree(ROOT / "examples", project.folder / "examples")
    films = (project.folder / "examples/films.csv").read_text(encoding="utf-8")
    (project.folder / "study.yaml").write_text(config, encoding="utf-8")
    assert "snakemake --cores 2 --configfile examples/films.yaml" in text

    ran = project.snakemake("--cores", "2")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    pasted = re.search(r"^snakemake (\S+/train\.csv) (--cores 1 --configfile \S+)$", text, re.MULTILINE)
    target = pasted[1]
    assert project.snakemake(target, *pasted[2].split()).returncode == 0
    parts = [
        pd.read_csv(project.folder / target).to_csv(),
        pd.read_csv(project.folder / target.replace("train", "held_out")).to_csv(),
    ]
    assert sum(part.count("\n") - 1 for part in parts) == films.count("\n") - 1
    folder = project.folder / "results/films"
    for name in ("table-3.csv", "table-4.md", "table-4.tex", "figure-5.svg", "figure-6.png"):
        assert (folder / name).stat().st_size > 0, name
    assert len(pd.read_csv(folder / "ranks/item-cf.csv.gz")) == 10
    table = pd.read_csv(folder / "table-3.csv")
    assert list(table["recommender"].unique()) == ["item-cf", "popularity"]
    # popularity is checked by counting: candidates with more training events than the held-out film
    assert exact_recall_of_popularity(films, 3) == recall_at_3(folder)


def exact_recall_of_popularity(films: str, k: int) -> float:
    events = [line.split(",") for line in films.splitlines()[1:]]
    last = {}
    for user, film, day in events:
        if user not in last or int(day) > int(last[user][1]):
            last[user] = (film, day)
    training = [(user, film) for user, film, _ in events if last[user][0] != film]
    counts = {film: sum(one == film for _, one in training) for _, film, _ in events}
    total = 0.0
    for user, (held_out, _) in last.items():
        candidates = [film for film in counts if (user, film) not in training and film != held_out]
        above = sum(counts[film] > counts[held_out] for film in candidates)
        tied = sum(counts[film] == counts[held_out] for film in candidates)
        total += sum(rank <= k for rank in range(above + 1, above + tied + 2)) / (tied + 1)
    return round(total / len(last), 12)


def recall_at_3(folder: Path) -> float:
    table = pd.read_csv(folder / "ranks/popularity.csv.gz")
    inside = (3 - table["above"]).clip(0, table["tied"] + 1)
    return round(float((inside / (table["tied"] + 1)).mean()), 12)
