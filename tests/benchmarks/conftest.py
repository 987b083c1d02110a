"""Scripts of benchmarks/, imported as a script imports them."""

import importlib
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def script():
    """A function that imports a script by its name; the path and the modules are as before
    afterwards.
    """
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module
    sys.path.remove(str(FOLDER))
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)
