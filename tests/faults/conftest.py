"""The ledger of the faults that are tried, and the seeds that repeat a try."""

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from faults.ledger import Ledger

if TYPE_CHECKING:
    from faults.whole_run import Undisturbed

LEDGER = pytest.StashKey[Ledger]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--reliability", metavar="FOLDER", help="write a csv of each group of faults, and the page beside it"
    )
    parser.addoption(
        "--fault-seed", metavar="N", type=int, help="repeat the tries that have this seed, and no other seed"
    )
    parser.addoption("--minutes", metavar="M", type=float, help="how long to fuzz, in all; without it a moment")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--reliability") and config.getoption("--fault-seed") is not None:
        raise pytest.UsageError("--fault-seed repeats one try; the table of --reliability is of all")
    if config.getoption("--reliability") and config.getoption("numprocesses", None):
        raise pytest.UsageError("--reliability counts the tries of one process; leave -n away")
    config.stash[LEDGER] = Ledger()
    config.addinivalue_line("markers", "seeds(numbers, fast=None): run with each seed, as slow but for so many")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    marker = metafunc.definition.get_closest_marker("seeds")
    if marker is not None:
        chosen = metafunc.config.getoption("--fault-seed")
        fast = marker.kwargs.get("fast")
        seeds = [
            pytest.param(seed, marks=[pytest.mark.slow] if fast is not None and position >= fast else [])
            for position, seed in enumerate(marker.args[0])
        ]
        metafunc.parametrize("seed", seeds if chosen is None else [chosen])


@pytest.fixture(scope="session")
def ledger(pytestconfig: pytest.Config) -> Iterator[Ledger]:
    """Where a test records each try whose assertions have held; one that fails is counted as lost or wrong."""
    return pytestconfig.stash[LEDGER]


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


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, Any]:
    report = yield
    module = getattr(item, "module", None)
    group = getattr(module, "GROUP", None)
    if report.failed and group and Path(item.path).parent == Path(__file__).parent:
        seed = getattr(item, "callspec", None) and item.callspec.params.get("seed")
        item.config.stash[LEDGER].record(group, item.name, seed=seed, outcome="lost_or_wrong")
    return report


def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    folder = session.config.getoption("--reliability")
    if folder and exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        session.config.stash[LEDGER].write(Path(folder))
