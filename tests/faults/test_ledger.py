"""What the ledger counts, and that the page is what its csv files make."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from faults.ledger import FOLDER, ROOT, Ledger, page, ranges


def written(ledger: Ledger, folder: Path) -> str:
    folder.mkdir(exist_ok=True)
    (folder / "introduction.md").write_text("# Title\n")
    (folder / "defects.md").write_text("## Defects\n")
    ledger.write(folder)
    return folder.with_suffix(".md").read_text()


def test_a_row_counts_the_tries_of_a_fault(tmp_path: Path) -> None:
    ledger = Ledger()
    for seed in (3, 1, 2, 7):
        ledger.record("kills", "at a random moment", seed=seed)
    ledger.record("kills", "twice", outcome="refused", tries=5)
    ledger.record("kills", "twice", outcome="lost_or_wrong")
    text = written(ledger, tmp_path / "reliability")
    assert (tmp_path / "reliability/kills.csv").read_text() == (
        "fault,tried,completed,refused,lost_or_wrong,seeds\nat a random moment,4,4,0,0,1-3 7\ntwice,6,0,5,1,\n"
    )
    assert "Nothing lost, nothing wrong: 9 of 10.\n" in text
    assert "| at a random moment | 4 | 4 | 0 | 0 | 1-3 7 |\n" in text
    assert "| all | 10 | 4 | 5 | 9 of 10 |" in text
    assert text.startswith("# Title\n")
    assert text.endswith("## Defects\n")


def test_a_run_of_one_group_leaves_the_others_as_they_were(tmp_path: Path) -> None:
    first, second = Ledger(), Ledger()
    first.record("kills", "a")
    first.record("archives", "b")
    second.record("kills", "c")
    written(first, tmp_path / "reliability")
    text = written(second, tmp_path / "reliability")
    assert "| b | 1 | 1 | 0 | 0 |" in text
    assert "| c | 1 | 1 | 0 | 0 |" in text
    assert "| a | 1" not in text


def test_seeds_are_written_in_short() -> None:
    assert ranges([]) == ""
    assert ranges([5]) == "5"
    assert ranges([2, 1, 9, 3, 11, 10]) == "1-3 9-11"


@pytest.mark.slow
def test_a_test_that_fails_counts_as_lost_or_wrong_and_seeds_repeat(tmp_path: Path) -> None:
    """A run of pytest in a folder of its own, with this folder's conftest."""
    folder = tmp_path / "faults"
    folder.mkdir()
    for name in ("__init__.py", "conftest.py", "ledger.py"):
        (folder / name).write_text((Path(__file__).parent / name).read_text())
    (folder / "test_made_up.py").write_text(
        textwrap.dedent(
            """
            import pytest

            GROUP = "made-up"

            @pytest.mark.seeds(range(3))
            def test_odd(ledger, seed):
                assert seed != 1
                ledger.record(GROUP, "odd", seed=seed, outcome="refused")
            """
        )
    )
    (tmp_path / "reliability").mkdir()
    for name in ("introduction.md", "defects.md"):
        (tmp_path / "reliability" / name).write_text("")

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, "faults"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    ran = run("--reliability", "reliability")
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert (tmp_path / "reliability/made-up.csv").read_text() == (
        "fault,tried,completed,refused,lost_or_wrong,seeds\nodd,2,0,2,0,0 2\ntest_odd[1],1,0,0,1,1\n"
    )
    assert "1 passed" in run("--fault-seed", "7").stdout
    assert "repeats one try" in run("--fault-seed", "7", "--reliability", "reliability").stderr


def test_the_page_is_what_its_files_make() -> None:
    assert (ROOT / "docs/reliability.md").read_text(encoding="utf-8") == page(FOLDER)
