"""The config's schema describes every key, and config.yaml is complete and allowed."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from sampled_metrics.recommenders import RECOMMENDERS, config_schema
from sampled_metrics.workflow.config import complete

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8"))
CONFIG = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def properties(schema: dict[str, Any], path: str = "") -> dict[str, dict[str, Any]]:
    """Every property of a schema, at any depth, by its dotted path."""
    found = {}
    for name, below in schema.get("properties", {}).items():
        found[f"{path}{name}"] = below
        found |= properties(below, f"{path}{name}.")
    if isinstance(schema.get("additionalProperties"), dict):
        found |= properties(schema["additionalProperties"], f"{path}*.")
    return found


@pytest.mark.parametrize("key", properties(SCHEMA))
def test_every_key_is_described(key: str) -> None:
    assert len(properties(SCHEMA)[key].get("description", "")) > 2


@pytest.mark.parametrize("kind", RECOMMENDERS)
def test_every_parameter_of_a_recommender_is_described(kind: str) -> None:
    for name, below in properties(config_schema(RECOMMENDERS[kind])).items():
        assert len(below.get("description", "")) > 2, name


def test_config_yaml_says_everything_itself() -> None:
    """What the paper fixes stands in config.yaml, not in a default that one would have to look up."""
    completed = copy.deepcopy(CONFIG)
    complete(completed, SCHEMA)
    not_in_the_paper = {"estimator_study": None, "figures": CONFIG["figures"] | {"proof": None}}
    assert completed == CONFIG | not_in_the_paper


def test_defaults_of_the_schema_are_allowed_by_it() -> None:
    least = {
        "study": ["a"],
        "datasets": {"a": {"format": "movielens-dat", "urls": ["https://example.org/a.zip"]}},
        "recommenders": {"Y": {"type": "item-cf", "exponent": 3}},
    }
    complete(least, SCHEMA)
    assert least["toy"]["ranks"]["C"] == [212, 2, 743, 5342, 1548]
    assert least["recommenders"]["Y"]["row_norm"] == "l2"
    assert least["figures"]["figure-3"] == {"negatives": [1, 10, 100, 1000], "zoom": 1000}
