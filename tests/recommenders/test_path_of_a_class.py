"""Recommenders whose type is the path of a class, in the working folder or in an installed package."""

import sys
from pathlib import Path

import numpy as np
import pytest
from two_groups import two_groups

from sampled_metrics.errors import ConfigError
from sampled_metrics.recommenders import recommender
from sampled_metrics.study.config import check_recommender

MODULE = """
from dataclasses import dataclass, field

import numpy as np

from sampled_metrics.recommenders import Recommender
from sampled_metrics.recommenders.models import FactorModel
from sampled_metrics.recommenders.recommender import parameter


@dataclass(frozen=True)
class InOrder(Recommender):
    reverse: bool = parameter("whether the last item comes first", default=False, type="boolean")

    def fit(self, training, rng, memory=None):
        users, items = training.shape
        scores = np.arange(items, dtype=np.float64)
        return FactorModel(np.ones((users, 1)), (scores if self.reverse else -scores)[:, np.newaxis])


@dataclass(frozen=True)
class WithoutFit(Recommender):
    pass


@dataclass(frozen=True)
class PlainField(Recommender):
    reverse: bool = False


class NoDataclass(Recommender):
    reverse: bool = False


def function():
    pass
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A working folder with own_models/models.py and modules that fail."""
    (tmp_path / "own_models").mkdir()
    (tmp_path / "own_models/models.py").write_text(MODULE)
    (tmp_path / "own_fails.py").write_text("import no_such_module\n")
    (tmp_path / "own_ends.py").write_text("import sys\nsys.exit('no licence')\n")
    (tmp_path / "own_typo.py").write_text("class Mine(:\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in [name for name in sys.modules if name.startswith("own_")]:
        del sys.modules[name]


def test_a_class_in_the_working_folder_is_found_and_its_parameters_are_checked(here: Path) -> None:
    entry = {"type": "own_models.models.InOrder"}
    check_recommender(entry, "recommenders.W")
    assert entry == {"type": "own_models.models.InOrder", "reverse": False}
    split = two_groups()
    forwards, backwards = (
        recommender(entry | {"reverse": reverse}).fit(split.training, np.random.default_rng(0)).item_factors
        for reverse in (False, True)
    )
    assert forwards.tolist() == (-backwards).tolist()
    wrong = r"^recommenders\.W: unknown key 'revers' \(did you mean reverse\?\); it may be reverse, type$"
    with pytest.raises(ConfigError, match=wrong):
        check_recommender({"type": "own_models.models.InOrder", "revers": True}, "recommenders.W")
    with pytest.raises(ConfigError, match=r"^recommenders\.W\.reverse: must be of type boolean, not 1$"):
        check_recommender({"type": "own_models.models.InOrder", "reverse": 1}, "recommenders.W")


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("own_gone.Mine", "cannot be imported: ModuleNotFoundError: No module named 'own_gone'"),
        ("own_models.gone.Mine", "cannot be imported: ModuleNotFoundError: No module named 'own_models.gone'"),
        ("own_models.models.Gone", "cannot be imported: AttributeError: module 'own_models.models' has no attribute"),
        ("own_models.models.", "cannot be imported: AttributeError: module 'own_models.models' has no attribute ''"),
        (".Mine", "cannot be imported: ValueError: Empty module name"),
        ("..models.Mine", "cannot be imported: TypeError: the 'package' argument is required"),
        ("own_fails.Mine", "cannot be imported: ModuleNotFoundError: No module named 'no_such_module'"),
        ("own_ends.Mine", "cannot be imported: SystemExit: no licence"),
        ("own_typo.Mine", "cannot be imported: SyntaxError: invalid syntax (own_typo.py, line 1)"),
        ("own_models.models.function", "is not a subclass of sampled_metrics.recommenders.Recommender"),
        ("own_models.models.np", "is not a subclass of sampled_metrics.recommenders.Recommender"),
        ("own_models.models.PlainField", "is not a dataclass whose fields are defined by `parameter`"),
        ("own_models.models.NoDataclass", "is not a dataclass whose fields are defined by `parameter`"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_with_key_and_path(here: Path, kind: str, says: str) -> None:
    with pytest.raises(ConfigError) as refused:
        check_recommender({"type": kind}, "recommenders.W")
    assert str(refused.value).startswith(f"recommenders.W.type: {kind!r} {says}")
    assert "\n" not in str(refused.value)


def test_a_class_that_cannot_train_is_refused(here: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"^recommenders\.W\.recommender of type own_models\.models\.WithoutFit: .*fit"
    ):
        check_recommender({"type": "own_models.models.WithoutFit"}, "recommenders.W")
