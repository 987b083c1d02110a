"""The validator: exact metrics after each epoch, and whether an epoch is better than the best so far."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.figure import Figure

import sampled_metrics as sm
from sampled_metrics.evaluation import validator
from sampled_metrics.evaluation.validator import _Leader
from sampled_metrics.evaluation.values import UserValues

USERS, ITEMS = 200, 30
HELD_OUT = np.arange(USERS) % ITEMS
NOTHING = np.zeros((USERS, ITEMS))


def scores_by_gain(gain: float, rng: np.random.Generator, users: int = USERS) -> np.ndarray:
    """Random scores in which the held-out items score more by a gain."""
    scores = rng.normal(size=(users, ITEMS))
    scores[np.arange(users), np.arange(users) % ITEMS] += gain
    return scores


def scores_of_hits(hits: np.ndarray) -> np.ndarray:
    """Scores by which the held-out items of some users are first, and of the others last."""
    scores = np.tile(np.arange(ITEMS) / ITEMS, (USERS, 1))
    scores[np.arange(USERS), HELD_OUT] = np.where(np.isin(np.arange(USERS), hits), 2.0, -1.0)
    return scores


def test_values_are_those_of_rank_and_evaluate():
    rng = np.random.default_rng(1)
    users, items = rng.normal(size=(USERS, 4)), rng.normal(size=(ITEMS, 4))
    training = rng.random((USERS, ITEMS)) < 0.2
    training[np.arange(USERS), HELD_OUT] = False
    labels = ["Recall@5", "auc"]
    held_out = np.where(np.arange(USERS) < 5, -1, HELD_OUT)
    with pytest.warns(UserWarning, match="5 of 200 users have no held-out item"):
        validate = sm.validator(training, held_out, metrics=labels)
    with pytest.warns(UserWarning, match="5 of 200"):
        table = sm.rank((users, items), training, held_out)
    expected = sm.evaluate(table, metrics=labels)
    for scores in ((users, items), users @ items.T, lambda block: users[block] @ items.T):
        result = validate(scores)
        columns = ["metric", "value", "low", "high", "standard_error", "users"]
        pd.testing.assert_frame_equal(pd.DataFrame(result.result[columns]), pd.DataFrame(expected[columns]))
        np.testing.assert_array_equal(result.ranks.above, table.above)
        assert result.value == expected["value"][0]
        assert list(result.users) == ["user", *labels]
        np.testing.assert_allclose(result.users[labels].mean(), expected["value"], rtol=1e-12)


def test_stages_are_those_of_staged_ranks():
    scores, pairs = scores_by_gain(2, np.random.default_rng(3)), []

    def score(users, items):
        pairs.append(len(users))
        return scores[users, items]

    result = sm.validator(NOTHING, HELD_OUT, metrics=["recall@3", "ndcg@5"], depth=10, batch_size=64)(score)
    assert max(pairs) <= 64
    ranker = sm.Ranker(score, pairs_per_call=64)
    by_ranker = sm.validator(NOTHING, HELD_OUT, metrics=["recall@3", "ndcg@5"], depth=10)(ranker)
    np.testing.assert_array_equal(by_ranker.ranks.above_at, result.ranks.above_at)
    with pytest.raises(sm.ConfigError, match="a Ranker says itself"):
        sm.validator(NOTHING, HELD_OUT, depth=10, batch_size=64)(ranker)
    expected = sm.staged_ranks(score, NOTHING, HELD_OUT, k=5, depth=10)
    assert (result.ranks.k, result.ranks.depth) == (5, 10)
    np.testing.assert_array_equal(result.ranks.above_at, expected.above_at)
    values = sm.evaluate(expected, metrics=["recall@3", "ndcg@5"])
    np.testing.assert_array_equal(result.result["value"], values["value"])
    assert [*sm.validator(NOTHING, HELD_OUT, depth=10).metrics] == ["recall@10", "ndcg@10", "mrr@10"]


def test_an_epoch_is_better_worse_or_undecided():
    rng = np.random.default_rng(5)
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    scores = [scores_by_gain(gain, rng) for gain in (0, 1, 1, 0, 3)]
    results = [validate(one) for one in [*scores, scores[-1]]]
    assert [result.better for result in results] == ["first", "yes", "undecided", "no", "yes", "undecided"]
    assert [result.is_best for result in results][:2] == [True, True]
    assert results[-1].best == 5
    history = validate.history
    assert [*history] == ["epoch", "metric", "value", "low", "high", "better", "best", "seconds"]
    assert history["epoch"].tolist() == [epoch for epoch in range(1, 7) for _ in range(2)]
    of_first = history[history["metric"] == "ndcg@5"]
    assert of_first["value"].tolist() == [result.value for result in results]
    assert of_first["best"].tolist() == (of_first["value"].expanding().apply(np.argmax) + 1).tolist()
    assert (history["seconds"] > 0).all()


INTERRUPTED = ["_gap", "values_of", "result_of_values", "Validation", "_Epochs"]


@pytest.mark.parametrize("place", INTERRUPTED)
@pytest.mark.parametrize("call", [1, 2])
def test_an_epoch_that_is_interrupted_leaves_no_trace(place, call, monkeypatch):
    """Ctrl-C at each place where an epoch is judged, also between two metrics, and then the same call again."""
    rng = np.random.default_rng(5)
    scores = [scores_by_gain(gain, rng) for gain in (0, 1, 2, 3)]
    expected = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    for of_epoch in scores[:2]:
        expected(of_epoch)
        validate(of_epoch)
    real, calls = getattr(validator, place), []

    def interrupted(*arguments, **options):
        calls.append(place)
        if len(calls) == call:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    monkeypatch.setattr(validator, place, interrupted)
    if call == 1 or place == "_gap":
        with pytest.raises(KeyboardInterrupt):
            validate(scores[2])
    monkeypatch.setattr(validator, place, real)
    for of_epoch in scores[len(validate.history) // 2 :]:
        validate(of_epoch)
    for of_epoch in scores[2:]:
        expected(of_epoch)
    answers = ["epoch", "metric", "value", "better", "best"]
    pd.testing.assert_frame_equal(validate.history[answers], expected.history[answers])


def test_calls_of_several_threads_are_epochs_one_after_another():
    rng = np.random.default_rng(6)
    scores = [scores_by_gain(1, rng) for _ in range(12)]
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(validate, scores))
    assert sorted(result.epoch for result in results) == list(range(1, 13))
    assert validate.history["epoch"].tolist() == [epoch for epoch in range(1, 13) for _ in range(2)]
    by_epoch = {result.epoch: result.value for result in results}
    of_first = validate.history[validate.history["metric"] == "ndcg@5"]
    assert of_first["value"].tolist() == [by_epoch[epoch] for epoch in range(1, 13)]


def test_a_validator_that_was_pickled_goes_on():
    rng = np.random.default_rng(7)
    scores = [scores_by_gain(gain, rng) for gain in (0, 1, 3)]
    validate = sm.validator(NOTHING, HELD_OUT, metrics="ndcg@5")
    for of_epoch in scores[:2]:
        validate(of_epoch)
    copied = pickle.loads(pickle.dumps(validate))
    result = copied(scores[2])
    assert (result.epoch, result.better) == (3, validate(scores[2]).better)


def two_epochs(difference: int, number: int, alpha: float = 0.05) -> tuple[str, float]:
    """The answer after some epochs of one model on one that has more hits, or fewer if negative; and the p-value."""
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1", confidence_level=1 - alpha)
    low, high = np.arange(80), np.arange(80 + abs(difference))
    old, new = (scores_of_hits(hits) for hits in ((low, high) if difference > 0 else (high, low)))
    for _ in range(number - 1):
        validate(old)
    tables = {name: sm.rank(scores, NOTHING, HELD_OUT) for name, scores in (("old", old), ("new", new))}
    [p_value] = sm.compare(tables, metrics="recall@1")["p_value"]
    return validate(new).better, p_value


@pytest.mark.parametrize(("epoch", "sign"), [(2, 1), (4, 1), (4, -1)])
def test_the_rate_is_spent_over_epochs(epoch: int, sign: int):
    """α / (k (k + 1)) of the k-th comparison, divided by k for an epoch that is worse; the test is that of compare."""
    k = epoch - 1
    rate = 0.05 / (k * (k + 1)) / (k if sign < 0 else 1)
    answers = [two_epochs(sign * difference, epoch) for difference in (4, 6, 8, 10, 12, 14, 18, 30)]
    expected = [("yes" if sign > 0 else "no") if p_value <= rate else "undecided" for _, p_value in answers]
    assert [answer for answer, _ in answers] == expected
    assert len(set(expected)) == 2


def test_a_better_epoch_has_to_beat_all_that_may_be_the_best():
    """Epochs 1 and 2 have hits of different users. Epoch 3 has those of epoch 2, which it beats clearly, and more."""
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1")
    first, second, third = (scores_of_hits(np.arange(*ends)) for ends in ((0, 80), (80, 161), (80, 180)))
    assert [validate(one).better for one in (first, second, third)] == ["first", "undecided", "undecided"]
    alone = sm.validator(NOTHING, HELD_OUT, metrics="recall@1")
    assert [alone(one).better for one in (second, second, third)] == ["first", "undecided", "yes"]


SLOW = [(memory, label, 1000) for memory in (0.0, 0.9, 0.999) for label in ("recall@3", "auc")]


@pytest.mark.parametrize(
    ("memory", "label", "runs"),
    [(0.98, "ndcg@5", 20), *(pytest.param(*each, marks=pytest.mark.slow) for each in SLOW)],
)
def test_equal_models_are_seldom_called_better_or_worse_in_fifty_epochs(memory, label, runs):
    """Models are equally good, and the rank of a user varies, anew or as a slow drift. Only epochs are compared.

    With the whole rate at each epoch, nearly every run has a false "no": the best so far is one that was lucky.
    """
    rng, metric, bounds, false = np.random.default_rng(7), sm.metric(label), np.array([[0.0, 1.0]]), 0
    for _ in range(runs):
        leader, noise, answers = _Leader(), rng.normal(size=100), set()
        for epoch in range(1, 51):
            low = metric.of_rank(1 + np.searchsorted(np.linspace(-2, 2, ITEMS - 1), -noise), ITEMS)[np.newaxis]
            values = UserValues(low, low, True, np.stack((bounds, bounds), axis=1), bounds, low.mean(axis=1))
            answer, leader = leader.judged(epoch, values, 0.05)
            answers.add(answer)
            noise = memory * noise + np.sqrt(1 - memory**2) * rng.normal(size=100)
        false += bool(answers & {"yes", "no"})
    assert false / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_plot_draws_each_metric_by_epoch():
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    with pytest.raises(sm.ConfigError, match="there is no epoch yet"):
        validate.plot()
    for gain in (0, 2, 2):
        validate(scores_by_gain(gain, np.random.default_rng(8)))
    with pytest.raises(sm.ConfigError, match="ax for one metric"):
        validate.plot(ax=Figure().subplots())
    axes = validate.plot()
    [line, *_] = [line for line in axes[0].get_lines() if line.get_linestyle() == "-"]
    of_first = validate.history[validate.history["metric"] == "ndcg@5"]
    np.testing.assert_array_equal(line.get_xydata(), of_first[["epoch", "value"]])
    pyplot.close("all")
    one, panel = sm.validator(NOTHING, HELD_OUT, metrics="auc"), Figure().subplots()
    one(NOTHING)
    assert one.plot(ax=panel) is panel


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["recall@10", "auc"], "depth": 100}, "auc has no cut-off"),
        ({"depth": 0}, "depth must be a number from 1 to"),
        ({"batch_size": 2.5}, "batch_size must be a whole number"),
        ({"depth": 10}, "score must be a function of users and items"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(sm.ConfigError, match=message):
        sm.validator(NOTHING, HELD_OUT, **options)(NOTHING)


@pytest.mark.parametrize(
    ("scores", "says"),
    [
        (np.zeros((USERS, ITEMS - 1)), r"scores have shape \(200, 29\), but training has 200 users and 30 items"),
        ((np.zeros((USERS - 1, 4)), np.zeros((ITEMS, 4))), r"scores have shape \(199, 30\), but training has 200"),
        (np.full((USERS, ITEMS), np.nan), "NaN"),
    ],
)
def test_wrong_scores_are_refused_and_the_epoch_is_not_counted(scores, says):
    validate = sm.validator(NOTHING, HELD_OUT, metrics="auc")
    with pytest.raises(sm.DataError, match=says):
        validate(scores)
    assert validate.history.empty
    assert validate(scores_by_gain(0, np.random.default_rng(9))).epoch == 1
