"""The command: what it prints and in which form, and that everything wrong is one line on stderr and an exit code."""

import fcntl
import gzip
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from read_and import compare, correct, evaluate, expect

import sampled_metrics as sm
from sampled_metrics import cli
from sampled_metrics.estimators import KNOWN, LINEAR

RANKING = ("evaluate", "correct", "published", "compare", "expect", "plan", "report", "rank")
COMMANDS = (*RANKING, "stages", "concat", "completion")
SOURCES = Path(__file__).resolve().parents[1] / "src"
EXACT = "user,candidates,rank\n1,50,3\n2,50,10\n3,60,1\n"
GROUPED = "user,candidates,rank,age\n" + "".join(f"{user},50,{user % 7 + 1},{user % 2}\n" for user in range(40))
TABLES = {
    "exact": EXACT,
    "other": "user,candidates,rank\n3,60,30\n1,50,1\n2,50,2\n",
    "sampled": "user,candidates,negatives,rank\n1,50,9,3\n2,50,9,10\n3,60,9,1\n",
    "sampled-too": "user,candidates,negatives,rank\n1,50,9,1\n2,50,9,10\n3,60,9,1\n",
    "bad": "user,candidates,rank\n1,50,3\n2,50,x\n",
    "large": f"candidates,rank\n{2**53 + 1},1\n",
    "long": "user,model,candidates,rank\n1,gmf,50,1\n2,gmf,50,12\n1,mlp,50,4\n2,mlp,50,2\n",
    "wide": "user,candidates,gmf,mlp\n1,50,1,4\n2,50,12,2\n",
    "old": GROUPED,
    "new": GROUPED.replace(",50,7,", ",50,20,"),
    "renamed": "who,place,n_items\n1,3,30\n2,12,40\n",
}
RANKED = "user,candidates,above,tied\n0,3,0,0\n1,4,3,0\n"
MODEL = {"--users": "u.npy", "--items": "i.npy", "--training": "train.csv", "--held-out": "test.csv"}


def words(options):
    """Options as words."""
    return [word for pair in options.items() for word in pair]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run the command in a folder of its own; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = 0
        try:
            cli.main([str(argument) for argument in arguments])
        except SystemExit as left:
            code = left.code or 0
        return code, *capsys.readouterr()

    return call


@pytest.fixture
def rows(run):
    """Run the command with --json; return the rows."""

    def call(*arguments):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)["rows"]

    return call


@pytest.fixture
def files(tmp_path):
    """Write the tables, and factors of two users and four items, whose scores are 4 3 2 1 and 1 2 3 4."""
    for name, text in TABLES.items():
        (tmp_path / f"{name}.csv").write_text(text)
    np.save(tmp_path / "u.npy", np.array([[1.0, 0.0], [0.0, 1.0]]))
    np.save(tmp_path / "i.npy", np.array([[4.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 4.0]]))
    (tmp_path / "train.csv").write_text("user,item\n0,0\n")
    (tmp_path / "test.csv").write_text("item,user\n0,1\n1,0\n")
    (tmp_path / "ids.txt").write_text("0\n1\n")
    return tmp_path


def process(*arguments, **options):
    """Run the command as a process."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "sampled_metrics", *map(str, arguments)],
        **{"capture_output": True, "timeout": 120, "env": environment, **options},
    )


# --- exit codes: 0 done, 1 not done, 2 wrong use, 3 if the result is not as wanted (docs/reference/command.md) --------


@pytest.mark.parametrize(
    ("names", "options", "code"),
    [
        ("XZ", [], 0),
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
    ranks = {"X": np.arange(60) % 30 + 20, "Z": np.arange(60) % 30 + 2, "W": np.arange(60)[::-1] % 30 + 20}
    for name in names:
        pd.DataFrame({"user": np.arange(60), "candidates": 100, "rank": ranks[name]}).to_csv(f"{name}.csv", index=False)
    left, out, err = run("compare", *(f"{name}.csv" for name in names), "--metrics", "auc", *options, "--exact")
    assert (left, bool(out), "may be X, Z" in err) == (code, code != 2, code == 2)


NM = "--candidates 50 --negatives 9"
REFUSED = [
    # what cannot be read: the name of the file, and the line
    (1, "evaluate none.csv", "none.csv: "),
    (1, "evaluate .", ".: is a directory"),
    (1, "evaluate exact.csv/x.csv", "exact.csv/x.csv: "),
    (1, "evaluate bad.csv", "bad.csv, line 3: "),
    (1, "compare exact.csv bad.csv", "bad.csv, line 3: "),
    (1, "plan bad.csv exact.csv", "bad.csv, line 3: "),
    (1, "expect exact.csv bad.csv --negatives 3", "bad.csv, line 3: "),
    (1, f"correct f.jsonl {NM}", "f.jsonl, line 1: "),
    (1, "evaluate large.csv", "2^53"),
    (1, "expect large.csv --negatives 9", "2^53"),
    (1, "compare exact.csv sampled.csv", "exact.csv, line 1: lacks the column negatives"),
    (1, "evaluate long.csv --by modle", "long.csv, line 1: lacks the column modle"),
    (1, "compare old.csv new.csv --groups nothing --exact", "line 1: lacks the column nothing"),
    (1, "report sampled.csv -o r.html --negatives 9", "negatives must not be given"),
    (1, "evaluate renamed.csv --rank-column place --candidates 9", "n_items (candidates)"),
    (1, "rank --users none.npy --items i.npy --training train.csv --held-out test.csv", "none.npy: "),
    (1, "rank --users ids.txt --items i.npy --training train.csv --held-out test.csv", "ids.txt: "),
    (1, "rank --users train.csv --items i.npy --training train.csv --held-out test.csv", "train.csv: "),
    (1, "rank --users text.npy --items i.npy --training train.csv --held-out test.csv", "text.npy: "),
    (1, "rank --users two.npz --items i.npy --training train.csv --held-out test.csv", "two.npz: must hold one"),
    (1, "rank --users text.npz --items i.npy --training train.csv --held-out test.csv", "text.npz: "),
    (1, "rank --users u.npy --items i.npy --training none.csv --held-out test.csv", "none.csv: "),
    (1, "rank --users u.npy --items i.npy --training train.csv --held-out t.parquet", "t.parquet: "),
    (1, "rank --users u.npy --items i.npy --training train.csv --held-out test.csv --user-ids no.txt", "no.txt: "),
    # what cannot be written: before anything is read
    (1, "report exact.csv -o exact.csv", "exact.csv: is the same file as the input exact.csv"),
    (1, "report X=exact.csv other.csv -o soft", "soft: is the same file as the input exact.csv"),
    (1, "report exact.csv -o hard", "hard: is the same file as the input exact.csv"),
    (1, "compare other.csv X=exact.csv,in.svg --plot in.svg", "in.svg: is the same file as the input in.svg"),
    (1, "evaluate other.csv --relevance in.svg --plot in.svg", "is the same file as the input in.svg"),
    (1, "rank --users u.npy --items i.npy --training train.csv --held-out test.csv -o train.csv", "train.csv: is the"),
    (1, "rank --users u.npy --items i.npy --training train.csv --held-out test.csv -o u.npy", "u.npy: is the same"),
    (1, "report exact.csv -o read-only", "read-only: is read-only"),
    (1, "evaluate gone.csv --plot exact.csv/a.svg", "exact.csv/a.svg: there is no folder"),
    # what is not asked for so
    (2, "--frobnicate", "No such option"),
    (2, "evaluate", "Missing argument 'RANKS...'"),
    (2, "evaluate exact.csv --negatives 3", "No such option"),
    (2, "evaluate exact.csv --metrics", "requires an argument"),
    (2, "evaluate exact.csv --metrics [red]x", "unknown metric '[red]x'"),
    (2, "evaluate exact.csv --confidence-level high", "'high' is not a valid float"),
    (2, "evaluate exact.csv --candidates 0", "not in the range"),
    (2, "evaluate exact.csv --separator ::", "--separator"),
    (2, "evaluate exact.csv --json --csv", "give one of --json and --csv"),
    (2, "evaluate exact.csv --relevant-from 2", "--relevant-from is for ranked lists"),
    (2, "evaluate =exact.csv", "=exact.csv: has no name before the sign ="),
    (2, "evaluate a=exact.csv,other.csv", "several files are the seeds"),
    (2, "evaluate gone.csv --plot folder.svg", "File 'folder.svg' is a directory."),
    (2, "evaluate gone.csv --plot gone.gif", "gone.gif: "),
    (2, "correct sampled.csv --negatives 0", "not in the range"),
    (2, "correct sampled.csv --drawn twice", "Invalid value for '--drawn'"),
    (2, "compare exact.csv", "compare takes two recommenders or more, not only exact.csv"),
    (2, "compare exact.csv exact.csv", "exact.csv: is given twice"),
    (2, "compare - -", "-: is given twice"),
    (2, "compare X=exact.csv X=other.csv", "X: is given twice"),
    (2, "compare exact.csv other.csv --drawn once", "--drawn is for"),
    (1, "compare exact.csv other.csv --estimator mle", "say how many negatives were sampled"),
    (1, "compare long.csv", "say --by model"),
    (2, "compare a=long.csv --by model", "a=long.csv: a table of several recommenders has no name"),
    (2, "compare long.csv wide.csv --by model", "are for one table"),
    (2, "compare old.csv new.csv --margin many --exact", "margin must be a number above 0"),
    (2, "expect exact.csv", "Missing option '--negatives'"),
    (1, f"expect exact.csv --negatives {10**14} --replacement", "GiB"),
    (2, "plan exact.csv --sizes 5,x", "5,x"),
    (1, "plan sampled.csv --drawn once", "drawn once"),
    (2, "report exact.csv", "Missing option '-o'"),
    (2, "report exact.csv -o folder.svg", "is a directory"),
    (2, "report exact.csv -o -", "standard output (-) is not possible here"),
    (2, "rank --scores u.npy --users u.npy --training train.csv --held-out test.csv", "or --scores alone"),
    (2, "rank --users u.npy --items i.npy --training - --held-out -", "-: is given twice"),
    (1, "rank --users u.npy --items i.npy --training train.csv --held-out test.csv -o ''", "is empty"),
    (2, "completion powershell", "'powershell' is not one of"),
    *[
        (2, f"published --value {value} --users 100 --negatives 99 --candidates 2000", "--value is NAME:METRIC=VALUE")
        for value in ("hr@10=0.6", ":hr@10=0.6", "GMF:0.6", "GMF:=0.6")
    ],
    *[
        (2, f"published --value A:hr@5=0.5 --users 100 --negatives 9 --candidates={n}", "not a valid integer")
        for n in ("1000-", "10-20-30", "many")
    ],
]


@pytest.mark.parametrize(("code", "line", "says"), REFUSED, ids=[line for _, line, _ in REFUSED])
def test_what_is_wrong_is_one_line_and_changes_no_file(run, files, code, line, says):
    for name in ("in.svg", "read-only"):
        (files / name).write_text(EXACT)
    (files / "read-only").chmod(0o444)
    (files / "soft").symlink_to("exact.csv")
    (files / "hard").hardlink_to(files / "exact.csv")
    (files / "folder.svg").mkdir()
    (files / "f.jsonl").write_text('{"rank": 3}\n')
    for name in ("text.npy", "text.npz", "t.parquet"):
        (files / name).write_text("no array")
    np.savez(files / "two.npz", a=np.zeros(1), b=np.zeros(1))
    before = {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()}
    left, out, err = run(*("" if word == "''" else word for word in line.split()), stdin=b"")
    assert says in err
    assert re.fullmatch(r"error: .+\n", err)
    assert (left, out) == (code, "")
    assert {path.name: path.read_bytes() for path in files.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("path", ["exact.csv", "a/f.csv"])
def test_a_file_or_folder_that_may_not_be_read(run, files, monkeypatch, path):
    """By a stand-in, as root may read everything."""

    def forbidden(function):
        def of_the_path(name, *arguments, **options):
            if str(name) == path:
                raise PermissionError(13, "Permission denied")
            return function(name, *arguments, **options)

        return of_the_path

    monkeypatch.setattr("os.stat", forbidden(os.stat))
    monkeypatch.setattr("builtins.open", forbidden(open))
    assert run("evaluate", path) == (1, "", f"error: {path}: cannot be read: Permission denied\n")


# --- what is printed --------------------------------------------------------------------------------------------------

CALLS = {
    "evaluate exact.csv": lambda t: evaluate(t["exact"]),
    "evaluate exact.csv --metrics ap,recall@3 --confidence-level 0.9": lambda t: evaluate(
        t["exact"], metrics=["ap", "recall@3"], confidence_level=0.9
    ),
    "correct sampled.csv --estimators cls,mle --replacement": lambda t: correct(
        t["sampled"], estimators=["cls", "mle"], replacement=True
    ),
    "correct X=sampled.csv,sampled-too.csv --estimators bv-0.1 --drawn once": lambda t: correct(
        {"X": [t["sampled"], t["sampled-too"]]}, estimators="bv-0.1", drawn="once"
    ),
    "compare exact.csv Y=other.csv Z=other.csv,exact.csv --metrics ap,auc": lambda t: compare(
        {"exact": t["exact"], "Y": t["other"], "Z": [t["other"], t["exact"]]}, metrics=["ap", "auc"]
    ),
    "compare sampled.csv sampled-too.csv --estimator bv-0.01": lambda t: compare(
        t["sampled"], t["sampled-too"], names=("sampled", "sampled-too"), estimator="bv-0.01"
    ),
    "expect exact.csv other.csv --negatives 5 --estimators uncorrected,cls": lambda t: expect(
        {"exact": t["exact"], "other": t["other"]}, negatives=5, estimators=["uncorrected", "cls"]
    ),
    "plan exact.csv other.csv --metric ap --estimators bv-1 --sizes 5 --draws 40": lambda t: sm.plan(
        sm.exact_ranks({name: t[name] for name in ("exact", "other")}),
        metric="ap",
        estimators="bv-1",
        negatives=[5],
        draws=40,
    ),
    **{
        f"compare old.csv new.csv --exact --groups age --margin {margin}": lambda t, margin=margin: sm.compare(
            sm.exact_ranks({"old": t["old"], "new": t["new"]}, groups="age", exact=True), groups=True, margin=margin
        )
        for margin in (0.05, "2%")
    },
    "evaluate old.csv new.csv --exact --groups age": lambda t: sm.evaluate(
        sm.exact_ranks({"old": t["old"], "new": t["new"]}, groups="age", exact=True), groups=True
    ),
    "published --value G:hr@10=0.60 --value M:hr@10=0.7 --users 100 --negatives 99 --candidates 1000-2000 "
    "--estimators free": lambda t: sm.published(
        {"G": {"hr@10": "0.60"}, "M": {"hr@10": "0.7"}},
        users=100,
        negatives=99,
        candidates=(1000, 2000),
        estimators="free",
    ),
}


@pytest.mark.parametrize("line", CALLS)
def test_each_form_has_what_the_function_gives(run, files, line):
    expected = CALLS[line]({path.stem: pd.read_csv(path) for path in files.glob("*.csv")})
    code, out, err = run(*line.split(), "--csv")
    assert (code, "\r" in out) == (0, False)
    assert err.splitlines() == list(expected.remarks)
    wanted = pd.read_csv(io.StringIO(pd.DataFrame(expected).to_csv(index=False)))
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(out)), wanted, rtol=1e-12)

    code, out, err = run(*line.split(), "--json")
    assert (code, err) == (0, "")
    given = json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert given == {
        "recommenders": list(expected.setting.names),
        "remarks": list(expected.remarks),
        "findings": [finding.plain() for finding in expected.findings],
        "rows": expected.plain_rows(),
    }
    for row, of_function in zip(given["rows"], expected.to_dict("records"), strict=True):
        assert list(row) == list(expected.columns)
        assert all(row[name] is None if pd.isna(cell) else row[name] == cell for name, cell in of_function.items())

    code, out, err = run(*line.split())
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    lines = out.splitlines()
    header = lines.index(next(text for text in lines if text.split() == [*expected.as_text().columns]))
    assert len([text for text in lines[header + 1 : header + len(expected) + 1] if text.strip()]) == len(expected)
    assert set(expected.remarks) <= set(lines)


@pytest.mark.parametrize(
    "line",
    [
        "evaluate exact.csv",
        "correct sampled.csv",
        "compare exact.csv other.csv",
        "plan exact.csv other.csv --metric ap --sizes 5 --draws 40",
    ],
)
def test_a_figure_is_drawn_beside_what_is_printed(run, files, line):
    code, printed, _ = run(*line.split())
    assert code == 0
    assert run(*line.split(), "--plot", "drawn.svg") == (0, printed, "")
    assert (files / "drawn.svg").read_bytes().startswith(b"<?xml")


class TestRanksThatMayBeSampled:
    """Exact ranks of which none is above a tenth of n: from 200 users on they need --exact."""

    @pytest.fixture
    def shallow(self, tmp_path):
        """Write the ranks of two recommenders from 0, the largest of which is 84, and those of 199 users."""
        rng = np.random.default_rng(2)
        for name, users in {"a": 400, "b": 400, "few": 199}.items():
            ranks = rng.geometric(0.1, users).clip(max=85) - 1
            (tmp_path / f"{name}.csv").write_text("rank\n84\n" + "".join(f"{rank}\n" for rank in ranks[1:]))

    @pytest.mark.parametrize(
        "line",
        [
            "evaluate a.csv",
            "compare a.csv b.csv",
            "expect a.csv b.csv --negatives 20",
            "plan a.csv b.csv --estimators uncorrected --sizes 20 --draws 40",
            "report a.csv b.csv -o page.html --metrics recall@10",
        ],
    )
    def test_are_refused_unless_they_are_said_to_be_exact(self, run, shallow, line):
        given = (*line.split(), "--candidates", 3561, "--zero-based")
        code, out, err = run(*given)
        assert (code, out, "no rank of 400" in err, "--exact" in err) == (1, "", True, True)
        code, out, err = run(*given, "--exact")
        assert (code, err, "no rank of" in out) == (0, "", False)

    def test_of_fewer_users_have_a_caution_before_the_numbers(self, run, shallow, tmp_path):
        given = ("evaluate", "few.csv", "--candidates", 3561, "--zero-based", "--metrics", "recall@10")
        said = "ranks: no rank of 199"
        assert run(*given)[1].startswith(said)
        assert run(*given, "--latex")[1].startswith(f"% {said}")
        out = run(*given, "--json")[1]
        assert out.index(said) < out.index('"rows"')
        # to one file, as a terminal shows both
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "capture_output": False}
        assert process(*given, "--csv", cwd=tmp_path, **streams).stdout.startswith(said.encode())


def test_negatives_that_are_stated_are_believed_with_a_caution(run, tmp_path):
    """600 users, evenly at the ranks 1 to 20."""
    (tmp_path / "s.csv").write_text("rank\n" + "".join(f"{rank}\n" for rank in range(1, 21)) * 30)
    asked = {"--negatives": 100, "--candidates": 1000, "--metrics": "recall@10", "--estimators": "free"}
    given = ("correct", "s.csv", *words(asked))
    code, out, _ = run(*given)
    assert (code, out.index("ranks: no rank is above 20") < out.index("estimator")) == (0, True)
    assert "ranks: no rank is above 20" in run(*given, "--csv")[2]


# --- files and names --------------------------------------------------------------------------------------------------


class TestReading:
    """Options that say how files are read."""

    def test_several_files_are_several_recommenders(self, rows, files):
        assert {row["recommender"] for row in rows("evaluate", "exact.csv", "Best=other.csv")} == {"exact", "Best"}
        assert {row["recommender"] for row in rows("correct", "sampled.csv", "sampled-too.csv")} == {
            "sampled",
            "sampled-too",
        }

    def test_columns_by_option(self, run, files):
        """A column that is taken under another name without being asked for is named in a remark."""
        asked = {"--user-column": "who", "--rank-column": "place", "--metrics": "recall@10"}
        given = ("evaluate", "renamed.csv", *words(asked), "--json")
        code, out, _ = run(*given)
        assert (code, json.loads(out)["rows"][0]["value"]) == (0, 0.5)
        assert "n_items" in str(json.loads(out)["remarks"])
        assert "n_items" not in str(json.loads(run(*given, "--candidates-column", "n_items")[1])["remarks"])

    def test_ranks_from_0(self, run, rows, tmp_path):
        (tmp_path / "f.csv").write_text("rank\n0\n9\n10\n")
        given = ("evaluate", "f.csv", "--candidates", 50, "--metrics", "recall@10")
        code, _, err = run(*given)
        assert (code, "line 2" in err) == (1, True)
        assert rows(*given, "--zero-based")[0]["value"] == pytest.approx(2 / 3)

    @pytest.mark.parametrize("line", ["long.csv --by model", "wide.csv --rank-column gmf,mlp"])
    def test_one_table_of_several_recommenders(self, run, rows, files, line):
        values = [(row["recommender"], row["value"]) for row in rows("evaluate", *line.split(), "--metrics", "ap")]
        assert values == [("gmf", pytest.approx(13 / 24)), ("mlp", pytest.approx(3 / 8))]
        [row] = rows("compare", *line.split(), "--metrics", "ap")
        assert row["difference"] == pytest.approx(3 / 8 - 13 / 24)
        assert run("report", *line.split(), "-o", "page.html", "--metrics", "ap")[0] == 0
        assert "Comparison of gmf and mlp" in (files / "page.html").read_text()

    def test_standard_input_is_a_dash(self, run, files):
        assert run("evaluate", "-", "--json", stdin=EXACT.encode()) == run("evaluate", "exact.csv", "--json")


def test_groups_and_margins_are_sections_of_the_report(run, files):
    options = ["--exact", "--groups", "age", "--margin", ".5", "--metrics", "ap"]
    assert run("report", "old.csv", "new.csv", "-o", "page.html", *options)[::2] == (0, "")
    page = (files / "page.html").read_text()
    assert "Comparisons by group" in page
    assert "by less than the margin" in page or "are equivalent on" in page


class TestNames:
    """Recommenders are called by their files; a file's name must not break what is printed."""

    @pytest.mark.parametrize("name", ["model[red]x", "a[link=b]c", ":smile:", "a b", "ü", "-x"])
    def test_are_shown_as_they_are(self, run, files, name):
        (files / f"{name}.csv").write_text(TABLES["other"])
        code, out, err = run("compare", "exact.csv", f"./{name}.csv")
        assert (code, err) == (0, "")
        assert f"The difference ({name} - exact) is" in out

    def test_that_are_no_utf8(self, run, files):
        name = os.fsdecode(b"bad\xff.csv")
        (files / name).write_text(EXACT)
        for form in ((), ("--json",), ("--csv",), ("--latex",)):
            code, out, err = run("compare", name, "other.csv", "--metrics", "ap", *form)
            assert code == 0, err
            assert r"bad\udcff" in (out + err).replace(r"\\", "\\")  # JSON doubles it
        assert run("report", name, "other.csv", "-o", "r.html")[0] == 0
        assert "bad\\udcff" in (files / "r.html").read_text(encoding="utf-8")

    @pytest.mark.parametrize("form", ["--csv", "--json", "--latex"])
    def test_that_are_not_printable_stay_in_their_line(self, run, files, form):
        code, out, err = run("compare", "a\n\\input{b}\x1b[31m\x85=exact.csv", "other.csv", "--metrics", "ap", form)
        assert code == 0
        assert (out + err).replace("\n", "").isprintable()
        assert not [line for line in (out + err).splitlines() if line.startswith("\\input")]

    def test_that_a_terminal_lacks_are_escaped(self, files):
        arguments = ("compare", "γ=exact.csv", "other.csv", "--metrics", "ap")
        ran = process(*arguments, cwd=files, env={"PYTHONIOENCODING": "latin-1"})
        assert (ran.returncode, ran.stderr, r"(other - \u03b3)" in ran.stdout.decode()) == (0, b"", True)

    @pytest.mark.parametrize("name", ["", "a\0b", "x" * 300, os.fsdecode(b"gone\xff")])
    def test_that_no_file_has_are_one_line(self, run, files, name):
        code, out, err = run("evaluate", name)
        assert (code in (1, 2), out, err.count("\n"), err.isascii()) == (True, "", 1, True)


# --- help and the process ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_an_example(run, command):
    for option in ("--help", "-h"):
        code, out, err = run(command, option)
        assert (code, err) == (0, "")
        assert re.search(rf"Example:\n(.*\n)* *.*sampled-metrics {command}", out)


@pytest.mark.parametrize(
    ("command", "known"),
    [("correct", KNOWN), ("compare", KNOWN), ("expect", LINEAR), ("plan", ("decreasing", "free", *LINEAR))],
)
def test_help_names_the_estimators(run, command, known):
    out = run(command, "--help")[1]
    assert ", ".join(known) in " ".join(re.sub(r"(?<=-)\s+", "", out[out.index("--estimator") :]).split())


def test_the_examples_of_the_help_work(run, files):
    rng = np.random.default_rng(1)
    examples = []
    for command in RANKING:
        text = run(command, "--help")[1].split("Example:\n")[1]
        examples += re.findall(r"^  sampled-metrics (.*)$", text, flags=re.MULTILINE)
    assert len(examples) == 16
    scores, given = rng.random((40, 150)), (np.zeros((40, 150)), np.full(40, 7))
    for name in "xz":
        sm.staged_ranks(lambda users, items: scores[users, items], *given, depth=None).write(f"{name}-staged.parquet")
    for name in ("counts", "x-counts", "y-counts"):
        top, rest = rng.geometric(0.05, size=(2, 40)).clip(max=100)
        columns = {"above_top500": top, "size_top500": 500, "above_rest": rest, "size_rest": 900}
        pd.DataFrame(columns).to_csv(f"{name}.csv", index=False)
    pairs = pd.DataFrame({"user": np.repeat(range(20), 5), "item": list(range(5)) * 20})
    for name in ("lists", "old-lists", "new-lists"):
        pairs.assign(score=rng.normal(size=100)).to_csv(f"{name}.csv", index=False)
    pairs[::2].assign(relevance=rng.integers(4, size=50)).to_csv("judged.csv", index=False)
    for name in ("train", "test"):
        pd.read_csv(f"{name}.csv").to_parquet(f"{name}.parquet")
    for example in examples:
        more = {} if "--candidates 3541" in example else {"candidates": 150}
        for name in ("ranks", "mine", "x", "y", "z", "old", "new", "z-seed-1", "z-seed-2", "z-seed-3"):
            rank = rng.geometric(0.3 if name == "y" else 0.05, size=40).clip(max=101)
            pd.DataFrame({"user": range(40), "rank": rank}).assign(**more).to_csv(f"{name}.csv", index=False)
        fewer = ("--draws", 40, "--estimators", "uncorrected") if example.startswith("plan") else ()
        code, out, err = run(*example.split(" #")[0].split(), *fewer)
        assert code == 0, (example, err)
        assert out or "-o ranks/" in example


def test_a_shell_completes_the_commands():
    asked = {"_SAMPLED_METRICS_COMPLETE": "bash_complete", "COMP_WORDS": "sampled-metrics ev", "COMP_CWORD": "1"}
    assert process(env=asked).stdout.decode().split() == ["plain,evaluate"]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("evaluate none.csv", 1, "error: none.csv: there is no such file\n"),
        ("evaluate exact.csv --csv | true", 0, ""),
        ("evaluate exact.csv >&-", 1, "error: standard output is closed, and the result would be lost\n"),
        ("report exact.csv -o out --metrics ap >&-", 0, ""),
        ("evaluate exact.csv --csv 2>&- >out", 0, ""),
        ("evaluate none.csv 2>&-", 1, ""),
        ("evaluate exact.csv >/dev/full", 1, "error: the output cannot be written: No space left on device\n"),
        ("evaluate exact.csv --json >/dev/full", 1, "error: the output cannot be written: No space left on device\n"),
    ],
)
def test_a_stream_that_is_closed_or_full(files, line, code, said):
    """A result that would be lost is refused, nobody who reads on is no error, and standard error is not needed."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES)}
    command = ["sh", "-c", f"{sys.executable} -m sampled_metrics {line}"]
    done = subprocess.run(command, cwd=files, env=environment, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr, done.stdout) == (code, said, "")
    assert ((files / "out").exists() and (files / "out").stat().st_size > 0) == (
        "out" in line.replace(">", " ").split()
    )


def test_a_terminal_has_a_table_with_bold_names(files):
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "TERM": "xterm-256color"}
    command = [sys.executable, "-m", "sampled_metrics", "evaluate", str(files / "exact.csv")]
    running = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 65536):
            written += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert running.wait(timeout=60) == 0
    assert re.search(rb"\x1b\[[0-9;]*m", written)
    assert b"recall@10       1" in written


# --- rank -------------------------------------------------------------------------------------------------------------


def test_rank_writes_what_evaluate_reads(run, files):
    assert run("rank", *words(MODEL)) == (0, RANKED, "")
    assert run("rank", *words(MODEL), "-o", "ranks.csv.gz") == (0, "", "")
    assert gzip.decompress((files / "ranks.csv.gz").read_bytes()).decode() == RANKED
    assert run("rank", *words(MODEL), "-o", "ranks.parquet") == (0, "", "")
    assert pd.read_parquet("ranks.parquet").to_csv(index=False, lineterminator="\n") == RANKED
    code, out, _ = run("evaluate", "ranks.csv.gz", "--metrics", "recall@1", "--csv")
    assert (code, out.splitlines()[1][:13]) == (0, "recall@1,0.5,")


@pytest.mark.parametrize("option", ["--training", "--held-out", "--user-ids"])
def test_rank_reads_standard_input(run, files, option):
    given = MODEL | {"--user-ids": "ids.txt"}
    content = (files / given[option]).read_bytes()
    assert run("rank", *words(given | {option: "-"}), stdin=content) == (0, RANKED, "")
