"""The contract of ranks with groups, seeds and numbers by user: evaluate, correct and compare have
the means of plain Python, whatever form each input has and in whatever order it is.
"""

from statistics import fmean

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampled_metrics as sm
from sampled_metrics.errors import DataError

USERS = [f"u{number}" for number in (10, 9, 2, 31, 1, 7, 8, 30)]
RNG = np.random.default_rng(88)
RECOMMENDERS = ("x", "y")
SEEDS = (1, 2)
NEGATIVES = 9
CANDIDATES = dict(zip(USERS, RNG.integers(40, 43, len(USERS)).tolist(), strict=True))
GROUPS = dict(zip(USERS, ["old", "young", "young"] * 2 + ["old", "old"], strict=True))
RANKS = {
    (name, seed, user): int(RNG.integers(1, 11))
    for name in RECOMMENDERS
    for seed in SEEDS
    for user in USERS
}
"""From 1 to 10, which is a rank among all candidates and among 9 negatives."""
ALL = "all"
Rows = st.permutations(range(len(USERS)))


def value(rank, candidates, label):
    """A metric of a rank among so many candidates."""
    return float(rank <= 3) if label == "recall@3" else (candidates - rank) / (candidates - 1)


def mean(name, label, group, seeds):
    """The mean over the users of a group of their means over seeds."""
    users = [user for user in USERS if group in (ALL, GROUPS[user])]
    return fmean(
        fmean(value(RANKS[name, seed, user], CANDIDATES[user], label) for seed in seeds)
        for user in users
    )


def frame(order, name, seed, **columns):
    """The ranks of a seed of a recommender, in an order of the users."""
    users = [USERS[row] for row in order]
    ranks = [RANKS[name, seed, user] for user in users]
    return pd.DataFrame({"user": users, "rank": ranks} | columns)


def ranks_of_all(draw, seeds):
    """The ranks of all recommenders, in any order of the rows, and the options of their form."""
    if len(seeds) == 1 and draw(st.booleans()):
        return {name: frame(draw(Rows), name, seeds[0]) for name in RECOMMENDERS}, {}
    parts = [
        frame(range(len(USERS)), name, seed, model=name, run=seed)
        for name in RECOMMENDERS
        for seed in seeds
    ]
    rows = pd.concat(parts, ignore_index=True)
    shuffled = rows.loc[draw(st.permutations(range(len(rows))))]
    if len(seeds) == 1:
        return shuffled.drop(columns="run"), {"by": "model"}
    return shuffled, {"by": "model", "seeds": "run"}


def by_user(draw, values):
    """Values by user in some form, in any order, and with users who have no ranks or without."""
    more = draw(st.sampled_from([{}, {"u99": next(iter(values.values()))}]))
    items = draw(st.permutations([*(values | more).items()]))
    series = pd.Series(dict(items))
    forms = {
        "mapping": dict(items),
        "Series": series,
        "named Series": series.rename_axis("user"),
    }
    return forms[draw(st.sampled_from(sorted(forms)))]


def values_by_row(result):
    """The value of each recommender, metric and group."""
    table = pd.DataFrame(result)
    return table.groupby(["recommender", "metric", "group"], sort=False)["value"].first()


@settings(max_examples=settings().max_examples // 3)
@given(st.data())
def test_evaluate_and_compare_have_the_means_over_users_of_means_over_seeds(data):
    draw = data.draw
    seeds = draw(st.sampled_from([SEEDS[:1], SEEDS]))
    ranks, options = ranks_of_all(draw, seeds)
    tables = sm.exact_ranks(ranks, candidates=by_user(draw, CANDIDATES), **options)
    groups = by_user(draw, GROUPS)
    values = values_by_row(sm.evaluate(tables, metrics=["recall@3", "auc"], groups=groups))
    assert set(values.index.get_level_values("group")) == {ALL, *GROUPS.values()}
    for (name, metric, group), mean_value in values.items():
        assert mean_value == pytest.approx(mean(name, metric, group, seeds), abs=1e-12)
    for row in sm.compare(tables, metrics="auc", groups=groups).to_dict("records"):
        mean_x, mean_y = (mean(name, "auc", row["group"], seeds) for name in RECOMMENDERS)
        assert [row["value_a"], row["value_b"]] == pytest.approx([mean_x, mean_y], abs=1e-12)
        assert row["difference"] == pytest.approx(mean_y - mean_x, abs=1e-12)


@settings(max_examples=settings().max_examples // 5)
@given(st.data())
def test_correct_without_correction_has_the_means_of_sampled_ranks(data):
    draw = data.draw
    ranks, options = ranks_of_all(draw, SEEDS[:1])
    negatives = draw(st.sampled_from([NEGATIVES, dict.fromkeys(USERS, NEGATIVES)]))
    if isinstance(negatives, dict):
        negatives = by_user(draw, negatives)
    tables = sm.sampled_ranks(
        ranks, candidates=by_user(draw, CANDIDATES), negatives=negatives, **options
    )
    result = sm.correct(
        tables, metrics="recall@3", estimators="uncorrected", groups=by_user(draw, GROUPS)
    )
    for (name, _, group), sampled_value in values_by_row(result).items():
        expected = mean(name, "recall@3", group, SEEDS[:1])
        assert sampled_value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("form", [dict, pd.Series])
def test_a_user_that_an_option_by_user_lacks_is_refused(form):
    ranks = frame(range(len(USERS)), "x", 1)
    lacking = USERS[3]
    fewer = [user for user in USERS if user != lacking]
    with pytest.raises(DataError, match="candidates"):
        sm.exact_ranks(ranks, candidates=form({user: CANDIDATES[user] for user in fewer}))
    table = sm.exact_ranks(ranks, candidates=60)
    with pytest.raises(DataError, match=lacking):
        sm.evaluate(table, groups=form({user: GROUPS[user] for user in fewer}))
    table_of_fewer = sm.exact_ranks(ranks[ranks["user"] != lacking], candidates=60)
    with pytest.raises(DataError, match=lacking):
        sm.compare({"x": table, "y": table_of_fewer})
