"""Recommenders by config entry: their types and parameters, and types that are a class's path."""

import sys

import numpy as np
import pytest
from jsonschema import Draft202012Validator

from sampled_metrics.errors import ConfigError
from sampled_metrics_study.config import check_recommender
from sampled_metrics_study.recommenders import config_schema
from sampled_metrics_study.recommenders.registry import RECOMMENDERS, recommender, recommender_type

MODULE = """
from dataclasses import dataclass

import numpy as np

from sampled_metrics_study.recommenders import Recommender
from sampled_metrics_study.recommenders.models import FactorModel
from sampled_metrics_study.recommenders.recommender import parameter


@dataclass(frozen=True)
class InOrder(Recommender):
    reverse: bool = parameter("whether the last item comes first", default=False, type="boolean")

    def fit(self, training, rng, memory=None):
        users, items = training.shape
        scores = np.arange(items, dtype=np.float64)
        factors = scores if self.reverse else -scores
        return FactorModel(np.ones((users, 1)), factors[:, np.newaxis])


class NoDataclass(Recommender):
    reverse: bool = False


WithoutFit = dataclass(frozen=True)(type("WithoutFit", (Recommender,), {}))
PlainField = dataclass(frozen=True)(NoDataclass)
function = print
"""
FAILING = {
    "fails": "import no_such_module",
    "ends": "import sys\nsys.exit('no licence')",
}


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder with own_models/models.py and modules that fail."""
    (tmp_path / "own_models").mkdir()
    (tmp_path / "own_models/models.py").write_text(MODULE)
    for name, code in FAILING.items():
        (tmp_path / f"own_{name}.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_a_class_in_the_working_folder_is_found_and_its_parameters_are_checked(here):
    entry = {"type": "own_models.models.InOrder"}
    check_recommender(entry, "recommenders.W")
    assert entry == {"type": "own_models.models.InOrder", "reverse": False}
    for reverse, factors in ((False, [0, -1, -2]), (True, [0, 1, 2])):
        algorithm = recommender(entry | {"reverse": reverse})
        model = algorithm.fit(np.zeros((2, 3)), np.random.default_rng(0))
        assert model.item_factors.ravel().tolist() == factors
    for wrong, says in (
        ({"revers": True}, r"W: unknown key 'revers' \(did you mean reverse\?\)"),
        ({"reverse": 1}, r"W\.reverse: 1 is not of type"),
        ({"type": "own_models.models.WithoutFit"}, r"W\.recommender of type .*fit"),
    ):
        with pytest.raises(ConfigError, match=rf"^recommenders\.{says}"):
            check_recommender({"type": "own_models.models.InOrder"} | wrong, "recommenders.W")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        (
            "own_fails.Mine",
            "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'",
        ),
        ("own_ends.Mine", "cannot be imported: SystemExit: no licence"),
        (
            "own_models.models.PlainField",
            "is not a dataclass whose fields are defined by `parameter`",
        ),
        (
            "own_models.models.function",
            "is not a subclass of sampled_metrics_study.recommenders.Recommender",
        ),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_key_and_path(here, kind, says):
    with pytest.raises(ConfigError) as refused:
        check_recommender({"type": kind}, "recommenders.W")
    assert str(refused.value).startswith(f"recommenders.W.type: {kind!r} {says}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("kind", RECOMMENDERS)
def test_the_schema_describes_every_parameter_allows_its_default_and_refuses_others(kind):
    schema = config_schema(recommender_type(kind))
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    for parameter in schema["properties"].values():
        assert parameter["description"]
        if "default" in parameter:
            Draft202012Validator(parameter).validate(parameter["default"])
    schema["properties"]["mine"] = {}  # the caller's own
    assert "mine" not in config_schema(recommender_type(kind))["properties"]
