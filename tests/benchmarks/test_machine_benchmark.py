"""benchmarks/machine.py: what it says of a machine."""

import importlib.util
import os
from pathlib import Path

import numpy as np
import psutil
import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks/machine.py"


@pytest.fixture(scope="module")
def machine():
    spec = importlib.util.spec_from_file_location("machine", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_caches_are_data_caches_by_level(machine, tmp_path):
    for number, (kind, level, size) in enumerate(
        [("Unified", "3", "32768K"), ("Instruction", "1", "32K"), ("Data", "1", "48K"), ("Unified", "2", "1280K")]
    ):
        folder = tmp_path / f"index{number}"
        folder.mkdir()
        for name, text in {"type": kind, "level": level, "size": size}.items():
            (folder / name).write_text(text + "\n")
    assert machine.caches(tmp_path) == "L1 48 KiB, L2 1280 KiB, L3 32 MiB"


def test_the_description_is_of_this_machine(machine):
    described = machine.describe()
    assert described["NumPy"] == np.__version__
    assert described["Cores"].endswith(str(os.cpu_count()))
    assert float(described["Memory"].split()[0]) == pytest.approx(psutil.virtual_memory().total / 2**30, abs=0.05)
    assert "" not in described.values()
