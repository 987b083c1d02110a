"""The validator: exact metrics after each epoch, and how it goes on after a restart."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import zeta

import sampled_metrics as sm
from sampled_metrics.validation import standing, validator

USERS = 200
ITEMS = 30
HELD_OUT = np.arange(USERS) % ITEMS
NOTHING = np.zeros((USERS, ITEMS))


ANSWERS = ["epoch", "metric", "value", "low", "high", "better", "reference", "best", "contender"]


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
    users = rng.normal(size=(USERS, 4))
    items = rng.normal(size=(ITEMS, 4))
    training = rng.random((USERS, ITEMS)) < 0.2
    training[np.arange(USERS), HELD_OUT] = False
    labels = ["Recall@5", "auc"]
    held_out = np.where(np.arange(USERS) < 5, -1, HELD_OUT)
    with pytest.warns(UserWarning, match="5 of 200"):
        validate = sm.validator(training, held_out, metrics=labels)
    with pytest.warns(UserWarning, match="5 of 200"):
        table = sm.rank((users, items), training, held_out)
    models = ((users, items), users @ items.T, lambda block: users[block] @ items.T)
    for number, scores in enumerate(models, start=1):
        rate = 0.05 / zeta(1.5) / number**1.5
        expected = sm.evaluate(table, metrics=labels, confidence_level=1 - rate)
        result = validate(scores)
        columns = ["metric", "value", "low", "high", "standard_error", "users"]
        pd.testing.assert_frame_equal(
            pd.DataFrame(result.result[columns]), pd.DataFrame(expected[columns])
        )
        np.testing.assert_array_equal(result.ranks.above, table.above)
        assert result.value == expected["value"][0]
        assert list(result.users) == ["user", *labels]
        np.testing.assert_allclose(result.users[labels].mean(), expected["value"], rtol=1e-12)


def test_calls_of_several_threads_are_epochs_one_after_another():
    rng = np.random.default_rng(6)
    scores = [scores_by_gain(1, rng) for _ in range(12)]
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(validate, scores))
    assert sorted(result.epoch for result in results) == list(range(1, 13))
    assert validate.history["epoch"].tolist() == [epoch for epoch in range(1, 13) for _ in range(2)]
    by_epoch = {result.epoch: result.value for result in results}
    ndcg_rows = validate.history[validate.history["metric"] == "ndcg@5"]
    assert ndcg_rows["value"].tolist() == [by_epoch[epoch] for epoch in range(1, 13)]


def test_stages_are_those_of_staged_ranks():
    scores = scores_by_gain(2, np.random.default_rng(3))
    metrics = ["recall@3", "ndcg@5"]
    pairs = []

    def score(users, items):
        pairs.append(len(users))
        return scores[users, items]

    by_function = sm.validator(NOTHING, HELD_OUT, metrics=metrics, depth=10, batch_size=64)
    result = by_function(score)
    assert max(pairs) <= 64
    by_ranker = sm.validator(NOTHING, HELD_OUT, metrics=metrics, depth=10)
    ranks = by_ranker(sm.Ranker(score, pairs_per_call=64)).ranks
    expected = sm.staged_ranks(score, NOTHING, HELD_OUT, k=5, depth=10)
    np.testing.assert_array_equal(result.ranks.above_at, expected.above_at)
    np.testing.assert_array_equal(ranks.above_at, expected.above_at)
    values = sm.evaluate(expected, metrics=metrics)["value"]
    np.testing.assert_array_equal(result.result["value"], values)


def test_an_epoch_is_better_worse_or_undecided():
    rng = np.random.default_rng(5)
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    models = [scores_by_gain(gain, rng) for gain in (0, 1, 1, 0, 3)]
    results = [validate(scores) for scores in [*models, models[-1]]]
    better = ["first", "yes", "undecided", "no", "yes", "undecided"]
    assert [result.better for result in results] == better
    assert [result.reference for result in results] == [None, 1, 2, 2, 2, 5]
    assert validate.contenders == [5, 6]
    history = validate.history.query("metric == 'ndcg@5'")
    assert history["epoch"].tolist() == [1, 2, 3, 4, 5, 6]
    assert history["value"].tolist() == [result.value for result in results]
    best_so_far = history["value"].expanding().apply(np.argmax) + 1
    assert history["best"].tolist() == best_so_far.tolist()
    assert history["contender"].tolist() == [False, False, False, False, True, True]


@pytest.mark.parametrize(
    ("module", "place", "call"),
    [(validator, "values_of", 1), (validator, "State", 1), (standing, "is_better", 3)],
    ids=["before the answer", "before the state", "between two metrics"],
)
def test_an_epoch_that_is_interrupted_leaves_no_trace(module, place, call, monkeypatch):
    """Ctrl-C where an epoch is judged, and then the same call again."""
    rng = np.random.default_rng(5)
    models = [scores_by_gain(gain, rng) for gain in (0, 1, 2, 3)]
    expected = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    for scores in models:
        expected(scores)
    for scores in models[:2]:
        validate(scores)
    real = getattr(module, place)
    calls = []

    def interrupted(*arguments, **options):
        calls.append(place)
        if len(calls) == call:
            raise KeyboardInterrupt
        return real(*arguments, **options)

    with monkeypatch.context() as patched:
        patched.setattr(module, place, interrupted)
        with pytest.raises(KeyboardInterrupt):
            validate(models[2])
    for scores in models[2:]:
        validate(scores)
    pd.testing.assert_frame_equal(validate.history[ANSWERS], expected.history[ANSWERS])


def scores_of_pairs(matrix, users, items):
    return matrix[users, items]


def restarted_by_pickle(validate, make):
    return pickle.loads(pickle.dumps(validate))


def restarted_by_state(validate, make):
    restarted = make()
    restarted.load_state_dict(pickle.loads(pickle.dumps(validate.state_dict())))
    return restarted


@pytest.mark.parametrize(
    ("restart", "depth"), [(restarted_by_pickle, None), (restarted_by_state, 10)]
)
def test_a_validator_goes_on_after_a_restart(restart, depth):
    """After each of ten epochs, it is restarted, and says to the bit what it says without."""
    rng = np.random.default_rng(7)
    gains = [0, 0.5, 1, 1.2, 0.2, 2, 2, 3, 1, 3]

    def make():
        metrics = ["ndcg@5", "recall@3"] if depth else ["ndcg@5", "auc"]
        return sm.validator(NOTHING, HELD_OUT, metrics=metrics, depth=depth, epochs=12)

    expected = make()
    validate = make()
    for gain in gains:
        matrix = scores_by_gain(gain, rng)
        by_pairs = partial(scores_of_pairs, matrix)
        scores = matrix if depth is None else by_pairs
        expected(scores)
        validate = restart(validate, make)
        validate(scores)
    assert {"yes", "no"} <= set(expected.history["better"])
    pd.testing.assert_frame_equal(validate.history[ANSWERS], expected.history[ANSWERS])
    assert validate.contenders == expected.contenders


def plain_types(value):
    """Return the types of a value, and of all that it contains."""
    contents = value if isinstance(value, list) else []
    if isinstance(value, dict):
        contents = [*value.keys(), *value.values()]
    return {type(value)}.union(*map(plain_types, contents))


def test_a_state_has_no_more_than_the_types_that_torch_loads():
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    validate(scores_by_gain(0, np.random.default_rng(8)), step=np.int64(3))
    types = plain_types(validate.state_dict())
    assert types <= {dict, list, str, bytes, int, float, bool, type(None)}


@pytest.mark.parametrize(
    ("held_out", "metrics", "word"),
    [(HELD_OUT[::-1], "ndcg@5", "held_out"), (HELD_OUT, "recall@5", "metrics")],
)
def test_the_state_of_another_validator_is_refused(held_out, metrics, word):
    validate = sm.validator(NOTHING, HELD_OUT, metrics="ndcg@5")
    validate(scores_by_gain(0, np.random.default_rng(8)))
    unlike = sm.validator(NOTHING, held_out, metrics=metrics)
    with pytest.raises(sm.DataError, match=word):
        unlike.load_state_dict(validate.state_dict())
    assert unlike.history.empty


def test_a_damaged_state_is_refused_and_the_epochs_stay():
    validate = sm.validator(NOTHING, HELD_OUT, metrics="ndcg@5")
    validate(scores_by_gain(0, np.random.default_rng(8)))
    without_rows = validate.state_dict()
    del without_rows["rows"]
    cut_off = validate.state_dict()
    kept = cut_off["standings"]["ndcg@5"]["contenders"][1]
    kept["codes"] = kept["codes"][:-5]
    for state in (None, {"format": 1}, without_rows, cut_off):
        with pytest.raises(sm.DataError, match="state"):
            validate.load_state_dict(state)
    assert validate(scores_by_gain(1, np.random.default_rng(8))).epoch == 2


def test_a_step_is_the_number_that_the_loop_has():
    rng = np.random.default_rng(5)
    validate = sm.validator(NOTHING, HELD_OUT, metrics="ndcg@5")
    for step, gain in {3: 0, 6: 2, 9: 2}.items():
        result = validate(scores_by_gain(gain, rng), step=step)
    assert (result.epoch, result.reference) == (9, 6)
    assert validate.contenders == [6, 9]
    assert validate(scores_by_gain(2, rng)).epoch == 10
    for step in (10, 1.5):
        with pytest.raises(sm.ConfigError, match="step"):
            validate(NOTHING, step=step)
    assert validate.history["epoch"].tolist() == [3, 6, 9, 10]


def test_patience_counts_the_calls_since_the_highest_value():
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1")
    assert not validate.stop(patience=1)
    hits = [10, 30, 20, 30, 25, 40, 39]
    stops = []
    for step, number in enumerate(hits):
        validate(scores_of_hits(np.arange(number)), step=10 * step)
        stops.append([validate.stop(patience=patience) for patience in (1, 2, 3)])
    since = [0, 0, 1, 2, 3, 0, 1]  # an equal value is not higher
    assert stops == [[calls >= patience for patience in (1, 2, 3)] for calls in since]
    with pytest.raises(sm.ConfigError, match="patience"):
        validate.stop(patience=0)
    with pytest.raises(sm.ConfigError, match="epochs"):
        validate.stop()


def test_a_model_of_torch_is_not_taken_for_a_function_of_users(monkeypatch):
    class Module:
        def __call__(self, users):
            raise AssertionError

    torch = SimpleNamespace(nn=SimpleNamespace(Module=Module), Tensor=type("Tensor", (), {}))
    monkeypatch.setitem(sys.modules, "torch", torch)
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1")
    with pytest.raises(sm.DataError, match="Module"):
        validate(Module())
    assert validate.history.empty


def test_a_metric_that_is_not_defined_has_no_best_epoch():
    """The first user has one candidate, so that AUC is not defined, and Recall@5 is answered."""
    training = NOTHING.copy()
    training[0] = np.arange(ITEMS) != HELD_OUT[0]
    validate = sm.validator(training, HELD_OUT, metrics=["auc", "recall@5"])
    rng = np.random.default_rng(5)
    for gain in (0, 2):
        result = validate(scores_by_gain(gain, rng))
        assert (result.better, result.best, result.is_best) == ("undecided", None, False)
        assert not validate.stop(patience=1)
    assert result.result["best"].isna().tolist() == [True, False]
    assert validate.contenders == []


def test_intervals_hold_together_and_the_highest_value_is_said_to_be_too_high():
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["recall@1", "auc"], epochs=4)
    best_by_epoch = []
    for hits in (30, 40, 10):
        findings = validate(scores_of_hits(np.arange(hits))).result.findings
        best_by_epoch.append(
            [
                (finding.metric, finding.values["epoch"], finding.values["epochs"])
                for finding in findings
                if finding.kind == "best-of-epochs"
            ]
        )
    # a training that stops after the third epoch keeps the second one
    second = [("recall@1", 2, 2), ("auc", 2, 2)]
    assert best_by_epoch == [[], second, [("recall@1", 2, 3), ("auc", 2, 3)]]
    exact = sm.rank(scores_of_hits(np.arange(40)), NOTHING, HELD_OUT)
    expected = sm.evaluate(exact, metrics="recall@1", confidence_level=1 - 0.05 / 4)
    history = validate.history.set_index(["epoch", "metric"])
    ends = history.loc[(2, "recall@1"), ["low", "high"]]
    assert ends.tolist() == pytest.approx([expected["low"][0], expected["high"][0]], rel=1e-12)


def test_epochs_after_those_that_were_announced_are_undecided():
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1", epochs=2)
    few = scores_of_hits(np.arange(10))
    many = scores_of_hits(np.arange(150))
    validate(few)
    validate(few)
    with pytest.warns(UserWarning, match="epochs") as caught:
        assert validate(many).better == "undecided"
    assert [warning.filename for warning in caught] == [__file__]
    assert validate(many).better == "undecided"
    assert validate.contenders == [1, 2, 3, 4]
    assert validate.history["best"].tolist() == [1, 1, 3, 3]
    assert validate.history["low"].isna().tolist() == [False, False, True, True]


def test_users_of_several_held_out_items_have_one_value_each():
    """Recall@1 of a user with two held-out items, of which the first one is first, is 1/2."""
    held_out = np.zeros((USERS, ITEMS))
    held_out[np.arange(USERS), HELD_OUT] = 1
    held_out[0, (HELD_OUT[0] + 1) % ITEMS] = 1
    validate = sm.validator(NOTHING, held_out, metrics="recall@1")
    result = validate(scores_of_hits(np.arange(10)))
    assert len(result.users) == USERS
    assert result.value == pytest.approx(9.5 / USERS, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"metrics": ["recall@10", "auc"], "depth": 100}, "auc"),
        ({"epochs": 0}, "epochs"),
        ({"depth": 10}, "function"),
    ],
)
def test_wrong_options_are_refused(options, word):
    with pytest.raises(sm.ConfigError, match=word):
        sm.validator(NOTHING, HELD_OUT, **options)(NOTHING)


def test_wrong_scores_are_refused_and_the_epoch_is_not_counted():
    validate = sm.validator(NOTHING, HELD_OUT, metrics="auc")
    for scores in (np.zeros((USERS, ITEMS - 1)), np.full((USERS, ITEMS), np.nan)):
        with pytest.raises(sm.DataError):
            validate(scores)
    assert validate(scores_by_gain(0, np.random.default_rng(9))).epoch == 1
