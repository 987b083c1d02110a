"""An option that the caller names has its effect, or is refused, by function and kind of input."""

import inspect

import numpy as np
import pandas as pd
import pytest

import sampled_metrics as sm
from sampled_metrics.errors import ConfigError, DataError

USERS = 60
RNG = np.random.default_rng(3)
RANK = RNG.integers(1, 1000, USERS)
SAMPLED = RNG.integers(1, 102, USERS)
RANKS = pd.DataFrame({"user": range(USERS), "place": RANK, "kind": ["a", "b"] * (USERS // 2)})
OF_SAMPLE = RANKS.assign(place=SAMPLED)
COUNTS = pd.DataFrame(
    {"user": range(USERS), "above": RANK - 1, "tied": 0, "kind": ["a", "b"] * (USERS // 2)}
)
RUN = pd.DataFrame(
    {
        "user": np.repeat(range(20), 5),
        "item": list("vwxyz") * 20,
        "score": np.tile([5, 4, 3, 2, 1.0], 20),
        "place": np.tile([5, 4, 3, 2, 1], 20),
    }
)
RENAMED = RANKS.rename(columns={"user": "who"})
JUDGED = pd.DataFrame({"user": range(20), "item": "x", "relevance": 1, "kind": ["a", "b"] * 10})
SHIFTED = RUN.assign(who=RUN["user"] + 1, next=list("wxyzv") * 20)
SEEDED = pd.DataFrame({"place": [*SAMPLED, *SAMPLED[::-1]], "seed": np.repeat([1, 2], USERS)})
ITEMS = 400
TRAINING = np.zeros((USERS, ITEMS))
SCORES = RNG.random((USERS, ITEMS))
FACTORS = RNG.random((USERS, 3)), RNG.random((ITEMS, 3))
EXACT = sm.rank(SCORES, TRAINING, RNG.integers(0, ITEMS, USERS))
OTHER = sm.rank(RNG.random((USERS, ITEMS)), TRAINING, RNG.integers(0, ITEMS, USERS))
DRAWN = sm.rank_among_negatives(SCORES, TRAINING, RNG.integers(0, ITEMS, USERS))
STAGED = sm.staged_ranks(
    lambda users, items: SCORES[users, items], TRAINING, [1] * USERS, depth=None
)
LISTS = sm.ranked_lists(RUN, relevance=JUDGED)
PAIR = {
    "exact": {"x": EXACT, "y": OTHER},
    "sampled": {"x": DRAWN, "y": DRAWN},
    "lists": {"x": LISTS, "y": LISTS},
}

NAMED = {"rank_column": "place"}
GROUPS = {"groups": "kind"}
ONCE = {"drawn": "once"}
AGAIN = {"replacement": True}
CHEAP_PLAN = {"negatives": [5], "estimators": "uncorrected"}

EXACT_RANKS = NAMED | {"candidates": 1000}
SAMPLED_RANKS = EXACT_RANKS | {"negatives": 101}
CANDIDATES = {"candidates": 1000}
LISTED = {"relevance": JUDGED}
BY_KIND = {"by": "kind"}
BY_SEED = {"seeds": "seed"}
FROM_0 = {"zero_based": True}
WHO = {"user_column": "who"}
MORE_CANDIDATES = {"candidates": 2000}
MORE_NEGATIVES = {"negatives": 200}
WITH_EFFECT = [
    (sm.exact_ranks, RANKS.assign(rank=RANK[::-1]), CANDIDATES, [NAMED]),
    (sm.exact_ranks, RANKS, EXACT_RANKS, [FROM_0, GROUPS, BY_KIND]),
    (sm.exact_ranks, SEEDED, NAMED | {"candidates": 102}, [BY_SEED]),
    (sm.exact_ranks, np.ones(USERS, dtype=int), CANDIDATES, [{"exact": True}]),
    (sm.exact_ranks, {"x": COUNTS, "y": RANK}, CANDIDATES, [FROM_0]),
    (sm.exact_ranks, COUNTS, CANDIDATES, [GROUPS, BY_KIND, MORE_CANDIDATES]),
    (sm.exact_ranks, COUNTS.assign(candidates=1000), {}, [MORE_CANDIDATES]),
    (
        sm.exact_ranks,
        COUNTS.assign(candidates=1000, n=2000),
        {},
        [{"candidates_column": "n"}],
    ),
    (sm.exact_ranks, RENAMED, EXACT_RANKS, [WHO]),
    (
        sm.sampled_ranks,
        OF_SAMPLE,
        SAMPLED_RANKS,
        [MORE_CANDIDATES, MORE_NEGATIVES, FROM_0, AGAIN, ONCE, GROUPS, BY_KIND],
    ),
    (sm.sampled_ranks, SEEDED, SAMPLED_RANKS, [BY_SEED]),
    (sm.sampled_ranks, OF_SAMPLE.assign(negatives=101), EXACT_RANKS, [MORE_NEGATIVES]),
    (
        sm.sampled_ranks,
        OF_SAMPLE.assign(negatives=101, m=200),
        EXACT_RANKS,
        [{"negatives_column": "m"}],
    ),
    (
        sm.sampled_ranks,
        OF_SAMPLE.assign(candidates=1000, n=2000),
        NAMED | {"negatives": 101},
        [{"candidates_column": "n"}],
    ),
    (sm.sampled_ranks, RENAMED.assign(place=SAMPLED), SAMPLED_RANKS, [WHO]),
    (
        sm.ranked_lists,
        RUN,
        LISTED,
        [
            NAMED,
            GROUPS,
            {"score_column": "place"},
            {"rank_column": ["place", "score"]},
            {"relevant_from": 0.5},
        ],
    ),
    (sm.ranked_lists, SHIFTED, LISTED, [{"item_column": "next"}, WHO]),
    (sm.ranked_lists, RUN.replace({"place": {5: 0}}), NAMED | LISTED | FROM_0, [GROUPS]),
    (sm.ranked_lists, RUN.assign(name="x"), LISTED, [{"by": "name"}]),
    (sm.ranked_lists, RUN.assign(seed=1), LISTED, [BY_SEED]),
    (sm.plan, EXACT, CHEAP_PLAN, [{"negatives": [7]}, {"estimators": "cls"}]),
    (sm.plan, EXACT, CHEAP_PLAN | {"estimators": "cls"}, [AGAIN]),
    (sm.plan, STAGED, {}, [{"depths": [20]}, {"width": 0.1}]),
    (sm.compare, PAIR["exact"], {}, [{"margin": 0.1}]),
    (sm.compare, PAIR["sampled"], {}, [{"estimator": "bv-0.1"}]),
]
"""Function, its data, options, and further options that change the result."""

WITHOUT = [
    (sm.exact_ranks, (COUNTS,), {"candidates": 1000}, {"rank_column": "above"}),
    (sm.exact_ranks, ({"x": RANK, "y": RANK},), {"candidates": 1000}, {"by": "kind"}),
    (sm.exact_ranks, (RANK,), {"candidates": 1000}, GROUPS),
    (sm.exact_ranks, (RANK,), {"candidates": 1000}, {"seeds": "kind"}),
    (
        sm.ranked_lists,
        (RUN,),
        {"relevance": JUDGED.drop(columns="relevance")},
        {"relevant_from": 2},
    ),
    (sm.ranked_lists, (RUN,), {"relevance": JUDGED}, {"rank_column": "nothing"}),
    (sm.plan, (EXACT,), {}, {"depths": [20]}),
    (sm.plan, (STAGED,), {}, {"negatives": [20]}),
    (sm.plan, (STAGED,), {}, {"estimators": "cls"}),
    (sm.plan, (STAGED,), {}, AGAIN),
    (sm.plan, ([DRAWN, DRAWN],), {}, {}),
    (sm.plan, (EXACT,), {"negatives": [5]}, {"difference": 0.1}),
    (sm.compare, (PAIR["lists"],), {}, {"estimator": "cls"}),
    (sm.report, (EXACT,), {}, {"margin": 0.1}),
    (sm.report, (EXACT,), {}, {"path": "page.pdf"}),
    (sm.rank, (FACTORS, TRAINING, [1] * USERS), {}, {"batch_size": 7}),
    (sm.rank_among_negatives, (FACTORS, TRAINING, [1] * USERS), {}, {"batch_size": 7}),
    (sm.rank_among_negatives, (SCORES, TRAINING, [1] * USERS), {}, {"drop_held_out": True}),
]
"""The same, with an option that has no effect."""


def seen(result):
    """All that an option may change."""
    if isinstance(result, list):
        return [seen(table) for table in result]
    if isinstance(result, dict):
        return {name: seen(table) for name, table in result.items()}
    if isinstance(result, pd.DataFrame):
        return result.to_csv(), str(result)
    fields = vars(result) | {"judgements": str(vars(getattr(result, "judgements", object)))}
    if hasattr(result, "grades"):
        fields["grades"] = result.grades.toarray()
    return {name: np.asarray(value).tolist() for name, value in fields.items()}


@pytest.mark.parametrize(("function", "data", "options", "further_options"), WITH_EFFECT)
def test_an_option_has_its_effect(function, data, options, further_options):
    without = seen(function(data, **options))
    for option in further_options:
        assert seen(function(data, **options | option)) != without, option


@pytest.mark.parametrize(
    "function",
    [sm.exact_ranks, sm.sampled_ranks, sm.ranked_lists],
    ids=lambda function: function.__name__,
)
def test_each_option_of_a_reader_is_tried(function):
    options = {
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind == parameter.KEYWORD_ONLY
    }
    rows = [row for row in WITH_EFFECT if row[0] is function]
    tried = {name for _, _, stated, _ in rows for name in stated}
    tried |= {name for _, _, _, further in rows for option in further for name in option}
    assert options == tried


@pytest.mark.parametrize(("function", "arguments", "options", "option"), WITHOUT)
def test_an_option_without_effect_is_refused(function, arguments, options, option):
    names = option.keys() - {"by", "groups", "path", "rank_column", "seeds"}  # not in the message
    with pytest.raises((ConfigError, DataError), match="|".join(names) or "."):
        function(*arguments, **options | option)


@pytest.mark.parametrize("option", [AGAIN, ONCE])
def test_files_of_exact_and_staged_ranks_take_no_option_of_samples(option, tmp_path):
    for table, name in ((EXACT, "exact.csv"), (EXACT, "exact.parquet"), (STAGED, "staged.npz")):
        table.write(tmp_path / name)
        with pytest.raises(ConfigError, match="sampled"):
            sm.read_ranks(tmp_path / name, **option)


def test_factors_of_an_epoch_have_no_batches():
    validate = sm.validator(TRAINING, [1] * USERS, metrics="recall@10", batch_size=7)
    assert validate(SCORES).epoch == 1
    with pytest.raises(ConfigError, match=r"^batch_size"):
        validate(FACTORS)
