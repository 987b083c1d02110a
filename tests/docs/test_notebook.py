"""The notebook has the outputs of today's library, and leads to a verdict and a plot."""

import runpy

import nbformat
import pytest
from docs_blocks import DOCS

NOTEBOOK = runpy.run_path(str(DOCS / "notebook.py"))


def texts(notebook):
    """The outputs of all cells as text, where a plot is a word."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [output.data.get("text/plain", "plot") for output in outputs]


@pytest.mark.slow
def test_the_notebook_has_the_outputs_of_its_cells(monkeypatch):
    monkeypatch.chdir(DOCS)
    monkeypatch.syspath_prepend(DOCS)  # as Jupyter does
    saved = nbformat.read(DOCS / "notebook.ipynb", as_version=4)
    nbformat.validate(saved)
    today = texts(NOTEBOOK["run"]())
    assert texts(saved) == today
    assert sum("undecided" in text for text in today) == 2  # of samples, and of A and B
    assert today[-1] == "plot"
