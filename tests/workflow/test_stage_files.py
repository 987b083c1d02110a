"""What an earlier stage wrote is read whole or refused; tests/faults/test_damaged_results.py does it to real runs."""

import json

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.study.results import COUNTS, WORDS, read_facts, read_rows, read_runs, read_table

HEADER = "reading,metric,estimator,repetition,estimate\n"
ROWS = "default,ap,cls,0,0.25\ndefault,ap,cls,1,0.5\ndefault,ap,mle,0,1\ndefault,ap,mle,1,0\n"
OF_CLS = "default,ap,cls,0.3,0.1\n"
EXPECTED = f"reading,metric,estimator,mean_exact,sd_exact\n{OF_CLS}default,ap,mle,,\n"
FACTS = dict.fromkeys(COUNTS, 3) | dict.fromkeys(WORDS, "x")


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode(errors="surrogateescape"))
        return path

    return write


def test_rows_tables_and_facts_are_what_was_written(written):
    """A recommender called NA, 1 or 1e3 keeps its name, and an empty number is NaN."""
    rows = read_rows(written("budget.csv", "recommender,worse,value,assumes\nNA,1,0.5,\n1e3,2.0,,none\n"))
    assert rows[["recommender", "worse", "assumes"]].to_numpy().tolist() == [["NA", "1", ""], ["1e3", "2.0", "none"]]
    assert rows["value"].isna().tolist() == [False, True]
    with pytest.raises(DataError, match="is damaged: "):
        read_rows(written("damaged.csv", 'a,b\n1,"2'))
    assert read_table(written("x.csv", HEADER + ROWS), "estimates")["estimate"].tolist() == [0.25, 0.5, 1, 0]
    assert read_table(written("e.csv", EXPECTED), "expected")["mean_exact"].isna().tolist() == [False, True]
    assert read_facts(written("dataset.json", json.dumps(FACTS))) == FACTS
    no_pairs = written("t.csv", "reading,worse,better,metric,estimator,correct,correct_exact\n")
    assert read_table(no_pairs, "table-4", empty=True).groupby("estimator")["correct"].mean().empty


@pytest.mark.parametrize(
    ("was", "by", "says"),
    [
        *[("0.5", value, "line 3: estimate is not a finite number") for value in ("inf", "", "True")],
        ("cls,1", ",1", "line 3: estimator is empty"),
        ("cls,0", "cls,x", "line 2: repetition is not a finite number"),
        ("cls,0", "cls,-1", "line 2: repetition is not a whole number from 0"),
        ("cls,0", "cls,0.5", "line 2: repetition is not a whole number from 0"),
        ("cls,0", "cls,1", "line 3: repeats the reading, metric, estimator, repetition of an earlier line"),
        ("cls,0", "cls,2", "has 4 of 6 rows"),
        ("estimator,", "estimater,", "line 1: lacks the column estimator"),
        ("metric,", "reading,", "names a column twice"),
        (ROWS, "", "has no line but its header"),
    ],
)
def test_a_damaged_table_is_refused(written, was, by, says):
    with pytest.raises(DataError, match=rf"x\.csv.*{says}.*; remove it, and run again$"):
        read_table(written("x.csv", (HEADER + ROWS).replace(was, by, 1)), "estimates")


@pytest.mark.parametrize(
    ("was", "by", "says"),
    [
        (OF_CLS, "", r"of-y\.csv: lacks default ap cls, which another"),
        ("default,ap,cls,1,0.5\ndefault,ap,mle,0,1\ndefault,ap,mle,1", "default,ap,mle,0", "2 of 4"),
    ],
)
def test_files_of_recommenders_must_have_the_same_rows(written, was, by, says):
    texts = {"x": HEADER + ROWS, "of-x": EXPECTED}
    texts |= {"y": texts["x"].replace(was, by), "of-y": EXPECTED.replace(was, by)}
    path = {name: str(written(f"{name}.csv", text)) for name, text in texts.items()}
    with pytest.raises(DataError, match=says):
        read_runs(["X", "Y"], [path["x"], path["y"]], [path["of-x"], path["of-y"]])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"users": ', "Expecting value"),
        ("\udcff", "'utf-8' codec can't decode"),
        ("[1]", "users is missing or wrong"),
        (json.dumps(FACTS | {"items": "3"}), "items is missing or wrong"),
        (json.dumps(FACTS | {"md5": None}), "md5 is missing or wrong"),
        ("[" * 100_000, "maximum recursion"),
    ],
)
def test_damaged_facts_are_refused(written, text, says):
    with pytest.raises(DataError, match=rf"dataset\.json: is damaged: {says}.*; remove it, and run again$"):
        read_facts(written("dataset.json", text))
