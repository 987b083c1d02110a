"""Negatives from strata, and ranks by stratum: by hand, by enumeration, by their distribution, and against `rank`."""

from functools import cache
from itertools import combinations, product
from math import comb
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.sparse import csr_array

from sampled_metrics import evaluate, popularity_strata, rank, rank_among_negatives
from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.ranking import held_out as held_out_module
from sampled_metrics.ranking import strata as strata_module
from sampled_metrics.ranking.held_out import held_out_items
from sampled_metrics.ranking.negatives import _draw_by_stratum
from sampled_metrics.ranking.strata import strata_of
from sampled_metrics.ranks.csv import read_columns

RNG = np.random.default_rng(4)
USERS, ITEMS = 50, 30
HELD_OUT = RNG.integers(ITEMS, size=USERS)
TRAINING = (RNG.random((USERS, ITEMS)) < 0.2) & (np.arange(ITEMS) != HELD_OUT[:, np.newaxis])
FACTORS = RNG.integers(-2, 3, (USERS, 3)).astype(float), RNG.integers(-2, 3, (ITEMS, 3)).astype(float)
SCORES = FACTORS[0] @ FACTORS[1].T  # whole numbers, so many tie
LABELS = np.array(["a", "b", "b", "c", "c", "c"] * 5)
LISTED = pd.DataFrame(
    [(user, item, "xy"[item % 2]) for user in range(0, USERS, 2) for item in range(user % 7, ITEMS, 3)],
    columns=["user", "item", "stratum"],
)


def stratum_by_hand(strata, user: int, item: int) -> str:
    if strata is LABELS:
        return LABELS[item]
    mine = LISTED[(LISTED["user"] == user) & (LISTED["item"] == item)]
    return mine["stratum"].item() if len(mine) else "rest"


def by_hand(user: int, item: int, others: set[int], strata, labels: list[str]) -> list[int]:
    """above, tied and size of each stratum, candidate by candidate."""
    counts = {label: [0, 0, 0] for label in labels}
    for other in set(range(ITEMS)) - others - {item}:
        count = counts[stratum_by_hand(strata, user, other)]
        count[0] += SCORES[user, other] > SCORES[user, item]
        count[1] += SCORES[user, other] == SCORES[user, item]
        count[2] += 1
    return [number for count in counts.values() for number in count]


FORMS = [
    FACTORS,
    tuple(each.astype(np.float32) for each in FACTORS),
    csr_array(SCORES),
    lambda users: SCORES[users],
    SCORES.astype(np.int8),
]


@pytest.mark.parametrize("scores", FORMS)
@pytest.mark.parametrize(("strata", "labels"), [(LABELS, list("abc")), (LISTED, ["x", "y", "rest"])])
@pytest.mark.parametrize("together", [1, 100, 2**18])
def test_exact_ranks_by_stratum(scores, strata, labels, together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strata_module, "TOGETHER", together)
    table = rank(scores, TRAINING, HELD_OUT, strata=strata)
    names = [f"{count}_{label}" for label in labels for count in ("above", "tied", "size")]
    expected = [
        by_hand(user, item, set(np.flatnonzero(TRAINING[user])), strata, labels) for user, item in enumerate(HELD_OUT)
    ]
    assert sorted(table) == sorted(["user", "candidates", *names])
    assert table[names].to_numpy().tolist() == expected
    whole = rank(scores, TRAINING, HELD_OUT)
    for count in ("above", "tied"):
        assert table.filter(like=count).sum(axis=1).tolist() == getattr(whole, count).tolist()
    assert (table.filter(like="size").sum(axis=1) + 1).tolist() == whole.candidates.tolist()
    assert table["candidates"].tolist() == whole.candidates.tolist()


@pytest.mark.parametrize("strata", [LABELS, LISTED])
@pytest.mark.parametrize("entries", [2**24, 40])
def test_several_held_out_items(strata, entries: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is ranked without the others, exactly or among all negatives; and among the same negatives."""
    monkeypatch.setattr(held_out_module, "ENTRIES", entries)
    held_out = (np.random.default_rng(6).random((USERS, ITEMS)) < 0.15) & ~TRAINING
    held_out[np.arange(USERS), HELD_OUT] = True
    scores = np.random.default_rng(7).permuted(np.tile(np.arange(ITEMS), (USERS, 1)), axis=1)
    table = rank(scores, TRAINING, held_out, strata=strata, batch_size=3)
    whole = rank(scores, TRAINING, held_out)
    assert table.filter(like="above").sum(axis=1).tolist() == whole.above.tolist()
    assert table["candidates"].tolist() == whole.candidates.tolist()
    labels = [name.removeprefix("size_") for name in table.filter(like="size")]
    options = {"strata": strata, "batch_size": 3}
    everything = rank_among_negatives(scores, TRAINING, held_out, negatives=dict.fromkeys(labels, "all"), **options)
    for label in labels:
        assert everything[f"negatives_{label}"].tolist() == table[f"size_{label}"].tolist()
        assert everything[f"above_{label}"].tolist() == table[f"above_{label}"].tolist()
    some = rank_among_negatives(scores, TRAINING, held_out, negatives=dict.fromkeys(labels, 2), **options)
    rising = np.argsort(scores[some["user"], np.nonzero(held_out)[1]], kind="stable")
    for _, mine in some.loc[rising].groupby("user"):  # among the same negatives, a higher score has fewer above it
        assert (mine.filter(like="above").diff().dropna() <= 0).all(axis=None)


def test_by_hand() -> None:
    """All of a, one of b, which has one candidate: scores 5 and 1 in a, 3 in b; the held-out items score 2 and 4."""
    scores, training = [[5, 1, 3, 9, 2], [5, 1, 3, 9, 4]], [[0, 0, 0, 1, 0], [0, 1, 0, 1, 0]]
    table = rank_among_negatives(scores, training, [4, 4], negatives={"b": 10**30, "a": "all"}, strata=list("aabab"))
    assert table.columns.tolist() == [
        *("user", "candidates", "above_b", "negatives_b", "size_b"),
        *("above_a", "negatives_a", "size_a"),
    ]
    assert table.to_numpy().tolist() == [[0, 4, 1, 1, 1, 1, 2, 2], [1, 3, 0, 1, 1, 1, 1, 1]]


def test_a_user_without_candidates_in_a_stratum() -> None:
    table = rank_among_negatives(np.zeros((1, 3)), [[1, 0, 0]], [2], negatives={"a": 1, "b": 1}, strata=["a", "b", "b"])
    assert table.filter(regex="negatives|size").to_numpy().tolist() == [[0, 0, 1, 1]]


@pytest.mark.parametrize("strata", [list("pppppqqqqq"), None])
def test_all_subsets_are_as_likely(strata) -> None:
    """p has the candidates 0, 1, 2, 4 and q 6, 7, 9, so there are 6 times 3 samples of two of p and two of q."""
    users = 18_000
    training, held_out = np.tile(np.isin(np.arange(10), (3, 8)), (users, 1)), np.full(users, 5)
    data = held_out_items(training, held_out, (users, 10), None, None)
    if strata is None:  # a list of each user, in place of labels
        strata = pd.DataFrame({"user": np.repeat(np.arange(users), 5), "item": [4, 1, 0, 2, 3] * users, "stratum": "p"})
    known = strata_of(strata, data)
    streams = cache(lambda *address: np.random.default_rng(address))
    draw = _draw_by_stratum(known, dict.fromkeys(known.labels, 2.0), data, streams)
    drawn = draw(np.arange(users))
    assert [(np.unique(free).tolist(), at.tolist()) for at, _, free in drawn] == [
        ([size], np.repeat(np.arange(users), 2).tolist()) for size in (4, 3)
    ]
    of_p, of_q = (np.sort(items.reshape(-1, 2), axis=1).tolist() for _, items, _ in drawn)
    found = pd.Series([(tuple(p), tuple(q)) for p, q in zip(of_p, of_q, strict=True)])
    expected = set(product(combinations((0, 1, 2, 4), 2), combinations((6, 7, 9), 2)))
    assert set(found) == expected
    assert stats.chisquare(found.value_counts()).pvalue > 0.001


@pytest.mark.parametrize("strata", [LABELS, LISTED])
def test_the_numbers_of_a_stratum_are_its_candidates_in_their_order(strata) -> None:
    data = held_out_items(TRAINING, HELD_OUT, (USERS, ITEMS), None, None)
    known, users = strata_of(strata, data), np.arange(1, USERS, 2) if strata is LABELS else np.arange(3, USERS)
    for number, label in enumerate(known.labels):
        count, item_of = known.pool(number, users, data.excluded[users])
        for row, user in enumerate(users):
            gone = {HELD_OUT[user], *np.flatnonzero(TRAINING[user])}
            expected = [
                item for item in range(ITEMS) if item not in gone and stratum_by_hand(strata, user, item) == label
            ]
            assert count[row] == len(expected)
            assert item_of(np.full(len(expected), row), np.arange(len(expected))).tolist() == expected


def test_counts_are_hypergeometric_and_independent() -> None:
    """Item j scores j, and the held-out item 12: above it are 3 of the 9 candidates of a, and 5 of the 8 of b."""
    users = 20_000
    strata = list("aaaaaaaaabbbbaaabbbbbbb")
    training = np.isin(np.arange(23), (0, 1, 2, 21, 22))
    table = rank_among_negatives(
        lambda batch: np.tile(np.arange(23), (batch.stop - batch.start, 1)),
        np.tile(training, (users, 1)),
        np.full(users, 12),
        negatives={"a": 4, "b": 3},
        strata=strata,
    )
    assert (table[["size_a", "size_b"]] == [9, 8]).all(axis=None)
    of_a, of_b = stats.hypergeom(9, 3, 4).pmf(np.arange(5)), stats.hypergeom(8, 5, 3).pmf(np.arange(4))
    expected = np.outer(of_a, of_b)
    observed = np.zeros((5, 4))
    np.add.at(observed, (table["above_a"], table["above_b"]), 1)
    assert observed[expected == 0].sum() == 0
    likely = expected > 0
    assert stats.chisquare(observed[likely], expected[likely] * users).pvalue > 0.001


def test_all_positions_in_a_tie_are_as_likely() -> None:
    """With 2 and 3 negatives that tie, the position is one of 6, and those above are any of the 5 negatives."""
    users = 20_000
    table = rank_among_negatives(
        np.zeros((users, 9)), np.zeros((users, 9)), np.zeros(users, dtype=int), negatives={"a": 2, "b": 3},
        strata=list("aaaabbbbb"),
    )  # fmt: skip
    observed = np.zeros((3, 4))
    np.add.at(observed, (table["above_a"], table["above_b"]), 1)
    cells = product(range(3), range(4))
    expected = [comb(2, a) * comb(3, b) / comb(5, a + b) / 6 for a, b in cells]
    assert stats.chisquare(observed.ravel(), np.array(expected) * users).pvalue > 0.001


@pytest.mark.parametrize("strata", [LABELS, LISTED])
def test_all_forms_of_scores_and_batches_give_the_same(strata) -> None:
    wanted = {"c": 3, "a": "all", "b": 2} if strata is LABELS else {"x": 2, "y": 1, "rest": 4}
    tables = [
        rank_among_negatives(scores, TRAINING, HELD_OUT, negatives=wanted, strata=strata, seed=2) for scores in FORMS
    ]
    for size in (1, 7):
        tables.append(
            rank_among_negatives(
                SCORES, TRAINING, HELD_OUT, negatives=wanted, strata=strata, seed=2, batch_size=size
            )
        )  # fmt: skip
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])
    other = rank_among_negatives(SCORES, TRAINING, HELD_OUT, negatives=wanted, strata=strata, seed=3)
    assert not other.equals(tables[0])


@pytest.mark.parametrize(
    "options",
    [
        {"strata": LABELS, "negatives": {"a": 4, "b": 2, "c": 9}},
        {"strata": LISTED, "negatives": {"x": 2, "y": 1, "rest": 4}},
        {"negatives": 3},
        {"negatives": 12},
        {"negatives": 12, "replacement": True},
        {"negatives": 5, "weights": np.arange(1.0, ITEMS + 1)},
        {"negatives": 5, "weights": np.arange(1.0, ITEMS + 1), "replacement": True},
    ],
)
def test_batches_of_users_with_several_held_out_items_give_the_same(options: dict) -> None:
    held_out = (np.random.default_rng(6).random((USERS, ITEMS)) < 0.1) & ~TRAINING
    held_out[np.arange(0, USERS, 3)] = False
    held_out[10] = (np.arange(ITEMS) < 3) & ~TRAINING[10]
    with pytest.warns(UserWarning, match="have no held-out item"):
        tables = [
            rank_among_negatives(SCORES, TRAINING, held_out, **options, batch_size=size) for size in (1, 2, 7, 49, 1000)
        ]
    for table in tables[1:]:
        pd.testing.assert_frame_equal(table, tables[0])


def test_a_seed_gives_the_same_negatives_for_all_models() -> None:
    """What is above by one score is below by its opposite, if the negatives are the same and none tie."""
    scores, strata = np.random.default_rng(2).random((USERS, ITEMS)), {"strata": LABELS, "seed": 9}
    wanted = {"a": 2, "b": 3, "c": 4}
    up, down = (rank_among_negatives(sign * scores, TRAINING, HELD_OUT, negatives=wanted, **strata) for sign in (1, -1))
    for label in wanted:
        assert (up[f"above_{label}"] + down[f"above_{label}"]).tolist() == up[f"negatives_{label}"].tolist()


def test_half_from_the_history_of_the_user() -> None:
    """Of the history of ann, y is held out and t in training, so one item is left; bob has no history."""
    history = pd.DataFrame({"user_id": "ann", "item": ["x", "y", "t"], "stratum": "history"})
    ids = {"user_ids": ["ann", "bob"], "item_ids": ["x", "y", "z", "w", "t"]}
    scores, training = [[5, 4, 3, 2, 9], [5, 4, 3, 2, 9]], [[0, 0, 0, 0, 1], [0, 0, 0, 0, 0]]
    wanted = {"history": 1, "rest": 1}
    table = rank_among_negatives(scores, training, [1, 4], negatives=wanted, strata=history, **ids).set_index("user")
    assert table.loc["ann"].tolist() == [4, 1, 1, 1, 0, 1, 2]
    assert table.loc["bob"].tolist() == [5, 0, 0, 0, 0, 1, 4]


def test_a_table_of_items_and_labels_of_any_kind() -> None:
    """Items that the table does not name are rest; 7 and "7" are the same; categories keep their order."""
    options = {"scores": SCORES, "training": TRAINING, "held_out": HELD_OUT}
    items = pd.DataFrame({"item": np.arange(12), "stratum": ["7"] * 5 + ["2"] * 7})
    found = rank(**options, strata=items)
    numbers = [7] * 5 + [2] * 7 + ["rest"] * 18
    pd.testing.assert_frame_equal(rank(**options, strata=numbers), found)
    ordered = pd.Categorical(list(map(str, numbers)), categories=["rest", "7", "2"])
    again = rank(**options, strata=ordered)
    assert again.filter(like="above").columns.tolist() == ["above_rest", "above_7", "above_2"]
    pd.testing.assert_frame_equal(again[found.columns], found)
    drawn = rank_among_negatives(**options, strata=ordered, negatives={7: 1, "2": 1, "rest": "all"})
    assert drawn["above_rest"].ge(found["above_rest"]).all()


@pytest.mark.parametrize("labels", [[2, 7], [0.5, 1.5], ["a,b", 'a"b'], ["top1-20", "rest"]])
def test_a_table_is_the_same_after_a_file(labels: list, tmp_path: Path) -> None:
    wanted = {labels[0]: 2, labels[1]: 3}
    table = rank_among_negatives(SCORES, TRAINING, HELD_OUT, negatives=wanted, strata=labels * 15)
    table.to_csv(tmp_path / "drawn.csv", index=False)
    table.to_parquet(tmp_path / "drawn.parquet")
    for name in ("drawn.csv", "drawn.parquet"):
        read = read_columns(tmp_path / name)
        assert read.frame.columns.tolist() == table.columns.tolist()
        assert read.frame.astype(int).to_numpy().tolist() == table.to_numpy().tolist()
    with pytest.raises(DataError, match="lacks the column rank"):
        evaluate(table)


def test_strata_by_popularity() -> None:
    """Items 0 to 5 are in training 2, 3, 0, 3, 2 and 1 times; the items of a tie are in their order."""
    training = np.array([[1, 1, 0, 1, 0, 0], [1, 1, 0, 1, 1, 0], [0, 1, 0, 1, 1, 1]])
    expected = ["top2-3", "top1", "rest", "top2-3", "rest", "rest"]
    user, item = np.nonzero(training)
    table = pd.DataFrame({"user": user, "item": item * 10}).sample(frac=1, random_state=0)
    for labels in (
        popularity_strata(training, [1, 2]),
        popularity_strata(csr_array(training * 7.0), [1, 2]),
        popularity_strata(pd.concat([table, table]), [1, 2], item_ids=np.arange(6) * 10),
    ):
        assert labels.tolist() == expected
        assert labels.categories.tolist() == ["top1", "top2-3", "rest"]
    assert popularity_strata(training, [5]).tolist() == ["top5", "top5", "rest", "top5", "top5", "top5"]
    with pytest.raises(ConfigError, match="sizes: the strata take 6 items of 6, and leave none for the rest"):
        popularity_strata(training, [3, 3])
    with pytest.raises(ConfigError, match=r"sizes must be whole numbers, 1 or more, not \[2, 0\]"):
        popularity_strata(training, [2, 0])
    with pytest.raises(ConfigError, match=r"sizes must be whole numbers, 1 or more, not \[\]"):
        popularity_strata(training, [])
    with pytest.raises(DataError, match="the number of items is not known: give item_ids"):
        popularity_strata(table, [1, 2])


SMALL = {
    "scores": np.zeros((2, 4)),
    "training": [[1, 0, 0, 0], [0] * 4],
    "held_out": [1, 1],
    "strata": ["top", "top", "rest", "rest"],
    "negatives": {"top": 1, "rest": 2},
}
TWO = pd.DataFrame({"user": [0, 0], "item": [2, 2], "stratum": ["a", "b"]})


@pytest.mark.parametrize(
    ("changes", "error", "says"),
    [
        ({"negatives": 5}, ConfigError, "negatives must be a dict from each stratum to its number of .*'all', not 5"),
        ({"negatives": {"tpo": 1}}, ConfigError, r"'tpo' is no stratum \(did you mean top\?\); the strata are rest, t"),
        ({"negatives": {"top": 1}}, ConfigError, "give the stratum 'rest' once, with a number of negatives or 'all'"),
        (
            {"negatives": {"top": 0, "rest": 1}},
            ConfigError,
            "the stratum 'top' must have a whole number, 1 or .* not 0",
        ),
        ({"negatives": {"top": "al", "rest": 1}}, ConfigError, "the stratum 'top' must have .* 'all', not 'al'"),
        ({"negatives": {"top": True, "rest": 1}}, ConfigError, "the stratum 'top' must have .*, not True"),
        (
            {"strata": [1, 1, 2, 2], "negatives": {1: 1, "1": 2, 2: 1}},
            ConfigError,
            "give the stratum '1' once",
        ),
        ({"replacement": True}, ConfigError, "negatives from strata are drawn without weights and without replacement"),
        ({"weights": [1, 1, 1, 1]}, ConfigError, "drawn without weights and without replacement"),
        ({"strata": ["top", "rest"]}, DataError, "strata must be a label for each of the 4 items, or a table with"),
        ({"strata": "top"}, DataError, "strata must be a label for each of the 4 items"),
        ({"strata": ["top", None, "rest", "rest"]}, DataError, "strata: item 1 has no label"),
        ({"strata": ["top", "top", "rest", " "]}, DataError, "strata: item 3 has no label"),
        ({"strata": TWO}, DataError, "strata, user 0: item 2 is in two strata"),
        ({"strata": TWO.drop(columns="user")}, DataError, "strata, row 2: item 2 is in two strata"),
        ({"strata": TWO.drop(columns="stratum")}, DataError, "strata: lacks the column stratum"),
        ({"strata": TWO.assign(stratum=["a", None])}, DataError, "strata, user 0: stratum is empty"),
        ({"strata": TWO.assign(item=[2, 4])}, DataError, "strata, user 0: item 4 is not an index from 0 to 3"),
        ({"strata": TWO.assign(user=[0, "x"])}, DataError, "strata, user 'x': user 'x' is not an index from 0 to 1"),
        ({"scores": [[0, 0, np.nan, 0]] * 2}, DataError, "gives user 0 a score that is not a finite number"),
    ],
)
def test_refuses(changes: dict, error: type, says: str) -> None:
    with pytest.raises(error, match=says):
        rank_among_negatives(**(SMALL | changes))


@pytest.mark.parametrize("scores", [[[0, 0, np.nan, 0]] * 2, (np.full((2, 1), 1e200), np.full((4, 1), 1e200))])
def test_exact_ranks_refuse_scores_that_are_not_finite(scores) -> None:
    with pytest.raises(DataError, match="gives user 0 a score that is not a finite number"):
        rank(scores, np.zeros((2, 4)), [1, 1], strata=SMALL["strata"])
    fine = rank([[np.nan, 0, 1, 2]] * 2, [[1, 0, 0, 0]] * 2, [1, 1], strata=SMALL["strata"])
    assert fine["above_rest"].tolist() == [2, 2]
