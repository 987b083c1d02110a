"""What an earlier stage wrote is read whole or refused; tests/faults/test_damaged_results.py does it to real runs."""

import pytest

from sampled_metrics.errors import DataError
from sampled_metrics.workflow.stage_files import read_estimator_studies, read_runs, read_table

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


class TestTables:
    def test_give_what_was_written(self, tmp_path):
        table = read_table(written(tmp_path / "x.csv", ESTIMATES), "estimates")
        assert table["estimate"].tolist() == [0.25, 0.5, 1, 0]
        expected = read_table(written(tmp_path / "e.csv", EXPECTED), "expected")
        assert expected["mean_exact"].isna().tolist() == [False, True]

    @pytest.mark.parametrize(
        ("was", "by", "says"),
        [
            ("0.5", "nan", "line 3: estimate is not a finite number"),
            ("0.5", "inf", "line 3: estimate is not a finite number"),
            ("0.5", "o.5", "line 3: estimate is not a finite number"),
            ("0.5", "", "line 3: estimate is not a finite number"),
            ("cls,1", ",1", "line 3: estimator is empty"),
            ("cls,0", "cls,x", "line 2: repetition is not a finite number"),
            ("cls,0", "cls,2", "has 4 of 6 rows"),
            ("estimator,", "estimater,", "line 1: lacks the column estimator"),
            ("cls,1", "cls,0", "line 3: repeats the reading, metric, estimator, repetition of an earlier line"),
            ("default,ap,cls,1,0.5\n", "", "has 3 of 4 rows"),
        ],
    )
    def test_refuse_what_is_damaged(self, tmp_path, was, by, says):
        assert was in ESTIMATES
        with pytest.raises(DataError, match=says):
            read_table(written(tmp_path / "x.csv", ESTIMATES.replace(was, by, 1)), "estimates")

    def test_refuse_truths_for_numbers(self, tmp_path):
        text = EXPECTED.splitlines()[0] + "\ndefault,ap,cls,True,0.1\ndefault,ap,mle,False,0.1\n"
        with pytest.raises(DataError, match="line 2: mean_exact is not a finite number"):
            read_table(written(tmp_path / "e.csv", text), "expected")

    def test_refuse_a_header_alone(self, tmp_path):
        with pytest.raises(DataError, match="has no line but its header"):
            read_table(written(tmp_path / "x.csv", ESTIMATES.splitlines()[0] + "\n"), "estimates")

    def test_refuse_an_empty_file(self, tmp_path):
        with pytest.raises(DataError, match=r"x\.csv: is damaged"):
            read_table(written(tmp_path / "x.csv", ""), "expected")


class TestRuns:
    def read(self, tmp_path, x=ESTIMATES, y=ESTIMATES, of_x=EXPECTED, of_y=EXPECTED):
        texts = {"x.csv": x, "y.csv": y, "of-x.csv": of_x, "of-y.csv": of_y}
        paths = [str(written(tmp_path / name, text)) for name, text in texts.items()]
        return read_runs(["X", "Y"], paths[:2], paths[2:])

    def test_are_by_recommender(self, tmp_path):
        estimates, expected = self.read(tmp_path)
        assert list(estimates) == list(expected) == ["X", "Y"]

    def test_refuse_an_estimator_that_one_file_lacks(self, tmp_path):
        short = ESTIMATES[: ESTIMATES.index("default,ap,mle")]
        with pytest.raises(DataError, match=r"y\.csv: lacks default ap mle"):
            self.read(tmp_path, y=short)
        with pytest.raises(DataError, match=r"of-x\.csv: lacks default ap cls"):
            self.read(tmp_path, of_x=EXPECTED.replace("default,ap,cls,0.3,0.1\n", ""))

    def test_refuse_fewer_repetitions_of_one_recommender(self, tmp_path):
        short = "".join(line for line in ESTIMATES.splitlines(keepends=True) if ",1," not in line)
        with pytest.raises(DataError, match=r"x\.csv: has 2 of 4 rows"):
            self.read(tmp_path, x=short)


STUDY = """negatives,estimator,metric,exact,mean,bias,sd,rmse,error
10,cls,ap,0.3,0.3,0,0.1,0.1,0.2
20,cls,ap,0.3,0.3,0,0.1,0.1,0.2
"""


class TestEstimatorStudies:
    def read(self, tmp_path, x=STUDY, y=STUDY):
        paths = [str(written(tmp_path / name, text)) for name, text in {"x.csv": x, "y.csv": y}.items()]
        return read_estimator_studies(["X", "Y"], paths)

    def test_are_read_by_recommender(self, tmp_path):
        tables = self.read(tmp_path, y=STUDY.replace("cls,ap,0.3", "cls,ap,0.4"))
        assert {name: table["exact"].tolist() for name, table in tables.items()} == {"X": [0.3, 0.3], "Y": [0.4, 0.4]}

    def test_refuse_a_sample_size_that_one_file_lacks(self, tmp_path):
        with pytest.raises(DataError, match=r"y\.csv: lacks cls ap 20"):
            self.read(tmp_path, y="".join(STUDY.splitlines(keepends=True)[:-1]))

    def test_refuse_a_lost_row(self, tmp_path):
        more = STUDY + "10,mle,ap,0.3,0.3,0,0.1,0.1,0.2\n"
        with pytest.raises(DataError, match=r"x\.csv: has 3 of 4 rows"):
            self.read(tmp_path, x=more)
