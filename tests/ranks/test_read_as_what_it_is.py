"""A file is read as what it is, or refused: staged ranks, named columns, and tables of several recommenders."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import sampled_metrics as sm
from sampled_metrics.cli.commands import cli

SCORES = np.random.default_rng(1).random((60, 90))


@pytest.fixture
def staged(tmp_path):
    ranks = sm.staged_ranks(lambda u, i: SCORES[u, i], np.zeros((60, 90)), np.arange(60), k=20, depth=10)
    ranks.write(tmp_path / "staged.parquet")
    return tmp_path / "staged.parquet"


def without_metadata(path):
    pd.read_parquet(path).to_parquet(path.with_name("copy.parquet"))
    return path.with_name("copy.parquet")


def through_csv(path):
    pd.read_parquet(path).to_csv(path.with_name("copy.csv"), index=False)
    return path.with_name("copy.csv")


class TestStagedRanks:
    @pytest.mark.parametrize("copied", [lambda path: path, without_metadata, through_csv, pd.read_parquet])
    @pytest.mark.parametrize("reader", [sm.exact_ranks, lambda data: sm.sampled_ranks(data, negatives=9)])
    def test_are_never_read_as_another_kind(self, staged, copied, reader):
        with pytest.raises(sm.DataError, match=r"has staged ranks, which are not exact.* read_ranks reads"):
            reader(copied(staged))

    def test_are_refused_by_the_command_too_once_they_went_through_csv(self, staged):
        ran = CliRunner().invoke(cli, ["evaluate", str(through_csv(staged))])
        assert ran.exit_code == 1 or isinstance(ran.exception, sm.DataError)

    def test_are_read_by_read_ranks(self, staged):
        ranks = sm.read_ranks(staged)
        assert isinstance(ranks, sm.StagedRanks)
        assert ranks.k == 20


class TestReadRanks:
    def test_of_exact_ranks(self, tmp_path):
        ranks = sm.ExactRanks(np.arange(30), np.full(30, 50), np.arange(30), np.zeros(30, dtype=int))
        ranks.write(tmp_path / "x.csv.gz")
        again = sm.read_ranks(tmp_path / "x.csv.gz")
        np.testing.assert_array_equal(again.above, ranks.above)
        assert isinstance(again, sm.ExactRanks)

    def test_of_sampled_ranks(self, tmp_path):
        columns = {"user": range(9), "candidates": 100, "negatives": 20, "rank": range(1, 10)}
        pd.DataFrame(columns).to_csv(tmp_path / "x.csv", index=False)
        assert isinstance(sm.read_ranks(tmp_path / "x.csv"), sm.SampledRanks)


@pytest.mark.parametrize(
    "names",
    [
        {"user": "user_id", "candidates": "n_items", "rank": "position"},
        {"user": "customer", "candidates": "pool", "rank": "place"},
        {"user": "user", "candidates": "candidates", "rank": "rank"},
    ],
)
def test_a_column_that_is_named_is_taken_whatever_it_is_called(tmp_path, names):
    columns = {"user": range(40), "candidates": 50, "rank": np.arange(40) + 1}
    pd.DataFrame(columns).rename(columns=names).to_csv(tmp_path / "x.csv", index=False)
    options = [f"--{column}-column={name}" for column, name in names.items()]
    ran = CliRunner().invoke(cli, ["evaluate", str(tmp_path / "x.csv"), "--metrics", "recall@10", "--csv", *options])
    assert ran.exit_code == 0, ran.output
    assert "recall@10,0.25," in ran.output


def test_a_named_column_comes_before_one_with_a_usual_name(tmp_path):
    table = pd.DataFrame({"user_id": range(40), "rank": 1, "position": np.arange(40) + 1})
    ranks = sm.exact_ranks(table, candidates=50, rank_column="position")
    assert ranks.above.tolist() == list(range(40))


class TestRowsOfSeveralRecommenders:
    TABLE = pd.DataFrame(
        {"user": np.repeat(np.arange(30), 2), "model": ["a", "b"] * 30, "rank": np.tile(np.arange(1, 31), 2)}
    )

    def test_are_refused_with_the_column_that_tells_them_apart(self):
        for read in (
            lambda data: sm.exact_ranks(data, candidates=40),
            lambda data: sm.sampled_ranks(data, negatives=39, candidates=400),
        ):
            with pytest.raises(sm.DataError, match=r"has 2 rows for each user, .* column model \(a, b\).*--by model"):
                read(self.TABLE)
        assert list(sm.exact_ranks(self.TABLE, candidates=40, by="model")) == ["a", "b"]

    @pytest.mark.parametrize(
        "change",
        [
            {"model": [1, 2] * 30},  # numbers, such as those of held-out items
            {"model": [f"item {number}" for number in range(60)]},  # items of their own
            {"model": ["a", "a"] * 30},
            {"model": ["a", "b"] * 29 + ["a", "a"]},
        ],
    )
    def test_are_several_held_out_items_where_no_text_tells_them_apart(self, change):
        assert len(sm.exact_ranks(self.TABLE.assign(**change), candidates=40)) == 60

    def test_are_groups_where_the_column_is_named_as_such(self):
        assert len(sm.exact_ranks(self.TABLE, candidates=40, groups="model")) == 60
