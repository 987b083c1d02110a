"""The command: what it prints and in which form, and how it ends.

Everything wrong is one line on stderr and an exit code.
"""

import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from no_figures import leave_out_figures
from read_and import compare, correct, evaluate
from taken_away import skip_without

import sampled_metrics as sm
from sampled_metrics import cli
from sampled_metrics._registry import PACKAGES

EXACT = "user,candidates,rank\n1,50,3\n2,50,10\n3,60,1\n"
GROUPED = "user,candidates,rank,age\n" + "".join(
    f"{user},50,{user % 7 + 1},{user % 2}\n" for user in range(100)
)
SEEDS = "user,model,Seed,candidates,rank\n" + "".join(
    f"{user},{model},{seed},50,{1 + (user * (seed + 3) + len(model) * seed) % 45}\n"
    for model in ("gmf", "itemknn")
    for seed in (1, 2)
    for user in range(30)
)
FILES = {
    "exact.csv": EXACT,
    "other.csv": "user,candidates,rank\n3,60,30\n1,50,1\n2,50,2\n",
    "sampled.csv": "user,candidates,negatives,rank\n1,50,9,3\n2,50,9,10\n3,60,9,1\n",
    "sampled-too.csv": "user,candidates,negatives,rank\n1,50,9,1\n2,50,9,10\n3,60,9,1\n",
    "lists.csv": "user,item,score\n1,a,3\n1,b,2\n2,a,1\n",
    "judged.csv": "user,item\n1,b\n2,a\n",
    "bad.csv": "user,candidates,rank\n1,50,3\n2,50,x\n",
    "long.csv": "user,model,candidates,rank\n1,gmf,50,1\n2,gmf,50,12\n1,mlp,50,4\n2,mlp,50,2\n",
    "seeds.csv": SEEDS,
    "old.csv": GROUPED,
    "new.csv": GROUPED.replace(",50,7,", ",50,20,"),
    "from-1.csv": "rank\n84\n1\n3\n9\n",
    "train.csv": "user,item\n0,0\n",
    "test.csv": "item,user\n0,1\n1,0\n",
    "ids.txt": "0\n1\n",
}
OF_PACKAGES = {
    "--relevance": "ranked_lists",
    "staged": "StagedRanks",
    "--plot": "report",
    "--latex": "report",
}
"""Words of a command that needs a package, and a name that the package has."""
RANKED = "user,candidates,above,tied\n0,3,0,0\n1,4,3,0\n"


class Ended(NamedTuple):
    """How a command has ended, and what it has written."""

    code: int
    out: str
    err: str


def call(capsys, *arguments):
    """Run the command in this process."""
    line = " ".join(map(str, arguments))
    skip_without(line.partition(" ")[0])
    for word, name in OF_PACKAGES.items():
        if word in line:
            skip_without(name)
    code = 0
    try:
        cli.main([str(argument) for argument in arguments])
    except SystemExit as error:
        code = error.code or 0
    return Ended(code, *capsys.readouterr())


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Return a function that runs the command in a folder with the files and the factors of two
    users and four items.

    The scores of the users are 4 3 2 1 and 1 2 3 4.
    """
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    np.save("u.npy", np.array([[1.0, 0.0], [0.0, 1.0]]))
    np.save("i.npy", np.array([[4.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 4.0]]))
    if "staged_ranks" in sm.__all__:
        sm.staged_ranks(lambda users, items: users + items, np.zeros((2, 9)), [1, 2]).write(
            "staged.npz"
        )
    Path("folder.svg").mkdir()

    def run_command(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        return call(capsys, *arguments)

    return run_command


# --- exit codes (docs/reference): 0 done, 1 not done, 2 wrong use, 3 result not as wanted --------


@pytest.mark.parametrize(
    ("files", "options", "code"),
    [
        ("old.csv worse.csv", "--fail-if-worse old", 0),
        ("old.csv worse.csv", "--fail-if-worse worse --json", 3),
        ("old.csv old-again.csv", "--fail-if-undecided", 3),
        ("old.csv new.csv", "--fail-if-worse x", 2),
    ],
)
def test_a_nightly_job_fails_as_it_asks(run, files, options, code):
    """All users have a worse rank in worse; old-again has the ranks of old."""
    Path("old-again.csv").write_text(GROUPED)
    Path("worse.csv").write_text(GROUPED.replace(",50,", ",50,2"))
    ended = run("compare", *files.split(), "--metrics", "auc", "--exact", *options.split())
    assert ended.code == code
    assert bool(ended.out) == (code != 2)


RANK = "rank --training train.csv --held-out test.csv"
RANK_FACTORS = f"{RANK} --users u.npy --items i.npy"


REFUSED = {
    # what cannot be read: the name of the file, and the line
    "evaluate none.csv": (1, "none.csv: "),
    "compare exact.csv bad.csv": (1, "bad.csv, line 3: "),
    "evaluate long.csv --by modle": (1, "modle"),
    f"{RANK_FACTORS} --user-ids no.txt": (1, "no.txt: "),
    # what cannot be written: before anything is read
    "report X=bad.csv other.csv -o bad.csv": (1, "same file"),
    f"{RANK_FACTORS} -o u.npy": (1, "u.npy: is the same"),
    "report exact.csv -o folder.svg": (2, "is a directory"),
    "evaluate gone.csv --plot exact.csv/a.svg": (1, "no folder"),
    # what is not asked for so
    "evaluate exact.csv --metrics [red]x": (2, "unknown metric '[red]x'"),
    "evaluate exact.csv --json --csv": (2, "--json"),
    "evaluate exact.csv --relevant-from 2": (2, "--relevant-from"),
    "evaluate old.csv --candidates 9999": (1, "--exact"),
    "compare exact.csv exact.csv": (2, "twice"),
    "compare X=exact.csv X=other.csv": (2, "twice"),
    "compare a=long.csv --by model": (2, "--by"),
    f"expect exact.csv --negatives {10**14} --replacement": (1, "GiB"),
    f"{RANK} --scores u.npy --users u.npy": (2, "--scores"),
    # what would have no effect
    f"{RANK_FACTORS} --seed 3": (2, "--seed"),
    "compare exact.csv other.csv --drawn once": (2, "--drawn"),
    "compare sampled.csv sampled-too.csv --exact": (2, "--exact"),
    "evaluate staged.npz --groups x": (2, "--groups"),
    # names that no file has
    f"evaluate {'x' * 300}": (1, ""),
    f"evaluate {os.fsdecode(b'gone' + bytes([255]))}": (1, r"gone\udcff"),
}


@pytest.mark.parametrize("line", REFUSED, ids=[ascii(line)[:80] for line in REFUSED])
def test_what_is_wrong_is_one_line_and_changes_no_file(run, line):
    code, word = REFUSED[line]
    before = contents()
    ended = run(*line.split())
    assert word in ended.err
    assert re.fullmatch(r"error: [ -~]+\n", ended.err)
    assert (ended.code, ended.out) == (code, "")
    assert contents() == before


def contents():
    """The contents of the files in the folder, by name."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


def test_a_lack_of_memory_is_one_line(run, monkeypatch):
    def refused(*arguments, **options):
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr("builtins.open", refused)
    ended = run("evaluate", "exact.csv")
    assert (ended.code, ended.out) == (1, "")
    assert re.fullmatch("error: .*memory.*9 GiB\n", ended.err)


# --- what is printed ----------------------------------------------------------------------------


def test_a_figure_is_drawn_beside_what_is_printed(run):
    line = ("compare", "exact.csv", "other.csv")
    assert run(*line, "--plot", "drawn.svg") == run(*line)
    assert Path("drawn.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("package", "option"),
    [("reporting", "--plot drawn.svg"), ("lists", "--relevance judged.csv")],
)
def test_a_package_that_is_missing_is_named(run, monkeypatch, package, option):
    monkeypatch.delitem(PACKAGES, package, raising=False)
    refused = run("evaluate", "exact.csv", *option.split())
    assert (refused.out, refused.err.count("\n")) == ("", 1)
    assert package in refused.err


def test_without_matplotlib_says_in_a_line_what_to_install(run, monkeypatch):
    modules = [name for name in sys.modules if name.startswith("sampled_metrics.reporting")]
    for name in modules:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ended = run("report", "exact.csv", "-o", "a.html")
    assert (ended.code, ended.out, ended.err.count("\n")) == (2, "", 1)
    assert "pip install 'sampled-metrics[plots]'" in ended.err


@pytest.mark.parametrize("form", ["", "--latex", "--json"])
def test_a_caution_stands_before_the_numbers_in_every_form(run, form):
    line = "evaluate from-1.csv --candidates 3561 --zero-based --metrics recall@10"
    out = run(*line.split(), *form.split()).out
    number = '"rows"' if form == "--json" else "0.75"
    assert out.index("There are only 4 users.") < out.index("No rank is 0") < out.index(number)


CALLS = {
    "compare seeds.csv --by model --seeds Seed --metrics ap --exact": lambda t: compare(
        {
            model: [rows.drop(columns=["model", "Seed"]) for _, rows in runs.groupby("Seed")]
            for model, runs in t["seeds"].groupby("model")
        },
        metrics="ap",
        exact=True,
    ),
    "evaluate old.csv new.csv --exact --groups age --metrics ap --confidence-level 0.9": lambda t: (
        sm.evaluate(
            sm.exact_ranks({"old": t["old"], "new": t["new"]}, groups="age", exact=True),
            groups=True,
            metrics="ap",
            confidence_level=0.9,
        )
    ),
    "evaluate lists.csv --relevance judged.csv --metrics mrr,map": lambda t: evaluate(
        t["lists"], relevance=t["judged"], metrics=["mrr", "map"]
    ),
    "correct X=sampled.csv,sampled-too.csv --estimators bv-0.1,cls --drawn once": lambda t: correct(
        {"X": [t["sampled"], t["sampled-too"]]}, estimators=["bv-0.1", "cls"], drawn="once"
    ),
    "published --value G:hr@5=0.60 --exact G:hr@5=0.9 --users 900 --negatives 9 --candidates 90": (
        lambda _: sm.published(
            {"G": {"hr@5": "0.60"}},
            exact={"G": {"hr@5": "0.9"}},
            users=900,
            negatives=9,
            candidates=90,
        )
    ),
}


@pytest.mark.parametrize("line", CALLS)
def test_each_form_has_what_the_function_gives(run, line):
    expected = CALLS[line]({path.stem: pd.read_csv(path) for path in Path().glob("*.csv")})
    csv = run(*line.split(), "--csv")
    assert (csv.code, csv.err.splitlines()) == (0, list(expected.remarks))
    expected_csv = pd.DataFrame(expected).to_csv(index=False)
    pd.testing.assert_frame_equal(*(pd.read_csv(io.StringIO(t)) for t in (csv.out, expected_csv)))
    as_json = run(*line.split(), "--json")
    assert (as_json.code, as_json.err) == (0, "")
    rows = json.loads(as_json.out, parse_constant=pytest.fail)["rows"]
    cells = pd.DataFrame(expected).astype(object)
    assert rows == cells.where(cells.notna(), None).to_dict("records")
    text = run(*line.split())
    assert (text.code, text.err) == (0, "")
    lines = text.out.splitlines()
    assert [*expected.as_text().columns] in [line.split() for line in lines]
    assert set(expected.remarks) <= set(lines)


# --- files and names ----------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["", "--latex", "--json"])
def test_names_that_cannot_be_printed_are_escaped_and_stay_in_their_line(run, form):
    Path("bad\udcff.csv").write_text(EXACT)
    files = ("bad\udcff.csv", "a\n\x1b[31m\x85=other.csv")
    ended = run("compare", *files, "--metrics", "ap", *form.split())
    written = ended.out + ended.err
    assert written.replace("\n", "").isprintable()
    assert r"bad\udcff" in written.replace(r"\\", "\\")  # JSON doubles it


def test_letters_that_a_terminal_lacks_are_escaped(run, monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run("compare", "γ=exact.csv", "other.csv", "--metrics", "ap").code == 0
    terminal.flush()
    assert rb"(other - \u03b3)" in terminal.buffer.getvalue()


# --- help and streams ---------------------------------------------------------------------------


def test_a_shell_completes_the_commands(run, monkeypatch):
    assert "_SAMPLED_METRICS_COMPLETE=bash_complete" in run("completion", "bash").out
    monkeypatch.setenv("_SAMPLED_METRICS_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", "sampled-metrics ev")
    monkeypatch.setenv("COMP_CWORD", "1")
    assert run().out == "plain,evaluate\n"


def write_files_of_examples():
    """Write the files that the examples of the help name: of 20 users and 150 items."""
    rng = np.random.default_rng(1)
    users = range(20)
    scores = rng.random((20, 150))
    for name in ("x-staged.npz", "z-staged.npz"):
        sm.staged_ranks(lambda u, i: scores[u, i], 0 * scores, [7] * 20, depth=None).write(name)
    items = pd.DataFrame({"user": users, "item": 7, "score": 1, "relevance": 2})
    for name in ("lists.csv", "old-lists.csv", "new-lists.csv", "judged.csv"):
        items.drop(columns="score" if name == "judged.csv" else "relevance").to_csv(name)
    for name in ("ranks", "pilot", "x", "y", "z", "old", "new", *SEEDS_OF_Z):
        ranks = pd.DataFrame({"user": users, "rank": rng.geometric(0.05, 20).clip(max=101)})
        ranks.to_csv(f"sampled-{name}.csv", index=False)
        ranks.assign(candidates=150).to_csv(f"{name}.csv", index=False)
    runs = [
        ranks.assign(model=model, seed=seed, candidates=150) for model in "ab" for seed in (1, 2)
    ]
    pd.concat(runs).to_csv("runs.csv", index=False)


SEEDS_OF_Z = ("z-seed-1", "z-seed-2", "z-seed-3")


def test_the_examples_of_the_help_work(run, monkeypatch):
    """Pages without figures, which take most of the time, and plans of few ways."""
    verbs = ("evaluate", "correct", "published", "compare", "expect", "plan", "report", "rank")
    helps = "".join(run(verb, "--help").out.split("Example:\n")[1] for verb in verbs)
    examples = re.findall(r"^  sampled-metrics (.*)$", helps, flags=re.MULTILINE)
    assert len(examples) == 17
    leave_out_figures(monkeypatch)
    write_files_of_examples()
    for example in examples:
        line = example.split(" #")[0]
        if "--candidates 3541" in line:
            line = re.sub(r"\b(mine|old|new)\.csv", r"sampled-\1.csv", line).replace("mine", "x")
        if line.startswith("plan"):
            line += " --negatives 20 --estimators free"
        if "staged" in line:
            line += " --depths 30"
        if line.startswith("report"):
            line += " --metrics recall@10"
        ended = run(*line.split())
        assert ended.code == 0, (example, ended.err)
        assert ended.out, example


def test_who_reads_no_further_is_no_error(run):
    process = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m sampled_metrics evaluate exact.csv --csv | true"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert process.stdout == ""
    assert re.fullmatch(".*only 3 users.*\n", process.stderr)


def test_a_result_that_would_be_lost_is_refused(run, monkeypatch):
    """A stream that is closed at the start is None."""
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:  # closing it fails, too
        monkeypatch.setattr(sys, "stdout", full)
        ended = run("evaluate", "exact.csv", "--json")
    assert ended.code == 1
    assert re.fullmatch(".*No space.*\n", ended.err)
    monkeypatch.setattr(sys, "stdout", None)
    ended = run("evaluate", "exact.csv")
    assert ended.code == 1
    assert re.fullmatch(".*closed.*\n", ended.err)


def test_streams_that_are_not_needed_may_be_closed(run, monkeypatch):
    monkeypatch.setattr(sys, "stdout", None)
    assert run(*RANK_FACTORS.split(), "-o", "ranks.csv").code == 0
    assert Path("ranks.csv").read_text() == RANKED
    monkeypatch.setattr(sys, "stderr", None)
    assert run("evaluate", "none.csv").code == 1
    sys.stderr.close()  # of the command


# --- rank and standard input --------------------------------------------------------------------


def test_rank_writes_what_evaluate_reads(run):
    line = RANK_FACTORS.split()
    assert run(*line, "-o", "ranks.csv.gz") == (0, "", "")
    assert gzip.decompress(Path("ranks.csv.gz").read_bytes()).decode() == RANKED
    assert run(*line, "-o", "ranks.parquet") == (0, "", "")
    assert pd.read_parquet("ranks.parquet").to_csv(index=False, lineterminator="\n") == RANKED
    ended = run("evaluate", "ranks.csv.gz", "--metrics", "recall@1", "--csv")
    assert ended.out.splitlines()[1].startswith("recall@1,0.5,")


@pytest.mark.parametrize("name", ["train.csv", "test.csv", "ids.txt"])
def test_standard_input_is_a_dash(run, name):
    line = f"{RANK_FACTORS} --user-ids ids.txt".replace(name, "-")
    assert run(*line.split(), stdin=Path(name).read_bytes()) == (0, RANKED, "")


def test_ranks_of_standard_input_are_those_of_the_file(run):
    from_file = run("evaluate", "exact.csv", "--json")
    assert run("evaluate", "-", "--json", stdin=EXACT.encode()) == from_file
