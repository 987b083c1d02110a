"""The package tests/packaging/plugin adds an estimator, a metric, a recommender and a format by its entry points.

`make test-wheel` installs it with pip; here its files lie where pip puts them, as pip may need the package index.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest
from docs_blocks import blocks
from made_up_project import complete_config, ranked, split

import sampled_metrics as sm
from sampled_metrics import _plugins
from sampled_metrics.data import formats
from sampled_metrics.metrics import held_out
from sampled_metrics.recommenders import recommender

PLUGIN = Path(__file__).parent / "plugin"
GROUPS = tomllib.loads((PLUGIN / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
RANKS = [1, 3, 2, 1, 40, 7, 1, 101, 12, 1]


def install(folder: Path, package: str, version: str, points: dict[str, dict[str, str]]) -> None:
    """Write what importlib.metadata finds of an installed package."""
    metadata = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    lines = [
        f"[{group}]\n" + "".join(f"{name} = {at}\n" for name, at in those.items()) for group, those in points.items()
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A folder on the path of imports in which the package is installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    shutil.copy(PLUGIN / "their_metrics.py", folder)
    install(folder, "their-metrics", "2.5", GROUPS)
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.setitem(formats.FORMATS, "pairs", None)  # so that it is taken out again
    del formats.FORMATS["pairs"]
    _plugins._found.cache_clear()
    held_out._metric.cache_clear()
    yield folder
    sys.modules.pop("their_metrics", None)
    _plugins._found.cache_clear()
    held_out._metric.cache_clear()


def test_metric(site: Path) -> None:
    result = sm.evaluate([1, 2, 11], candidates=100, metrics=["rbp", "rbp@10", "recall@10"])
    ranks_of_10, last = 0.2 * (1 + 0.8), 0.2 * 0.8**10
    np.testing.assert_allclose(result["value"], [(ranks_of_10 + last) / 3, ranks_of_10 / 3, 2 / 3])
    corrected = sm.correct(RANKS, candidates=3541, negatives=100, metrics="rbp")
    assert corrected["value"].between(0, 0.2).all()


def test_estimator(site: Path) -> None:
    result = sm.correct(RANKS, candidates=3541, negatives=100, estimators=["uncorrected", "scaled-0.5"])
    plain, half = (result[result["estimator"] == label] for label in ("uncorrected", "scaled-0.5"))
    np.testing.assert_allclose(half["value"], plain["value"] / 2)
    np.testing.assert_allclose(half["standard_error"], plain["standard_error"] / 2)
    expected = sm.expect([1, 500], candidates=1000, negatives=10, estimators=["uncorrected", "scaled-0.25"])
    by_label = expected.groupby("estimator")["expected"].apply(list)
    np.testing.assert_allclose(by_label["scaled-0.25"], np.array(by_label["uncorrected"]) / 4)


def test_config_and_scripts(site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two users; the second one's held-out item 3 is below the item 2 alone, 1 being in training."""
    monkeypatch.chdir(tmp_path)
    Path("events.txt").write_text("7 1\n7 2\n8 1\n8 3\n")
    study = {
        "study": ["mine"],
        "datasets": {"mine": {"path": "events.txt", "format": "pairs"}},
        "recommenders": {
            "X": None,
            "Y": None,
            "Z": None,
            "W": {"type": "in-order"},
            "V": {"type": "in-order", "reverse": True},
        },
        "metrics": ["rbp@5"],
        "estimators": ["scaled-2"],
        "sampling": {"negatives": 1},
    }
    config = complete_config(study)
    assert config["recommenders"]["W"] == {"type": "in-order", "reverse": False}
    assert split(config, "mine") == []
    for name, above in {"W": [0, 1], "V": [1, 0]}.items():
        ranked(config, "mine", name)
        table = sm.read_ranks(f"{name}.csv.gz")
        assert table.user.tolist() == [7, 8]
        assert table.above.tolist() == above
    wrong = study | {"recommenders": {**study["recommenders"], "W": {"type": "in-order", "revers": True}}}
    with pytest.raises(sm.ConfigError, match=re.escape("recommenders.W: unknown key 'revers' (did you mean reverse?)")):
        complete_config(wrong)


def test_messages_list_the_plug_ins(site: Path) -> None:
    for call, theirs in (
        (lambda: sm.estimator("nothing"), "smooth, scaled"),
        (lambda: sm.metric("nothing"), "auc, rbp"),
        (lambda: recommender({"type": "nothing"}), "ranks, in-order"),
        (lambda: formats.get("nothing"), "ncf, pairs"),
    ):
        with pytest.raises(sm.ConfigError, match=f"unknown .*'nothing'; it may be .*{theirs}"):
            call()
    with pytest.raises(sm.ConfigError, match="it may be scaled-c with a number c"):
        sm.estimator("scaled-much")
    with pytest.raises(sm.ConfigError, match="unknown metric 'rbp@0'"):
        sm.metric("rbp@0")


BROKEN = {
    "missing": ("no_such_module:thing", "ModuleNotFoundError: No module named 'no_such_module'"),
    "lacking": ("their_metrics:no_such_name", "AttributeError: .*no_such_name.*"),
    "wrong": ("their_metrics:np", "TypeError: .*"),
}
CALLS = {
    "estimators": sm.estimator,
    "metrics": sm.metric,
    "recommenders": lambda name: recommender({"type": name}),
    "formats": formats.get,
}


@pytest.mark.parametrize("group", CALLS)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_package_is_named_in_one_line(site: Path, group: str, name: str) -> None:
    target, why = BROKEN[name]
    install(site, "their-broken", "0.1", {f"sampled_metrics.{group}": {name: target}})
    with pytest.raises(sm.ConfigError) as caught:
        CALLS[group](name)
    expected = f"'{name}' of sampled_metrics.{group}, in package their-broken 0.1, fails: {why}"
    assert re.fullmatch(expected, str(caught.value))


def test_a_name_of_two_packages_is_refused(site: Path) -> None:
    install(site, "their-rival", "0.2", {"sampled_metrics.metrics": {"rbp": "their_metrics:rbp"}})
    with pytest.raises(sm.ConfigError, match=re.escape("in several packages: their-metrics 2.5, their-rival 0.2")):
        sm.metric("rbp")


def test_the_page_shows_the_package() -> None:
    [points], [function] = blocks("plug-ins.md", "toml"), blocks("plug-ins.md", "python")
    assert points in (PLUGIN / "pyproject.toml").read_text(encoding="utf-8")
    assert function in (PLUGIN / "their_metrics.py").read_text(encoding="utf-8")


def test_own_labels_do_not_look_for_plug_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_plugins, "entry_points", None)
    _plugins._found.cache_clear()
    held_out._metric.cache_clear()
    for found in (sm.metric("recall@10"), sm.estimator("bv-0.1"), formats.get("ncf"), recommender({"type": "random"})):
        assert found is not None


def test_command(site: Path) -> None:
    """The command finds the package as any program of that Python would."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(site), str(Path(sm.__file__).parents[1])])}
    ranks = site / "ranks.csv"
    ranks.write_text("rank\n" + "".join(f"{rank}\n" for rank in RANKS))
    options = ["--candidates", "3541", "--negatives", "100", "--metrics", "rbp", "--json"]
    command = [sys.executable, "-m", "sampled_metrics", "correct", ranks, "--estimators", "uncorrected,scaled-0.5"]
    ran = subprocess.run([*command, *options], env=environment, capture_output=True, text=True, check=True)
    plain, half = (row["value"] for row in json.loads(ran.stdout)["rows"])
    assert half == pytest.approx(plain / 2)
    assert plain == pytest.approx(np.mean([0.2 * 0.8 ** (rank - 1) for rank in RANKS]))
