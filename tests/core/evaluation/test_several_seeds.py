"""Several seeds of a recommender: of new runs and of these runs, by every verb and kind of
ranks.
"""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import sampled_metrics as sm

USERS = 400
CANDIDATES = 500


def ranks_of(seed, quality, users=USERS):
    """Ranks of users whose items are as easy for each seed, with a quality of the model that varies
    by seed.
    """
    easy = np.random.default_rng(0).normal(size=users)
    rng = np.random.default_rng(seed)
    share = 1 / (1 + np.exp(-(easy + quality + rng.normal(size=users))))
    return 1 + np.floor((1 - share) ** 3 * CANDIDATES).astype(int).clip(max=CANDIDATES - 1)


QUALITY = {"A": [0.0, 0.06], "B": [0.3, 0.36]}
RANKS = {
    name: [
        ranks_of(10 * len(name) + 7 * place + ord(name), level)
        for place, level in enumerate(levels)
    ]
    for name, levels in QUALITY.items()
}


def exact(name, seed):
    return sm.exact_ranks(
        {"user": np.arange(USERS), "rank": RANKS[name][seed]}, candidates=CANDIDATES, exact=True
    )


def sampled(name, seed):
    above = RANKS[name][seed] - 1
    x = np.random.default_rng([seed, ord(name)]).hypergeometric(above, CANDIDATES - 1 - above, 40)
    return sm.sampled_ranks(
        {"user": np.arange(USERS), "rank": 1 + x}, negatives=40, candidates=CANDIDATES
    )


def rows_of(result, of):
    return result[result["of"] == of].reset_index(drop=True)


TABLES = {name: [exact(name, seed) for seed in (0, 1)] for name in "AB"}
SAMPLED = {name: [sampled(name, seed) for seed in (0, 1)] for name in "AB"}


def test_these_runs_have_the_interval_of_the_means_of_users_and_new_runs_a_wider_one():
    result = sm.compare(TABLES, metrics="ap")
    [new] = rows_of(result, "new runs").to_dict("records")
    [these] = rows_of(result, "these runs").to_dict("records")
    values = {name: np.mean([1 / ranks for ranks in RANKS[name]], axis=0) for name in "AB"}
    gap = values["B"] - values["A"]
    assert new["difference"] == these["difference"] == pytest.approx(gap.mean())
    half_width = stats.sem(gap) * stats.norm.ppf(0.975)
    assert these["high"] - these["low"] == pytest.approx(2 * half_width, rel=0.05)
    assert new["low"] < these["low"]
    assert new["high"] > these["high"]
    assert [verdict.of for verdict in result.verdicts] == ["new runs"]


def test_rows_of_a_user_are_the_same_as_these_runs():
    """Read as one table, the seeds are several rows of a user, whose value is their mean."""
    frames = [
        pd.DataFrame({"user": np.arange(USERS), "rank": ranks, "model": name})
        for name, seeds in RANKS.items()
        for ranks in seeds
    ]
    by_model = sm.exact_ranks(pd.concat(frames), by="model", candidates=CANDIDATES, exact=True)
    rows = pd.DataFrame(sm.compare(by_model, metrics=["ap", "recall@10"])).drop(
        columns="conclusion"
    )
    these = pd.DataFrame(rows_of(sm.compare(TABLES, metrics=["ap", "recall@10"]), "these runs"))
    pd.testing.assert_frame_equal(these[rows.columns], rows, rtol=1e-12)


def test_one_seed_of_a_recommender_allows_these_runs_alone():
    result = sm.compare({"A": TABLES["A"], "B": TABLES["B"][0]}, metrics="ap")
    assert result["of"].tolist() == ["these runs"]
    [these_runs] = [finding for finding in result.findings if finding.kind == "these-runs"]
    assert these_runs.values == {"reason": "one seed", "of": ["B"]}
    single_seeds = {name: seeds[0] for name, seeds in TABLES.items()}
    assert "of" not in sm.compare(single_seeds, metrics="ap")


@pytest.mark.parametrize("estimator", ["free", "decreasing"])
def test_strict_bounds_hold_the_mean_of_these_seeds(estimator):
    result = sm.compare(SAMPLED, estimator=estimator, metrics="ap")
    [row] = result.to_dict("records")
    truth = sm.compare(TABLES, metrics="ap")["difference"].iloc[0]
    assert row["of"] == "these runs"
    assert row["low"] <= truth <= row["high"]
    [these_runs] = [finding for finding in result.findings if finding.kind == "these-runs"]
    assert these_runs.values["reason"] == "strict bounds"


@pytest.mark.slow
def test_strict_bounds_of_seeds_hold_the_mean_in_repeated_samples():
    """Of 120 samples of users and negatives, at most 12 miss: a rate of 5 % has more with a chance
    of 1 %.
    """
    rng = np.random.default_rng(1)
    population = [ranks_of(seed, quality, users=20_000) for seed, quality in enumerate([0.0, 0.5])]
    truth = np.mean([(ranks <= 10).mean() for ranks in population])
    missed = 0
    for _ in range(120):
        users = rng.integers(0, 20_000, 200)
        tables = []
        for ranks in population:
            above = ranks[users] - 1
            x = rng.hypergeometric(above, CANDIDATES - 1 - above, 30)
            tables.append(sm.sampled_ranks(1 + x, negatives=30, candidates=CANDIDATES))
        row = sm.correct(tables, estimators="free", metrics="recall@10").iloc[0]
        missed += not row["low"] <= truth <= row["high"]
    assert missed <= 12


def test_evaluate_and_correct_have_a_row_for_each_question():
    values = sm.evaluate(TABLES, metrics="ap")
    assert values["of"].tolist() == ["new runs", "these runs"] * 2
    means = [np.mean([1 / ranks for ranks in RANKS[name]]) for name in "AB"]
    assert values["value"].tolist() == pytest.approx(np.repeat(means, 2))
    values_of_a = values[values["recommender"] == "A"].drop(columns="recommender")
    alone = sm.evaluate(TABLES["A"], metrics="ap")
    pd.testing.assert_frame_equal(pd.DataFrame(alone), pd.DataFrame(values_of_a))
    corrected = sm.correct(SAMPLED["A"], estimators=["free", "bv-0.1"], metrics="ap")
    assert corrected[["estimator", "of"]].to_numpy().tolist() == [
        ["free", "these runs"],
        ["bv-0.1", "new runs"],
        ["bv-0.1", "these runs"],
    ]


def test_groups_have_both_questions():
    groups = {user: "even" if user % 2 == 0 else "odd" for user in range(USERS)}
    result = sm.compare(TABLES, metrics="ap", groups=groups)
    assert result[["group", "of"]].to_numpy().tolist() == [
        [group, of] for group in ("all", "even", "odd") for of in ("new runs", "these runs")
    ]
    values = sm.evaluate(TABLES["A"], metrics="ap", groups=groups)
    assert (
        values[["group", "of"]].to_numpy().tolist() == result[["group", "of"]].to_numpy().tolist()
    )


def test_words_say_of_which_runs_they_are():
    on_new_runs, on_these_runs, *_ = sm.compare(TABLES, metrics="ap").remarks
    assert on_new_runs.startswith("AP of new runs: ")
    assert on_these_runs.startswith(
        "AP of these runs: B is better than A; the difference (B - A) is "
    )


def test_standings_and_verdicts_are_those_of_the_rows():
    result = sm.compare(TABLES, metrics="ap")
    these = result[result["of"] == "these runs"]
    assert [verdict.of for verdict in these.verdicts] == ["these runs"]
    assert these.standings()["group"].tolist() == ["a", "b"]
    assert these.sentence().startswith("AP of these runs: B is better than A; ")


def test_one_seed_beside_several_is_of_these_runs():
    result = sm.evaluate({"B": TABLES["B"][0], "A": TABLES["A"]}, metrics="ap")
    assert result[["recommender", "of"]].to_numpy().tolist() == [
        ["B", "these runs"],
        ["A", "new runs"],
        ["A", "these runs"],
    ]
    assert result.columns[:3].tolist() == ["recommender", "of", "metric"]


def test_the_standard_error_of_new_runs_is_at_least_that_of_these_runs():
    for seed in range(20):
        tables = [
            sm.exact_ranks(ranks_of(100 * seed + place, 0.0), candidates=CANDIDATES, exact=True)
            for place in (1, 2)
        ]
        new, these = sm.evaluate(tables, metrics="ap")["standard_error"]
        assert new >= these


def test_bounds_of_seeds_name_the_numbers_of_negatives_of_all():
    few = sampled("A", 0)
    above = RANKS["A"][1] - 1
    x = np.random.default_rng(3).hypergeometric(above, CANDIDATES - 1 - above, 99)
    many = sm.sampled_ranks(
        {"user": np.arange(USERS), "rank": 1 + x}, negatives=99, candidates=CANDIDATES
    )
    result = sm.correct([many, few], estimators="free", metrics="recall@10")
    [bounds] = [finding.values for finding in result.findings if finding.kind == "bounds"]
    assert (bounds["least_negatives"], bounds["most_negatives"]) == (40, 99)


def test_the_finding_on_replacement_is_of_the_interval_of_the_mean():
    """With 39 of 45 negatives, to draw them twice or not matters."""
    tables = []
    for seed in (0, 1, 2):
        ranks = np.random.default_rng(seed).integers(1, 46, size=200)
        x = np.random.default_rng(seed + 9).hypergeometric(ranks - 1, 45 - ranks, 30)
        tables.append(sm.sampled_ranks(1 + x, negatives=30, candidates=45))
    result = sm.correct(tables, estimators="free", metrics="recall@10")
    [row] = result.to_dict("records")
    [values] = [finding.values for finding in result.findings if finding.kind == "replacement"]
    assert (values["low"], values["high"]) == (row["low"], row["high"])
