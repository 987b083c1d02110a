"""What an earlier stage wrote is read whole or refused; tests/faults/test_damaged_results.py does it to real runs."""

import json

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.study.results import (
    COUNTS,
    WORDS,
    read_facts,
    read_rows,
    read_runs,
    read_table,
)

ESTIMATES = """reading,metric,estimator,repetition,estimate
default,ap,cls,0,0.25
default,ap,cls,1,0.5
default,ap,mle,0,1
default,ap,mle,1,0
"""
EXPECTED = "reading,metric,estimator,mean_exact,sd_exact\ndefault,ap,cls,0.3,0.1\ndefault,ap,mle,,\n"


def written(path, text):
    path.write_text(text, encoding="utf-8")
    return path


def test_names_that_look_like_numbers_are_text(tmp_path):
    """A recommender called NA, 1 or 1e3 keeps its name, and an empty number is NaN."""
    path = written(tmp_path / "budget.csv", "recommender,worse,value,assumes\nNA,1,0.5,\n1e3,2.0,,none\n")
    table = read_rows(path)
    assert table[["recommender", "worse", "assumes"]].to_numpy().tolist() == [["NA", "1", ""], ["1e3", "2.0", "none"]]
    assert table["value"].isna().tolist() == [False, True]
    with pytest.raises(DataError, match="is damaged: "):
        read_rows(written(path, 'a,b\n1,"2'))


class TestTables:
    def test_give_what_was_written(self, tmp_path):
        table = read_table(written(tmp_path / "x.csv", ESTIMATES), "estimates")
        assert table["estimate"].tolist() == [0.25, 0.5, 1, 0]
        expected = read_table(written(tmp_path / "e.csv", EXPECTED), "expected")
        assert expected["mean_exact"].isna().tolist() == [False, True]

    @pytest.mark.parametrize(
        ("was", "by", "says"),
        [
            ("0.5", "inf", "line 3: estimate is not a finite number"),
            ("0.5", "", "line 3: estimate is not a finite number"),
            ("0.5", "True", "line 3: estimate is not a finite number"),
            ("cls,1", ",1", "line 3: estimator is empty"),
            ("cls,0", "cls,x", "line 2: repetition is not a finite number"),
            ("cls,0", "cls,2", "has 4 of 6 rows"),
            ("estimator,", "estimater,", "line 1: lacks the column estimator"),
            (ESTIMATES[ESTIMATES.index("\n") + 1 :], "", "has no line but its header"),
        ],
    )
    def test_refuse_what_is_damaged(self, tmp_path, was, by, says):
        with pytest.raises(DataError, match=says):
            read_table(written(tmp_path / "x.csv", ESTIMATES.replace(was, by, 1)), "estimates")


def test_a_table_4_of_recommenders_that_do_not_differ_is_empty(tmp_path):
    path = written(tmp_path / "t.csv", "reading,worse,better,metric,estimator,correct,correct_exact\n")
    with pytest.raises(DataError, match="has no line but its header"):
        read_table(path, "table-4")
    assert read_table(path, "table-4", empty=True).groupby("estimator")["correct"].mean().empty


def test_an_estimator_that_one_of_two_files_lacks_is_refused(tmp_path):
    texts = {"x": ESTIMATES, "y": ESTIMATES, "of-x": EXPECTED, "of-y": EXPECTED.replace("default,ap,cls,0.3,0.1\n", "")}
    paths = [str(written(tmp_path / f"{name}.csv", text)) for name, text in texts.items()]
    with pytest.raises(DataError, match=r"of-y\.csv: lacks default ap cls"):
        read_runs(["X", "Y"], paths[:2], paths[2:])


FACTS = dict.fromkeys(COUNTS, 3) | dict.fromkeys(WORDS, "x")


class TestFacts:
    def test_are_what_was_written(self, tmp_path):
        assert read_facts(written(tmp_path / "dataset.json", json.dumps(FACTS))) == FACTS

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("", "Expecting value"),
            ('{"users": ', "Expecting value"),
            ("\udcff", "'utf-8' codec can't decode"),
            ("[1]", "users is missing or wrong"),
            (json.dumps(FACTS | {"items": "3"}), "items is missing or wrong"),
            (json.dumps(FACTS | {"md5": None}), "md5 is missing or wrong"),
            ("[" * 100_000, "maximum recursion"),
        ],
    )
    def test_that_are_damaged_are_refused(self, tmp_path, text, says):
        path = tmp_path / "dataset.json"
        path.write_bytes(text.encode(errors="surrogateescape"))
        with pytest.raises(DataError, match=rf"dataset\.json: is damaged: {says}.*; remove it, and run again$"):
            read_facts(path)
