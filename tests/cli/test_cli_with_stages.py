"""The commands of staged ranks, which write files that the other commands read."""

import io
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
import itertools, time, warnings
import numpy as np
scores = np.load("scores.npy")
calls = []
number = 3
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
async def waits(users, items):
    return score(users, items)
def is_careless(users, items):
    warnings.warn("a warning of mine")
    open("items.txt")  # is never closed
    return score(users, items)
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
        user_ids = [f"u{user}" for user in users]
        item_ids = [f"i{item}" for item in items]
        pd.DataFrame({"user": user_ids, "item": item_ids}).to_csv(f"{name}.csv", index=False)
    Path("items.txt").write_text("".join(f"i{item}\n" for item in range(ITEMS)))
    EXACT.to_frame().to_csv("exact.csv", index=False)
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


def test_ranks_are_those_of_the_function(run):
    ended = stages(run)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("x.npz: staged ranks of 60 users, ")
    frame = sm.StagedRanks.read("x.npz").to_frame().set_index("user")
    above = EXACT.above[[int(user[1:]) for user in frame.index]]
    is_complete = frame["outcome"] == "complete"
    is_beaten = frame["outcome"] == "beaten"
    assert is_complete.sum() > 5
    np.testing.assert_array_equal(frame.loc[is_complete, "above"], above[is_complete])
    assert (above[is_beaten] >= 10).all()


def test_threads_an_order_and_all_candidates(run):
    np.save("order.npy", np.arange(ITEMS))
    assert stages(run, "--concurrency", 4, "--order", "order.npy", "--depth", "none").code == 0
    ended = run("evaluate", "x.npz", "--metrics", "recall@10", "--json")
    assert ended.code == 0
    [row] = json.loads(ended.out)["rows"]
    assert row["value"] == pytest.approx(EXACT.mean(sm.metric("recall@10")), abs=1e-14)


def test_tables_with_another_sign_between_the_fields(run):
    for name in ("train.csv", "test.csv"):
        Path(name).write_text(Path(name).read_text().replace(",", " "))
    ended = stages(run)
    assert ended.code == 1
    assert "--separator" in ended.err
    assert stages(run, "--separator", " ").code == 0


def test_parts_join_and_commands_that_take_no_staged_ranks_say_which_do(run):
    stages(run)
    helps = "".join(run(command, "--help").out for command in ("stages", "concat"))
    examples = re.findall(r"^  sampled-metrics (.*)$", helps, flags=re.MULTILINE)
    assert len(examples) == 3
    for part in (1, 2):
        assert stages(run, "--part", f"{part}/2", output=f"part{part}.npz").code == 0
    assert run("concat", "part1.npz", "part2.npz", "-o", "joined.npz").code == 0
    tables = {}
    for file in ("x.npz", "joined.npz"):
        out = run("evaluate", file, "--metrics", "recall@10,mrr@5", "--csv").out
        tables[file] = pd.read_csv(io.StringIO(out))
    pd.testing.assert_frame_equal(tables["joined.npz"], tables["x.npz"], rtol=1e-12)
    for line in ("correct x.npz", "expect x.npz --negatives 9"):
        refused = run(*line.split())
        assert refused.code == 1
        assert "has staged ranks" in refused.err
        assert refused.err.count("\n") == 1
    for example in examples:
        assert run(*example.split()).code == 0, example


def test_groups_of_users_are_those_of_a_file(run):
    """Staged ranks have no column of groups; exact ranks beside them have the same groups."""
    assert stages(run, "--depth", "none").code == 0
    groups = {f"u{user}": ("young", "old")[user % 2] for user in range(USERS)}
    pd.Series(groups, name="age").rename_axis("user").to_csv("users.csv")
    options = ["--groups", "users.csv:age", "--metrics", "recall@10", "--json"]
    rows = json.loads(run("evaluate", "x.npz", *options).out)["rows"]
    values = {row["group"]: row["value"] for row in rows}
    table = sm.evaluate(EXACT, metrics="recall@10", groups=groups)
    expected = dict(zip(table["group"], table["value"], strict=True))
    assert values == pytest.approx(expected, abs=1e-12)
    compared = run("compare", "x.npz", "exact.csv", *options)
    assert compared.code == 0
    assert {row["conclusion"] for row in json.loads(compared.out)["rows"]} == {"undecided"}
    Path("bad.csv").write_text("user,age\nu1,x\nu1,y\n")
    for where, says in (
        ("bad.csv:town", "column town"),
        ("bad.csv:age", "twice"),
        ("gone.csv:age", "gone.csv: "),
    ):
        refused = run("evaluate", "x.npz", "--groups", where)
        assert refused.code == 1
        file, _ = where.split(":")
        assert refused.err.startswith(f"error: {file}")
        assert says in refused.err


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


@pytest.mark.parametrize(
    "package", ["sampled_metrics.cli.commands", "numpy", "sampled_metrics.stages.rank"]
)
def test_an_interruption_while_modules_are_imported_is_one_line(package):
    """The process interrupts itself where a module is looked for."""
    Path("sitecustomize.py").write_text(f"""
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == {package!r}:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
""")
    options = ("--score", "mine:score", "--ranker", "mine", *FILES, "-o", "x.npz")
    command = (*PROGRAM, "stages", *options)
    process = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": os.getcwd()},
        preexec_fn=takes_interruptions,
    )
    assert (process.returncode, process.stderr.strip()) == (130, "error: interrupted")


def test_warnings_of_others_are_shown_as_python_shows_them(run):
    """Once for each line that warns, and none of files that are left open."""
    options = ("--score", "mine:is_careless", "--ranker", "mine", *FILES, "-o", "x.npz")
    process = subprocess.run((*PROGRAM, "stages", *options), capture_output=True, text=True)
    assert (process.returncode, process.stderr) == (0, "a warning of mine\n")


def test_a_file_of_another_ranker_is_refused_and_one_of_the_same_name_is_read(run):
    assert stages(run).code == 0
    refused = stages(run, ranker="another model")
    assert refused.code == 1
    assert "ranker is mine there, and another model here" in refused.err
    Path("mine.py").write_text(MODULE + "# a comment more\n")
    sys.modules.pop("mine")
    assert stages(run).code == 0
    assert run("stages", "--score", "mine:score", *FILES, "-o", "x.npz").code == 2


@pytest.mark.parametrize(
    ("code", "options", "says"),
    [
        (2, {"score": "mine"}, "MODULE:FUNCTION"),
        (2, {"score": "nothing:score"}, "--score nothing:score: "),
        (
            1,
            {"score": "broken:score"},
            "--score broken:score: broken.py, line 2: ZeroDivisionError",
        ),
        (2, {"score": "mine:other"}, "mine has no other"),
        (2, {"score": "mine:number"}, "is not a function"),
        (1, {"score": "mine:leaves"}, "the function of scores fails with SystemExit: 0"),
        (
            1,
            {"score": "mine:leaves", "--concurrency": "3"},
            "the function of scores fails with SystemExit: 0",
        ),
        (1, {"score": "mine:waits", "--concurrency": "3"}, "coroutine"),
        (1, {"score": "mine:fails"}, "--score mine:fails: mine.py, line 11: TimeoutError"),
        (2, {"output": "x.csv"}, "x.csv: "),
        (2, {"--part": "3/2"}, "'3/2'"),
        (2, {"--depth": "0"}, "depth must be"),
        (1, {"--order": "items.txt"}, "items.txt: "),
    ],
)
def test_what_is_wrong_is_one_line_and_no_file(run, code, options, says):
    arguments = {name: value for name, value in options.items() if not name.startswith("-")}
    words = [
        word for name, value in options.items() if name.startswith("-") for word in (name, value)
    ]
    refused = stages(run, *words, **arguments)
    assert refused.code == code
    assert refused.err.count("\n") == 1
    assert says in refused.err
    assert not list(Path().glob("x.*"))
