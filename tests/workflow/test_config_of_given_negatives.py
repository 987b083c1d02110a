"""The key `negatives` of a dataset: from the models to the table, in this process; and the jobs of such a study."""

import random
import re
from pathlib import Path

import pandas as pd
import pytest
from made_up_project import STUDY, Project, complete_config, ranked, ratings, run_script, split

from sampled_metrics.errors import ConfigError

RECOMMENDERS = {"Y": {"type": "item-cf", "exponent": 1}, "popularity": {"type": "popularity"}}
DATASET = {"path": "made-up.train.rating", "format": "ncf", "negatives": "made-up.test.negative"}
CHANGES = {"datasets": {"made-up": DATASET}, "recommenders": {"X": None, "Z": None} | RECOMMENDERS}


def write_files(folder: Path) -> None:
    """Write the made-up dataset as NCF's files: the last line of each user is held out, with 30 negatives."""
    rng, events = random.Random(3), dict[str, dict[str, None]]()
    for line in ratings().splitlines():
        user, item = line.split("::")[:2]
        events.setdefault(user, {})[item] = None
    events = {user: items for user, items in events.items() if len(items) > 1}
    every = sorted({item for items in events.values() for item in items})
    train, test, negative = "", "", ""
    for user, [*items, last] in events.items():
        train += "".join(f"{user}\t{item}\t1\t1\n" for item in items)
        test += f"{user}\t{last}\t1\t1\n"
        drawn = rng.choices([item for item in every if item not in (*items, last)], k=30)
        negative += "\t".join([f"({user},{last})", *drawn]) + "\n"
    for name, text in {"train.rating": train, "test.rating": test, "test.negative": negative}.items():
        (folder / f"made-up.{name}").write_text(text, encoding="utf-8")


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return complete_config(STUDY | CHANGES)


def among(config: dict, name: str) -> list[str]:
    return run_script(
        "rank_given",
        input={"split": "split.npz", "model": f"{name}.npz", "negatives": "made-up.test.negative"},
        output={"ranks": f"given/{name}.csv.gz"},
        params={"precision": config["ranking"]["precision"], "seed": 1},
        wildcards={"recommender": name},
        config=config,
    )


def test_from_the_models_to_the_table(config: dict) -> None:
    assert split(config, "made-up") == []
    for name in RECOMMENDERS:
        ranked(config, "made-up", name)
        assert among(config, name) == []
    asked = {key: config[key] for key in ("estimators", "metrics", "estimator_model")}
    files = [f"{name}.csv.gz" for name in RECOMMENDERS]
    given = {"ranks": files, "among": [f"given/{file}" for file in files]}
    pages = {kind: f"given-negatives.{kind}" for kind in ("csv", "md", "html")}
    params = {"recommenders": list(RECOMMENDERS), **asked}
    assert run_script("given_negatives", input=given, output=pages, params=params) == []
    found = pd.read_csv("given-negatives.csv")
    columns = ["recommender", "metric", "exact", "estimator", "negatives", "value", "mean_exact", "sd_exact"]
    assert list(found.columns) == columns
    assert len(found) == 2 * len(config["metrics"]) * len(config["estimators"])
    # these negatives are uniform, so the values are those of one sample
    assert ((found["value"] - found["mean_exact"]).abs() < 4 * found["sd_exact"]).all()
    x = pd.read_csv("given/Y.csv.gz")["rank"]
    sampled = found.query("recommender == 'Y' and metric == 'recall@10' and estimator == 'uncorrected'")
    assert sampled["value"].tolist() == pytest.approx([(x <= 10).mean()])


def test_a_mistake_in_the_file_is_one_line(config: dict) -> None:
    assert split(config, "made-up") == []
    ranked(config, "made-up", "Y")
    file = Path("made-up.test.negative")
    file.write_text(re.sub(r"^(\((\d+),\d+\))\t\d+", r"\1\t999", file.read_text("utf-8"), count=1), encoding="utf-8")
    message = "made-up.test.negative, line 1: the negative 999 is not an item of the dataset"
    assert among(config, "Y") == [f"error: {message}"]


def test_recommenders_without_scores_are_refused(config: dict) -> None:
    Path("Y.csv").touch()
    changes = STUDY | CHANGES | {"datasets": {"made-up": DATASET | {"ranks": {"Y": "Y.csv"}}}}
    with pytest.raises(ConfigError) as caught:
        complete_config(changes)
    message = "datasets.made-up.negatives: Y has ready-made ranks on made-up, which have no scores"
    assert str(caught.value) == message
    with pytest.raises(ConfigError, match=r"^datasets\.made-up\.negatives: there is no file 'other' "):
        complete_config(STUDY | CHANGES | {"datasets": {"made-up": DATASET | {"negatives": "other"}}})


def test_without_the_key_there_are_no_jobs_for_it(project: Project) -> None:
    write_files(project.folder)
    project.configure(datasets={"made-up": DATASET | {"negatives": None}})
    without = project.planned()
    assert not {"rank_given", "given_negatives"} & set(without)
    project.configure(datasets={"made-up": DATASET})
    more = {"rank_given": "1", "given_negatives": "1", "total": str(int(without["total"]) + 2)}
    assert project.planned() == without | more
