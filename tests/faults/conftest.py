"""What the tests of faults share: the time to fuzz, and the small study, before it has run and after."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from faults.whole_run import Undisturbed


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--minutes", metavar="M", type=float, help="how long to fuzz, in all; without it a moment")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> "Undisturbed":
    """The whole small study, run once, with nothing in its way."""
    from faults.whole_run import undisturbed_run  # not wanted by most tests of faults

    return undisturbed_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def fresh(tmp_path: Path) -> Path:
    """The folder of the small study before anything has run."""
    from faults.whole_run import small_study

    return small_study(tmp_path / "project").folder
