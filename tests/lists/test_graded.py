"""Metrics of lists against the texts' worked examples, hand-computed numbers, loops, scipy and
trec_eval.
"""

import re
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.lists import graded

NAN = float("nan")
L3 = log2(3)
CLOSE = {"rel": 1e-12, "abs": 1e-14}

# lists of 1 … 12 grades in ranked order, and grades that are judged but not on the list
grades = st.lists(st.sampled_from([0, 0, 1, 2, 2.5, 4]), min_size=1, max_size=12)
more = st.lists(st.sampled_from([0, 1, 3, 4]), max_size=6)
users_with_more = st.lists(st.tuples(grades, more), min_size=1, max_size=5)
cutoffs = st.integers(1, 15)

# one list of grades, whose user has another two of grade 3 and 1 that are not on it
LIST = ((0, 3, 1, 0, 2),)
JUDGED = ((1, 3, 0, 2, 1, 3, 0),)


# the ideal lists are 3, 2, 1, 0, 0 and 3, 3, 2, 1, 1, 0, 0; the discount of rank 3 is log2 4 = 2
@pytest.mark.parametrize(
    ("k", "gain", "value", "of_list", "of_judged"),
    [
        (
            None,
            graded.linear_gain,
            3 / L3 + 1 / 2 + 2 / log2(6),
            3.5 + 2 / L3,
            4 + 3 / L3 + 1 / log2(5) + 1 / log2(6),
        ),
        (2, graded.linear_gain, 3 / L3, 3 + 2 / L3, 3 + 3 / L3),
        (3, graded.exponential_gain, 7 / L3 + 1 / 2, 7 + 3 / L3 + 1 / 2, 7 + 7 / L3 + 3 / 2),
    ],
)
def test_discounted_gains_by_hand(k, gain, value, of_list, of_judged):
    assert graded.dcg(LIST, k, gain=gain) == pytest.approx([value], rel=1e-14)
    assert graded.ndcg(LIST, k, gain=gain) == pytest.approx([value / of_list], rel=1e-14)
    assert graded.ndcg(LIST, k, gain=gain, judged=JUDGED) == pytest.approx(
        [value / of_judged], rel=1e-14
    )


def test_half_life_utility_by_hand():
    """Half-life 2 and neutral grade 1: utilities 2 at rank 2 and 1 at rank 5, discounts 2 and
    16.
    """
    value = 2 / 2 + 1 / 16
    options = {"neutral": 1, "half_life": 2}
    assert graded.half_life_utility(LIST, **options) == pytest.approx([value])
    assert graded.half_life_utility(LIST, 4, **options) == pytest.approx([1])
    normalized = graded.normalized_half_life_utility
    assert normalized(LIST, **options) == pytest.approx([value / (2 + 1 / 2)])
    assert normalized(LIST, judged=JUDGED, **options) == pytest.approx(
        [value / (2 + 2 / 2 + 1 / 4)]
    )


@pytest.mark.parametrize(
    ("options", "right"), [({}, 3 + 2), ({"tied": 0}, 3), ({"tied": 1}, 3 + 4)]
)
def test_concordant_pairs_with_ties_of_the_recommender_by_hand(options, right):
    """0 and 3 tie, and the three pairs of 1, 0 and 2; of the others 3 above 1, 0 and 2 is right."""
    pairs = graded.concordant_pairs(LIST, scores=[[9, 9, 0.5, 0.5, 0.5]], **options)
    assert pairs == pytest.approx([right / 9])


OF_RELEVANT = (
    *(
        graded.reciprocal_rank,
        graded.average_precision,
        graded.precision,
        graded.recall,
        graded.f1,
        graded.ndcg,
    ),
    graded.normalized_half_life_utility,
)


def test_a_user_without_a_relevant_item_has_0_unless_said_otherwise_and_means_leave_nan_out():
    none = ((0, 0, NAN), (NAN, NAN, NAN), (0, 2, 0))
    for options, value in (({}, 0), ({"nothing_relevant": 1}, 1), ({"nothing_relevant": NAN}, NAN)):
        for metric in OF_RELEVANT:
            np.testing.assert_array_equal(metric(none, 3, **options)[:2], [value] * 2)
    assert graded.mean_reciprocal_rank(none) == pytest.approx(1 / 6)
    assert graded.mean_reciprocal_rank(none, nothing_relevant=NAN) == 1 / 2
    assert graded.mean_average_precision(none, nothing_relevant=1) == pytest.approx(
        (1 + 1 + 1 / 2) / 3
    )
    assert np.isnan(graded.mean_reciprocal_rank([[0]], nothing_relevant=NAN))


@pytest.mark.parametrize("metric", [graded.spearman, graded.concordant_pairs])
def test_a_user_with_nothing_to_order_is_nan_unless_said_otherwise(metric):
    lists = [[2, 2, 2], [1, NAN, NAN], [NAN, NAN, NAN], [2, 1, NAN]]
    np.testing.assert_array_equal(metric(lists), [NAN, NAN, NAN, 1])
    assert metric(lists, nothing_to_order=0).tolist() == [0, 0, 0, 1]


GAINS_AND_DISCOUNTS = [
    (graded.linear_gain, lambda grade: grade, graded.log2_discount, lambda rank: log2(rank + 1)),
    (
        *(graded.exponential_gain, lambda grade: 2**grade - 1),
        *(graded.log_discount_from(2), lambda rank: 1 if rank <= 2 else log2(rank)),
    ),
    (
        *(graded.gain_above(2), lambda grade: max(grade - 2, 0)),
        *(graded.log_discount_from(3), lambda rank: 1 if rank <= 3 else log2(rank) / L3),
    ),
    (
        graded.linear_gain,
        lambda grade: grade,
        graded.half_life_discount(5),
        lambda rank: 2 ** ((rank - 1) / 4),
    ),
]


@pytest.mark.parametrize(("gain", "gain_of", "discount", "discount_of"), GAINS_AND_DISCOUNTS)
@given(users=users_with_more, k=cutoffs)
def test_discounted_gains_are_loops(gain, gain_of, discount, discount_of, users, k):
    def loop(listed):
        return sum(
            gain_of(grade) / discount_of(rank) for rank, grade in enumerate(listed[:k], start=1)
        )

    relevance = graded.padded([listed for listed, _ in users])
    judged = graded.padded([listed + others for listed, others in users])
    ideal = [loop(sorted(listed + others, reverse=True)) for listed, others in users]
    values = [loop(listed) for listed, _ in users]
    assert graded.dcg(relevance, k, gain=gain, discount=discount) == pytest.approx(values, **CLOSE)
    normalised = [value / best if best else 0 for value, best in zip(values, ideal, strict=True)]
    ours = graded.ndcg(relevance, k, gain=gain, discount=discount, judged=judged)
    assert ours == pytest.approx(normalised, **CLOSE)


@given(users=users_with_more, k=cutoffs)
def test_values_are_from_0_to_1_users_do_not_meet_and_the_ideal_order_is_best(users, k):
    relevance = graded.padded([listed for listed, _ in users])
    judged = graded.padded([listed + others for listed, others in users])
    for metric in OF_RELEVANT:
        values = metric(relevance, k, judged=judged)
        assert ((values >= 0) & (values <= 1)).all()
        alone = [metric([listed], k, judged=[listed + others])[0] for listed, others in users]
        assert values == pytest.approx(alone, **CLOSE)
        best = metric(graded.ideal_order(relevance), k, judged=judged)
        assert (best >= values - 1e-12).all()
        if metric in (graded.reciprocal_rank, graded.average_precision, graded.ndcg):
            own = metric(graded.ideal_order(relevance), k)
            assert own == pytest.approx((relevance > 0).any(axis=1).astype(float))


@given(st.lists(grades, min_size=1, max_size=4), st.data())
def test_orders_are_those_of_scipy(lists, data):
    scores = [
        data.draw(st.lists(st.integers(-3, 3), min_size=len(each), max_size=len(each)))
        for each in lists
    ]
    scores = [sorted(each, reverse=True) for each in scores]
    correlations = graded.spearman(graded.padded(lists), scores=graded.padded(scores))
    fractions = graded.concordant_pairs(graded.padded(lists), scores=graded.padded(scores))
    for row, (listed, scored) in enumerate(zip(lists, scores, strict=True)):
        correlation = difference = NAN if len(set(listed)) == 1 else 0
        if len(set(listed)) > 1 < len(set(scored)):
            correlation = stats.spearmanr(listed, scored).statistic
            with np.errstate(invalid="ignore"):  # in SciPy's p-value
                difference = stats.somersd(
                    listed, scored
                ).statistic  # (concordant - discordant) / pairs
        assert fractions[row] == pytest.approx((1 + difference) / 2, nan_ok=True, **CLOSE)
        correlation = correlation if len(set(scored)) > 1 else NAN
        assert correlations[row] == pytest.approx(correlation, nan_ok=True, **CLOSE)


OF_LISTS = [
    ([1, 0, 1], "has shape (3,); it has to be (users, positions), also for a single user"),
    (np.empty((0, 3)), "has shape (0, 3); it has to hold a user and a position at least"),
    ([[1, 0], [1]], "has rows of different lengths"),
    ([["1", "0"]], "holds <U1; it has to be an array of numbers"),
    (
        [[1, 0], [2, -1]],
        "of user row 1 is -1 in column 1 (from 0); a grade has to be a finite number from 0",
    ),
    (
        [[1, 0], [np.inf, 0]],
        "of user row 1 is inf in column 0 (from 0); a grade has to be a finite number from 0",
    ),
    (
        [[1, 0, NAN], [1, NAN, 0]],
        "of user row 1 is nan in column 1 (from 0); NaN may only fill up a list",
    ),
]
OF_JUDGED = [
    ([[2, 1]], "has 1 users and relevance 2; each needs a row in both"),
    ([2, 1], "has shape (2,); it has to be"),
    ([[2, 1], [2, NAN]], "of user row 1 lacks grades that are on the list"),
]
OF_SCORES = [
    ([[3, 2]], "have shape (1, 2) and relevance (1, 3); they have to be the same"),
    ([[2, 3, NAN]], "of user row 0 is 3 in column 1 (from 0); lists are in ranked order"),
    (
        [[3, 2, 1]],
        "of user row 0 is 1 in column 2 (from 0); NaN has to stand where relevance is NaN",
    ),
    (
        [[np.inf, 2, NAN]],
        "of user row 0 is inf in column 0 (from 0); a score has to be a finite number",
    ),
]


@pytest.mark.parametrize(
    ("refuse", "values", "message"),
    [
        *(
            (graded.padded, lists, "lists to fill up have to be a list")
            for lists in ([], [[]], [1, 2], [["a"]], None)
        ),
        *((graded.ndcg, lists, f"relevance {message}") for lists, message in OF_LISTS),
        *(
            (
                lambda judged: graded.recall([[2, 1]] * 2, 1, judged=judged),
                *(judged, f"judged {message}"),
            )
            for judged, message in OF_JUDGED
        ),
        *(
            (
                lambda scores: graded.spearman([[2, 1, NAN]], scores=scores),
                *(scores, f"scores {message}"),
            )
            for scores, message in OF_SCORES
        ),
    ],
)
def test_refuses_malformed_lists_with_their_place(refuse, values, message):
    with pytest.raises(DataError, match=f"^{re.escape(message)}"):
        refuse(values)


@pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, "3", True, NAN])
def test_refuses_a_cutoff(k):
    with pytest.raises(
        ConfigError, match=rf"^the cut-off k is {k!r}; it has to be a whole number from 1$"
    ):
        graded.ndcg([[1, 0]], k)
