"""Corrected metrics: estimators by hand on a catalogue of four, intervals by loops over users, bias
by enumeration.
"""

import numpy as np
import pandas as pd
import pytest
from exact_probabilities import enumerated
from read_and import correct, evaluate

import sampled_metrics as sm

SAMPLED = [1, 1, 2, 3, 1, 2, 1, 1]
SMALL = {"candidates": 6, "negatives": 2}


def value(table, estimator, metric, column="value"):
    return table[(table["estimator"] == estimator) & (table["metric"] == metric)][column].item()


def findings_of_kind(table, kind):
    """The findings of a kind."""
    return [finding for finding in table.findings if finding.kind == kind]


@pytest.mark.parametrize(("estimator", "drawn"), [("decreasing", "by user"), ("free", "once")])
def test_ranks_among_all_candidates_are_exact(estimator, drawn):
    """Every candidate was drawn: values and intervals are those of evaluate, without an
    assumption.
    """
    ranks = 1 + (199 * np.random.default_rng(0).random(500) ** 3).astype(int)
    metrics = ["recall@10", "ap", "auc"]
    corrected = correct(
        ranks, candidates=200, negatives=199, drawn=drawn, estimators=estimator, metrics=metrics
    )
    expected = evaluate(ranks, candidates=200, exact=True, metrics=metrics)
    columns = ["value", "low", "high"]
    np.testing.assert_allclose(corrected[columns], expected[columns], rtol=1e-12)
    assert set(corrected["assumes"]) == {"none"}
    assert not findings_of_kind(corrected, "drawn-once")


def test_errors_are_the_spread_over_samples():
    """20 samples of 150 users and their negatives from one population.

    A deviation over 20 samples has a standard error of 16 %.
    """
    rng = np.random.default_rng(5)
    n = 30
    m = 8
    shares = 1 / np.arange(1, n + 1)
    shares /= shares.sum()
    tables = []
    options = {
        "candidates": n,
        "negatives": m,
        "estimators": ["bv-0.1", "mle", "mes"],
        "metrics": ["recall@3", "auc"],
    }
    for _ in range(20):
        ranks = 1 + rng.choice(n, size=150, p=shares)
        tables.append(correct(1 + rng.hypergeometric(ranks - 1, n - ranks, m), **options))
    for value_column, error_column, rows in (
        ("value", "standard_error", slice(6)),
        ("bias", "bias_error", slice(1)),
    ):
        spread = np.std([table[value_column][rows] for table in tables], axis=0, ddof=1)
        errors = np.mean([table[error_column][rows] for table in tables], axis=0)
        assert ((errors < 2 * spread) & (errors > spread / 2)).all()
    approximate = findings_of_kind(tables[0], "approximate")
    assert [finding.values["estimator"] for finding in approximate] == ["mle", "mes"]


def test_bias_is_that_of_enumeration():
    """What uncorrected AP shows on average, less the AP, if ranks were as EM finds them."""
    P = np.array([enumerated(rank - 1, 5, 2, False) for rank in range(1, 7)])
    prior = np.full(6, 1 / 6)
    shares = np.bincount(np.array(SAMPLED) - 1) / 8
    for _ in range(100):
        prior *= P @ (shares / (prior @ P))
    table = correct(SAMPLED, **SMALL, estimators=["uncorrected", "bv-1"], metrics=["ap"])
    f = 1 / np.arange(1, 7)
    assert value(table, "uncorrected", "ap") == pytest.approx((5 + 2 / 2 + 1 / 3) / 8)
    assert table.findings[0].kind == "uncorrected-values"
    assert value(table, "uncorrected", "ap", "bias") == pytest.approx(
        prior @ (P @ [1, 1 / 2, 1 / 3] - f)
    )
    posterior = (P * f[:, np.newaxis]).sum(axis=0) / P.sum(axis=0)
    assert value(table, "bv-1", "ap", "bias") == pytest.approx(prior @ (P @ posterior - f))


@pytest.mark.parametrize("estimator", ["decreasing", "free", "mle", "mes", "smooth"])
def test_the_auc_is_that_of_the_sample(estimator):
    """4 % of the held-out items are cold, at the last rank of 200."""
    rng = np.random.default_rng(3)
    ranks = np.minimum(rng.geometric(1 / 20, size=100), 200)
    ranks[:4] = 200
    sampled = 1 + rng.hypergeometric(ranks - 1, 200 - ranks, 20)
    options = {"candidates": 200, "negatives": 20, "metrics": "auc"}
    table = correct(sampled, estimators=["uncorrected", estimator], **options)
    expected = pytest.approx(1 - (sampled.mean() - 1) / 20, abs=1e-12)
    assert value(table, estimator, "auc") == expected
    ends = table[["low", "high"]].to_numpy()
    np.testing.assert_allclose(ends[0], ends[1])


def test_what_is_known_of_bias_is_said():
    table = correct(SAMPLED, **SMALL, estimators=["free", "mle", "bv-0.1"], metrics="ap")
    assert table["bias"].isna().tolist() == table["bias_error"].isna().tolist()
    assert table["bias"].isna().tolist() == [True, True, False]
    assert table["standard_error"].isna().tolist() == [True, False, False]
    assert table["assumes"].tolist() == ["uniform negatives", "bias is zero", "bias is zero"]
    [no_bias] = findings_of_kind(table, "no-bias")
    assert no_bias.values == {"estimator": "mle"}
    [few_users] = findings_of_kind(table, "few-users")
    assert few_users.values == {"users": 8}


def test_several_rows_beside_an_event_whose_negatives_are_all_other_items():
    """Its rank of 2 of 3 is certain, and samples of it do not vary."""
    events = {"user": [0, 0, 1], "rank": [2, 1, 3], "candidates": [3, 100, 100], "negatives": 2}
    table = correct(pd.DataFrame(events), metrics="recall@1", estimators=["free", "rank-estimate"])
    table = table.set_index("estimator")
    assert table["value"]["rank-estimate"] == pytest.approx((0 + 1) / 2 / 2)
    assert table["low"]["free"] <= table["value"]["free"] <= table["high"]["free"]


def test_says_where_values_leave_0_to_1():
    table = correct(
        [1, 3, 5] * 50,
        candidates=3541,
        negatives=100,
        metrics="recall@10",
        estimators=["bv-1e-12", "bv-1"],
    )
    outside = findings_of_kind(table, "out-of-range")
    assert {finding.values["estimator"] for finding in outside} == {"bv-1e-12"}
    table = correct(
        [1] * 600, candidates=1000, negatives=100, metrics="recall@10", estimators="bv-0.1"
    )
    outside = findings_of_kind(table, "out-of-range")
    assert {finding.values["what"]: finding.values["value"] for finding in outside} == {
        "the value": table["value"][0],
        "the low end": table["low"][0],
        "the high end": table["high"][0],
    }


# --- replacement: where m is a large part of n, the interval depends on whether a negative could


def correct_by_free(x, replacement, **sizes):
    return correct(1 + x, replacement=replacement, **sizes, metrics="recall@10", estimators="free")


def test_the_interval_of_the_other_design_is_said_where_it_differs():
    """All users have rank 11 of 200, so that no true Recall@10 is above 0."""
    x = np.random.default_rng(0).binomial(100, 10 / 199, 300)
    sizes = {"negatives": 100, "candidates": 200}
    without = correct_by_free(x, False, **sizes)
    redrawn = correct_by_free(x, True, **sizes)
    for table, other_table in ((without, redrawn), (redrawn, without)):
        [values] = [finding.values for finding in findings_of_kind(table, "replacement")]
        assert (values["low"], values["high"]) == (table["low"][0], table["high"][0])
        ends = (values["other_low"], values["other_high"])
        assert ends == pytest.approx((other_table["low"][0], other_table["high"][0]))
    assert without["low"][0] > 0
    assert redrawn["low"][0] == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("replacement", "m", "options"),
    [
        (False, 30, {"candidates": 1500}),
        (False, 100, {"candidates": 200, "drawn": "once"}),
        (True, 20, {"candidates": 20}),
    ],
    ids=["designs that agree", "no interval", "not possible without replacement"],
)
def test_nothing_is_said_of(replacement, m, options):
    x = np.random.default_rng(2).binomial(m, 0.1, 300)
    table = correct_by_free(x, replacement, negatives=m, **options)
    assert not findings_of_kind(table, "replacement")


@pytest.mark.parametrize(
    ("ranks", "is_explained"),
    [
        pytest.param([1] * 100 + [10] * 300, False, id="two-peaks"),
        pytest.param([*range(1, 22)] * 20 + [1] * 100, True, id="all-ranks"),
    ],
)
def test_a_sample_that_no_ranks_explain_has_no_interval(ranks, is_explained):
    """No distribution of true ranks has a sample with three of four users at the rank 10 of 21, and
    none near it.
    """
    sample = sm.sampled_ranks(ranks, negatives=20, candidates=500)
    result = sm.correct(sample, estimators="bv-1", metrics="recall@10")
    assert result["low"].notna().tolist() == [is_explained]
    assert bool(findings_of_kind(result, "unexplained")) != is_explained
