"""The commands of staged ranks: from files and a function of scores to ranks that the other commands read."""

import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics import cli

USERS, ITEMS = 120, 200
RNG = np.random.default_rng(5)
HELD_OUT = RNG.integers(0, ITEMS, USERS)
SCORES = RNG.random((USERS, ITEMS)).round(3)
SCORES[np.arange(USERS), HELD_OUT] += 0.4
TRAINING = (RNG.random((USERS, ITEMS)) < 0.1) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
MODULE = """
import numpy as np
scores = np.load("scores.npy")
def score(users, items):
    return scores[[int(user[1:]) for user in users], [int(item[1:]) for item in items]]
def fails(users, items):
    raise TimeoutError("after 30 s")
calls = []
def stops(users, items):
    calls.append(1)
    if len(calls) == 3:
        raise KeyboardInterrupt
    return score(users, items)
def ends(users, items):
    calls.append(1)
    if len(calls) == 3:
        raise ConnectionError("no network")
    return score(users, items)
number = 3
"""
RANKER = ("--ranker", "mine")  # one recommender by any function
FILES = ("--training", "train.csv", "--held-out", "test.csv", "--item-ids", "items.txt")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Go to a folder with the files of a catalogue, and with a function of scores."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    user, item = TRAINING.nonzero()
    pd.DataFrame({"user": [f"u{one}" for one in user], "item": [f"i{one}" for one in item]}).to_csv(
        "train.csv", index=False
    )
    held = pd.DataFrame({"user": [f"u{one}" for one in range(USERS)], "item": [f"i{one}" for one in HELD_OUT]})
    held.to_csv("test.csv", index=False)
    (tmp_path / "items.txt").write_text("".join(f"i{one}\n" for one in range(ITEMS)))
    np.save("scores.npy", SCORES)
    (tmp_path / "mine.py").write_text(MODULE)
    (tmp_path / "broken.py").write_text("import os\n1 / 0\n")
    for name in ("mine", "broken"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    yield tmp_path
    for name in ("mine", "broken"):
        sys.modules.pop(name, None)


@pytest.fixture
def run(capsys):
    """Run a command; return its exit code, stdout and stderr."""

    def call(*arguments):
        code = 0
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code or 0
        return code, *capsys.readouterr()

    return call


def stages(run, *options, score="mine:score", output="x.parquet"):
    return run("stages", "--score", score, *FILES, "--depth", 20, *options, "-o", output)


def test_ranks_are_those_of_the_function(run):
    code, out, err = stages(run)
    assert (code, err) == (0, "")
    assert out.startswith("x.parquet is written: staged ranks of 120 users, ")
    frame = sm.StagedRanks.read("x.parquet").to_frame().set_index("user")
    above = sm.rank(SCORES, TRAINING, HELD_OUT).above[[int(user[1:]) for user in frame.index]]
    is_complete, is_beaten = (frame["outcome"] == outcome for outcome in ("complete", "beaten"))
    assert is_complete.sum() > 10
    np.testing.assert_array_equal(frame.loc[is_complete, "above"], above[is_complete])
    assert (above[is_beaten] >= 10).all()


def test_threads_an_order_and_all_candidates(run):
    np.save("order.npy", np.arange(ITEMS))
    assert stages(run, "--concurrency", 4, "--order", "order.npy", "--depth", "none")[0] == 0
    code, out, _ = run("evaluate", "x.parquet", "--metrics", "recall@10", "--json")
    assert code == 0
    value = json.loads(out)["rows"][0]["value"]
    assert value == pytest.approx(sm.rank(SCORES, TRAINING, HELD_OUT).mean(sm.metric("recall@10")), abs=1e-14)


def test_tables_with_another_sign_between_the_fields(run):
    for name in ("train.csv", "test.csv"):
        Path(name).write_text(Path(name).read_text().replace(",", " "))
    code, _, err = stages(run)
    assert (code, "is another sign between the fields (--separator)?" in err) == (1, True)
    assert stages(run, "--separator", " ")[0] == 0


def test_parts_join(run):
    stages(run)
    for part in (1, 2, 3):
        assert stages(run, "--part", f"{part}/3", output=f"{part}.parquet")[0] == 0
    assert run("concat", "1.parquet", "2.parquet", "3.parquet", "-o", "all.parquet")[0] == 0
    whole, joined = (
        pd.read_csv(io.StringIO(run("evaluate", file, "--metrics", "recall@10,mrr@5", "--csv")[1]))
        for file in ("x.parquet", "all.parquet")
    )
    pd.testing.assert_frame_equal(whole, joined, rtol=1e-12)
    code, _, err = run("concat", "1.parquet", "1.parquet", "-o", "twice.parquet")
    assert code == 1
    assert "is in two parts" in err


def test_other_commands_read_the_file(run, folder):
    stages(run)
    exact = sm.rank(SCORES, TRAINING, HELD_OUT, user_ids=[f"u{user}" for user in range(USERS)]).to_frame()
    exact.to_csv("exact.csv", index=False)
    code, out, _ = run("compare", "staged=x.parquet", "exact=exact.csv", "--metrics", "recall@10")
    assert code == 0
    assert "undecided" in out
    assert run("report", "x.parquet", "exact.csv", "-o", "page.html")[0] == 0
    assert "Completed users" in (folder / "page.html").read_text()
    for command in (["correct", "x.parquet"], ["expect", "x.parquet", "--negatives", 9]):
        code, _, err = run(*command)
        assert code == 1
        assert "has staged ranks, which" in err
        assert "use evaluate, compare, plan or report instead" in err


def test_groups_of_users_are_those_of_a_file(run):
    """Staged ranks have no column of groups; exact ranks beside them have the same groups."""
    assert stages(run, "--depth", "none")[0] == 0
    exact = sm.rank(SCORES, TRAINING, HELD_OUT, user_ids=[f"u{user}" for user in range(USERS)])
    exact.to_frame().to_csv("exact.csv", index=False)
    groups = {f"u{user}": ("young", "old")[user % 2] for user in range(USERS)}
    pd.Series(groups, name="age").rename_axis("user").to_csv("users.csv")
    code, out, err = run("evaluate", "x.parquet", "--groups", "users.csv:age", "--metrics", "recall@10", "--json")
    assert (code, err) == (0, "")
    values = {row["group"]: row["value"] for row in json.loads(out)["rows"]}
    expected = sm.evaluate(exact, metrics="recall@10", groups=groups)
    assert values == pytest.approx(dict(zip(expected["group"], expected["value"], strict=True)), abs=1e-12)
    options = ["--groups", "users.csv:age", "--metrics", "recall@10", "--json"]
    code, out, _ = run("compare", "x.parquet", "exact.csv", *options)
    assert (code, {row["conclusion"] for row in json.loads(out)["rows"]}) == (0, {"undecided"})
    for text, says in (
        ("user,town\nu1,x\n", "lacks the column age"),
        ("user,age\nu1,x\nu1,y\n", "user u1 is there twice"),
        ("user,age\nu1,x\nu2,\n", "have none, for instance"),
    ):
        Path("bad.csv").write_text(text)
        code, _, err = run("evaluate", "x.parquet", "--groups", "bad.csv:age")
        assert code == 1
        assert says in err


def test_the_examples_work(run):
    for part in (1, 2):
        stages(run, "--part", f"{part}/2", output=f"part{part}.parquet")
    examples = [
        example
        for command in ("stages", "concat")
        for example in re.findall(r"^  sampled-metrics (.*)$", run(command, "--help")[1], flags=re.MULTILINE)
    ]
    assert len(examples) == 3
    for example in examples:
        assert run(*example.split())[0] == 0


def test_a_run_that_stops_goes_on(run, folder):
    code, _, err = stages(run, *RANKER, score="mine:ends")
    assert code == 1
    assert err.endswith(
        "ConnectionError: no network; what was scored is in x.parquet.journal, and the same call goes on from there\n"
    )
    assert (folder / "x.parquet.journal").exists()
    assert stages(run, *RANKER)[0] == 0
    assert not (folder / "x.parquet.journal").exists()
    assert stages(run, *RANKER, score="mine:fails")[0] == 0  # nothing is left to score


def test_an_interrupted_run_says_where_its_scores_are(run, folder):
    code, _, err = stages(run, *RANKER, score="mine:stops")
    assert code == 130
    assert err.splitlines()[-1] == (
        "error: interrupted; what was scored is in x.parquet.journal, and the same call goes on from there"
    )
    assert stages(run, *RANKER)[0] == 0


def test_a_second_run_says_that_nothing_was_scored_and_a_changed_module_is_refused(run, folder):
    assert stages(run)[0] == 0
    code, out, err = stages(run)
    assert (code, out) == (0, "")
    assert "x.parquet is complete; nothing was scored" in err
    (folder / "mine.py").write_text(MODULE + "# another model\n")
    sys.modules.pop("mine")
    code, _, err = stages(run)
    assert code == 1
    assert "ranker is another one" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"score": "mine"}, "--score must be MODULE:FUNCTION, such as mine:score, not 'mine'"),
        ({"score": "nothing:score"}, "--score nothing:score: No module named 'nothing'"),
        ({"score": "broken:score"}, "--score broken:score: broken.py, line 2: ZeroDivisionError: division by zero"),
        ({"score": "mine:other"}, "--score mine:other: mine has no other"),
        ({"score": "mine:number"}, "--score mine:number: is not a function"),
        ({"score": "mine:fails"}, "--score mine:fails: mine.py, line 7: TimeoutError: after 30 s"),
        ({"output": "x.csv"}, "x.csv: the name of the file must end in .parquet"),
        ({"--part": "3/2"}, "'3/2' is not a part such as 2/8"),
        ({"--part": "1/" + "9" * 5000}, "is not a part such as 2/8"),
        ({"--separator": "::"}, "--separator must be one sign, or tab, not '::'"),
        ({"--depth": "deep"}, "'deep' is not a number, nor none"),
        ({"--depth": "0"}, "depth must be a number from 1 to 9007199254740992, or None, not 0"),
        ({"--order": "items.txt"}, "items.txt: an array is a file whose name ends in"),
    ],
)
def test_refuses(run, folder, options, says):
    named = {name: value for name, value in options.items() if not name.startswith("-")}
    others = [text for name, value in options.items() if name.startswith("-") for text in (name, value)]
    code, _, err = stages(run, *others, **named)
    assert code == (1 if {named.get("score"), *others} & {"broken:score", "mine:fails", "items.txt"} else 2)
    assert says in err
    assert err.count("\n") == 1
    assert not list(folder.glob("x.*"))
