"""The command: what it prints and in which form, and that everything wrong is one line on stderr and exit code 2."""

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
from read_and import compare, correct, evaluate, expect, plan

import sampled_metrics
from sampled_metrics import cli
from sampled_metrics.estimators import KNOWN, LINEAR
from sampled_metrics.estimators.linear import LinearEstimator

COMMANDS = (
    "evaluate",
    "correct",
    "published",
    "compare",
    "expect",
    "plan",
    "report",
    "rank",
    "stages",
    "concat",
    "completion",
)
SOURCES = Path(__file__).resolve().parents[1] / "src"
EXACT = "user,candidates,rank\n1,50,3\n2,50,10\n3,60,1\n"
OTHER = "user,candidates,rank\n3,60,30\n1,50,1\n2,50,2\n"
SAMPLED = "user,candidates,negatives,rank\n1,50,9,3\n2,50,9,10\n3,60,9,1\n"


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run the command in a folder of its own; return its exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = 0
        try:
            cli.main([str(each) for each in arguments])
        except SystemExit as left:
            code = left.code or 0
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def files(tmp_path):
    """Write files of some contents into the folder."""
    for name, text in {"exact.csv": EXACT, "other.csv": OTHER, "sampled.csv": SAMPLED}.items():
        (tmp_path / name).write_text(text)
    swapped = SAMPLED.replace("9,3\n", "9,1\n")
    (tmp_path / "sampled-too.csv").write_text(swapped)
    return tmp_path


def process(*arguments, **options):
    """Run the command as a process."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-m", "sampled_metrics", *map(str, arguments)],
        **{"capture_output": True, "timeout": 120, "env": environment, **options},
    )


def on_a_terminal(*arguments, columns=80, **environment):
    """Run the command with a terminal for stdin, stdout and stderr; return its exit code and what it wrote."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {**os.environ, "PYTHONPATH": str(SOURCES), "TERM": "xterm-256color", **environment}
    command = subprocess.Popen(
        [sys.executable, "-m", "sampled_metrics", *map(str, arguments)],
        stdin=theirs, stdout=theirs, stderr=theirs, env=environment,
    )  # fmt: skip
    os.close(theirs)
    written = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        written += part
    os.close(ours)
    return command.wait(timeout=60), written.decode()


WRONG_USE = (
    *("Invalid value for", "Missing ", "No such option", "requires an argument", "is given twice", "give one of"),
    *("--value is NAME", "--relevant-from is for", "before the sign =", "several files are the seeds", "give --users"),
    *("has no name of its own", "are for one table", "compare takes two", "confidence_level must", "unknown metric"),
    *("the name must end in one of", "--drawn is for"),
)
"""Parts of the messages of wrong use; all other refusals are of what cannot be done."""


def refused(run, says, *arguments, **options):
    """Check that the command says one line on stderr and nothing else, and exits with 1, or with 2 for wrong use."""
    code, out, err = run(*arguments, **options)
    assert code == (2 if any(part in err for part in WRONG_USE) else 1), err
    assert out == ""
    assert err.startswith("error: ")
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert "Traceback" not in err
    assert says in err
    return err


# --- malformed files --------------------------------------------------------------------------------------------------

NM = ["--candidates", 50, "--negatives", 9]


def write(folder, content):
    (folder / "f.csv").write_bytes(content if isinstance(content, bytes) else content.encode())


class TestExitCodes:
    """0 done, 1 not done, 2 wrong use, 3 if the result is not as wanted (docs/reference/command.md)."""

    @pytest.fixture
    def three(self, tmp_path):
        """Z has the better rank of each user than X, and W is X in another order of users."""
        ranks = {"X": np.arange(60) % 30 + 20, "Z": np.arange(60) % 30 + 2, "W": np.arange(60)[::-1] % 30 + 20}
        for name, of_name in ranks.items():
            table = pd.DataFrame({"user": np.arange(60), "candidates": 100, "rank": of_name})
            table.to_csv(tmp_path / f"{name}.csv", index=False)

    @pytest.mark.parametrize(
        ("files", "options", "code"),
        [
            ("XZ", [], 0),
            ("XZ", ["--fail-if-undecided", "--fail-if-worse", "Z"], 0),
            ("XZ", ["--fail-if-worse", "X"], 3),
            ("XW", ["--fail-if-undecided"], 3),
            ("XW", ["--fail-if-worse", "X", "--fail-if-worse", "W"], 0),
            ("XZW", ["--fail-if-worse", "W", "--json"], 3),
        ],
    )
    def test_of_a_nightly_job(self, run, three, files, options, code):
        found, out, err = run("compare", *(f"{name}.csv" for name in files), "--metrics", "auc", *options, "--exact")
        assert (found, err) == (code, "")
        assert out

    def test_of_an_unknown_name(self, run, three):
        code, out, err = run("compare", "X.csv", "Z.csv", "--exact", "--fail-if-worse", "x")
        assert (code, out) == (2, "")
        assert err == "error: --fail-if-worse: there is no recommender x; it may be X, Z\n"

    @pytest.mark.parametrize(
        ("arguments", "code"),
        [
            (["evaluate", "none.csv"], 1),
            (["evaluate", "bad.csv"], 1),
            (["evaluate", "X.csv", "--exact", "--metrics", "recal@10"], 2),
            (["evaluate", "X.csv", "--exact", "--separator", "::"], 2),
            (["compare", "X.csv", "--exact"], 2),
            (["compare", "X.csv", "--no-such-option"], 2),
            (["stages", "--score", "none:f", "--training", "X.csv", "--held-out", "X.csv", "-o", "o.parquet"], 2),
        ],
    )
    def test_of_what_is_not_done(self, run, three, arguments, code):
        Path("bad.csv").write_text("user,candidates,rank\n1,10,x\n")
        found, out, err = run(*arguments)
        assert (found, out, len(err.splitlines())) == (code, "", 1)

    def test_several_files_are_several_recommenders(self, run, three):
        """Of evaluate and correct, as of compare."""
        code, out, _ = run("evaluate", "X.csv", "Best=Z.csv", "--exact", "--metrics", "auc", "--json")
        rows = json.loads(out)["rows"]
        assert (code, [row["recommender"] for row in rows]) == (0, ["X", "Best"])
        assert rows[1]["value"] == pytest.approx(1 - (np.arange(60) % 30 + 1).mean() / 99)
        sample = ["--negatives", 99, "--candidates", 1000, "--metrics", "auc"]
        for name in "XZ":
            table = pd.read_csv(f"{name}.csv")
            table[["user", "rank"]].to_csv(f"{name}.csv", index=False)
        code, out, _ = run("correct", "X.csv", "Z.csv", *sample, "--json")
        assert (code, json.loads(out)["recommenders"]) == (0, ["X", "Z"])


class TestMalformedFiles:
    def test_name_the_file_and_the_line(self, run, tmp_path):
        write(tmp_path, "candidates,rank\n50,3\n50,third\n")
        refused(run, "f.csv, line 3: rank must be a whole number, 1 or more, not 'third'", "evaluate", "f.csv")
        write(tmp_path, "rank\n3\n11\n")
        refused(run, "f.csv, line 3: rank 11 is not from 1 to 10, among the item and 9", "correct", "f.csv", *NM)

    def test_that_cannot_be_read(self, run, tmp_path, monkeypatch):
        refused(run, "none.csv: there is no such file", "evaluate", "none.csv")
        refused(run, f"{tmp_path}: is a directory", "evaluate", tmp_path)
        refused(run, "the name of a file is empty", "evaluate", "")
        write(tmp_path, EXACT)
        refused(run, "f.csv/x.csv: cannot be read: Not a directory", "evaluate", "f.csv/x.csv")
        if os.geteuid() == 0:  # who may read everything

            def forbidden(*arguments, **options):
                raise PermissionError(13, "Permission denied")

            monkeypatch.setattr("builtins.open", forbidden)
        else:
            (tmp_path / "f.csv").chmod(0)
        refused(run, "f.csv: cannot be read: Permission denied", "evaluate", "f.csv")

    def test_of_a_pair_names_the_file_that_is_wrong(self, run, files):
        write(files, "user,candidates,rank\n1,50,3\n2,50,x\n3,60,1\n")
        for command in ("compare", "plan"):
            refused(run, "f.csv, line 3: rank", command, "exact.csv", "f.csv")
            refused(run, "f.csv, line 3: rank", command, "f.csv", "exact.csv")
        refused(run, "f.csv, line 3: rank", "expect", "exact.csv", "f.csv", "--negatives", 3)

    def test_in_a_folder_that_cannot_be_read_is_no_output(self, run, files, monkeypatch):
        def forbidden(function):
            def of_the_folder(path, *arguments, **options):
                if str(path) == "a/f.csv":
                    raise PermissionError(13, "Permission denied")
                return function(path, *arguments, **options)

            return of_the_folder

        monkeypatch.setattr("os.stat", forbidden(os.stat))
        monkeypatch.setattr("builtins.open", forbidden(open))
        refused(run, "a/f.csv: cannot be read: Permission denied", "evaluate", "a/f.csv")

    @pytest.mark.parametrize("text", ['{"rank": 3}\n{"rank": 4}\n', '[{"rank": 3}]'])
    def test_of_json(self, run, tmp_path, text):
        (tmp_path / "f.jsonl").write_text(text)
        refused(run, "f.jsonl, line 1: is JSON, and tables of ranks are csv or parquet", "correct", "f.jsonl", *NM)

    @pytest.mark.parametrize(
        ("text", "command"),
        [
            ("candidates,rank\n{n},1\n{n},3\n", ["evaluate"]),
            ("candidates,rank\n{n},1\n{n},3\n", ["expect", "--negatives", 9]),
            ("candidates,negatives,rank\n{n},9,1\n{n},9,3\n", ["correct"]),
            ("candidates,negatives,rank\n{n},9,1\n{n},9,3\n", ["report", "-o", "r.html"]),
        ],
    )
    def test_of_numbers_that_a_float_does_not_hold(self, run, tmp_path, text, command):
        write(tmp_path, text.format(n=2**53 + 1))
        refused(run, "candidates must be 2^53 or less, not 9007199254740993", command[0], "f.csv", *command[1:])
        write(tmp_path, text.format(n=2**53))
        assert run(command[0], "f.csv", *command[1:])[0] == 0

    def test_the_same_file_twice(self, run, files):
        refused(run, "exact.csv: is given twice", "compare", "exact.csv", "exact.csv")
        refused(run, "-: is given twice", "compare", "-", "-", stdin=b"")
        refused(run, "exact.csv: is given twice", "expect", "exact.csv", "exact.csv", "--negatives", 3)


class TestLabels:
    @pytest.mark.parametrize(
        ("command", "known"),
        [("correct", KNOWN), ("compare", KNOWN), ("expect", LINEAR), ("plan", ("decreasing", "free", *LINEAR))],
    )
    def test_help_names_the_estimators(self, run, command, known):
        _, out, _ = run(command, "--help")
        words = re.sub(r"(?<=-)\s+", "", out[out.index("--estimator") :])
        assert ", ".join(known) in " ".join(words.split())
        for label in known:
            found = cli.commands.sm.estimator(label)
            assert isinstance(found, LinearEstimator) == (label in LINEAR)


class TestBadOptions:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["--frobnicate"], "No such option"),
            (["evaluate"], "Missing argument 'RANKS...'"),
            (["evaluate", "exact.csv", "--negatives", 3], "No such option"),
            (["evaluate", "exact.csv", "--metrics"], "requires an argument"),
            (["evaluate", "exact.csv", "--metrics", "[red]x"], "unknown metric '[red]x'"),
            (["evaluate", "exact.csv", "--confidence-level", "high"], "'high' is not a valid float"),
            (["evaluate", "exact.csv", "--candidates", "0"], "not in the range"),
            (["correct", "sampled.csv", "--negatives", "0"], "not in the range"),
            (["correct", "sampled.csv", "--drawn", "twice"], "Invalid value for '--drawn'"),
            (["compare", "exact.csv", "other.csv", "--drawn", "once"], "--drawn is for ranks among sampled negatives"),
            (["plan", "sampled.csv", "--drawn", "once"], "pilot: its negatives are drawn once for all users"),
            (["compare", "exact.csv"], "compare takes two recommenders or more, not only exact.csv"),
            (["compare", "X=exact.csv", "X=other.csv"], "X: is given twice"),
            (["compare", "exact.csv", "other.csv", "--estimator", "mle"], "say how many negatives were sampled, too"),
            (["compare", "exact.csv", "sampled.csv"], "exact.csv, line 1: lacks the column negatives"),
            (["expect", "exact.csv"], "Missing option '--negatives'"),
            (
                ["expect", "exact.csv", "--negatives", "1" + "0" * 14, "--replacement"],
                "GiB, and no array may",
            ),
            (["plan", "exact.csv", "--sizes", "5,x"], "must be numbers with commas between them, not 5,x"),
            (["completion", "powershell"], "'powershell' is not one of"),
        ],
        ids=lambda value: " ".join(map(str, value))[:60] if isinstance(value, list) else None,
    )
    def test_are_said_in_a_line(self, run, files, arguments, says):
        refused(run, says, *arguments)


# --- what is printed --------------------------------------------------------------------------------------------------

CALLS = [
    (["evaluate", "exact.csv"], lambda t: evaluate(t["exact"])),
    (
        ["evaluate", "exact.csv", "--metrics", "ap,recall@3", "--confidence-level", "0.9"],
        lambda t: evaluate(t["exact"], metrics=["ap", "recall@3"], confidence_level=0.9),
    ),
    (
        ["correct", "sampled.csv", "--estimators", "cls,mle", "--replacement"],
        lambda t: correct(t["sampled"], estimators=["cls", "mle"], replacement=True),
    ),
    (
        ["correct", "X=sampled.csv,sampled-too.csv", "--estimators", "bv-0.1", "--drawn", "once"],
        lambda t: correct({"X": [t["sampled"], t["sampled-too"]]}, estimators="bv-0.1", drawn="once"),
    ),
    (["compare", "exact.csv", "other.csv"], lambda t: compare(t["exact"], t["other"], names=("exact", "other"))),
    (
        ["compare", "exact.csv", "Y=other.csv", "Z=other.csv,exact.csv", "--metrics", "ap,auc"],
        lambda t: compare(
            {"exact": t["exact"], "Y": t["other"], "Z": [t["other"], t["exact"]]}, metrics=["ap", "auc"]
        ),
    ),
    (
        ["compare", "sampled.csv", "sampled-too.csv", "--estimator", "bv-0.01"],
        lambda t: compare(t["sampled"], t["sampled-too"], names=("sampled", "sampled-too"), estimator="bv-0.01"),
    ),
    (
        ["expect", "exact.csv", "other.csv", "--negatives", "5", "--estimators", "uncorrected,cls"],
        lambda t: expect({"exact": t["exact"], "other": t["other"]}, negatives=5, estimators=["uncorrected", "cls"]),
    ),
    (
        ["plan", "exact.csv", "other.csv", "--metric", "ap", "--estimators", "bv-1"],
        lambda t: plan(
            t["exact"], t["other"], metric="ap", estimators=["bv-1"], names=("exact", "other")
        ),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "function"), CALLS, ids=[" ".join(call[0])[:70] for call in CALLS])
class TestForms:
    @pytest.fixture
    def expected(self, files, function):
        return function({path.stem: pd.read_csv(path) for path in files.glob("*.csv")})

    def test_csv_is_what_the_function_gives(self, run, arguments, expected):
        code, out, err = run(*arguments, "--csv")
        assert code == 0
        assert "\r" not in out
        pd.testing.assert_frame_equal(
            pd.read_csv(io.StringIO(out)),
            pd.read_csv(io.StringIO(pd.DataFrame(expected).to_csv(index=False))),
            rtol=1e-12,
        )
        assert err.splitlines() == list(expected.remarks)

    def test_json_is_what_the_function_gives(self, run, arguments, expected):
        code, out, err = run(*arguments, "--json")
        assert (code, err) == (0, "")

        def no_constant(name):
            raise AssertionError(f"{name} is not JSON")

        given = json.loads(out, parse_constant=no_constant)
        assert list(given) == ["recommenders", "remarks", "findings", "rows"]
        assert given["recommenders"] == list(expected.setting.names)
        assert given["remarks"] == list(expected.remarks)
        assert given["findings"] == [finding.plain() for finding in expected.findings]
        assert len(given["rows"]) == len(expected)
        for row, wanted in zip(given["rows"], expected.to_dict("records"), strict=True):
            assert list(row) == list(expected.columns)
            for name, value in wanted.items():
                assert row[name] is None if pd.isna(value) else row[name] == value

    def test_the_table_is_plain_text_with_the_remarks_below(self, run, arguments, expected):
        code, out, err = run(*arguments)
        assert (code, err) == (0, "")
        assert "\x1b" not in out
        lines = out.splitlines()
        assert lines[0].split() == [*expected.as_text().columns]
        assert len([line for line in lines[1 : len(expected) + 1] if line.strip()]) == len(expected)
        for remark in expected.remarks:
            assert remark in lines


def test_one_draw_of_negatives_for_all_users_has_no_interval(run, files):
    code, out, _ = run("correct", "sampled.csv", "--drawn", "once", "--json")
    given = json.loads(out)
    assert code == 0
    assert {finding["kind"] for finding in given["findings"]} >= {"drawn-once"}
    assert all(row["low"] is None and row["high"] is None for row in given["rows"])


class TestNames:
    """Recommenders are called by their files; a file's name must not break the table."""

    @pytest.mark.parametrize("name", ["model[red]x", "x[", "a[link=b]c", ":smile:", "a b", "ü", "-x"])
    def test_are_shown_as_they_are(self, run, files, name):
        (files / f"{name}.csv").write_text(OTHER)
        code, out, err = run("compare", "exact.csv", f"./{name}.csv")
        assert (code, err) == (0, "")
        assert f"The difference ({name} - exact) is" in out


class TestStandardInput:
    def test_is_read_for_a_dash(self, run, files):
        from_file = run("evaluate", "exact.csv", "--json")
        assert run("evaluate", "-", "--json", stdin=EXACT.encode()) == from_file


class TestFigures:
    RUNS = (
        ("evaluate", "exact.csv"),
        ("correct", "sampled.csv"),
        ("compare", "exact.csv", "other.csv"),
        ("expect", "exact.csv", "--negatives", 9),
        ("plan", "exact.csv", "other.csv"),
    )

    @pytest.mark.parametrize("arguments", RUNS, ids=lambda each: each[0])
    def test_are_drawn_beside_what_is_printed(self, run, files, arguments):
        code, printed, _ = run(*arguments)
        assert code == 0
        assert run(*arguments, "--plot", "drawn.svg") == (0, printed, "")
        assert (files / "drawn.svg").read_bytes().startswith(b"<?xml")

    @pytest.mark.parametrize(("ending", "magic"), [("png", b"\x89PNG"), ("pdf", b"%PDF")])
    def test_have_the_format_of_the_name(self, run, files, ending, magic):
        assert run("evaluate", "exact.csv", "--plot", f"drawn.{ending}")[0] == 0
        assert (files / f"drawn.{ending}").read_bytes().startswith(magic)

    def test_that_cannot_be_written_are_one_line_before_anything_is_read(self, run, files):
        (files / "folder.svg").mkdir()
        (files / "file").touch()
        refused(run, "gone.gif: a figure is written as svg, png or pdf", "evaluate", "gone.csv", "--plot", "gone.gif")
        refused(run, "File 'folder.svg' is a directory.", "evaluate", "gone.csv", "--plot", "folder.svg")
        refused(run, "file/a.svg: there is no folder 'file'", "evaluate", "exact.csv", "--plot", "file/a.svg")


class TestOutputs:
    """What would be lost, or is not asked for, is refused before anything is computed."""

    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["report", "exact.csv", "-o", "exact.csv"], "exact.csv: is the same file as the input exact.csv"),
            (["report", "X=exact.csv", "other.csv", "-o", "soft"], "soft: is the same file as the input exact.csv"),
            (["report", "exact.csv", "-o", "hard"], "hard: is the same file as the input exact.csv"),
            (["compare", "other.csv", "X=sampled.csv,exact.csv", "-o", "x"], "No such option"),
            (["compare", "other.csv", "X=exact.csv,in.svg", "--plot", "in.svg"], "in.svg: is the same file as the"),
            (["evaluate", "in.svg", "--plot", "in.svg"], "in.svg: is the same file as the input in.svg"),
            (["evaluate", "other.csv", "--relevance", "in.svg", "--plot", "in.svg"], "is the same file as the input"),
            (["report", "exact.csv", "-o", "read-only"], "read-only: is read-only, and is not replaced"),
            (["report", "exact.csv", "-o", "-"], "standard output (-) is not possible here; name a file"),
        ],
    )
    def test_are_refused(self, run, files, arguments, says):
        for name in ("in.svg", "read-only"):
            (files / name).write_text(EXACT)
        (files / "read-only").chmod(0o444)
        (files / "soft").symlink_to("exact.csv")
        (files / "hard").hardlink_to(files / "exact.csv")
        before = {path.name: path.read_bytes() for path in files.iterdir()}
        refused(run, says, *arguments)
        assert {path.name: path.read_bytes() for path in files.iterdir()} == before

    @pytest.mark.parametrize("option", ["--users", "--items", "--training", "--held-out", "--item-ids", "--user-ids"])
    def test_of_rank_are_no_inputs(self, run, model, tmp_path, option):
        given = dict(zip(model[::2], model[1::2], strict=True))
        (tmp_path / "ids.txt").write_text("a\nb\n")
        path = given.setdefault(option, "ids.txt")
        before = (tmp_path / path).read_bytes()
        refused(run, f"{path}: is the same file as the input {path}", "rank", *sum(given.items(), ()), "-o", path)
        assert (tmp_path / path).read_bytes() == before

    def test_of_the_library_are_not_the_ranks(self, files):
        with pytest.raises(sampled_metrics.WriteError, match="is the same file as the input"):
            sampled_metrics.report(sampled_metrics.exact_ranks(files / "exact.csv"), files / "exact.csv")
        assert (files / "exact.csv").read_text() == EXACT


class TestUnusualNames:
    """Names that are not text of UTF-8 or not printable, and terminals that lack letters."""

    def test_that_are_no_utf8(self, run, files):
        name = os.fsdecode(b"bad\xff.csv")
        (files / name).write_text(EXACT)
        for form in ((), ("--json",), ("--csv",), ("--latex",)):
            code, out, err = run("compare", name, "other.csv", "--metrics", "ap", *form)
            assert code == 0, err
            assert r"bad\udcff" in (out + err).replace(r"\\", "\\")  # JSON doubles it
        assert run("report", name, "other.csv", "-o", "r.html")[0] == 0
        assert "bad\\udcff" in (files / "r.html").read_text(encoding="utf-8")
        refused(run, "gone\\udcff: there is no such file", "evaluate", os.fsdecode(b"gone\xff"))

    @pytest.mark.parametrize("form", ["--csv", "--json", "--latex"])
    def test_that_are_not_printable_stay_in_their_line(self, run, files, form):
        code, out, err = run("compare", "a\n\\input{b}\x1b[31m\x85=exact.csv", "other.csv", "--metrics", "ap", form)
        assert code == 0
        assert err.replace("\n", "").isprintable()
        assert out.replace("\n", "").isprintable()
        assert not [line for line in (out + err).splitlines() if line.startswith("\\input")]

    def test_that_a_terminal_lacks_are_escaped(self, files):
        arguments = ("compare", "γ=exact.csv", "other.csv", "--metrics", "ap")
        ran = process(*arguments, cwd=files, env={"PYTHONIOENCODING": "latin-1"})
        assert (ran.returncode, ran.stderr) == (0, b"")
        assert r"(other - \u03b3)" in ran.stdout.decode()

    @pytest.mark.parametrize("where", [("evaluate", "{}"), ("evaluate", "exact.csv", "--plot", "{}.svg")])
    def test_that_have_a_zero_byte(self, run, files, where):
        refused(run, "has a zero byte", *(word.format("a\0b") for word in where))

    @pytest.mark.parametrize("name", ["x" * 300, "x" * 5000])
    def test_that_are_too_long(self, run, files, name):
        refused(run, "x: cannot be read: File name too long", "evaluate", name)
        refused(run, "x.svg: cannot be written: File name too long", "evaluate", "exact.csv", "--plot", f"{name}.svg")


class TestReport:
    @pytest.mark.parametrize(
        ("arguments", "says"),
        [
            (["exact.csv"], "Missing option '-o'"),
            (["-o", "r.html"], "Missing argument 'RANKS...'"),
            (["exact.csv", "-o", "folder"], "File 'folder' is a directory."),
            (["sampled.csv", "-o", "r.html", "--negatives", "9"], "so negatives must not be given as an argument too"),
            (["exact.csv", "-o", "exact.csv/r.html"], "exact.csv/r.html: there is no folder 'exact.csv'"),
        ],
    )
    def test_of_wrong_input_is_one_line_and_no_file(self, run, files, arguments, says):
        (files / "folder").mkdir()
        refused(run, says, "report", *arguments)
        assert not (files / "r.html").exists()


class TestHelp:
    @pytest.mark.parametrize("command", COMMANDS)
    def test_of_each_command_shows_an_example(self, run, command):
        for option in ("--help", "-h"):
            code, out, err = run(command, option)
            assert (code, err) == (0, "")
            assert "Example:\n" in out
            assert f"  sampled-metrics {command}" in out or f"(sampled-metrics {command}" in out

    def test_the_examples_work(self, run, model):
        rng = np.random.default_rng(1)
        examples = []
        for command in COMMANDS[:-3]:
            text = run(command, "--help")[1].split("Example:\n")[1]
            examples += re.findall(r"^  sampled-metrics (.*)$", text, flags=re.MULTILINE)
        assert len(examples) == 16
        scores, given = rng.random((40, 150)), (np.zeros((40, 150)), np.full(40, 7))
        for name in "xz":
            staged = sampled_metrics.staged_ranks(lambda users, items: scores[users, items], *given, depth=None)
            staged.write(f"{name}-staged.parquet")
        above = {name: rng.geometric(0.05, size=(40, 2)).clip(max=100) for name in ("counts", "x-counts", "y-counts")}
        for name, each in above.items():
            columns = {"above_top500": each[:, 0], "size_top500": 500, "above_rest": each[:, 1], "size_rest": 900}
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
            code, out, err = run(*example.split(" #")[0].split())
            assert code == 0, (example, err)
            assert out or "-o ranks/" in example


class TestCompletion:
    def test_it_completes(self):
        environment = {
            "_SAMPLED_METRICS_COMPLETE": "bash_complete",
            "COMP_WORDS": "sampled-metrics ev",
            "COMP_CWORD": "1",
        }
        assert process(env=environment).stdout.decode().split() == ["plain,evaluate"]


class TestProcess:
    def test_faults_exit_with_1_and_no_traceback(self, files):
        done = process("evaluate", "none.csv", cwd=files)
        assert (done.returncode, done.stdout) == (1, b"")
        assert done.stderr == b"error: none.csv: there is no such file\n"

    def test_is_quiet_when_nobody_reads_on(self, files):
        reading, writing = os.pipe()
        os.close(reading)
        done = process(
            "evaluate", "exact.csv", "--csv", cwd=files, capture_output=False, stdout=writing, stderr=subprocess.PIPE
        )
        os.close(writing)
        assert (done.returncode, done.stderr) == (1, b"")

    @pytest.mark.parametrize(
        ("arguments", "code", "said"),
        [
            ("evaluate exact.csv >&-", 1, b"error: standard output is closed, and the result would be lost\n"),
            ("report exact.csv -o r.html --metrics ap >&-", 0, b""),
            ("evaluate exact.csv --csv 2>&- >out.csv", 0, b""),
            ("evaluate none.csv 2>&-", 1, b""),
        ],
    )
    def test_with_a_closed_stream(self, files, arguments, code, said):
        """A result that would be lost is refused, and standard error is not needed."""
        done = subprocess.run(
            ["sh", "-c", f"{sys.executable} -m sampled_metrics {arguments}"],
            cwd=files, env={**os.environ, "PYTHONPATH": str(SOURCES)}, capture_output=True, timeout=120,
        )  # fmt: skip
        assert (done.returncode, done.stderr, done.stdout) == (code, said, b"")
        if code == 0:
            assert any((files / name).exists() and (files / name).stat().st_size for name in ("r.html", "out.csv"))

    @pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
    @pytest.mark.parametrize("form", [[], pytest.param(["--json"], marks=pytest.mark.slow)], ids=str)
    def test_says_that_the_disk_is_full(self, files, form):
        with open("/dev/full", "wb") as full:
            done = process(
                "evaluate", "exact.csv", *form, cwd=files, capture_output=False, stdout=full, stderr=subprocess.PIPE
            )
        assert done.returncode == 1
        assert done.stderr == b"error: the output cannot be written: No space left on device\n"


COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class TestTerminal:
    def test_has_a_table_with_bold_names(self, files):
        code, text = on_a_terminal("evaluate", files / "exact.csv")
        assert code == 0
        assert COLOUR.search(text)
        assert "recall@10       1" in text


class TestReading:
    """Options that say how files are read."""

    GIVEN = ("--candidates", 50, "--metrics", "recall@10", "--json")

    def test_columns_by_option(self, run, tmp_path):
        (tmp_path / "f.csv").write_text("who,rank,place\n1,x,3\n2,y,12\n")
        code, out, err = run("evaluate", "f.csv", "--user-column", "who", "--rank-column", "place", *self.GIVEN)
        assert (code, err) == (0, "")
        assert json.loads(out)["rows"][0]["value"] == 0.5

    def test_ranks_from_0(self, run, tmp_path):
        (tmp_path / "f.csv").write_text("rank\n0\n9\n10\n")
        refused(
            run, "line 2: rank must be a whole number, 1 or more, not 0; zero_based", "evaluate", "f.csv", *self.GIVEN
        )
        code, out, _ = run("evaluate", "f.csv", "--zero-based", *self.GIVEN)
        assert code == 0
        assert json.loads(out)["rows"][0]["value"] == pytest.approx(2 / 3)
        assert "--zero-based" not in out

    def test_two_forms_of_output_are_refused(self, run, tmp_path):
        (tmp_path / "f.csv").write_text("rank\n1\n10\n")
        refused(run, "give one of --json and --csv", "evaluate", "f.csv", *self.GIVEN, "--csv")
        assert run("evaluate", "f.csv", *self.GIVEN, "--json")[0] == 0


# --- rank -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path):
    """Factors of two users and four items, whose scores are 4 3 2 1 and 1 2 3 4, and tables; the first has item 0."""
    np.save(tmp_path / "u.npy", np.array([[1.0, 0.0], [0.0, 1.0]]))
    np.save(tmp_path / "i.npy", np.array([[4.0, 1.0], [3.0, 2.0], [2.0, 3.0], [1.0, 4.0]]))
    (tmp_path / "train.csv").write_text("user,item\n0,0\n")
    (tmp_path / "test.csv").write_text("item,user\n0,1\n1,0\n")
    return ["--users", "u.npy", "--items", "i.npy", "--training", "train.csv", "--held-out", "test.csv"]


RANKED = "user,candidates,above,tied\n0,3,0,0\n1,4,3,0\n"


class TestRank:
    def test_writes_ranks_that_evaluate_reads(self, run, model, tmp_path):
        assert run("rank", *model) == (0, RANKED, "")
        assert run("rank", *model, "-o", "ranks.csv.gz") == (0, "", "")
        assert gzip.decompress((tmp_path / "ranks.csv.gz").read_bytes()).decode() == RANKED
        assert run("rank", *model, "-o", "ranks.parquet") == (0, "", "")
        assert pd.read_parquet("ranks.parquet").to_csv(index=False, lineterminator="\n") == RANKED
        refused(run, "the name of a file to write is empty", "rank", *model, "-o", "")
        code, out, _ = run("evaluate", "ranks.csv.gz", "--metrics", "recall@1", "--csv")
        assert code == 0
        assert out.splitlines()[1].startswith("recall@1,0.5,")

    @pytest.mark.parametrize("option", ["--training", "--held-out", "--user-ids"])
    def test_reads_standard_input(self, run, model, tmp_path, option):
        (tmp_path / "ids.txt").write_text("0\n1\n")
        given = dict(zip(model[::2], model[1::2], strict=True)) | {"--user-ids": "ids.txt"}
        content = (tmp_path / given[option]).read_bytes()
        assert run("rank", *sum((given | {option: "-"}).items(), ()), stdin=content) == (0, RANKED, "")
        twice = given | {"--training": "-", "--held-out": "-"}
        refused(run, "-: is given twice, and standard input can be read once", "rank", *sum(twice.items(), ()))

    @pytest.mark.parametrize(
        ("change", "says"),
        [
            ({"--users": "none.npy"}, "none.npy: cannot be read as an array: No such file"),
            ({"--users": "train.txt"}, "train.txt: an array is a file whose name ends in .npy, .npz, .csv or .parquet"),
            (
                {"--users": "train.csv"},
                "train.csv: cannot be read as an array: could not convert string to float: 'user'",
            ),
            ({"--users": "text.npy"}, "text.npy: cannot be read as an array"),
            ({"--users": "two.npz"}, "two.npz: must hold one array, not 2 (a, b)"),
            ({"--users": "text.npz"}, "text.npz: is not an array, or is damaged"),
            ({"--training": "none.csv"}, "none.csv: there is no such file"),
            ({"--held-out": "t.parquet"}, "t.parquet: cannot be read"),
            ({"--user-ids": "none.txt"}, "none.txt: cannot be read as text with an id on each line"),
            ({"--scores": "u.npy"}, "give --users and --items, or --scores alone"),
        ],
    )
    def test_refuses(self, run, model, files, change, says):
        Path("text.npy").write_text("no array")
        Path("text.npz").write_text("no array")
        Path("t.parquet").write_text("")
        np.savez("two.npz", a=np.zeros(1), b=np.zeros(1))
        options = dict(zip(model[::2], model[1::2], strict=True)) | change
        refused(run, says, "rank", *(each for pair in options.items() for each in pair))


class TestSeveralRecommenders:
    LONG = "user,model,candidates,rank\n1,gmf,50,1\n2,gmf,50,12\n1,mlp,50,4\n2,mlp,50,2\n"
    WIDE = "user,candidates,gmf,mlp\n1,50,1,4\n2,50,12,2\n"

    @pytest.mark.parametrize(
        ("content", "options"), [(LONG, ["--by", "model"]), (WIDE, ["--rank-column", "gmf,mlp"])], ids=["long", "wide"]
    )
    def test_of_one_table(self, run, tmp_path, content, options):
        (tmp_path / "f.csv").write_text(content)
        code, out, _ = run("evaluate", "f.csv", *options, "--metrics", "ap", "--json")
        assert code == 0
        found = [(row["recommender"], row["value"]) for row in json.loads(out)["rows"]]
        assert found == [("gmf", pytest.approx(13 / 24)), ("mlp", pytest.approx(3 / 8))]
        _, out, _ = run("compare", "f.csv", *options, "--metrics", "ap", "--json")
        assert json.loads(out)["rows"][0]["difference"] == pytest.approx(3 / 8 - 13 / 24)
        given = ("--negatives", 20, "--metrics", "recall@10", "--json")
        _, out, _ = run("correct", "f.csv", *options, *given)
        assert [row["recommender"] for row in json.loads(out)["rows"]] == ["gmf", "gmf", "mlp", "mlp"]
        assert run("report", "f.csv", *options, "-o", "page.html", "--metrics", "ap")[0] == 0
        assert "Comparison of gmf and mlp" in (tmp_path / "page.html").read_text()

    @pytest.mark.parametrize(
        ("command", "says"),
        [
            (["evaluate", "f.csv", "--by", "modle"], "f.csv, line 1: lacks the column modle"),
            (["compare", "f.csv"], "if these are recommenders, say --by model"),
            (["compare", "f.csv", "f.csv", "--by", "model"], "are for one table with the ranks of all"),
            (["evaluate", "f.csv", "--relevant-from", "2"], "--relevant-from is for ranked lists, so it needs --relev"),
            (
                ["compare", "f.csv", "f.csv", "--relevance", "f.csv", "--candidates", "9"],
                "f.csv: is given twice",
            ),
            (["compare", "a=f.csv", "b=f.csv", "--by", "model"], "are for one table"),
            (["evaluate", "=f.csv"], "=f.csv: has no name before the sign ="),
            (
                ["compare", "a=f.csv", "--by", "model"],
                "a=f.csv: a table of several recommenders has no name of its own",
            ),
            (["evaluate", "a=f.csv,f.csv"], "several files are the seeds of a recommender, which compare takes"),
        ],
    )
    def test_refusals(self, run, tmp_path, command, says):
        (tmp_path / "f.csv").write_text(self.LONG)
        refused(run, says, *command)


@pytest.mark.parametrize("value", ["hr@10=0.6", ":hr@10=0.6", "GMF:0.6", "GMF:=0.6"])
def test_published_values_have_a_name_and_a_metric(run, value):
    options = ["--users", 100, "--negatives", 99, "--candidates", 2000]
    refused(run, f"--value is NAME:METRIC=VALUE, such as GMF:hr@10=0.68, once for each metric, not {value}",
            "published", "--value", value, *options)  # fmt: skip


@pytest.mark.parametrize(("candidates", "n"), [("2000", 2000), ("1000-2000", (1000, 2000))])
def test_published_values_are_those_of_the_library(run, candidates, n):
    options = ["--users", 100, "--negatives", 99, "--candidates", candidates, "--estimators", "free", "--json"]
    _, out, _ = run("published", "--value", "GMF:hr@10=0.60", "--value", "MLP:hr@10=0.7", *options)
    values = {"GMF": {"hr@10": "0.60"}, "MLP": {"hr@10": "0.7"}}
    expected = sampled_metrics.published(values, users=100, negatives=99, candidates=n, estimators="free")
    assert json.loads(out)["rows"] == expected.plain_rows()


@pytest.mark.parametrize("candidates", ["1000-", "-5", "10-20-30", "many"])
def test_a_range_of_candidates_is_of_two_numbers(run, candidates):
    options = ["--users", 100, "--negatives", 9, f"--candidates={candidates}"]
    refused(run, "is not a valid integer", "published", "--value", "A:hr@5=0.5", *options)


def test_a_plan_from_samples_is_that_of_the_library(run, tmp_path):
    ranks = np.random.default_rng(0).geometric([[0.2], [0.4]], (2, 60)).clip(1, 21)
    files = {name: tmp_path / f"{name}.csv" for name in "ab"}
    for path, rank in zip(files.values(), ranks, strict=True):
        pd.DataFrame({"rank": rank}).to_csv(path, index=False)
    options = ["--negatives", 20, "--candidates", 50, "--metric", "recall@5", "--estimators", "uncorrected", "--json"]
    _, out, _ = run("plan", *map(str, files.values()), *options)
    sample = sampled_metrics.sampled_ranks(dict(zip("ab", ranks, strict=True)), negatives=20, candidates=50)
    expected = sampled_metrics.plan(sample, metric="recall@5", estimators="uncorrected")
    assert json.loads(out)["rows"] == expected.plain_rows()


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
        "arguments",
        [
            ("evaluate", "a.csv"),
            ("compare", "a.csv", "b.csv"),
            ("expect", "a.csv", "b.csv", "--negatives", 20),
            ("plan", "a.csv", "b.csv", "--estimators", "uncorrected"),
            ("report", "a.csv", "b.csv", "-o", "page.html", "--metrics", "recall@10"),
        ],
        ids=str,
    )
    def test_are_refused_unless_they_are_said_to_be_exact(self, run, shallow, arguments):
        given = (*arguments, "--candidates", 3561, "--zero-based")
        says = ": no rank of 400 is above 84 of 3561 candidates, as among sampled negatives; if they are sampled, say"
        code, out, err = run(*given)
        assert (code, out) == (1, "")
        assert says in err
        assert "--exact" in err
        code, out, err = run(*given, "--exact")
        assert (code, err) == (0, "")
        assert "no rank of" not in out

    def test_of_fewer_users_have_a_caution_before_the_numbers(self, run, shallow):
        given = ("evaluate", "few.csv", "--candidates", 3561, "--zero-based", "--metrics", "recall@10")
        said = "ranks: no rank of 199 is above 84 of 3561 candidates."
        code, out, _ = run(*given)
        assert code == 0
        assert out.startswith(said)
        _, out, err = run(*given, "--csv")
        assert out.startswith("metric,value")
        assert err.startswith(said)
        _, out, _ = run(*given, "--json")
        assert json.loads(out)["remarks"][0].startswith(said)
        assert out.index(said) < out.index('"rows"')
        assert run(*given, "--latex")[1].startswith(f"% {said}")

    def test_their_caution_is_written_before_the_csv(self, files, shallow):
        """To one file, as a terminal shows both."""
        done = process(
            "evaluate", "few.csv", "--candidates", 3561, "--zero-based", "--csv",
            cwd=files, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, capture_output=False,
        )  # fmt: skip
        assert done.stdout.startswith(b"ranks: no rank of 199")


@pytest.mark.parametrize("form", [[], ["--csv"]], ids=str)
def test_negatives_that_are_stated_are_believed_with_a_caution(run, files, form):
    """600 users, evenly at the ranks 1 to 20."""
    (files / "s.csv").write_text("rank\n" + "".join(f"{rank}\n" for rank in range(1, 21)) * 30)
    given = ("--negatives", 100, "--candidates", 1000, "--metrics", "recall@10", "--estimators", "free")
    code, out, err = run("correct", "s.csv", *given, *form)
    assert code == 0
    shown = err if form else out
    assert "ranks: no rank is above 20, although 100 negatives allow up" in shown
    assert form or shown.index("ranks: no rank") < shown.index("estimator")


class TestNamesOfTheFile:
    """Columns that are taken under another name are named in a remark, and errors quote the file."""

    def test_columns_that_are_taken_are_named(self, run, files):
        """The n_items of this table are the lengths of histories."""
        (files / "s.csv").write_text("user_id,n_items,Rank\n1,30,2\n2,40,10\n3,25,1\n")
        code, out, _ = run("correct", "s.csv", "--negatives", 9, "--metrics", "recall@10", "--json")
        said = json.loads(out)["remarks"]
        assert code == 0
        assert (
            "The columns user_id and n_items are taken as user and candidates (how many items an exact evaluation "
            "ranks for each user)."
        ) in said
        assert not any("Rank" in remark for remark in said)
        given = ("--user-column", "user_id", "--candidates-column", "n_items")
        _, out, _ = run("correct", "s.csv", "--negatives", 9, "--metrics", "recall@10", *given)
        assert "taken as" not in out

    @pytest.mark.parametrize(
        ("text", "arguments", "says"),
        [
            ("position\n4\nx\n", ("--candidates", 59), "line 3: position must be a whole number, 1 or more, not 'x'"),
            ("rank,n_items\n4,9\n", ("--candidates", 9), "has a column n_items (candidates), so candidates must not"),
            ("rank,numNegatives\n4,9\n", ("--candidates", 9), "has a column numNegatives, so its ranks are sampled"),
        ],
    )
    def test_errors_of_exact_ranks_quote_the_file(self, run, files, text, arguments, says):
        (files / "f.csv").write_text(text)
        refused(run, says, "evaluate", "f.csv", *arguments)

    def test_errors_of_sampled_ranks_quote_the_file(self, run, files):
        (files / "f.csv").write_text("position\n4\n59\n")
        says = "line 3: position 59 is not from 0 to 58, among the item and 58 negatives"
        refused(run, says, "correct", "f.csv", "--candidates", 100, "--negatives", 58, "--zero-based")


class TestGroupsAndMargins:
    GROUPED = "user,candidates,rank,age\n" + "".join(f"{user},50,{user % 7 + 1},{user % 2}\n" for user in range(40))

    @pytest.fixture
    def both(self, tmp_path):
        for name, text in {"a": self.GROUPED, "b": self.GROUPED.replace(",50,7,", ",50,20,")}.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return {name: tmp_path / f"{name}.csv" for name in "ab"}

    @pytest.mark.parametrize("margin", [0.05, "2%"])
    def test_are_those_of_the_library(self, run, both, margin):
        tables = sampled_metrics.exact_ranks(both, groups="age", exact=True)
        expected = sampled_metrics.compare(tables, groups=True, margin=margin)
        options = ("--exact", "--groups", "age", "--json")
        code, out, err = run("compare", *both.values(), *options, "--margin", margin)
        assert (code, err) == (0, "")
        assert json.loads(out)["rows"] == expected.plain_rows()
        values = sampled_metrics.evaluate(tables["a"], groups=True)
        assert json.loads(run("evaluate", both["a"], *options)[1])["rows"] == values.plain_rows()

    def test_are_sections_of_the_report(self, run, both):
        code, _, err = run(
            "report",
            *both.values(),
            "-o",
            "page.html",
            "--exact",
            "--groups",
            "age",
            "--margin",
            ".5",
            "--metrics",
            "ap",
        )
        assert (code, err) == (0, "")
        page = Path("page.html").read_text()
        assert "Comparisons by group" in page
        assert "by less than the margin" in page or "are equivalent on" in page

    @pytest.mark.parametrize(
        ("options", "says"),
        [
            (["--groups", "nothing"], "error: .*b.csv, line 1: lacks the column nothing"),
            (["--groups", "user"], "error: groups: none has the 2 users that an interval needs"),
            (["--margin", "many"], "error: margin must be a number above 0"),
        ],
    )
    def test_that_are_wrong_are_one_line(self, run, both, options, says):
        code, _, err = run("compare", both["b"], both["a"], "--exact", *options)
        assert code == (2 if "--margin" in options else 1)
        assert len(err.splitlines()) == 1
        assert re.match(says, err)
