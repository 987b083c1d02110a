"""Bad events end a job with one line that says what is wrong and where, and leave nothing half-written.

Snakemake runs one of them; the scripts of the others run in the process of the tests.
"""

import zipfile
from pathlib import Path

import pytest
from made_up_project import STUDY, Project, archive, complete_config, ratings, run_script, split

DATASET = STUDY["datasets"]["made-up"]


def malformed() -> str:
    lines = ratings().splitlines(keepends=True)
    lines[41] = "7::x::3::1000\n"
    return "".join(lines)


def refused(**changes: object) -> str:
    [line] = split(complete_config(STUDY | {"datasets": {"made-up": DATASET | changes}}), "made-up")
    return line


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    archive(Path("made-up.zip"), ratings())


def test_by_snakemake(project: Project) -> None:
    archive(project.folder / "made-up.zip", malformed())
    ran = project.snakemake("results/made-up/split.npz", "--cores", "1")
    assert ran.returncode != 0
    output = ran.stdout + ran.stderr
    assert "Traceback" not in output
    [line] = [line for line in output.splitlines() if line.startswith("split made-up failed: ")]
    assert "ratings.dat, line 42" in line
    assert "column 2 must be a whole number from 0" in line
    assert [path for path in project.folder.glob("results/made-up/**/*") if path.is_file()] == []


def test_malformed_line() -> None:
    archive(Path("made-up.zip"), malformed())
    assert "ratings.dat, line 42" in refused()


def test_another_checksum() -> None:
    assert "made-up.zip: md5 is " in refused(md5="0" * 32)


def test_truncated_archive() -> None:
    path = Path("made-up.zip")
    path.write_bytes(path.read_bytes()[:-200])
    assert "made-up.zip" in refused()


def test_web_page_instead_of_an_archive() -> None:
    Path("made-up.zip").write_text("<!DOCTYPE html><html><body>Sign in to the WLAN</body></html>")
    assert "web page" in refused()


def test_archive_without_the_file() -> None:
    with zipfile.ZipFile("made-up.zip", "w") as made:
        made.writestr("readme.txt", "nothing else")
    line = refused()
    assert "ratings.dat" in line
    assert "readme.txt" in line


def test_users_with_a_single_event() -> None:
    archive(Path("made-up.zip"), "1::1::5::10\n2::1::4::11\n3::2::5::12\n")
    assert "none of the 3 users has an event to train on and one to hold out" in refused()


def test_more_negatives_than_candidates() -> None:
    Path("ranks.csv").write_text("candidates,rank\n89,1\n95,2\n", encoding="utf-8")
    config = complete_config(STUDY | {"sampling": {"negatives": 89}})
    [line] = run_script(
        "sample",
        input={"ranks": "ranks.csv"},
        output={"estimates": "estimates.csv.gz"},
        params={key: config[key] for key in ("seed", "sampling", "estimators", "metrics")}
        | {"assume_replacement": True},
        wildcards={"dataset": "made-up", "recommender": "X"},
    )
    assert "error: 89 negatives without replacement were asked for" in line
