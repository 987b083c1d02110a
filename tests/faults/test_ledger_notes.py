"""What is said about a group of faults stands below its table."""

from pathlib import Path

from faults.ledger import Ledger, page


def test_a_note_follows_the_table_of_its_group(tmp_path: Path) -> None:
    folder = tmp_path / "reliability"
    folder.mkdir()
    for name in ("introduction", "kills", "defects"):
        (folder / f"{name}.md").write_text(f"This is {name}.", encoding="utf-8")
    ledger = Ledger()
    ledger.record("kills", "kill -9")
    ledger.record("downloads", "a reset")
    ledger.write(folder)
    text = page(folder)
    places = [
        text.index(part) for part in ("## Downloads", "| a reset |", "| kill -9 |", "This is kills.", "This is def")
    ]
    assert places == sorted(places)
