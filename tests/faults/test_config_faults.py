"""Configs that are wrong or mean harm: refused in one line; no shell runs, nothing is written."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from made_up_project import ROOT, complete_config

from sampled_metrics.errors import ConfigError

DATASET = {"path": "made-up.zip", "format": "movielens-dat"}
COMMAND = "$(touch pwned)"


def named(name):
    """A study of a dataset of that name."""
    return yaml.safe_dump({"study": [name], "datasets": {name: DATASET}})


def dataset(**changes):
    return yaml.safe_dump({"datasets": {"made-up": DATASET | changes}})


def ranks(path):
    return yaml.safe_dump({"recommenders": {"R": {"type": "ranks", "path": path}}})


REFUSED: dict[str, tuple[str, str]] = {
    "a dataset called $(touch pwned)": (named(COMMAND), "cannot be a name"),
    "a dataset whose name ends in a line end": (named("made-up\n"), "cannot be a name"),
    "a dataset called provenance.json": (
        named("provenance.json"),
        "study.0: 'provenance.json' cannot be the name of a dataset",
    ),
    "an alias of itself": (
        "seed: 1\ntoy: &a\n  b: {c: *a}\n",
        "line 3: aliases expand",
    ),
    "aliases that expand without end": (
        "a: &a [x, x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{key}: &{key} [{', '.join([f'*{below}'] * 10)}]\n"
            for below, key in pairwise("abcdefghi")
        ),
        "line 5: aliases expand to more than 100,000 values",
    ),
    "text for the whole": ("study\n", "must be a mapping of keys, not a str"),
    "a file of ranks called $(touch pwned)": (ranks(COMMAND), "there is no file '$(touch pwned)'"),
    "a file among the results, which would be removed": (
        ranks("results/{dataset}/claims.csv"),
        "'results/made-up/claims.csv' is among the results of this study",
    ),
    "a file with a zero byte in its name": (dataset(path="made-up\0.zip"), "zero byte"),
    "a Python object": (
        "seed: !!python/object/apply:os.system ['touch pwned']\n",
        "could not determine a constructor",
    ),
    "a key twice": (
        "sampling:\n  negatives: 1\n  'negatives': 2\n",
        "line 3: the key 'negatives' is there twice",
    ),
    "bytes that are no UTF-8": ("\udcff\udcfe\n", "can't decode"),
}


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("made-up.zip").touch()
    return tmp_path / "study.yaml"


def settled(study, text):
    """The config of a study of the made-up dataset and of a file over it."""
    study.write_bytes(text.encode("utf-8", "surrogateescape"))
    return complete_config({"study": ["made-up"], "datasets": {"made-up": DATASET}}, study)


@pytest.mark.parametrize("fault", REFUSED)
def test_refused(fault, study):
    text, says = REFUSED[fault]
    with pytest.raises(ConfigError) as caught:
        settled(study, text)
    message = str(caught.value)
    assert says in message
    assert len(message.splitlines()) == 1
    assert len(message) <= 2000
    assert sorted(study.parent.iterdir()) == [study.with_name("made-up.zip"), study]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("recommenders: {1: {type: popularity}}\n", "recommenders: 1 cannot be a name"),
        ("study: [on]\n", "study.0: True cannot be the name of a dataset"),
    ],
)
def test_a_name_that_yaml_does_not_read_as_text_must_be_quoted(text, says, study):
    with pytest.raises(ConfigError, match=f"^{says}"):
        settled(study, text)


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        pytest.param(
            "recommenders: {1e3: {type: popularity}, '1': {type: random}}",
            "seed",
            2020,
            id="names that look like numbers",
        ),
        pytest.param(
            "sampling: &a {negatives: 7, repetitions: 5}\ntoy: {<<: *a, negatives: 9, "
            "repetitions: 3}\n",
            "sampling",
            {
                "negatives": 7,
                "repetitions": 5,
                "replacement": False,
                "readings": ["default"],
                "verdicts": 20,
            },
            id="a merge that is overridden",
        ),
        pytest.param(f"seed: {2**128 - 1}\n", "seed", 2**128 - 1, id="128 bits"),
        pytest.param("\ufeffseed: 5\r\n", "seed", 5, id="a file of Windows"),
    ],
)
def test_accepted(text, key, value, study):
    assert settled(study, text)[key] == value


def test_no_rule_has_a_shell_command():
    """So no shell runs what is in a name of a file."""
    for path in [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]:
        text = path.read_text(encoding="utf-8")
        assert not re.findall(
            r"^\s*(?:shell:|run:|shell\(|os\.system|subprocess)", text, re.MULTILINE
        )
