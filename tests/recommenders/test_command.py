"""Commands as recommenders: what they are given, what they may write, and what is refused."""

import logging
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from docs_blocks import blocks
from ranked_by_argsort import by_argsort, one_each, rows
from scipy.sparse import csr_array, save_npz
from two_groups import two_groups

from sampled_metrics._files import write_table
from sampled_metrics.data.split import Split
from sampled_metrics.data.split_tables import split_tables
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranks.exact import ExactRanks
from sampled_metrics.recommenders.command import Command
from sampled_metrics.recommenders.models import read_model
from sampled_metrics.study.workflow.config import check_recommender

RNG = np.random.default_rng(5)
HELD_OUT = RNG.integers(7, size=9)
TRAINING = (RNG.random((9, 7)) < 0.4) & (np.arange(7) != HELD_OUT[:, np.newaxis])
USERS, ITEMS = np.array([f"u {at}" for at in range(9)]), 10 * np.arange(7)
SPLIT = Split(csr_array(TRAINING.astype(float)), one_each(HELD_OUT, TRAINING.shape[1]), USERS, ITEMS)
FACTORS = RNG.integers(-2, 3, (9, 2)), RNG.integers(-2, 3, (7, 2))  # small whole numbers, so that many tie
SCORES = FACTORS[0] @ FACTORS[1].T
RANKS = by_argsort(SCORES, TRAINING, HELD_OUT)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("made").mkdir()
    return tmp_path


def run(arguments: str | list[str], writes: str = "scores", split: Split = SPLIT, **files: str) -> Any:
    command = Command(arguments, writes)
    return command.run(files, split, np.random.default_rng(1), "recommender W", "W.log")


def copied(writes: str) -> ExactRanks:
    """Rank by what a command copies from made/."""
    model = run(["sh", "-c", "cp made/* $1", "{held_out}", "{output}"], writes)
    model.check(SPLIT, "recommender W")
    model.write("W.npz")
    return read_model("W.npz").rank(SPLIT)


def write_matrix(name: str, matrix: np.ndarray, form: str) -> None:
    path = f"made/{name}.{form.removeprefix('sparse ')}"
    if form == "csv":
        Path(path).write_text("".join(",".join(map(repr, row)) + "\n" for row in matrix.tolist()))
    elif form == "npy":
        np.save(path, matrix)
    elif form == "npz":
        np.savez(path, matrix)
    elif form == "sparse npz":
        save_npz(path, csr_array(matrix))
    else:
        pd.DataFrame(matrix, columns=[f"c{at}" for at in range(matrix.shape[1])]).to_parquet(path)


FORMS = ["csv", "npy", "npz", "sparse npz", "parquet"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", [int, np.float32, np.float64])
def test_scores(form: str, kind: type) -> None:
    write_matrix("scores", SCORES.astype(kind), form)
    assert rows(copied("scores")) == RANKS


@pytest.mark.parametrize("form", FORMS)
def test_factors(form: str) -> None:
    write_matrix("user_factors", FACTORS[0], form)
    write_matrix("item_factors", FACTORS[1], "npy")
    assert rows(copied("factors")) == RANKS


@pytest.mark.parametrize("columns", [["above", "tied"], ["rank"]])
@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_ranks_in_any_order(columns: list[str], ending: str) -> None:
    above, tied = np.array(RANKS).T
    table = pd.DataFrame({"user": USERS, "candidates": SPLIT.candidates, "above": above, "tied": tied})
    table["rank"] = above + 1
    table = table[["user", "candidates", *columns]].sample(frac=1, random_state=1)
    if ending == "parquet":
        table.to_parquet("made/ranks.parquet")
    else:
        table.to_csv(f"made/ranks.{ending}", index=False)
    found = copied("ranks")
    assert found.above.tolist() == above.tolist()
    assert found.tied.tolist() == (tied if "tied" in columns else 0 * tied).tolist()
    assert found.user is not None
    assert found.user.tolist() == USERS.tolist()


SHOW = f"{sys.executable} -c 'import sys; print(*sys.argv[1:], sep=chr(10)); sys.exit(1)'"


def test_a_command_gets_files_folder_and_seed_and_runs_where_the_study_is(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(DataError, match="exit code 1"):
        run(
            f"{SHOW} {{train}} --to={{output}}/x {{seed}} {{print}} '$HOME; touch pwned' a\\ b", train="split/train.csv"
        )
    train, output, seed, *others = caplog.messages[1:]
    assert train == str(folder / "split/train.csv")
    assert output.startswith("--to=/")
    assert output.endswith("/x")
    assert seed == str(np.random.default_rng(1).integers(2**31))
    assert others == ["{print}", "$HOME; touch pwned", "a b"]
    assert not Path("pwned").exists()
    assert not Path(output.removeprefix("--to=")).parent.exists()
    caplog.clear()
    with pytest.raises(DataError, match="the command ended with exit code 3"):
        run(["sh", "-c", "pwd; exit 3", "{output}"])
    assert caplog.messages[1:] == [str(folder)]


def sh(script: str) -> list[str]:
    return ["sh", "-c", script, "{held_out}", "{output}"]


HEAD = 'printf "user,candidates,rank\\n" > $1/ranks.csv; '
REFUSED = {
    "exit code": (
        sh("echo to stdout; for at in 1 2 3 4; do echo line $at >&2; done; exit 4"),
        "scores",
        "the command ended with exit code 4: line 2 | line 3 | line 4",
    ),
    "silent": (sh("exit 4"), "scores", "the command ended with exit code 4: nothing on stderr"),
    "signal": (sh("kill -9 $$"), "scores", "the command ended by signal 9: nothing on stderr"),
    "nothing": (
        sh(":"),
        "scores",
        "the command must write scores.csv, .npy, .npz or .parquet into {output}; it wrote nothing",
    ),
    "other files": (
        sh("touch $1/score.csv $1/scores.txt"),
        "scores",
        "the command must write scores.csv, .npy, .npz or .parquet into {output}; it wrote score.csv, scores.txt",
    ),
    "two files": (
        sh("touch $1/ranks.csv $1/ranks.csv.gz"),
        "ranks",
        "the command must write ranks.csv, .csv.gz or .parquet into {output}; it wrote ranks.csv, ranks.csv.gz",
    ),
    "half of the factors": (
        sh("echo 1,2 > $1/user_factors.csv"),
        "factors",
        "must write item_factors.csv, .npy, .npz or .parquet into {output}; it wrote user_factors.csv",
    ),
    "header": (
        sh("printf 'a,b\\n1,2\\n' > $1/scores.csv"),
        "scores",
        "scores.csv: cannot be read as an array: could not convert string to float: 'a'",
    ),
    "a line too long": (
        sh("printf '1,2\\n1,2,3\\n' > $1/scores.csv"),
        "scores",
        "scores.csv: cannot be read as an array: Error tokenizing data. C error: Expected 2 fields in line 2, saw 3",
    ),
    "empty": (
        sh("touch $1/scores.csv"),
        "scores",
        "scores.csv: cannot be read as an array: No columns to parse from file",
    ),
    "no npy": (sh("echo 1 > $1/scores.npy"), "scores", "scores.npy: cannot be read as an array"),
    "text": (
        ["sh", "-c", f"{sys.executable} -c \"import numpy; numpy.save('$0/scores', [['a']])\"", "{output}"],
        "scores",
        "scores.npy: must be a matrix of numbers, not <U1 of shape (1, 1)",
    ),
    "vector": (
        ["sh", "-c", f"{sys.executable} -c \"import numpy; numpy.save('$0/scores', [1.5, 2])\"", "{output}"],
        "scores",
        "scores.npy: must be a matrix of numbers, not float64 of shape (2,)",
    ),
    "bad rank": (
        sh(HEAD + "echo u 0,7,0 >> $1/ranks.csv"),
        "ranks",
        "ranks.csv, line 2: rank must be a whole number, 1 or more, not '0'",
    ),
    "unknown user": (
        sh(HEAD + "echo u 9,7,1 >> $1/ranks.csv"),
        "ranks",
        "the split and ranks must have the same users to be compared",
    ),
    "other candidates": (
        sh(HEAD + 'for at in 0 1 2 3 4 5 6 7 8; do echo "u $at,7,1" >> $1/ranks.csv; done'),
        "ranks",
        "candidates in the split and 7 in ranks; to be compared they must have ranked the same items",
    ),
    "no candidates": (
        sh('printf "user,rank\\nu 0,1\\n" > $1/ranks.csv'),
        "ranks",
        "ranks.csv, line 1: lacks the column candidates",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_failure_is_one_line(what: str) -> None:
    command, writes, says = REFUSED[what]
    with pytest.raises(DataError) as error:
        run(command, writes)
    line = str(error.value)
    assert line.startswith("recommender W: ")
    assert says in line
    assert line.endswith("; W.log has what the command says")
    assert "/tmp" not in line.replace(sys.executable, "")
    assert "\n" not in line


def test_the_example_in_python_is_the_definition() -> None:
    """The users that an item shares with each other item of the user."""
    (python,) = blocks("how-to/any-language.md", "python")
    Path("shared.py").write_text(python, encoding="utf-8")
    for name, table in split_tables(SPLIT).items():
        write_table(f"{name}.csv", table)
    files = {name: f"{name}.csv" for name in ("train", "users", "items")}
    model = run(f"{sys.executable} shared.py {{train}} {{users}} {{items}} {{output}}", "factors", **files)
    who = [set(np.flatnonzero(TRAINING[:, item])) for item in range(7)]
    scores = [
        [sum(len(who[item] & who[other]) for other in np.flatnonzero(had) if other != item) for item in range(7)]
        for had in TRAINING
    ]
    assert model.scores(slice(None), SPLIT.training).tolist() == scores


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"command": "x", "writes": "scores"}, "command: must have {output} among its arguments, the folder to write"),
        ({"command": [], "writes": "scores"}, "command: needs 1 or more entries, not []"),
        ({"command": ["x", 1], "writes": "scores"}, "command.1: must be of type string, not 1"),
        ({"command": 1, "writes": "scores"}, "command: must be of type string or array, not 1"),
        ({"command": "", "writes": "scores"}, "command: must not be empty"),
        (
            {"command": "x '{output}", "writes": "scores"},
            "command: cannot be split into arguments: No closing quotation",
        ),
        (
            {"command": "x {output}", "writes": "ranks"},
            "command: must have {held_out} among its arguments, the file of",
        ),
        ({"command": "x {output}", "writes": "model"}, "writes: may be factors, scores, ranks, not 'model'"),
        ({"command": "x {output}"}, "lacks the key 'writes'"),
        ({"command": "x {output}", "writes": "scores", "format": "xml"}, "format: may be csv, parquet, not 'xml'"),
    ],
)
def test_a_config_that_cannot_work(entry: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError) as error:
        check_recommender({"type": "command"} | entry, "recommenders.W")
    assert str(error.value).startswith("recommenders.W")
    assert says in str(error.value)


def test_the_tables_are_the_split() -> None:
    split = two_groups()
    times = np.arange(split.training.nnz) * 0.5
    tables = split_tables(Split(split.training, split.held_out, split.user_ids, split.item_ids, times))
    train = tables["train"]
    assert list(train) == ["user", "item", "timestamp"]
    found = split.training[split.user_ids.searchsorted(train["user"]), split.item_ids.searchsorted(train["item"])]
    assert found.tolist() == [1] * len(train) == [1] * split.training.nnz
    assert not train.duplicated(["user", "item"]).any()
    assert train["timestamp"].tolist() == times.tolist()
    assert tables["held_out"]["user"].tolist() == tables["users"]["user"].tolist() == split.user_ids.tolist()
    assert tables["held_out"]["item"].tolist() == split.item_ids[split.item].tolist()
    assert tables["items"]["item"].tolist() == split.item_ids.tolist()
    assert "timestamp" not in split_tables(split)["train"]


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        (SCORES[1:], r"recommender W: has scores of shape \(8, 7\), not \(9, 7\) \(users, items\)"),
        (SCORES.T, r"recommender W: has scores of shape \(7, 9\), not \(9, 7\) \(users, items\)"),
    ],
)
def test_scores_of_another_shape(scores: np.ndarray, says: str) -> None:
    write_matrix("scores", scores, "npy")
    with pytest.raises(DataError, match=says):
        copied("scores")


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("form", ["csv", "npy"])
def test_a_score_that_is_not_finite(value: float, form: str) -> None:
    scores = SCORES.astype(float)
    scores[4, HELD_OUT[4]] = value
    write_matrix("scores", scores, form)
    if form == "csv":  # as R writes it
        path = Path("made/scores.csv")
        path.write_text(path.read_text().replace("nan", "NA"))
    says = f"recommender W: the score of item {ITEMS[HELD_OUT[4]]} for user u 4 is NaN or \\+inf"
    with pytest.raises(DataError, match=says):
        copied("scores")
