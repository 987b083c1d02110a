"""The choices that the text leaves open: what is changed, and the rows that say what is reproduced then."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from made_up_project import ROOT, complete_config, run_script

from sampled_metrics.errors import ConfigError
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.paper import choices

ENTRIES = complete_config({})["recommenders"]
AS_WRITTEN = complete_config(yaml.safe_load((ROOT / "examples/as-written.yaml").read_text(encoding="utf-8")))


def test_the_text_as_written_is_the_example() -> None:
    changed = choices.changed(ENTRIES, choices.CHOICES[-1].otherwise)
    assert ENTRIES | changed == AS_WRITTEN["recommenders"]


@pytest.mark.parametrize("choice", choices.CHOICES, ids=lambda choice: choice.what)
def test_each_other_choice_is_allowed_and_another_one(choice: choices.Choice) -> None:
    changed = choices.changed(ENTRIES, choice.otherwise)
    assert changed.keys() == choice.otherwise.keys()
    assert all(recommender(entry) != recommender(ENTRIES[name]) for name, entry in changed.items())


def test_changes_start_from_the_recommenders_of_the_run() -> None:
    changed = choices.changed(ENTRIES | {"X": ENTRIES["X"] | {"factors": 8}}, {"X": {"iterations": 15}})
    assert (changed["X"]["factors"], changed["X"]["iterations"]) == (8, 15)
    assert choices.changed(ENTRIES, {"X": {"iterations": 6}}) == {}


def test_a_row_counts_what_is_reproduced() -> None:
    compared = pd.DataFrame({"table": [3, 3, 3, 4, 4], "ok": [True, True, False, False, True]})
    choice = choices.Choice("what", "text", {"Z": {"neighbours": None, "keep_self": True}})
    row = choices.row(choice, ENTRIES, compared)
    here, otherwise = "Z: neighbours 10, keep_self no", "Z: neighbours ∞, keep_self yes"
    assert row == ("what", "text", here, otherwise, 2, 1)


def test_other_users_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in "XYZ":
        ExactRanks(np.arange(4), np.full(4, 9), np.arange(4), np.zeros(4, dtype=int)).write(f"{name}.csv.gz")
    given = {"ranks": [f"{name}.csv.gz" for name in "XYZ"], "split": "split.npz", "seed_spread": "spread.csv"}
    [error] = run_script("choices", input=given, output={"choices": "choices.csv"})
    assert "its users and candidates are not those of MovieLens 1M in the paper" in error
    assert not Path("choices.csv").exists()


@pytest.mark.parametrize(
    "changes", [{"sampling": {"negatives": 99}}, {"recommenders": ENTRIES | {"Y": {"type": "popularity"}}}]
)
def test_another_study_is_refused(changes) -> None:
    complete_config({"choices": True})
    with pytest.raises(ConfigError, match=r"^choices: is for the study of the paper"):
        complete_config({"choices": True}, changes)
