"""Staged ranks: exact where all users go on, and unbiased where a share does.

They are so whatever the batches and the order.
"""

import warnings
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from same_tables import assert_same_attributes, assert_same_rows

import sampled_metrics as sm
from sampled_metrics.stages import counting

RNG = np.random.default_rng(8)
USERS = 150
ITEMS = 130
TRAINING = RNG.random((USERS, ITEMS)) < 0.15
SCORES = np.round(RNG.normal(size=(USERS, ITEMS)) + 0.02 * np.arange(ITEMS), 1)  # with ties
TASTE = np.where(TRAINING, -np.inf, SCORES + RNG.gumbel(scale=0.6, size=SCORES.shape))
HELD_OUT = TASTE.argmax(axis=1)
SEVERAL_HELD_OUT = np.eye(ITEMS, dtype=bool)[HELD_OUT]
SEVERAL_HELD_OUT[::2] |= np.eye(ITEMS, dtype=bool)[TRAINING[::2].argmin(axis=1)]
METRICS = ["recall@10", "ndcg@10", "mrr@5", "recall@1"]


def score(users, items):
    return SCORES[users, items]


def staged(function=score, held_out=HELD_OUT, *, pairs_per_call=1024, **options):
    is_ranker = isinstance(function, sm.Ranker)
    ranker = function if is_ranker else sm.Ranker(function, pairs_per_call=pairs_per_call)
    return sm.staged_ranks(ranker, TRAINING, held_out, **options)


def values(ranks, metrics=METRICS):
    return ranks.outcome_values([sm.metric(label) for label in metrics]).values


ORDERS = {
    "popularity": "popularity",
    "numbers": np.arange(ITEMS) % 7,
    "a function of a user": lambda user: np.cos(user + np.arange(ITEMS)),
    "the scores themselves": lambda user: SCORES[user],
    "the worst": lambda user: -SCORES[user],
}


@pytest.mark.parametrize("order", ORDERS)
def test_where_all_users_go_on_values_are_those_of_rank_user_by_user(order):
    exact = sm.rank(SCORES, TRAINING, HELD_OUT)
    for k in (1, 10, ITEMS):
        metrics = [f"recall@{k}", f"ndcg@{k}", f"mrr@{k}"]
        ranks = staged(k=k, depth=None, order=ORDERS[order])
        expected = np.stack([exact.values(sm.metric(label)) for label in metrics])
        np.testing.assert_allclose(values(ranks, metrics), expected, atol=1e-14)
        assert ranks.candidates.tolist() == exact.candidates.tolist()
        assert (ranks.complete | ranks.is_beaten).all()
        np.testing.assert_array_equal(ranks.above[ranks.complete], exact.above[ranks.complete])
        np.testing.assert_array_equal(ranks.tied[ranks.complete], exact.tied[ranks.complete])


@pytest.mark.parametrize("depth", [20, None])
@pytest.mark.filterwarnings("ignore:depth=")
def test_a_random_order_is_asked_for_once_and_counts_each_candidate_once(depth):
    exact = sm.rank(SCORES, TRAINING, HELD_OUT)
    asked = Counter()
    scored = Counter()

    def order(user):
        asked[user] += 1
        return RNG.random(ITEMS)

    def counted_score(users, items):
        scored.update(zip(users.tolist(), items.tolist(), strict=True))
        return SCORES[users, items]

    ranks = staged(counted_score, k=5, depth=depth, order=order)
    assert asked == Counter(range(USERS))
    assert set(scored.values()) == {1}
    completed = ranks.complete
    assert completed.any()
    np.testing.assert_array_equal(ranks.above[completed], exact.above[completed])
    assert (exact.above[ranks.is_beaten] >= 5).all()


def test_an_order_of_users_gives_the_ranks_of_the_same_order_in_one_array():
    same_for_all = RNG.random(ITEMS)
    by_function = staged(order=lambda user: same_for_all, depth=8)
    by_numbers = staged(order=same_for_all, depth=8)
    assert_same_rows(by_function, by_numbers)


def test_other_orders_of_the_same_code_are_refused(tmp_path):
    def order(shift):
        return lambda user: np.cos(user + shift + np.arange(ITEMS))

    def ranks(order_of_run):
        return staged(sm.Ranker(score, name="A"), order=order_of_run, file=tmp_path / "x.npz")

    ranks(order(0))
    exchanged = {0: 1, 1: 0}  # the orders of two users
    for other_order in (order(1), lambda user: order(0)(exchanged.get(user, user))):
        with pytest.raises(sm.DataError, match="order"):
            ranks(other_order)
    with pytest.warns(UserWarning, match="scores nothing"):
        ranks(order(0))


@pytest.mark.parametrize("depth", [8, None])
def test_results_do_not_depend_on_batches(depth, monkeypatch):
    options = {"k": 5, "depth": depth, "seed": 3, "users": slice(50)}
    monkeypatch.setattr(counting, "BATCH", 1)
    by_singles = staged(pairs_per_call=64, **options)
    for batch, pairs in ((32, 7), (500, 5000)):
        monkeypatch.setattr(counting, "BATCH", batch)
        by_batches = staged(pairs_per_call=pairs, **options)
        names = ("above_at", "above", "tied", "complete", "uniform", "fold")
        assert_same_attributes(by_batches, by_singles, names)


def test_the_fewest_scores_are_computed():
    """By batches of one: the held-out item, and candidates until k are above it or none is left."""
    ranks = staged(k=3, depth=None, order=np.arange(ITEMS), pairs_per_call=1, users=slice(8))
    for user in range(8):
        items = [
            item
            for item in range(ITEMS)[::-1]
            if not TRAINING[user, item] and item != HELD_OUT[user]
        ]
        above = np.cumsum(SCORES[user, items] > SCORES[user, HELD_OUT[user]])
        needed = int(np.argmax(above == 3)) + 1 if above[-1] >= 3 else len(items)
        assert ranks.scored[user] == 1 + needed


def test_the_mean_over_seeds_is_that_of_exact_ranks_and_no_value_is_outside_its_bounds():
    exact = sm.rank(SCORES, TRAINING, HELD_OUT)
    metrics = [sm.metric(label) for label in METRICS]
    means = []
    for seed in range(30):
        ranks = staged(depth=8, seed=seed, pairs_per_call=10**5)
        phi, _, lower_bound, upper_bound, _ = ranks.outcome_values(metrics)
        assert (phi.min(axis=1) >= lower_bound - 1e-12).all()
        assert (phi.max(axis=1) <= upper_bound + 1e-12).all()
        assert (upper_bound >= 1).all()
        means.append(phi.mean(axis=1))
    error = np.std(means, axis=0, ddof=1) / np.sqrt(30)
    assert (error > 0).all()
    truth = np.array([exact.mean(metric) for metric in metrics])
    assert np.abs((np.mean(means, axis=0) - truth) / error).max() < 3.5


def test_several_held_out_items_and_masked_scores():
    held_out = SEVERAL_HELD_OUT * (np.arange(USERS) % 3 > 0)[:, np.newaxis]
    masked = np.where(np.arange(ITEMS) % 5 == 0, -np.inf, SCORES)
    last = f"{held_out[:, ::5].sum()} of 150 held-out items score -inf"
    with pytest.warns(UserWarning, match="50 of 150"), pytest.warns(UserWarning, match=last):
        ranks = staged(lambda users, items: masked[users, items], held_out, depth=None)
    with pytest.warns(UserWarning, match="50 of 150"), pytest.warns(UserWarning, match=last):
        exact = sm.rank(masked, TRAINING, held_out)
    assert ranks.user.tolist() == exact.user.tolist()
    expected = np.stack([exact.values(sm.metric(label)) for label in METRICS])
    np.testing.assert_allclose(values(ranks), expected, atol=1e-14)


def test_comparisons_with_exact_ranks_and_other_staged_ones():
    exact = sm.rank(SCORES, TRAINING, HELD_OUT)
    whole = staged(depth=None, k=20, seed=3)
    table = sm.compare({"staged": whole, "exact": exact}, metrics=["recall@10", "ndcg@10"])
    assert table["difference"].abs().max() < 1e-14
    part = staged(depth=8)
    beside_exact = sm.compare({"staged": part, "exact": exact}, metrics="recall@10")
    beside_whole = sm.compare({"staged": part, "exact": whole}, metrics="recall@10")
    pd.testing.assert_frame_equal(pd.DataFrame(beside_exact), pd.DataFrame(beside_whole))


@pytest.mark.parametrize("held_out", [HELD_OUT, SEVERAL_HELD_OUT], ids=["one item", "several"])
def test_a_file_goes_on_to_a_larger_depth_and_answers_a_smaller_one(tmp_path, held_out):
    """In every column as a run of the same depth, and each pair is scored once."""
    file = tmp_path / "x.npz"
    scored_pairs = Counter()

    def noted_score(users, items):
        scored_pairs.update(zip(users.tolist(), items.tolist(), strict=True))
        return SCORES[users, items]

    def require_the_same(depth):
        ranks = staged(sm.Ranker(noted_score, name="A"), held_out, depth=depth, file=file)
        assert_same_rows(ranks, staged(held_out=held_out, depth=depth))

    require_the_same(4)
    for larger, smaller in ((25, 12.5), (None, 4)):
        with pytest.warns(UserWarning, match="^goes on from .*npz: ranker A"):
            require_the_same(larger)
        content = file.read_bytes()
        number = scored_pairs.total()
        with pytest.warns(UserWarning, match="^reads"):
            require_the_same(smaller)
        assert scored_pairs.total() == number
        assert file.read_bytes() == content
    assert set(scored_pairs.values()) == {1}
    with pytest.raises(sm.DataError, match="depth"):
        staged(depth=4).at_depth(None)


WORST = np.where(TRAINING, np.inf, SCORES).argmin(axis=1)


@pytest.mark.parametrize("draws", [40, pytest.param(250, marks=pytest.mark.slow)])
def test_the_interval_holds_the_metric_whatever_the_number_of_completed_users(draws):
    """1000 users of a population of 1500, their numbers and folds are drawn; up to a dozen are
    completed.
    """
    rng = np.random.default_rng(3)
    scores = rng.random((1500, 400))
    training = np.zeros((1500, 400))
    held_out = np.full(1500, 7)
    scores[:60, 7] = 1 - rng.random(60) / 20  # ranks up to about 20
    known = sm.staged_ranks(
        lambda users, items: scores[users, items], training, held_out, depth=None
    )
    metrics = ["recall@1", "recall@10", "ndcg@10"]
    truth = sm.evaluate(sm.rank(scores, training, held_out), metrics=metrics)["value"]
    missed = []
    completed = []
    for _ in range(draws):
        rows = rng.integers(1500, size=1000)
        users = np.arange(1000)
        ranks = known.redrawn(rows, users, rng.random(1000), rng.integers(5, size=1000), 12)
        table = sm.evaluate(ranks, metrics=metrics)
        missed.append((table["low"] > truth) | (table["high"] < truth))
        completed.append(ranks.completed_users)
    assert np.quantile(completed, [0.05, 0.95]).tolist() == pytest.approx([3, 12], abs=4)
    assert (np.mean(missed, axis=0) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / draws)).all()


def test_all_users_go_on_where_the_depth_exceeds_the_boundaries():
    ranks = staged(held_out=WORST, depth=100)
    assert ranks.completed_users < 30
    table = sm.evaluate(ranks, metrics="recall@10")
    assert table["low"].notna().all()
    assert table["value"].item() == sm.rank(SCORES, TRAINING, WORST).mean(sm.metric("recall@10"))


def test_metrics_of_ranks_above_k_and_other_stages_are_refused():
    ranks = staged(depth=8)
    for label in ("auc", "ap", "recall@20"):
        with pytest.raises(sm.ConfigError, match="first 10"):
            sm.evaluate(ranks, metrics=label)
    for name, value in {"k": 5, "depth": 7, "seed": 1}.items():
        stages = staged(**{"depth": 8} | {name: value})
        with pytest.raises(sm.DataError, match=f"{name} = "):
            sm.compare({"A": ranks, "B": stages}, metrics="recall@5")


def test_a_run_goes_on_from_joined_parts(tmp_path):
    """Users of whom some have several items; the file is that of the whole, byte by byte."""
    ids = {"user_ids": [f"u{user}" for user in range(USERS)], "item_ids": np.arange(ITEMS)}
    ranker = sm.Ranker(
        lambda users, items: SCORES[[int(user[1:]) for user in users], items], name="A"
    )

    def ranks(name, **options):
        return staged(ranker, SEVERAL_HELD_OUT, file=tmp_path / f"{name}.npz", **ids, **options)

    ranks("whole", depth=5)
    parts = [ranks(f"part{part}", depth=5, users=slice(part, None, 3)) for part in (2, 0)]
    parts.append(ranks("part1", depth=5, users=slice(1, None, 3)))
    sm.StagedRanks.concat(parts).write(tmp_path / "joined.npz")
    assert (tmp_path / "joined.npz").read_bytes() == (tmp_path / "whole.npz").read_bytes()
    with pytest.warns(match="goes on from"):
        further = ranks("joined", depth=None)
    exact = staged(ranker, SEVERAL_HELD_OUT, depth=None, **ids)
    assert_same_rows(further, exact)
    assert further.run == exact.run


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.filterwarnings("ignore:depth=")
def test_few_completed_users_have_an_interval_and_a_remark(depth):
    ranks = staged(depth=depth)
    assert 0 < ranks.completed_users < 30
    table = sm.evaluate(ranks, metrics=METRICS)
    assert table[["low", "high"]].notna().all(axis=None)
    [completed] = [finding for finding in table.findings if finding.kind == "completed"]
    assert completed.values["completed"] == ranks.complete.sum()
    worst = staged(depth=depth, held_out=WORST)
    compared = sm.compare({"best": ranks, "worst": worst}, metrics="recall@10")
    assert compared[["low", "high"]].notna().all(axis=None)


def test_after_the_first_stage_a_line_says_how_many_users_can_be_completed():
    """It knows the counts of all users up to there, and no user's number, so that a depth may be
    chosen by it.
    """
    scores = np.random.default_rng(1).random((40, 500))
    ranker = sm.Ranker(lambda users, items: scores[users, items])

    def messages(depth, **options):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            training = np.zeros((40, 500))
            sm.staged_ranks(ranker, training, np.full(40, 7), k=5, depth=depth, **options)
        return [str(warning.message) for warning in caught]

    # without training, the order is that of the items
    first_ten_scores = np.delete(scores, 7, axis=1)[:, :10]
    left = int(np.sum((first_ten_scores > scores[:, [7]]).sum(axis=1) < 5))
    mean = left * (5 / 100) ** 0.75  # the last boundary below half of 500 candidates is 100
    for seed in range(2):
        [line] = messages(5, seed=seed)
        assert line.startswith(f"depth=5: {left} of 40 users")
        assert f" {mean:.1f} " in line
    assert messages(None) == messages(5, users=slice(20)) == messages(99) == []


@pytest.mark.parametrize(
    ("changes", "error", "word"),
    [
        ({"k": 0}, sm.ConfigError, "k must"),
        ({"depth": 0}, sm.ConfigError, "depth"),
        ({"order": "random"}, sm.ConfigError, "order"),
        ({"order": [1, 2]}, sm.DataError, "130 items"),
        ({"order": lambda user: "a"}, sm.DataError, "user 0 "),
        ({"user_ids": [object(), *range(1, USERS)]}, sm.DataError, "user_ids"),
    ],
)
def test_refuses(changes, error, word):
    def unwanted(users, items):
        raise AssertionError

    with pytest.raises(error, match=word):
        sm.staged_ranks(
            **{"score": unwanted, "training": np.zeros(TRAINING.shape), "held_out": HELD_OUT}
            | changes
        )
