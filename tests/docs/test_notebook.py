"""The notebook runs from its first cell to its last, in the folder in which it lies."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from docs_blocks import DOCS

NOTEBOOK = nbformat.read(DOCS / "notebook.ipynb", as_version=4)
CODE = [cell for cell in NOTEBOOK.cells if cell.cell_type == "code"]


def test_the_notebook_is_valid_and_has_no_outputs() -> None:
    nbformat.validate(NOTEBOOK)
    assert [cell.outputs for cell in CODE] == [[]] * len(CODE)


def test_the_cells_lead_to_a_verdict_and_a_plot(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(DOCS)
    monkeypatch.syspath_prepend(DOCS)  # as Jupyter does
    found: dict[str, Any] = {}
    for cell in CODE:
        exec(compile(cell.source, cell.id, "exec"), found)
    assert found["undecided"]["conclusion"].tolist() == ["undecided"]
    assert found["compared"]["conclusion"].tolist() == ["undecided", "A", "B"]
    assert found["axes"].get_title() == "NDCG@10"
    found["axes"].figure.savefig(tmp_path / "plot.svg")
    assert "</svg>" in (tmp_path / "plot.svg").read_text(encoding="utf-8")
