"""Run the cells of docs/notebook.ipynb and write their outputs into it.

python docs/notebook.py
"""

import ast
import base64
import io
import os
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")

import nbformat
from matplotlib import pyplot
from nbformat.v4 import new_output

NOTEBOOK = Path(__file__).with_name("notebook.ipynb")


def outputs_of(source: str, names: dict[str, Any], number: int) -> list[Any]:
    """Run a cell and return its outputs as Jupyter does: its last expression, and its figures.

    Args:
        source: the code of the cell.
        names: what the cells before it have defined.
        number: of the cell, from 1.
    """
    statements = ast.parse(source).body
    last = statements.pop() if isinstance(statements[-1], ast.Expr) else None
    exec(compile(ast.Module(statements, []), "cell", "exec"), names)  # noqa: S102  # our cells
    outputs = []
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)  # noqa: S307
        data = {"text/plain": repr(value), "text/html": value._repr_html_()}
        outputs.append(new_output("execute_result", data, execution_count=number))
    for figure in map(pyplot.figure, pyplot.get_fignums()):
        picture = io.BytesIO()
        figure.savefig(picture, format="png", metadata={"Software": None})
        data = {"image/png": base64.b64encode(picture.getvalue()).decode()}
        outputs.append(new_output("display_data", data))
    pyplot.close("all")
    return outputs


def run() -> Any:
    """Return the notebook with the outputs of its cells."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    names: dict[str, Any] = {}
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for number, cell in enumerate(cells, start=1):
        cell.execution_count = number
        cell.outputs = outputs_of(cell.source, names, number)
    return notebook


if __name__ == "__main__":
    os.chdir(NOTEBOOK.parent)
    sys.path.insert(0, str(NOTEBOOK.parent))
    nbformat.write(run(), NOTEBOOK)
