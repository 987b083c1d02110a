"""Bad input ends a run with one line that says what is wrong and where, and leaves nothing half-written."""

import zipfile

import pytest
from conftest import Project, archive, ratings


def refused(project: Project) -> str:
    """Run until the split, which must fail, and return the one line that says why."""
    ran = project.snakemake("results/made-up/split.npz", "--cores", "1")
    assert ran.returncode != 0
    output = ran.stdout + ran.stderr
    assert "Traceback" not in output
    lines = [line for line in output.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, output
    left = [path for path in project.folder.glob("results/made-up/**/*") if path.is_file()]
    assert left == []
    return lines[0]


DATASET = {"path": "made-up.zip", "format": "movielens-dat"}


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"sampling": {"negativs": 5}}, "sampling: unknown key 'negativs' (did you mean negatives?)"),
        ({"sampling": {"negatives": 0}}, "sampling.negatives: must be 1 or more, not 0"),
        ({"metrics": ["recal@10"]}, "metrics: unknown metric 'recal@10'; it may be recall@k"),
        ({"estimators": ["bv-2"]}, "estimators: γ"),
        ({"recommenders": {"X": {"factor": 3}}}, "recommenders.X: unknown key 'factor' (did you mean factors?)"),
        ({"recommenders": {"W": {"type": "svd"}}}, "recommenders.W.type: unknown recommender type 'svd'"),
        ({"study": ["ml-2m"]}, "study: unknown dataset 'ml-2m'"),
        ({"datasets": {"made-up": DATASET | {"format": "xls"}}}, "datasets.made-up.format: unknown format 'xls'"),
        (
            {"datasets": {"made-up": DATASET | {"path": "gone.zip"}}},
            "datasets.made-up.path: there is no file 'gone.zip'",
        ),
        ({"datasets": {"made-up": DATASET | {"md5": "0" * 32}}}, "made-up.zip: md5 is "),
        ({"study": ["../x"]}, "study.0: must match"),
        ({"study": ["toy"], "datasets": {"toy": DATASET}}, "study: a dataset cannot be called 'toy'"),
        ({"recommenders": {"X": {"type": ["ease"]}}}, "recommenders.X.type: must be of type string"),
        ({"recommenders": {"X": {"type": "ease", "regularization": float("nan")}}}, "recommenders.X.regularization: "),
    ],
)
def test_config(project: Project, changes: dict, says: str) -> None:
    project.configure(**changes)
    assert says in refused(project)


def test_truncated_archive(project: Project) -> None:
    path = project.folder / "made-up.zip"
    path.write_bytes(path.read_bytes()[:-200])
    assert "made-up.zip" in refused(project)


def test_web_page_instead_of_an_archive(project: Project) -> None:
    (project.folder / "made-up.zip").write_text("<!DOCTYPE html><html><body>Sign in to the WLAN</body></html>")
    assert "web page" in refused(project)


def test_archive_without_the_file(project: Project) -> None:
    with zipfile.ZipFile(project.folder / "made-up.zip", "w") as made:
        made.writestr("readme.txt", "nothing else")
    line = refused(project)
    assert "ratings.dat" in line
    assert "readme.txt" in line


def test_malformed_line(project: Project) -> None:
    lines = ratings().splitlines(keepends=True)
    lines[41] = "7::x::3::1000\n"
    archive(project.folder / "made-up.zip", "".join(lines))
    line = refused(project)
    assert "ratings.dat, line 42" in line
    assert "UserID::MovieID::Rating::Timestamp" in line


def test_users_with_a_single_event(project: Project) -> None:
    archive(project.folder / "made-up.zip", "1::1::5::10\n2::1::4::11\n3::2::5::12\n")
    assert "each of the 3 users has a single event" in refused(project)


def test_more_negatives_than_candidates(project: Project) -> None:
    project.configure(sampling={"negatives": 89})
    ran = project.snakemake("results/made-up/table-3.csv", "--cores", "2")
    output = ran.stdout + ran.stderr
    assert ran.returncode != 0
    assert "Traceback" not in output
    assert "error: 89 negatives without replacement were asked for" in output
    assert project.results("made-up/estimates/*") == {}
