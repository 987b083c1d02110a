"""The notebook runs from its first cell to its last, in the folder in which it lies."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from docs_blocks import DOCS


def test_the_cells_have_no_outputs_and_lead_to_a_verdict_and_a_plot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    notebook = nbformat.read(DOCS / "notebook.ipynb", as_version=4)
    nbformat.validate(notebook)
    monkeypatch.chdir(DOCS)
    monkeypatch.syspath_prepend(DOCS)  # as Jupyter does
    names: dict[str, Any] = {}
    for cell in (cell for cell in notebook.cells if cell.cell_type == "code"):
        assert cell.outputs == []
        exec(compile(cell.source, cell.id, "exec"), names)
    assert names["undecided"]["conclusion"].tolist() == ["undecided"]
    assert names["decided"]["conclusion"].tolist() == ["FMLP-Rec"]
    assert names["compared"]["conclusion"].tolist() == ["undecided", "A", "B"]
    assert names["axes"].get_title() == "NDCG@10"
    names["axes"].figure.savefig(tmp_path / "plot.svg")
    assert "</svg>" in (tmp_path / "plot.svg").read_text(encoding="utf-8")
