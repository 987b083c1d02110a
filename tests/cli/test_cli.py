"""The command: what it prints and in which form, and how it ends.

Everything wrong is one line on stderr and an exit code.
"""

import contextlib
import gzip
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from read_and import compare, correct
from taken_away import skip_without

import sampled_metrics as sm
from sampled_metrics import cli
from sampled_metrics._registry import PACKAGES

EXACT = "user,candidates,rank\n1,50,3\n2,50,10\n3,60,1\n"
GROUPED = "user,candidates,rank,age\n" + "".join(
    f"{user},50,{user % 7 + 1},{user % 2}\n" for user in range(40)
)
SEEDS = "user,model,Seed,candidates,rank\n" + "".join(
    f"{user},{model},{seed},50,{1 + (user * (seed + 3) + len(model) * seed) % 45}\n"
    for model in ("gmf", "itemknn")
    for seed in (1, 2)
    for user in range(30)
)
SEEDS_OF_MODEL = {
    model: re.sub(f"(?m)^([0-9]+),(?!{model},).*\n", "", SEEDS) for model in ("gmf", "itemknn")
}
FILES = {
    "gmf.csv": SEEDS_OF_MODEL["gmf"].replace(",gmf,", ",").replace(",model,", ","),
    "itemknn.csv": SEEDS_OF_MODEL["itemknn"].replace(",itemknn,", ",").replace(",model,", ","),
    "exact.csv": EXACT,
    "other.csv": "user,candidates,rank\n3,60,30\n1,50,1\n2,50,2\n",
    "sampled.csv": "user,candidates,negatives,rank\n1,50,9,3\n2,50,9,10\n3,60,9,1\n",
    "sampled-too.csv": "user,candidates,negatives,rank\n1,50,9,1\n2,50,9,10\n3,60,9,1\n",
    "lists.csv": "user,item,score\n1,a,3\n1,b,2\n2,a,1\n",
    "judged.csv": "user,item\n1,b\n2,a\n",
    "bad.csv": "user,candidates,rank\n1,50,3\n2,50,x\n",
    "long.csv": "user,model,candidates,rank\n1,gmf,50,1\n2,gmf,50,12\n1,mlp,50,4\n2,mlp,50,2\n",
    "seeds.csv": SEEDS,
    "wide.csv": "user,candidates,gmf,mlp\n1,50,1,4\n2,50,12,2\n",
    "old.csv": GROUPED,
    "new.csv": GROUPED.replace(",50,7,", ",50,20,"),
    "renamed.csv": "who,place,n_items\n1,3,30\n2,12,40\n",
    "shallow.csv": "rank\n84\n" + "0\n3\n9\n40\n" * 50,
    "from-1.csv": "rank\n84\n1\n3\n9\n",
    "train.csv": "user,item\n0,0\n",
    "test.csv": "item,user\n0,1\n1,0\n",
    "ids.txt": "0\n1\n",
    "in.svg": EXACT,
    "f.jsonl": '{"rank": 3}\n',
}
OF_PACKAGES = {
    "--relevance": "ranked_lists",
    "staged": "StagedRanks",
    "--plot": "report",
    "--latex": "report",
}
"""Words of a command that needs a package, and a name that the package has."""
RANKED = "user,candidates,above,tied\n0,3,0,0\n1,4,3,0\n"
MODEL = {
    "--users": "u.npy",
    "--items": "i.npy",
    "--training": "train.csv",
    "--held-out": "test.csv",
}


def words(options):
    """Options as words."""
    return [word for pair in options.items() for word in pair]


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
    ("names", "options", "code"),
    [
        ("XZ", ["--fail-if-undecided", "--fail-if-worse", "Z"], 0),
        ("XZ", ["--fail-if-worse", "X"], 3),
        ("XW", ["--fail-if-undecided"], 3),
        ("XW", ["--fail-if-worse", "X", "--fail-if-worse", "W"], 0),
        ("XZW", ["--fail-if-worse", "W", "--json"], 3),
        ("XZ", ["--fail-if-worse", "x"], 2),
    ],
)
def test_a_nightly_job_fails_as_it_asks(run, names, options, code):
    """Z has the better rank of each user than X, and W is X in another order of users."""
    ranks = {
        "X": np.arange(60) % 30 + 20,
        "Z": np.arange(60) % 30 + 2,
        "W": np.arange(60)[::-1] % 30 + 20,
    }
    for name in names:
        pd.DataFrame({"user": np.arange(60), "candidates": 100, "rank": ranks[name]}).to_csv(
            f"{name}.csv", index=False
        )
    files = [f"{name}.csv" for name in names]
    ended = run("compare", *files, "--metrics", "auc", *options, "--exact")
    assert ended.code == code
    is_wrong_use = code == 2
    assert bool(ended.out) == (not is_wrong_use)
    assert ("may be X, Z" in ended.err) == is_wrong_use


RANK = "rank --training train.csv --held-out test.csv"
RANK_FACTORS = f"{RANK} --users u.npy --items i.npy"
PUBLISHED = "published --users 100 --negatives 9 --candidates"
REFUSED = [
    # what cannot be read: the name of the file, and the line
    (1, "evaluate none.csv", "none.csv: "),
    (1, "compare exact.csv bad.csv", "bad.csv, line 3: "),
    (1, "correct f.jsonl --candidates 50 --negatives 9", "f.jsonl, line 1: "),
    (1, "compare exact.csv sampled.csv", "exact.csv: lacks the column negatives"),
    (1, "evaluate long.csv --by modle", "modle"),
    (1, "compare old.csv new.csv --groups nothing --exact", "nothing"),
    (1, f"{RANK} --users none.npy --items i.npy", "none.npy: "),
    (1, f"{RANK_FACTORS} --training none.csv", "none.csv: "),
    (1, f"{RANK_FACTORS} --user-ids no.txt", "no.txt: "),
    # what cannot be written: before anything is read
    (1, "report X=bad.csv other.csv -o bad.csv", "bad.csv: is the same file as the input bad.csv"),
    (
        1,
        "compare other.csv X=exact.csv,in.svg --plot in.svg",
        "in.svg: is the same file as the input in.svg",
    ),
    (1, f"{RANK_FACTORS} -o u.npy", "u.npy: is the same"),
    (1, "evaluate gone.csv --plot exact.csv/a.svg", "exact.csv/a.svg: there is no folder"),
    # what is not asked for so
    (2, "evaluate exact.csv --negatives 3", "No such option"),
    (2, "evaluate exact.csv --metrics [red]x", "unknown metric '[red]x'"),
    (2, "evaluate exact.csv --json --csv", "give one of --json and --csv"),
    (2, "evaluate exact.csv --relevant-from 2", "--relevant-from"),
    (2, "evaluate =exact.csv", "=exact.csv: needs a name before ="),
    (1, "expect a=exact.csv,other.csv --negatives 9", "2 seeds"),
    (2, "evaluate gone.csv --plot gone.gif", "gone.gif: "),
    (2, "compare exact.csv", "compare takes two recommenders or more, not only exact.csv"),
    (2, "compare exact.csv exact.csv", "exact.csv: is given twice"),
    (2, "compare X=exact.csv X=other.csv", "X: is given twice"),
    (2, "compare exact.csv other.csv --drawn once", "--drawn"),
    (1, "compare exact.csv other.csv --estimator mle", "say how many negatives were sampled"),
    (2, "compare a=long.csv --by model", "--by"),
    (2, "compare long.csv wide.csv --by model", "--by"),
    (1, f"expect exact.csv --negatives {10**14} --replacement", "GiB"),
    (2, "plan exact.csv --negatives 5,x", "5,x"),
    (2, "report exact.csv -o folder.svg", "is a directory"),
    (2, "report exact.csv -o -", "standard output (-) is not possible here"),
    (2, f"{RANK} --scores u.npy --users u.npy", "or --scores alone"),
    (2, f"{RANK_FACTORS} --replacement", "for --negatives"),
    # what would have no effect
    (2, f"{RANK_FACTORS} --seed 3", "--seed is for --negatives"),
    (
        2,
        "compare exact.csv other.csv --replacement",
        "--replacement is for ranks among sampled negatives",
    ),
    (2, "compare sampled.csv sampled-too.csv --exact", "--exact"),
    (
        2,
        "evaluate lists.csv --relevance judged.csv --candidates-column score",
        "--candidates-column",
    ),
    (2, "report exact.csv -o r.html --margin 2%", "margin: must be left out"),
    (2, "report exact.csv other.csv -o r.pdf", "r.pdf: a page is html"),
    (2, "evaluate staged.npz --exact", "--exact: is not for staged ranks"),
    (2, "evaluate staged.npz --groups x", "--groups"),
    (2, "evaluate staged.npz --seeds x", "--seeds"),
    (2, f"{PUBLISHED} 2000 --value GMF:0.6", "--value is NAME:METRIC=VALUE"),
    (2, f"{PUBLISHED} 10-20-30 --value A:hr@5=1", "not a valid integer"),
    # names that no file has
    (1, ["evaluate", ""], ""),
    (1, ["evaluate", "x" * 300], ""),
    (1, ["evaluate", os.fsdecode(b"gone\xff")], r"gone\udcff"),
]


@pytest.mark.parametrize(
    ("code", "line", "says"), REFUSED, ids=[str(line)[:80] for _, line, _ in REFUSED]
)
def test_what_is_wrong_is_one_line_and_changes_no_file(run, code, line, says):
    before = contents()
    ended = run(*(line.split() if isinstance(line, str) else line))
    assert says in ended.err
    assert re.fullmatch(r"error: [ -~]+\n", ended.err)
    assert ended.code == code
    assert ended.out == ""
    assert contents() == before


def contents():
    """The contents of the files in the folder, by name."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


@pytest.mark.parametrize("path", ["exact.csv", "a/f.csv"])
def test_a_file_or_folder_that_may_not_be_read(run, monkeypatch, path):
    """By a stand-in, as root may read everything."""

    def forbidden(function):
        def refuses_path(name, *arguments, **options):
            if str(name) == path:
                raise PermissionError(13, "Permission denied")
            return function(name, *arguments, **options)

        return refuses_path

    monkeypatch.setattr("os.stat", forbidden(os.stat))
    monkeypatch.setattr("builtins.open", forbidden(open))
    assert run("evaluate", path) == (1, "", f"error: {path}: cannot be read: Permission denied\n")


def test_too_little_memory_is_one_line(run, monkeypatch):
    def lacks(*_, **__):
        raise MemoryError("Unable to allocate 9 GiB")

    monkeypatch.setattr(sm, "evaluate", lacks)
    says = "error: there is not enough memory for this: Unable to allocate 9 GiB\n"
    assert run("evaluate", "exact.csv") == (1, "", says)


# --- what is printed ----------------------------------------------------------------------------


def runs_of(frame):
    """The rows of each model and seed, as lists of frames by model."""
    parts = {
        key: part.drop(columns=["model", "Seed"]) for key, part in frame.groupby(["model", "Seed"])
    }
    return {model: [parts[model, seed] for seed in (1, 2)] for model in ("gmf", "itemknn")}


CALLS = {
    "compare seeds.csv --by model --seeds Seed --metrics ap --exact": lambda t: compare(
        runs_of(t["seeds"]), metrics="ap", exact=True
    ),
    "compare gmf.csv itemknn.csv --seeds Seed --metrics ap --exact": lambda t: compare(
        runs_of(t["seeds"]), metrics="ap", exact=True
    ),
    "correct seeds.csv --by model --seeds Seed --negatives 49 --estimators bv-0.1": lambda t: (
        correct(runs_of(t["seeds"]), negatives=49, estimators="bv-0.1")
    ),
    "evaluate old.csv new.csv --exact --groups age --metrics ap,recall@3 --confidence-level 0.9": lambda t: (  # noqa: E501
        sm.evaluate(
            sm.exact_ranks({"old": t["old"], "new": t["new"]}, groups="age", exact=True),
            groups=True,
            metrics=["ap", "recall@3"],
            confidence_level=0.9,
        )
    ),
    "correct X=sampled.csv,sampled-too.csv --estimators bv-0.1,cls --drawn once": lambda t: correct(
        {"X": [t["sampled"], t["sampled-too"]]}, estimators=["bv-0.1", "cls"], drawn="once"
    ),
    "compare sampled.csv sampled-too.csv --estimator bv-0.01 --replacement": lambda t: compare(
        t["sampled"],
        t["sampled-too"],
        ("sampled", "sampled-too"),
        estimator="bv-0.01",
        replacement=True,
    ),
    "plan exact.csv other.csv --metric ap --estimators uncorrected --negatives 5": lambda t: (
        sm.plan(
            sm.exact_ranks({name: t[name] for name in ("exact", "other")}),
            metric="ap",
            estimators="uncorrected",
            negatives=[5],
        )
    ),
    "published --value G:hr@5=0.60 --value M:hr@5=0.7 --users 9 --negatives 9 --candidates 90-99 "
    "--estimators free": (
        lambda _: sm.published(
            {"G": {"hr@5": "0.60"}, "M": {"hr@5": "0.7"}},
            users=9,
            negatives=9,
            candidates=(90, 99),
            estimators="free",
        )
    ),
    "published --value G:hr@5=0.60 --exact G:hr@5=0.9 --users 900 --negatives 9 --candidates 90 "
    "--estimators free": (
        lambda _: sm.published(
            {"G": {"hr@5": "0.60"}},
            exact={"G": {"hr@5": "0.9"}},
            users=900,
            negatives=9,
            candidates=90,
            estimators="free",
        )
    ),
}


@pytest.mark.parametrize("line", CALLS)
def test_each_form_has_what_the_function_gives(run, line):
    expected = CALLS[line]({path.stem: pd.read_csv(path) for path in Path().glob("*.csv")})
    csv = run(*line.split(), "--csv")
    assert csv.code == 0
    assert "\r" not in csv.out
    assert csv.err.splitlines() == list(expected.remarks)
    expected_csv = pd.DataFrame(expected).to_csv(index=False)
    pd.testing.assert_frame_equal(
        pd.read_csv(io.StringIO(csv.out)), pd.read_csv(io.StringIO(expected_csv)), rtol=1e-12
    )

    as_json = run(*line.split(), "--json")
    assert (as_json.code, as_json.err) == (0, "")
    content = json.loads(
        as_json.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON")
    )
    assert content == {
        "recommenders": list(expected.setting.names),
        "remarks": list(expected.remarks),
        "findings": [finding.plain() for finding in expected.findings],
        "rows": expected.plain_rows(),
    }
    for row, expected_row in zip(content["rows"], expected.to_dict("records"), strict=True):
        for name, cell in expected_row.items():
            assert row[name] is None if pd.isna(cell) else row[name] == cell

    text = run(*line.split())
    assert (text.code, text.err) == (0, "")
    lines = text.out.splitlines()
    header = [line.split() for line in lines].index([*expected.as_text().columns])
    table_lines = lines[header + 1 : header + len(expected) + 1]
    assert all(line.strip() for line in table_lines)
    assert len(table_lines) == len(expected)
    assert set(expected.remarks) <= set(lines)


def test_a_figure_is_drawn_beside_what_is_printed(run):
    line = ("compare", "exact.csv", "other.csv")
    assert run(*line, "--plot", "drawn.svg") == run(*line)
    assert Path("drawn.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("line", ["evaluate shallow.csv", "expect shallow.csv --negatives 20"])
def test_ranks_that_look_sampled_are_refused_unless_they_are_said_to_be_exact(run, line):
    """Of 100 users or more, none has a rank above a tenth of n."""
    arguments = (*line.split(), "--candidates", 3561, "--zero-based")
    refused = run(*arguments)
    assert (refused.code, refused.out) == (1, "")
    assert "--exact" in refused.err
    exact = run(*arguments, "--exact")
    assert (exact.code, exact.err) == (0, "")


@pytest.mark.parametrize(
    ("package", "option"),
    [("reporting", "--plot drawn.svg"), ("lists", "--relevance judged.csv")],
)
@pytest.mark.usefixtures("run")
def test_an_option_of_a_package_that_is_missing_is_refused_in_one_line(
    package, option, capsys, monkeypatch
):
    monkeypatch.delitem(PACKAGES, package, raising=False)
    refused = call(capsys, "evaluate", "exact.csv", *option.split())
    assert refused.code in (1, 2)
    assert (refused.out, refused.err.count("\n")) == ("", 1)
    assert package in refused.err


def test_a_caution_stands_before_the_numbers_in_every_form(run):
    line = "evaluate from-1.csv --candidates 3561 --zero-based --metrics recall@10"
    cautions = ["There are only 4 users.", "from-1.csv: No rank is 0"]

    def begins_with_cautions(text, mark=""):
        lines = [line for line in text.splitlines() if line][: len(cautions)]
        pairs = zip(lines, cautions, strict=True)
        return all(line.startswith(mark + caution) for line, caution in pairs)

    assert begins_with_cautions(run(*line.split()).out)
    assert begins_with_cautions(run(*line.split(), "--latex").out, "% ")
    out = run(*line.split(), "--json").out
    assert all(out.index(caution) < out.index('"rows"') for caution in cautions)
    terminal = io.StringIO()  # which shows both streams
    with contextlib.redirect_stdout(terminal), contextlib.redirect_stderr(terminal):
        run(*line.split(), "--csv")
    assert begins_with_cautions(terminal.getvalue())


def test_a_report_has_the_groups_and_margins_that_are_asked_for(run):
    options = ["--exact", "--groups", "age", "--margin", ".5", "--metrics", "ap"]
    ended = run("report", "old.csv", "new.csv", "-o", "page.html", *options)
    assert ended == (0, "page.html is written\n", "")
    page = Path("page.html").read_text()
    assert "Comparisons by group" in page
    assert "by less than the margin" in page or "are equivalent on" in page


# --- files and names ----------------------------------------------------------------------------


def test_columns_by_option(run):
    """A column that is taken under another name without being asked for is named in a remark."""
    line = "evaluate renamed.csv --user-column who --rank-column place --metrics recall@10 --json"
    noticed = json.loads(run(*line.split()).out)
    assert noticed["rows"][0]["value"] == 0.5
    assert "n_items" in str(noticed["remarks"])
    named = json.loads(run(*line.split(), "--candidates-column", "n_items").out)
    assert "n_items" not in str(named["remarks"])


@pytest.mark.parametrize("line", ["long.csv --by model", "wide.csv --rank-column gmf,mlp"])
def test_one_table_of_several_recommenders(run, line):
    rows = json.loads(run("evaluate", *line.split(), "--metrics", "ap", "--json").out)["rows"]
    values = {row["recommender"]: row["value"] for row in rows}
    assert values == pytest.approx({"gmf": 13 / 24, "mlp": 3 / 8})


@pytest.mark.parametrize("form", ["", "--csv", "--json", "--latex"])
def test_names_that_cannot_be_printed_are_escaped_and_stay_in_their_line(run, form):
    for name in ("bad\udcff", "ü[link=b]c"):
        Path(f"{name}.csv").write_text(EXACT)
    files = ("bad\udcff.csv", "a\n\\input{b}\x1b[31m\x85=other.csv")
    ended = run("compare", *files, "--metrics", "ap", *form.split())
    assert ended.code == 0
    written = ended.out + ended.err
    assert written.replace("\n", "").isprintable()
    assert not [line for line in written.splitlines() if line.startswith("\\input")]
    assert r"bad\udcff" in written.replace(r"\\", "\\")  # JSON doubles it
    out = run("compare", "exact.csv", "./ü[link=b]c.csv").out
    assert "the difference (ü[link=b]c - exact) is" in out


def test_letters_that_a_terminal_lacks_are_escaped(run, monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="latin-1")
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run("compare", "γ=exact.csv", "other.csv", "--metrics", "ap").code == 0
    terminal.flush()
    assert rb"(other - \u03b3)" in terminal.buffer.getvalue()


# --- help and streams ---------------------------------------------------------------------------


def test_the_examples_of_the_help_work(run):
    rng = np.random.default_rng(1)
    verbs = ("evaluate", "correct", "published", "compare", "expect", "plan", "report", "rank")
    helps = "".join(run(verb, "--help").out.split("Example:\n")[1] for verb in verbs)
    examples = re.findall(r"^  sampled-metrics (.*)$", helps, flags=re.MULTILINE)
    assert len(examples) == 17
    scores = rng.random((20, 150))
    training = np.zeros((20, 150))
    held_out = np.full(20, 7)
    for name in "xz":
        staged = sm.staged_ranks(
            lambda users, items: scores[users, items], training, held_out, depth=None
        )
        staged.write(f"{name}-staged.npz")
    pairs = pd.DataFrame({"user": np.repeat(range(20), 5), "item": list(range(5)) * 20})
    for name in ("lists", "old-lists", "new-lists"):
        pairs.assign(score=rng.normal(size=100)).to_csv(f"{name}.csv", index=False)
    pairs[::2].assign(relevance=rng.integers(4, size=50)).to_csv("judged.csv", index=False)
    cells = pd.MultiIndex.from_product(
        [range(20), ["a", "b"], [1, 2]], names=["user", "model", "seed"]
    )
    runs = cells.to_frame(index=False).assign(candidates=150, rank=rng.integers(1, 151, 80))
    runs.to_csv("runs.csv", index=False)
    fast_options = {
        "plan": "--negatives 20 --estimators free",
        "report": "--metrics recall@10",
    }
    names = [
        "ranks",
        "mine",
        "pilot",
        "x",
        "y",
        "z",
        "old",
        "new",
        "z-seed-1",
        "z-seed-2",
        "z-seed-3",
    ]
    for example in examples:
        candidates = {} if "--candidates 3541" in example else {"candidates": 150}
        for name in names:
            rank = rng.geometric({"y": 0.3, "z": 0.15}.get(name, 0.05), size=20).clip(max=101)
            table = pd.DataFrame({"user": range(20), "rank": rank, **candidates})
            table.to_csv(f"{name}.csv", index=False)
        options = fast_options.get(example.split()[0], "")
        if "staged" in example:
            options += " --depths 30"
        ended = run(*example.split(" #")[0].split(), *options.split())
        assert ended.code == 0, (example, ended.err)
        assert ended.out, example


def test_a_shell_completes_the_commands(run, monkeypatch):
    assert "_SAMPLED_METRICS_COMPLETE=bash_complete" in run("completion", "bash").out
    variables = {
        "_SAMPLED_METRICS_COMPLETE": "bash_complete",
        "COMP_WORDS": "sampled-metrics ev",
        "COMP_CWORD": "1",
    }
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert run().out == "plain,evaluate\n"


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        (
            "evaluate exact.csv --csv | true",
            0,
            "There are only 3 users. With fewer than 100, intervals are rough: a few unusual users "
            "decide them.\n",
        ),
        (
            "evaluate exact.csv >&-",
            1,
            "error: standard output is closed, and the result would be lost\n",
        ),
        (
            "evaluate exact.csv --json >/dev/full",
            1,
            "error: the output cannot be written: No space left on device\n",
        ),
    ],
)
def test_a_result_that_would_be_lost_is_refused_and_nobody_who_reads_on_is_no_error(
    run, line, code, message
):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = ["sh", "-c", f"{sys.executable} -m sampled_metrics {line}"]
    process = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False
    )
    assert (process.returncode, process.stderr, process.stdout) == (code, message, "")


def test_streams_that_are_not_needed_may_be_closed(run, monkeypatch):
    """As Python has it: a stream that is closed at the start is None."""
    monkeypatch.setattr(sys, "stdout", None)
    assert run("rank", *words(MODEL), "-o", "ranks.csv").code == 0
    assert Path("ranks.csv").read_text() == RANKED
    monkeypatch.setattr(sys, "stderr", None)
    assert run("evaluate", "none.csv").code == 1
    sys.stderr.close()  # of the command


def test_a_terminal_has_a_table_with_bold_names(run, monkeypatch):
    reading_end, writing_end = pty.openpty()
    with open(writing_end, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert run("evaluate", "exact.csv", "--metrics", "recall@10").code == 0
        terminal.flush()
        written = os.read(reading_end, 65536)
    os.close(reading_end)
    assert re.search(rb"\x1b\[[0-9;]*m", written)
    assert re.search(rb"recall@10 +1 ", written)


# --- rank and standard input --------------------------------------------------------------------


def test_rank_writes_what_evaluate_reads(run):
    assert run("rank", *words(MODEL), "-o", "ranks.csv.gz") == (0, "", "")
    assert gzip.decompress(Path("ranks.csv.gz").read_bytes()).decode() == RANKED
    assert run("rank", *words(MODEL), "-o", "ranks.parquet") == (0, "", "")
    assert pd.read_parquet("ranks.parquet").to_csv(index=False, lineterminator="\n") == RANKED
    ended = run("evaluate", "ranks.csv.gz", "--metrics", "recall@1", "--csv")
    assert ended.code == 0
    _, row = ended.out.splitlines()
    assert row.startswith("recall@1,0.5,")


@pytest.mark.parametrize("option", ["--training", "--held-out", "--user-ids"])
def test_standard_input_is_a_dash(run, option):
    files = MODEL | {"--user-ids": "ids.txt"}
    content = Path(files[option]).read_bytes()
    assert run("rank", *words(files | {option: "-"}), stdin=content) == (0, RANKED, "")
    from_file = run("evaluate", "exact.csv", "--json")
    assert run("evaluate", "-", "--json", stdin=EXACT.encode()) == from_file
