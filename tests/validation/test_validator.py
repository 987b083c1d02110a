"""The validator: exact metrics after each epoch, and how it goes on after a restart."""

import pickle
import sys
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy.special import zeta
from scores_of_epochs import HELD_OUT, ITEMS, NOTHING, USERS, scores_by_gain, scores_of_hits

import sampled_metrics as sm
from sampled_metrics.validation import standing
from sampled_metrics.validation.standing import is_better

ANSWERS = ["epoch", "metric", "value", "low", "high", "better", "reference", "best", "contender"]


def test_values_are_those_of_rank_and_evaluate():
    rng = np.random.default_rng(1)
    users = rng.normal(size=(USERS, 4))
    items = rng.normal(size=(ITEMS, 4))
    training = rng.random((USERS, ITEMS)) < 0.2
    training[np.arange(USERS), HELD_OUT] = False
    labels = ["Recall@5", "auc"]
    validate = sm.validator(training, HELD_OUT, metrics=labels)
    table = sm.rank((users, items), training, HELD_OUT)
    for number, scores in enumerate(((users, items), lambda block: users[block] @ items.T), 1):
        rate = 0.05 / zeta(1.5) / number**1.5
        expected = sm.evaluate(table, metrics=labels, confidence_level=1 - rate)
        result = validate(scores)
        columns = ["metric", "value", "low", "high", "standard_error", "users"]
        pd.testing.assert_frame_equal(
            pd.DataFrame(result.result[columns]), pd.DataFrame(expected[columns])
        )
        np.testing.assert_array_equal(result.ranks.above, table.above)
        np.testing.assert_allclose(result.users[labels].mean(), expected["value"], rtol=1e-12)


def test_calls_of_several_threads_are_epochs_one_after_another():
    rng = np.random.default_rng(6)
    validate = sm.validator(NOTHING, HELD_OUT, metrics="ndcg@5")
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(validate, [scores_by_gain(1, rng) for _ in range(12)]))
    by_epoch = {result.epoch: result.value for result in results}
    assert validate.history["epoch"].tolist() == list(range(1, 13))
    assert validate.history["value"].tolist() == [by_epoch[epoch] for epoch in range(1, 13)]


def test_stages_are_those_of_staged_ranks():
    scores = scores_by_gain(2, np.random.default_rng(3))
    metrics = ["recall@3", "ndcg@5"]
    pairs = []

    def score(users, items):
        pairs.append(len(users))
        return scores[users, items]

    expected = sm.staged_ranks(score, NOTHING, HELD_OUT, k=5, depth=10)
    by_ranker = sm.validator(NOTHING, HELD_OUT, metrics=metrics, depth=10)
    ranks = by_ranker(sm.Ranker(score, pairs_per_call=64)).ranks
    np.testing.assert_array_equal(ranks.above_at, expected.above_at)
    pairs.clear()
    by_function = sm.validator(NOTHING, HELD_OUT, metrics=metrics, depth=10, batch_size=64)
    result = by_function(score)
    assert max(pairs) <= 64
    np.testing.assert_array_equal(result.ranks.above_at, expected.above_at)
    values = sm.evaluate(expected, metrics=metrics)["value"]
    np.testing.assert_array_equal(result.result["value"], values)


def test_an_epoch_is_better_worse_or_undecided():
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["recall@1", "auc"])
    results = [validate(scores_of_hits(hits)) for hits in (10, 60, 65, 20, 150, 150)]
    better = ["first", "yes", "undecided", "no", "yes", "undecided"]
    assert [result.better for result in results] == better
    assert [result.reference for result in results] == [None, 1, 2, 2, 2, 5]
    assert [result.best for result in results] == [1, 2, 3, 3, 5, 5]
    assert validate.contenders == [5, 6]
    history = validate.history.query("metric == 'recall@1'")
    assert history["value"].tolist() == [0.05, 0.3, 0.325, 0.1, 0.75, 0.75]
    assert history["contender"].tolist() == [False, False, False, False, True, True]


def test_an_epoch_that_is_interrupted_leaves_no_trace(monkeypatch):
    """Ctrl-C between two metrics, and then the same call again."""
    rng = np.random.default_rng(5)
    models = [scores_by_gain(gain, rng) for gain in (0, 1, 2)]
    expected = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    validate = sm.validator(NOTHING, HELD_OUT, metrics=["ndcg@5", "auc"])
    for scores in models:
        expected(scores)
    validate(models[0])
    calls = []

    def interrupted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:  # the first of the second metric
            raise KeyboardInterrupt
        return is_better(*arguments)

    with monkeypatch.context() as patched:
        patched.setattr(standing, "is_better", interrupted)
        with pytest.raises(KeyboardInterrupt):
            validate(models[1])
    for scores in models[1:]:
        validate(scores)
    pd.testing.assert_frame_equal(validate.history[ANSWERS], expected.history[ANSWERS])


def test_a_validator_goes_on_after_a_restart():
    """Restarted after each epoch, in two ways, it says to the bit what it says without."""
    rng = np.random.default_rng(7)
    options = {"metrics": ["ndcg@5", "auc"], "epochs": 8}
    expected = sm.validator(NOTHING, HELD_OUT, **options)
    validate = sm.validator(NOTHING, HELD_OUT, **options)
    for gain in (0, 1, 0.2, 2, 2, 3):
        scores = scores_by_gain(gain, rng)
        expected(scores)
        state = pickle.loads(pickle.dumps(validate.state_dict()))
        validate = sm.validator(NOTHING, HELD_OUT, **options)
        validate.load_state_dict(state)
        validate = pickle.loads(pickle.dumps(validate))
        validate(scores)
    assert {"yes", "no"} <= set(expected.history["better"])
    pd.testing.assert_frame_equal(validate.history[ANSWERS], expected.history[ANSWERS])
    assert validate.contenders == expected.contenders


def kinds_of(validation):
    """The kinds of the findings of an epoch."""
    return {finding.kind for finding in validation.result.findings}


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
    ("options", "word"),
    [
        ({"held_out": HELD_OUT[::-1]}, "held_out"),
        ({"metrics": "recall@5"}, "metrics"),
        ({"depth": 10}, "depth"),
    ],
)
def test_the_state_of_another_validator_is_refused(options, word):
    usual = {"held_out": HELD_OUT, "metrics": "ndcg@5"}
    validate = sm.validator(NOTHING, **usual)
    validate(scores_by_gain(0, np.random.default_rng(8)))
    unlike = sm.validator(NOTHING, **usual | options)
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
    without_task = validate.state_dict()
    del without_task["task"]
    for state in (None, without_rows, cut_off, without_task):
        with pytest.raises(sm.DataError, match="state"):
            validate.load_state_dict(state)
    assert validate.history["epoch"].tolist() == [1]


def test_a_step_is_the_number_that_the_loop_has():
    rng = np.random.default_rng(5)
    validate = sm.validator(NOTHING, HELD_OUT, metrics="ndcg@5")
    validate(scores_by_gain(0, rng), step=3)
    validate(scores_by_gain(2, rng), step=6)
    result = validate(scores_by_gain(2, rng))
    assert (result.epoch, result.reference) == (7, 6)
    assert validate.contenders == [6, 7]
    for step in (7, 9.5):
        with pytest.raises(sm.ConfigError, match="step"):
            validate(NOTHING, step=step)
    assert validate.history["epoch"].tolist() == [3, 6, 7]


def test_patience_counts_the_calls_since_the_highest_value():
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1")
    stops = []
    for hits in (10, 30, 20, 30, 25, 40):  # an equal value is not higher
        validate(scores_of_hits(hits))
        stops.append([validate.stop(patience=patience) for patience in (1, 2, 3)])
    assert np.sum(stops, axis=1).tolist() == [0, 0, 1, 2, 3, 0]
    for patience in (0, None):
        with pytest.raises(sm.ConfigError):
            validate.stop(patience)


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
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1", epochs=4)
    assert "best-of-epochs" not in kinds_of(validate(scores_of_hits(30)))
    assert "best-of-epochs" in kinds_of(validate(scores_of_hits(40)))
    findings = validate(scores_of_hits(10)).result.findings
    [best] = [finding for finding in findings if finding.kind == "best-of-epochs"]
    assert best.values == {"epoch": 2, "epochs": 3}
    exact = sm.rank(scores_of_hits(40), NOTHING, HELD_OUT)
    expected = sm.evaluate(exact, metrics="recall@1", confidence_level=1 - 0.05 / 4)
    ends = validate.history.loc[1, ["low", "high"]]
    assert ends.tolist() == pytest.approx([expected["low"][0], expected["high"][0]], rel=1e-12)


def test_epochs_after_those_that_were_announced_are_undecided():
    validate = sm.validator(NOTHING, HELD_OUT, metrics="recall@1", epochs=2)
    validate(scores_of_hits(10))
    validate(scores_of_hits(10))
    with pytest.warns(UserWarning, match="epochs") as caught:
        assert validate(scores_of_hits(150)).better == "undecided"
    assert [warning.filename for warning in caught] == [__file__]
    assert validate(scores_of_hits(150)).better == "undecided"
    assert validate.contenders == [1, 2, 3, 4]
    assert validate.history["low"].isna().tolist() == [False, False, True, True]


def test_users_of_several_held_out_items_have_one_value_each():
    """Recall@1 of a user with two held-out items, of which the first one is first, is 1/2."""
    held_out = np.zeros((USERS, ITEMS))
    held_out[np.arange(USERS), HELD_OUT] = 1
    held_out[0, (HELD_OUT[0] + 1) % ITEMS] = 1
    validate = sm.validator(NOTHING, held_out, metrics="recall@1")
    result = validate(scores_of_hits(10))
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
