"""The commands of staged ranks, which write files that the other commands read."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from test_cli import call

import sampled_metrics as sm

USERS = 60
ITEMS = 120
RNG = np.random.default_rng(5)
HELD_OUT = RNG.integers(0, ITEMS, USERS)
SCORES = RNG.random((USERS, ITEMS)).round(3)
SCORES[np.arange(USERS), HELD_OUT] += 0.4
TRAINING = (RNG.random((USERS, ITEMS)) < 0.1) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
EXACT = sm.rank(SCORES, TRAINING, HELD_OUT, user_ids=[f"u{user}" for user in range(USERS)])
MODULE = """
import itertools, time
import numpy as np
scores = np.load("scores.npy")
calls = []
numbers = itertools.count(1)  # whose next() is atomic: calls are made by several threads
def score(users, items):
    return scores[[int(user[1:]) for user in users], [int(item[1:]) for item in items]]
def fails(users, items):
    raise TimeoutError("after 30 s")
def ends(users, items, error=ConnectionError("no network")):
    calls.append(1)
    if len(calls) == 3:
        raise error
    return score(users, items)
def stops(users, items):
    return ends(users, items, KeyboardInterrupt())
class Leaves:
    def __init__(self, error):
        self.error = error
    def __float__(self):
        raise self.error
def leaves(users, items):
    return [Leaves(SystemExit(0))] * len(users)
def hangs(users, items):
    call = next(numbers)
    with open("calls", "a") as file:
        file.write("x")
    if call > 4:
        time.sleep(60)
    return score(users, items)
"""
FILES = ("--training", "train.csv", "--held-out", "test.csv", "--item-ids", "items.txt")


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    """Go to a folder with the files of a catalogue, and with a function of scores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("mine", "broken"):  # of another test
        monkeypatch.delitem(sys.modules, name, raising=False)
    pairs = {"train": TRAINING.nonzero(), "test": (np.arange(USERS), HELD_OUT)}
    for name, (users, items) in pairs.items():
        rows = [f"u{user},i{item}\n" for user, item in zip(users, items, strict=True)]
        Path(f"{name}.csv").write_text("user,item\n" + "".join(rows))
    Path("items.txt").write_text("".join(f"i{item}\n" for item in range(ITEMS)))
    np.save("scores.npy", SCORES)
    Path("mine.py").write_text(MODULE)
    Path("broken.py").write_text("import os\n1 / 0\n")
    yield
    for name in ("mine", "broken"):
        sys.modules.pop(name, None)


@pytest.fixture
def run(capsys):
    return lambda *arguments: call(capsys, *arguments)


def stages(run, *options, score="mine:score", ranker="mine", output="x.npz"):
    fixed = ("--score", score, "--ranker", ranker, *FILES, "--depth", 20)
    return run("stages", *fixed, *options, "-o", output)


def test_parts_with_an_order_and_threads_join_to_all_candidates(run):
    """Their values are the exact ones, also by group of a file."""
    np.save("order.npy", np.arange(ITEMS))
    options = ("--concurrency", 4, "--order", "order.npy", "--depth", "none")
    for part in (1, 2):
        assert stages(run, *options, "--part", f"{part}/2", output=f"part{part}.npz").code == 0
    assert run("concat", "part1.npz", "part2.npz", "-o", "x.npz").code == 0
    groups = {f"u{user}": ("young", "old")[user % 2] for user in range(USERS)}
    pd.Series(groups, name="age").rename_axis("user").to_csv("users.csv")
    shown = ["--groups", "users.csv:age", "--metrics", "recall@10", "--json"]
    rows = json.loads(run("evaluate", "x.npz", *shown).out)["rows"]
    table = sm.evaluate(EXACT, metrics="recall@10", groups=groups)
    expected = dict(zip(table["group"], table["value"], strict=True))
    assert {row["group"]: row["value"] for row in rows} == pytest.approx(expected, abs=1e-12)
    Path("bad.csv").write_text("user,age\nu1,x\nu1,y\n")
    refused = run("evaluate", "x.npz", "--groups", "bad.csv:age")
    assert refused.code == 1
    assert "twice" in refused.err


def test_the_examples_of_the_help_work(run):
    helps = "".join(run(command, "--help").out for command in ("stages", "concat"))
    examples = re.findall(r"^  sampled-metrics (.*)$", helps, flags=re.MULTILINE)
    assert len(examples) == 3
    np.save("order.npy", np.arange(ITEMS))
    for part in (1, 2):
        assert stages(run, "--part", f"{part}/2", output=f"part{part}.npz").code == 0
    for example in examples:
        assert run(*example.split()).code == 0, example


@pytest.mark.parametrize(
    ("score", "code", "says"), [("ends", 1, "no network"), ("stops", 130, "error: interrupted")]
)
def test_a_run_that_stops_says_where_its_scores_are_and_goes_on(run, score, code, says):
    stopped = stages(run, score=f"mine:{score}")
    assert stopped.code == code
    last_line = stopped.err.splitlines()[-1]
    assert says in last_line
    assert "x.npz.journal" in last_line
    assert Path("x.npz.journal").exists()
    resumed = stages(run)
    assert resumed.code == 0
    assert (
        f"goes on from x.npz.journal: ranker mine, begun {date.today().isoformat()}" in resumed.err
    )
    assert not Path("x.npz.journal").exists()
    repeated = stages(run, score="mine:fails")  # nothing is left to score
    assert repeated.code == 0
    assert repeated.out.startswith("x.npz: ")
    assert "reads x.npz, and scores nothing: ranker mine, begun" in repeated.err


PROGRAM = (sys.executable, "-m", "sampled_metrics")


def test_the_first_interruption_ends_a_run_whose_calls_hang(run):
    """The scores so far are kept, and no call is made after it."""
    line = "--ranker mine --depth 20 --pairs-per-call 64 --concurrency 3 -o x.npz"
    options = line.split()
    command = (*PROGRAM, "stages", "--score", "mine:hangs", *FILES, *options)
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, preexec_fn=takes_interruptions
    ) as process:
        try:
            wait_until(lambda: Path("calls").exists() and Path("calls").stat().st_size == 7)
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=20)  # three calls sleep for a minute
        finally:
            process.kill()  # which has ended, unless the test fails
    assert process.returncode == 130
    assert err.strip() == (
        "error: interrupted; what was scored is in x.npz.journal, and the same call goes on "
        "from there"
    )
    assert Path("calls").stat().st_size == 7
    assert not Path("x.npz").exists()
    assert run("stages", "--score", "mine:score", *FILES, *options).code == 0
    assert sorted(path.name for path in Path().glob("x.*")) == ["x.npz"]


def takes_interruptions():
    """Undo what `nohup` and `&` of a shell do."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until(is_so, seconds=60):
    end = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_an_interruption_while_modules_are_imported_is_one_line():
    """The process interrupts itself where numpy is looked for; it is the slowest import."""
    Path("sitecustomize.py").write_text("""
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == "numpy":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
""")
    command = (*PROGRAM, "stages", "--score", "mine:score", "--ranker", "mine", *FILES)
    process = subprocess.run(
        (*command, "-o", "x.npz"),
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        preexec_fn=takes_interruptions,
    )
    assert (process.returncode, process.stderr.strip()) == (130, "error: interrupted")


@pytest.mark.parametrize(
    ("code", "options", "says"),
    [
        pytest.param(2, {"score": "nothing:score"}, "nothing", id="no module"),
        pytest.param(1, {"score": "broken:score"}, "broken.py, line 2", id="module with an error"),
        pytest.param(1, {"score": "mine:leaves"}, "SystemExit", id="leaves"),
        pytest.param(1, {"score": "mine:fails"}, "mine.py, line 10: TimeoutError", id="fails"),
        pytest.param(2, {"output": "x.csv"}, "x.csv", id="other format"),
    ],
)
def test_what_is_wrong_is_one_line_and_no_file(run, code, options, says):
    refused = stages(run, **options)
    assert refused.code == code
    assert refused.err.count("\n") == 1
    assert says in refused.err
    assert not list(Path().glob("x.*"))
