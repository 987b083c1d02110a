"""What an earlier job wrote is read, or refused in one line.

test_damaged_results.py damages real runs.
"""

import gzip

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics_study.own_files import read_facts, read_table


def test_names_stay_text_and_an_empty_number_is_missing(tmp_path):
    """A recommender called NA, 1 or 1e3 keeps its name."""
    (tmp_path / "budget.csv").write_text(
        "recommender,worse,value,assumes\nNA,1,0.5,\n1e3,2.0,,none\n", "utf-8"
    )
    rows = read_table(tmp_path / "budget.csv")
    assert rows["recommender"].tolist() == ["NA", "1e3"]
    assert rows["worse"].tolist() == ["1", "2.0"]
    assert rows["assumes"].tolist() == ["", "none"]
    assert rows["value"].isna().tolist() == [False, True]


def test_a_table_without_rows_has_columns_of_numbers(tmp_path):
    (tmp_path / "t.csv").write_text(
        "reading,worse,better,metric,estimator,correct,correct_exact\n", "utf-8"
    )
    assert read_table(tmp_path / "t.csv").groupby("estimator")["correct"].mean().empty


TABLES = {
    "a quotation mark that stays open": (b'a,b\n1,"2', "damaged"),
    "text among numbers": (b"metric,estimate\nap,0.5x\n", "estimate has a text that is no number"),
}


@pytest.mark.parametrize(("content", "says"), TABLES.values(), ids=TABLES)
def test_a_damaged_table_is_refused(tmp_path, content, says):
    (tmp_path / "x.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"x\.csv: .*{says}") as caught:
        read_table(tmp_path / "x.csv")
    assert "\n" not in str(caught.value)


def test_every_byte_of_a_gzipped_table_counts(tmp_path):
    content = bytearray(gzip.compress(b"metric,estimate\nap,0.5\n", mtime=0))
    content[-6] ^= 1
    (tmp_path / "x.csv.gz").write_bytes(content)
    with pytest.raises(DataError, match=r"x\.csv\.gz"):
        read_table(tmp_path / "x.csv.gz")


FACTS = {
    "cut off": ('{"users": ', "Expecting value"),
    "a list": ("[1]", "it has no facts"),
}


@pytest.mark.parametrize(("text", "says"), FACTS.values(), ids=FACTS)
def test_damaged_facts_are_refused(tmp_path, text, says):
    (tmp_path / "dataset.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=rf"dataset\.json: .*{says}"):
        read_facts(tmp_path / "dataset.json")
