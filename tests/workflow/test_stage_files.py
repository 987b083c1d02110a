"""What an earlier stage wrote is read whole or refused; tests/faults/test_damaged_results.py does it to real runs."""

import json

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.study.results import COUNTS, WORDS, read_facts, read_rows, read_runs, read_table

ESTIMATES = """reading,metric,estimator,repetition,estimate
default,ap,cls,0,0.25
default,ap,cls,1,0.5
default,ap,mle,0,1
default,ap,mle,1,0
"""
EXPECTED = "reading,metric,estimator,mean_exact,sd_exact\ndefault,ap,cls,0.3,0.1\ndefault,ap,mle,,\n"
FACTS = dict.fromkeys(COUNTS, 3) | dict.fromkeys(WORDS, "x")


@pytest.fixture
def written(tmp_path):
    def write(name, text):
        path = tmp_path / name
        path.write_bytes(text.encode(errors="surrogateescape"))
        return path

    return write


def test_rows_have_names_that_look_like_numbers_as_text(written):
    """A recommender called NA, 1 or 1e3 keeps its name, and an empty number is NaN."""
    table = read_rows(written("budget.csv", "recommender,worse,value,assumes\nNA,1,0.5,\n1e3,2.0,,none\n"))
    assert table[["recommender", "worse", "assumes"]].to_numpy().tolist() == [["NA", "1", ""], ["1e3", "2.0", "none"]]
    assert table["value"].isna().tolist() == [False, True]
    with pytest.raises(DataError, match="is damaged: "):
        read_rows(written("damaged.csv", 'a,b\n1,"2'))


def test_tables_and_facts_are_what_was_written(written):
    assert read_table(written("x.csv", ESTIMATES), "estimates")["estimate"].tolist() == [0.25, 0.5, 1, 0]
    expected = read_table(written("e.csv", EXPECTED), "expected")
    assert expected["mean_exact"].isna().tolist() == [False, True]
    assert read_facts(written("dataset.json", json.dumps(FACTS))) == FACTS


@pytest.mark.parametrize(
    ("was", "by", "says"),
    [
        ("0.5", "inf", "line 3: estimate is not a finite number"),
        ("0.5", "", "line 3: estimate is not a finite number"),
        ("0.5", "True", "line 3: estimate is not a finite number"),
        ("cls,1", ",1", "line 3: estimator is empty"),
        ("cls,0", "cls,x", "line 2: repetition is not a finite number"),
        ("cls,0", "cls,-1", "line 2: repetition is not a whole number from 0"),
        ("cls,0", "cls,0.5", "line 2: repetition is not a whole number from 0"),
        ("cls,0", "cls,1", "line 3: repeats the reading, metric, estimator, repetition of an earlier line"),
        ("cls,0", "cls,2", "has 4 of 6 rows"),
        ("estimator,", "estimater,", "line 1: lacks the column estimator"),
        ("metric,", "reading,", "names a column twice"),
        (ESTIMATES[ESTIMATES.index("\n") + 1 :], "", "has no line but its header"),
    ],
)
def test_a_damaged_table_is_refused(written, was, by, says):
    with pytest.raises(DataError, match=rf"x\.csv.*{says}.*; remove it, and run again$"):
        read_table(written("x.csv", ESTIMATES.replace(was, by, 1)), "estimates")


def test_a_table_4_of_recommenders_that_do_not_differ_is_empty(written):
    path = written("t.csv", "reading,worse,better,metric,estimator,correct,correct_exact\n")
    with pytest.raises(DataError, match="has no line but its header"):
        read_table(path, "table-4")
    assert read_table(path, "table-4", empty=True).groupby("estimator")["correct"].mean().empty


@pytest.mark.parametrize(
    ("estimates", "expected", "says"),
    [
        (
            ESTIMATES,
            EXPECTED.replace("default,ap,cls,0.3,0.1\n", ""),
            r"of-y\.csv: lacks default ap cls, which another",
        ),
        (
            ESTIMATES.replace("default,ap,cls,1,0.5\ndefault,ap,mle,0,1\n", "").replace("mle,1", "mle,0"),
            EXPECTED,
            "2 of 4",
        ),
    ],
)
def test_files_of_recommenders_must_have_the_same_rows(written, estimates, expected, says):
    texts = {"x": ESTIMATES, "y": estimates, "of-x": EXPECTED, "of-y": expected}
    paths = [str(written(f"{name}.csv", text)) for name, text in texts.items()]
    with pytest.raises(DataError, match=says):
        read_runs(["X", "Y"], paths[:2], paths[2:])


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
