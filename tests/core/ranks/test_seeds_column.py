"""A column of seeds: the tables of each seed, and the columns of runs that no argument names."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from columns_of_runs import NAMES

import sampled_metrics as sm
from sampled_metrics.core.ranks.exact import ExactRanks
from sampled_metrics.core.ranks.seeds import in_order

USERS = 40
RNG = np.random.default_rng(5)
SEEDS = {"A": [1, 2, 10], "B": [2, 10]}
ALONE = {
    (model, seed): pd.DataFrame(
        {"user": RNG.permutation(USERS), "candidates": 900, "rank": RNG.integers(1, 901, USERS)}
    )
    for model, seeds in SEEDS.items()
    for seed in seeds
}
LONG = pd.concat(
    [frame.assign(model=model, Seed=seed) for (model, seed), frame in ALONE.items()],
    ignore_index=True,
)
OF_A = LONG[LONG["model"] == "A"].drop(columns="model")


def same(table, frame):
    """Whether a table has the rows of a frame of users and ranks, in their order."""
    columns = table.user.tolist(), (table.above + 1).tolist(), table.tied.tolist()
    return columns == (frame["user"].tolist(), frame["rank"].tolist(), [0] * len(frame))


def names_of(tables):
    return [table.seed_name for table in tables]


# --- what a column of seeds gives ---------------------------------------------------------------


def test_by_and_seeds_give_the_tables_of_each_recommender_and_seed():
    tables = sm.exact_ranks(LONG, by="model", seeds="Seed")
    assert list(tables) == ["A", "B"]
    assert names_of(tables["A"]) == ["1", "2", "10"]
    assert names_of(tables["B"]) == ["2", "10"]
    for name, seed_tables in tables.items():
        assert all(same(table, ALONE[name, int(table.seed_name)]) for table in seed_tables)


def test_tables_of_seeds_are_those_of_a_list_and_so_is_their_comparison():
    read = sm.exact_ranks(LONG, by="model", seeds="Seed")
    lists = {
        name: [sm.exact_ranks(ALONE[name, seed]) for seed in seeds] for name, seeds in SEEDS.items()
    }
    for name, tables in lists.items():
        for table, read_table in zip(tables, read[name], strict=True):
            assert table.to_frame().equals(read_table.to_frame())
            assert table.notes == read_table.notes
            assert table.cautions == read_table.cautions
    comparison = pd.DataFrame(sm.compare(lists, metrics="ndcg@10"))
    pd.testing.assert_frame_equal(pd.DataFrame(sm.compare(read, metrics="ndcg@10")), comparison)


@pytest.mark.parametrize(
    "ranks",
    [
        pytest.param(OF_A.to_dict("list"), id="dict of columns"),
        pytest.param(OF_A.set_index(["user", "Seed"]), id="index of users and seeds"),
        pytest.param(OF_A.set_index(["Seed"]), id="index of seeds"),
        pytest.param(OF_A.assign(Seed=OF_A["Seed"].astype("category")), id="categories"),
        pytest.param(OF_A.assign(Seed=OF_A["Seed"].astype(float)), id="floats"),
        pytest.param(OF_A.assign(Seed=OF_A["Seed"].astype(str)), id="text"),
        pytest.param(OF_A.assign(Seed=" " + OF_A["Seed"].astype(str)), id="text with spaces"),
        pytest.param(OF_A.assign(Seed=OF_A["Seed"].astype("Int64")), id="nullable"),
        pytest.param(pl.from_pandas(OF_A), id="polars"),
        pytest.param(pa.Table.from_pandas(OF_A, preserve_index=False), id="pyarrow"),
    ],
)
def test_seeds_are_the_same_whatever_the_form_of_the_table(ranks):
    tables = sm.exact_ranks(ranks, seeds="Seed")
    assert names_of(tables) == ["1", "2", "10"]
    assert all(same(table, ALONE["A", int(table.seed_name)]) for table in tables)


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet"])
def test_seeds_of_a_file_are_its_column(tmp_path, ending):
    path = tmp_path / f"long.{ending}"
    LONG.to_parquet(path) if ending == "parquet" else LONG.to_csv(path, index=False)
    tables = sm.exact_ranks(path, by="model", seeds="Seed")
    assert names_of(tables["A"]) == ["1", "2", "10"]
    assert all(same(table, ALONE["A", int(table.seed_name)]) for table in tables["A"])
    # which a report may not overwrite
    assert {table.source for table in tables["B"]} == {str(path)}


def test_of_a_wide_file_the_column_of_seeds_is_kept(tmp_path):
    wide = LONG.assign(**{f"f{number}": 0 for number in range(70)})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    assert names_of(sm.exact_ranks(tmp_path / "wide.csv", by="model", seeds="Seed")["B"]) == [
        "2",
        "10",
    ]
    with pytest.raises(sm.DataError, match="has the column Seed, which no argument names"):
        sm.exact_ranks(tmp_path / "wide.csv", by="model")


def test_rows_may_be_in_any_order():
    shuffled = LONG.sample(frac=1, random_state=1)
    for name, tables in sm.exact_ranks(shuffled, by="model", seeds="Seed").items():
        for table in tables:
            chosen = shuffled[
                (shuffled["model"] == name) & (shuffled["Seed"] == int(table.seed_name))
            ]
            assert same(table, chosen)


def test_tables_by_name_and_columns_of_ranks_have_a_column_of_seeds_each():
    named = {name: part.drop(columns="model") for name, part in LONG.groupby("model")}
    by_name = sm.exact_ranks(named, seeds="Seed")
    assert {name: names_of(tables) for name, tables in by_name.items()} == {
        "A": ["1", "2", "10"],
        "B": ["2", "10"],
    }
    wide = OF_A.rename(columns={"rank": "old"}).assign(new=OF_A["rank"][::-1].to_numpy())
    tables = sm.exact_ranks(wide, rank_column=["old", "new"], seeds="Seed")
    assert [names_of(tables[name]) for name in ("old", "new")] == [["1", "2", "10"]] * 2
    last = wide[wide["Seed"] == 10]
    assert (tables["new"][2].above + 1).tolist() == last["new"].tolist()


def test_one_seed_is_a_table_and_not_a_list():
    alone = LONG[(LONG["model"] == "B") | (LONG["Seed"] == 1)]
    tables = sm.exact_ranks(alone, by="model", seeds="Seed")
    assert isinstance(tables["A"], ExactRanks)
    assert len(tables["B"]) == 2
    assert isinstance(
        sm.exact_ranks(alone[alone["model"] == "A"].drop(columns="model"), seeds="Seed"), ExactRanks
    )


@pytest.mark.parametrize(
    ("labels", "ordered"),
    [
        (["10", "9", "1"], ["1", "9", "10"]),
        (["0.5", "-1", "1e2"], ["-1", "0.5", "1e2"]),
        (["9007199254740993", "9007199254740992"], ["9007199254740992", "9007199254740993"]),
        (["01", "1", "0"], ["0", "01", "1"]),
        (["10", "9", "a"], ["10", "9", "a"]),
        (["2", "nan", "10"], ["10", "2", "nan"]),
    ],
    ids=["numbers", "fractions", "large", "same number", "text", "not a number"],
)
def test_seeds_are_in_the_order_of_their_numbers_or_else_of_their_texts(labels, ordered):
    assert in_order(labels) == ordered


def test_sampled_ranks_have_seeds():
    sampled = OF_A.assign(rank=OF_A["rank"] % 100 + 1)
    tables = sm.sampled_ranks(sampled, negatives=100, seeds="Seed")
    for table in tables:
        assert table.x.tolist() == (ALONE["A", int(table.seed_name)]["rank"] % 100).tolist()


def test_groups_and_numbers_of_users_are_those_of_each_seed():
    grouped = OF_A.assign(kind=np.where(OF_A["user"] < 9, "a", "b")).drop(columns="candidates")
    numbers = pd.Series(1000 + np.arange(USERS), index=pd.Index(range(USERS), name="user"))
    for table in sm.exact_ranks(grouped, candidates=numbers, groups="kind", seeds="Seed"):
        assert table.groups.tolist() == ["a" if user < 9 else "b" for user in table.user]
        assert table.candidates.tolist() == [1000 + user for user in table.user]
    with pytest.raises(
        sm.DataError, match="ranks, seed 1 and ranks, seed 2 have their users in different orders"
    ):
        sm.exact_ranks(grouped, candidates=numbers.to_numpy(), seeds="Seed")


def test_a_user_who_is_missing_in_a_seed_is_named_with_the_seed():
    fewer = LONG[~((LONG["model"] == "A") & (LONG["Seed"] == 10) & (LONG["user"] == 7))]
    tables = sm.exact_ranks(fewer, by="model", seeds="Seed")
    with pytest.raises(
        sm.DataError, match=r"A, seed 1 and A, seed 10 must have the same users .* 7 of A, seed 1"
    ):
        sm.compare(tables, metrics="ap")


def test_the_same_seed_twice_is_named_as_the_column_has_it():
    again = pd.concat([OF_A, OF_A[OF_A["Seed"] == 2].assign(Seed=11)]).assign(model="A")
    tables = sm.exact_ranks(again, by="model", seeds="Seed")
    result = sm.compare({**tables, "B": sm.exact_ranks(ALONE["B", 2])}, metrics="ap")
    [finding] = [finding for finding in result.findings if finding.kind == "equal-tables"]
    assert finding.values["seeds"] == ["2", "11"]


def test_draws_that_users_share_are_compared_only_with_the_same_draws():
    sampled = LONG.assign(rank=LONG["rank"] % 100 + 1)
    for shift, says in ((8, None), (9, "A has the draw 10 of negatives where B has 11")):
        two = sampled[sampled["Seed"] > 1].assign(draw=lambda frame, by=shift: frame["Seed"])
        two.loc[(two["model"] == "B") & (two["Seed"] == 10), "draw"] = 2 + shift
        read = sm.sampled_ranks(
            two.drop(columns="Seed"), by="model", seeds="draw", negatives=100, drawn="once"
        )
        if says is None:
            assert len(sm.compare(read, metrics="ap", estimator="bv-0.1")) == 1
        else:
            with pytest.raises(sm.DataError, match=re.escape(says)):
                sm.compare(read, metrics="ap", estimator="bv-0.1")


def test_without_users_seeds_need_as_many_rows():
    unknown = OF_A.drop(columns="user")
    assert [table.user for table in sm.exact_ranks(unknown, seeds="Seed")] == [None] * 3
    with pytest.raises(
        sm.DataError, match=r"^ranks: Seed 10 has 39 rows and 1 40; without a column user, row i"
    ):
        sm.exact_ranks(unknown[:-1], seeds="Seed")


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_runs_that_no_argument_names_is_refused(name):
    renamed = OF_A.rename(columns={"Seed": name})
    says = (
        rf"has the column {name}, which no argument names, with 3 values \(1, 2, 10\); .* "
        rf"--seeds {name} \(in Python "
    )
    says += rf"seeds='{name}'\), and if recommenders, --by {name} \(by='{name}'\), or give each "
    says += "a table of its own; if not, leave the column out$"
    with pytest.raises(sm.DataError, match=says):
        sm.exact_ranks(renamed)
    with pytest.raises(sm.DataError, match=says):
        sm.sampled_ranks(renamed, negatives=899)


@pytest.mark.parametrize(
    ("ranks", "options", "says"),
    [
        pytest.param(
            LONG,
            {"by": "model"},
            "has the column Seed, .* say --seeds Seed (in Python seeds='Seed'), or give each a "
            "table of",
            id="by alone",
        ),
        pytest.param(
            {"x": OF_A},
            {},
            "x: has the column Seed, .* say --seeds Seed (in Python seeds='Seed'), or give each "
            "a table of",
            id="mapping",
        ),
        pytest.param(
            OF_A.drop(columns="user"),
            {},
            "has the column Seed, which no argument names",
            id="no users",
        ),
        pytest.param(
            OF_A.assign(trial=range(120)),
            {"seeds": "Seed"},
            "the column trial, .* as in folds",
            id="a fold in each seed",
        ),
        pytest.param(
            pd.concat([OF_A.assign(trial=1), OF_A.assign(trial=2)]),
            {"seeds": "Seed"},
            "the column trial, .* with 2 values (1, 2); seeds names Seed; make one column of both",
            id="two columns of runs",
        ),
        pytest.param(
            LONG,
            {"by": "model", "seeds": "model"},
            "by and seeds name the same column, model",
            id="by the same",
        ),
        pytest.param(
            OF_A,
            {"seeds": "user"},
            "ranks: seeds names the column user, which is taken as user",
            id="user",
        ),
        pytest.param(
            OF_A,
            {"seeds": "rank"},
            "ranks: seeds names the column rank, which is taken as rank",
            id="rank",
        ),
        pytest.param(
            OF_A,
            {"seeds": "Seed", "groups": "Seed"},
            "ranks: seeds and groups name the same column, Seed",
            id="groups",
        ),
        pytest.param(OF_A, {"seeds": "sead"}, "ranks: lacks the column sead", id="no column"),
        pytest.param(
            [1, 2, 3],
            {"seeds": "Seed", "candidates": 900},
            "ranks: lacks the column Seed",
            id="ranks alone",
        ),
        pytest.param(
            OF_A.assign(Seed=[None, *[1] * 119]),
            {"seeds": "Seed"},
            "Seed is empty, and each row has a seed",
            id="empty",
        ),
        pytest.param(
            OF_A.assign(Seed=1e16),
            {"seeds": "Seed"},
            "Seed is 1e+16, a float that may stand for several",
            id="floats",
        ),
        pytest.param(
            pd.concat([OF_A, OF_A["Seed"]], axis=1),
            {},
            "ranks: has the column 'Seed' more than once",
            id="twice",
        ),
        pytest.param(
            {"rank": [1] * 1001, "row": range(1001)},
            {"seeds": "row", "candidates": 9},
            "row has 1001 values, and there",
            id="rows",
        ),
        pytest.param(
            OF_A.assign(model="ab"),
            {"seeds": "Seed", "by": "modle"},
            "lacks the column modle",
            id="by another",
        ),
    ],
)
def test_refusals(ranks, options, says):
    with pytest.raises(
        sm.DataError, match=re.escape(says).replace(re.escape(".*"), ".*")
    ) as caught:
        sm.exact_ranks(ranks, **options)
    assert "\n" not in str(caught.value)


def test_seeds_is_text():
    with pytest.raises(sm.ConfigError, match=r"^seeds: a label is text, not 3"):
        sm.exact_ranks(OF_A, seeds=3)


def test_recommenders_beside_seeds_are_refused_as_without():
    with pytest.raises(sm.DataError, match="one for each value of the column model"):
        sm.exact_ranks(LONG[LONG["Seed"] > 1], seeds="Seed")


FOLDS = ALONE["A", 1].assign(fold=ALONE["A", 1]["user"] % 5)


def test_folds_are_no_seeds_and_are_said_how_to_be_given():
    with pytest.raises(
        sm.DataError,
        match=r"^ranks: each user is in one value of fold alone, so these are folds and no",
    ):
        sm.exact_ranks(FOLDS, seeds="fold")
    says = (
        r"^ranks: has the column fold, .* with 5 values \(0, 1, 2, 3, 4\), and each user is "
        r"in one of them, as in folds"
    )
    with pytest.raises(
        sm.DataError, match=f"{says}: .*leave the column out.*--groups fold"
    ) as caught:
        sm.exact_ranks(FOLDS)
    assert "seeds" not in str(caught.value)
    assert same(sm.exact_ranks(FOLDS.drop(columns="fold")), FOLDS)
    kept = sm.exact_ranks(FOLDS, groups="fold")
    assert kept.groups.tolist() == [str(user % 5) for user in kept.user]


@pytest.mark.parametrize("name", NAMES)
def test_a_column_of_one_run_changes_nothing(name):
    plain = ALONE["A", 1]
    assert sm.exact_ranks(plain.assign(**{name: 7})).notes == sm.exact_ranks(plain).notes == ()
    models = LONG[(LONG["model"] + LONG["Seed"].astype(str)).isin(["A1", "B2"])].rename(
        columns={"Seed": name}
    )
    tables = sm.exact_ranks(models, by="model")  # one run of each recommender
    assert [same(tables["A"], ALONE["A", 1]), same(tables["B"], ALONE["B", 2])] == [True, True]


def test_a_column_of_runs_may_be_ranks_groups_or_recommenders():
    ranks = ALONE["A", 1].rename(columns={"rank": "trial"})
    assert (sm.exact_ranks(ranks, rank_column="trial").above + 1).tolist() == ranks[
        "trial"
    ].tolist()
    assert len(set(sm.exact_ranks(OF_A, groups="Seed").groups)) == 3
    assert list(sm.exact_ranks(OF_A, by="Seed")) == ["1", "10", "2"]


def test_read_ranks_refuses_seeds(tmp_path):
    OF_A.to_csv(tmp_path / "a.csv", index=False)
    with pytest.raises(
        sm.DataError, match=r"a\.csv, line 1: has the column Seed, which no argument names"
    ):
        sm.read_ranks(tmp_path / "a.csv")
