"""Recommenders by config entry, and the schema of their parameters."""

import pytest
from jsonschema import Draft202012Validator

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders import RECOMMENDERS, config_schema, recommender, recommender_type

FACTORS = {"factors": 16, "regularization": 10, "unobserved_weight": 0.2, "iterations": 6}


def test_unknown_type_lists_the_known_ones():
    with pytest.raises(
        ConfigError,
        match=r"^unknown recommender type 'knn'; it may be ease, ials, .*, ranks, or the path of a class, as ",
    ):
        recommender({"type": "knn"})


@pytest.mark.parametrize(
    ("entry", "names"),
    [
        ({"type": "ranks"}, "path"),
        ({"type": "item-cf", "exponent": 1, "neighbors": 3}, "neighbors"),
        ({"type": "ials", **FACTORS, "alpha": 1}, "alpha"),
    ],
    ids=["missing", "unknown", "unknown to this type"],
)
def test_an_error_names_the_type_and_the_parameter(entry, names):
    with pytest.raises(ConfigError) as caught:
        recommender(entry)
    assert str(caught.value).startswith(f"recommender of type {entry['type']}: ")
    assert names in str(caught.value)


@pytest.mark.parametrize("kind", RECOMMENDERS)
def test_the_schema_describes_every_parameter_allows_its_default_and_refuses_others(kind):
    schema = config_schema(recommender_type(kind))
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    for each in schema["properties"].values():
        assert each["description"]
        if "default" in each:
            Draft202012Validator(each).validate(each["default"])
    schema["properties"]["mine"] = {}  # the caller's own
    assert "mine" not in config_schema(recommender_type(kind))["properties"]
