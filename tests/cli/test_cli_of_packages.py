"""Commands on the tables and figures of packages, against their functions."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from taken_away import skip_without

import sampled_metrics as sm
from sampled_metrics.cli import main


def test_lists_with_relevance(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    users = np.repeat(np.arange(20), 8)
    items = np.concatenate([rng.permutation(40)[:8] for _ in range(20)])
    run = pd.DataFrame({"q_id": users, "doc_id": items, "score": rng.random(160)})
    judged = run.assign(relevance=rng.integers(0, 4, 160)).drop(columns="score")
    run.to_csv("run.csv", index=False)
    judged.to_csv("qrels.csv", index=False)
    line = "evaluate run.csv --relevance qrels.csv --relevant-from 2 --metrics mrr,map --json"
    skip_without("ranked_lists")
    main(line.split())
    values = [row["value"] for row in json.loads(capsys.readouterr().out)["rows"]]
    lists = sm.ranked_lists(run, relevance=judged, relevant_from=2)
    assert values == pytest.approx(sm.evaluate(lists, metrics=["mrr", "map"])["value"].tolist())


def test_without_matplotlib_says_in_a_line_what_to_install():
    skip_without("report")
    code = (
        "import sys; sys.modules['matplotlib'] = None; from sampled_metrics.cli import main; "
        "main(sys.argv[1:])"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(sm.__file__).parents[1])}
    command = [sys.executable, "-c", code, "report", "-", "-o", "a.html", "--candidates", "9"]
    process = subprocess.run(
        command, input="3\n4\n", capture_output=True, text=True, check=False, env=environment
    )
    assert process.returncode != 0
    assert process.stdout == ""
    assert process.stderr.count("\n") == 1
    assert "pip install 'sampled-metrics[plots]'" in process.stderr
