"""benchmarks/scale.py: the page that it writes."""

import importlib
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


@pytest.fixture
def scale(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("scale")


def test_the_page_has_every_job_of_the_dataset_in_the_order_of_the_workflow(scale):
    jobs = pd.DataFrame(
        [
            ("large/rank-A", "rank", 20.0, 35.0, 500.0, 600.0),
            ("large/figure-6", "figure_6", 9.0, 8.0, 300.0, 300.0),
            ("large/split", "split", 30.0, 29.0, 400.0, 2000.0),
            ("large/train-A", "train", 10.0, 9.0, 700.0, 700.0),
            ("toy/table-1", "table_1", 1.5, 1.0, 90.0, 90.0),
        ],
        columns=["job", "rule", "seconds", "processor", "sampled", "memory"],
    )
    shape = {"users": 2000, "items": 30, "events": 40_000, "seed": 1}
    ran = importlib.import_module("workflow_run").Run(90.0, 2100.0, jobs)
    page = scale.report(shape, (5.0, 50.0, "most events of an item: 7\n"), {"mean_candidates": 28.6}, ran, 2, 3.21)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in page.splitlines() if line.startswith("|")]
    names = [row[0] for row in rows]
    assert names[names.index("split") : names.index("Machine")] == ["split", "train-A", "rank-A", "figure-6"]
    assert ["split", "30.0", "29.0", "2000", "400"] in rows
    assert "2,000 users, 30 items, 40,000 events" in page
    assert "- most events of an item: 7\n" in page
    assert "**1.5 minutes** on 2 cores" in page
    assert "3.2 processes wanted a core" in page
    assert "largest process took **2000 MiB**" in page
    assert "the largest that ranks **600 MiB**" in page


WRITE = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import scale
shape = {"users": 200, "items": 100, "events": 5000, "seed": 1}
print(*scale.write_events(Path(sys.argv[2]), shape))
"""


def test_the_peak_of_writing_the_events_is_that_of_its_own_process(tmp_path):
    path = tmp_path / "events.zip"
    # a process starts with the peak of the one that starts it, and that of many tests is large
    command = [sys.executable, "-c", WRITE, str(BENCHMARKS), str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120).stdout
    seconds, memory, printed = said.split(maxsplit=2)
    assert path.exists()
    assert float(seconds) > 0
    assert 20 < float(memory) < 1000
    assert printed.startswith("fewest events of a user: 20\n")
