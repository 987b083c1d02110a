"""What the tests of faults tried and what came of it: a csv for each group, and the page that shows them all.

python tests/faults/ledger.py     # assembles docs/reliability.md from the csv files, as after a merge
"""

import csv
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs/reliability"
COLUMNS = ("fault", "tried", "completed", "refused", "lost_or_wrong", "seeds")

Outcome = Literal["completed", "refused", "lost_or_wrong"]


@dataclass
class Tries:
    """What came of a fault.

    Attributes:
        completed: tries that ended with the right result, the same as without the fault.
        refused: tries that ended in one line that says what is wrong, with nothing half-written.
        lost_or_wrong: tries that ended otherwise.
        seeds: those that repeat a try; empty where nothing is random.
    """

    completed: int = 0
    refused: int = 0
    lost_or_wrong: int = 0
    seeds: set[int] = field(default_factory=set)

    @property
    def tried(self) -> int:
        return self.completed + self.refused + self.lost_or_wrong


class Ledger:
    """Counts tries by group and fault, in the order in which they are first tried."""

    def __init__(self) -> None:
        self.groups: dict[str, dict[str, Tries]] = defaultdict(lambda: defaultdict(Tries))

    def record(
        self, group: str, fault: str, seed: int | None = None, outcome: Outcome = "completed", tries: int = 1
    ) -> None:
        """Count a try; to be called when all that the test asserts of it has held.

        Args:
            group: what the table is called, in lower case: downloads, kills. It becomes a file name.
            fault: what was done, in a few words; the row of the table.
            seed: what repeats the try (`--fault-seed`); None where nothing is random.
            outcome: completed with the right result, or refused in one line.
            tries: how many, where a test makes several that are alike.
        """
        assert re.fullmatch(r"[a-z][a-z-]*", group), group
        assert outcome in ("completed", "refused", "lost_or_wrong"), outcome
        row = self.groups[group][fault]
        setattr(row, outcome, getattr(row, outcome) + tries)
        if seed is not None:
            row.seeds.add(seed)

    def write(self, folder: Path) -> None:
        """Write the csv of each group that was tried, and assemble the page beside the folder."""
        folder.mkdir(parents=True, exist_ok=True)
        for group, faults in self.groups.items():
            with (folder / f"{group}.csv").open("w", encoding="utf-8", newline="") as file:
                writer = csv.writer(file, lineterminator="\n")
                writer.writerow(COLUMNS)
                for fault, row in faults.items():
                    counts = (row.tried, row.completed, row.refused, row.lost_or_wrong)
                    writer.writerow((fault, *counts, ranges(row.seeds)))
        folder.with_suffix(".md").write_text(page(folder), encoding="utf-8")


def ranges(seeds: Iterable[int]) -> str:
    """Write whole numbers in short: 0-99 103."""
    runs: list[list[int]] = []
    for seed in sorted(set(seeds)):
        if runs and seed == runs[-1][1] + 1:
            runs[-1][1] = seed
        else:
            runs.append([seed, seed])
    return " ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def page(folder: Path) -> str:
    """Return the page: introduction.md, a table for each csv file with what its md file says, and defects.md."""
    groups = {}
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            groups[path.stem] = list(csv.DictReader(file))
    parts = [
        (folder / "introduction.md").read_text(encoding="utf-8"),
        summary(groups),
        *(part for group, rows in groups.items() for part in (section(group, rows), note(folder / f"{group}.md"))),
        (folder / "defects.md").read_text(encoding="utf-8"),
    ]
    return "\n\n".join(part.strip() for part in parts if part) + "\n"


def note(path: Path) -> str:
    """Return what there is to say about a group beside its table: how it was done, and what it does not show."""
    return path.read_text(encoding="utf-8") if path.exists() else ""


def summary(groups: dict[str, list[dict[str, str]]]) -> str:
    """Return the table of the counts of each group, and of all."""
    lines = [
        "## In all",
        "",
        "| group | tried | completed | refused | nothing lost, nothing wrong |",
        "|---|--:|--:|--:|--:|",
    ]
    every = [row for rows in groups.values() for row in rows]
    for name, rows in [*((f"[{title(group)}](#{group})", rows) for group, rows in groups.items()), ("all", every)]:
        tried, completed, refused, _ = totals(rows)
        lines.append(f"| {name} | {tried} | {completed} | {refused} | {completed + refused} of {tried} |")
    return "\n".join(lines)


def section(group: str, rows: list[dict[str, str]]) -> str:
    """Return the heading of a group, its count, and the table of its faults."""
    tried, completed, refused, _ = totals(rows)
    has_seeds = any(row["seeds"] for row in rows)
    lines = [
        f"## {title(group)}",
        "",
        f"Nothing lost, nothing wrong: {completed + refused} of {tried}.",
        "",
        "| fault | tried | completed | refused | lost or wrong |" + (" seeds |" if has_seeds else ""),
        "|---|--:|--:|--:|--:|" + ("---|" if has_seeds else ""),
    ]
    for row in rows:
        cells = [row[column].replace("|", r"\|") for column in COLUMNS[: 6 if has_seeds else 5]]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def totals(rows: list[dict[str, str]]) -> tuple[int, int, int, int]:
    """Return how many tries were made, completed, refused, and lost or wrong."""
    tried, completed, refused, lost = (sum(int(row[column]) for row in rows) for column in COLUMNS[1:5])
    return tried, completed, refused, lost


def title(group: str) -> str:
    """Return what a group is called as a heading."""
    return group.replace("-", " ").capitalize()


if __name__ == "__main__":
    FOLDER.with_suffix(".md").write_text(page(FOLDER), encoding="utf-8")
