"""Metrics of lists against the texts' worked examples, hand-computed numbers, loops, scipy and trec_eval."""

import re
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.metrics import graded

NAN, LINEAR, L3 = float("nan"), graded.linear_gain, log2(3)
CLOSE = {"rel": 1e-12, "abs": 1e-14}

# lists of 1 … 12 grades in ranked order, and grades that are judged but not on the list
grades = st.lists(st.sampled_from([0, 0, 1, 2, 2.5, 4]), min_size=1, max_size=12)
more = st.lists(st.sampled_from([0, 1, 3, 4]), max_size=6)
cutoffs = st.integers(1, 15)


def one(values):
    """The value of the only user."""
    [value] = values.tolist()
    return value


class TestByHand:
    """One list of grades 0, 3, 1, 0, 2, whose user has another two of grade 3 and 1 that are not on it."""

    LIST = ((0, 3, 1, 0, 2),)
    JUDGED = ((1, 3, 0, 2, 1, 3, 0),)

    # the ideal lists are 3, 2, 1, 0, 0 and 3, 3, 2, 1, 1, 0, 0; the discount of rank 3 is log2 4 = 2
    @pytest.mark.parametrize(
        ("k", "gain", "value", "of_list", "of_judged"),
        [
            (None, LINEAR, 3 / L3 + 1 / 2 + 2 / log2(6), 3 + 2 / L3 + 1 / 2, 4 + 3 / L3 + 1 / log2(5) + 1 / log2(6)),
            (3, LINEAR, 3 / L3 + 1 / 2, 3 + 2 / L3 + 1 / 2, 3 + 3 / L3 + 2 / 2),
            (2, LINEAR, 3 / L3, 3 + 2 / L3, 3 + 3 / L3),
            (3, graded.exponential_gain, 7 / L3 + 1 / 2, 7 + 3 / L3 + 1 / 2, 7 + 7 / L3 + 3 / 2),
        ],
    )
    def test_dcg_and_ndcg(self, k, gain, value, of_list, of_judged):
        found = graded.dcg(self.LIST, k, gain=gain), graded.ndcg(self.LIST, k, gain=gain)
        found += (graded.ndcg(self.LIST, k, gain=gain, judged=self.JUDGED),)
        assert [*map(one, found)] == pytest.approx([value, value / of_list, value / of_judged], rel=1e-14)

    def test_half_life_utility(self):
        # half-life 2 and neutral grade 1: utilities 2 at rank 2 and 1 at rank 5, discounts 2 and 16
        value, options = 2 / 2 + 1 / 16, {"neutral": 1, "half_life": 2}
        assert one(graded.half_life_utility(self.LIST, **options)) == pytest.approx(value)
        assert one(graded.half_life_utility(self.LIST, 4, **options)) == pytest.approx(1)
        normalized = graded.normalized_half_life_utility
        assert one(normalized(self.LIST, **options)) == pytest.approx(value / (2 + 1 / 2))
        assert one(normalized(self.LIST, judged=self.JUDGED, **options)) == pytest.approx(value / (2 + 2 / 2 + 1 / 4))

    @pytest.mark.parametrize(("tied", "right"), [(0.5, 3 + 2), (0, 3), (1, 3 + 4)])
    def test_concordant_pairs_with_ties_of_the_recommender(self, tied, right):
        # 0 and 3 tie, and the three pairs of 1, 0 and 2; of the others 3 above 1, 0 and 2 is right
        value = one(graded.concordant_pairs(self.LIST, scores=[[9, 9, 0.5, 0.5, 0.5]], tied=tied))
        assert value == pytest.approx(right / 9)


class TestNothingRelevant:
    NONE = ((0, 0, NAN), (NAN, NAN, NAN), (0, 2, 0))
    METRICS = (
        *(graded.reciprocal_rank, graded.average_precision, graded.precision, graded.recall, graded.f1, graded.ndcg),
        graded.normalized_half_life_utility,
    )

    @pytest.mark.parametrize("metric", METRICS)
    def test_is_0_unless_said_otherwise(self, metric):
        assert metric(self.NONE, 3)[:2].tolist() == [0, 0]
        assert metric(self.NONE, 3, nothing_relevant=1)[:2].tolist() == [1, 1]
        assert np.isnan(metric(self.NONE, 3, nothing_relevant=NAN)[:2]).all()

    def test_means_leave_nan_out(self):
        assert graded.mean_reciprocal_rank(self.NONE) == pytest.approx(1 / 6)
        assert graded.mean_reciprocal_rank(self.NONE, nothing_relevant=NAN) == 1 / 2
        assert graded.mean_average_precision(self.NONE, nothing_relevant=1) == pytest.approx((1 + 1 + 1 / 2) / 3)
        assert np.isnan(graded.mean_reciprocal_rank([[0]], nothing_relevant=NAN))

    @pytest.mark.parametrize("metric", [graded.spearman, graded.concordant_pairs])
    def test_nothing_to_order(self, metric):
        lists = [[2, 2, 2], [1, NAN, NAN], [NAN, NAN, NAN], [2, 1, NAN]]
        assert np.array_equal(metric(lists), [NAN, NAN, NAN, 1], equal_nan=True)
        assert metric(lists, nothing_to_order=0).tolist() == [0, 0, 0, 1]


# the definitions, as loops


def loop_dcg(listed, k, gain, discount):
    return sum(gain(grade) / discount(rank) for rank, grade in enumerate(listed[:k], start=1))


def loop_ndcg(listed, k, gain, discount, judged):
    ideal = loop_dcg(sorted(judged, reverse=True), k, gain, discount)
    return loop_dcg(listed, k, gain, discount) / ideal if ideal else 0


LOOP_GAINS = [
    (graded.linear_gain, lambda grade: grade),
    (graded.exponential_gain, lambda grade: 2**grade - 1),
    (graded.gain_above(2), lambda grade: max(grade - 2, 0)),
]
LOOP_DISCOUNTS = [
    (graded.log2_discount, lambda rank: log2(rank + 1)),
    (graded.log_discount_from(2), lambda rank: 1 if rank <= 2 else log2(rank)),
    (graded.log_discount_from(3), lambda rank: 1 if rank <= 3 else log2(rank) / log2(3)),
    (graded.half_life_discount(5), lambda rank: 2 ** ((rank - 1) / 4)),
]


class TestAgainstLoops:
    @pytest.mark.parametrize(("gain", "loop_gain"), LOOP_GAINS)
    @pytest.mark.parametrize(("discount", "loop_discount"), LOOP_DISCOUNTS)
    @given(users=st.lists(st.tuples(grades, more), min_size=1, max_size=5), k=cutoffs)
    def test_dcg_and_ndcg(self, gain, loop_gain, discount, loop_discount, users, k):
        relevance = graded.padded([listed for listed, _ in users])
        judged = graded.padded([listed + others for listed, others in users])
        values = graded.dcg(relevance, k, gain=gain, discount=discount)
        normalised = graded.ndcg(relevance, k, gain=gain, discount=discount, judged=judged)
        for row, (listed, others) in enumerate(users):
            expected = loop_dcg(listed, k, loop_gain, loop_discount)
            assert values[row] == pytest.approx(expected, **CLOSE)
            expected = loop_ndcg(listed, k, loop_gain, loop_discount, listed + others)
            assert normalised[row] == pytest.approx(expected, **CLOSE)


class TestAgainstScipy:
    @given(st.lists(grades, min_size=1, max_size=4), st.data())
    def test_spearman_and_pairs(self, lists, data):
        scores = [data.draw(st.lists(st.integers(-3, 3), min_size=len(each), max_size=len(each))) for each in lists]
        scores = [sorted(each, reverse=True) for each in scores]
        correlations = graded.spearman(graded.padded(lists), scores=graded.padded(scores))
        fractions = graded.concordant_pairs(graded.padded(lists), scores=graded.padded(scores))
        for row, (listed, scored) in enumerate(zip(lists, scores, strict=True)):
            if len(set(listed)) == 1:
                assert np.isnan(correlations[row])
                assert np.isnan(fractions[row])
                continue
            # Somers' D: (concordant - discordant) / pairs of different grades
            with np.errstate(invalid="ignore"):  # in SciPy's p-value
                difference = stats.somersd(listed, scored).statistic if len(set(scored)) > 1 else 0
            assert fractions[row] == pytest.approx((1 + difference) / 2, **CLOSE)
            if len(set(scored)) == 1:
                assert np.isnan(correlations[row])
            else:
                assert correlations[row] == pytest.approx(stats.spearmanr(listed, scored).statistic, **CLOSE)


class TestProperties:
    NORMALISED = (
        *TestNothingRelevant.METRICS,
        lambda lists, k, **more: graded.ndcg(
            lists, k, gain=graded.exponential_gain, discount=graded.log_discount_from(2), **more
        ),
    )

    @pytest.mark.parametrize("metric", NORMALISED)
    @given(users=st.lists(st.tuples(grades, more), min_size=1, max_size=4), k=cutoffs)
    def test_lies_in_0_to_1_and_users_do_not_meet(self, metric, users, k):
        relevance = graded.padded([listed for listed, _ in users])
        judged = graded.padded([listed + others for listed, others in users])
        values = metric(relevance, k, judged=judged)
        assert ((values >= 0) & (values <= 1)).all()
        alone = [one(metric([listed], k, judged=[listed + others])) for listed, others in users]
        assert values.tolist() == pytest.approx(alone, **CLOSE)

    @pytest.mark.parametrize("metric", NORMALISED)
    @given(listed=grades.filter(any), k=cutoffs)
    def test_the_ideal_order_is_best(self, metric, listed, k):
        best = one(metric(graded.ideal_order([listed]), k))
        assert best >= one(metric([listed], k)) - 1e-12
        if metric not in (graded.precision, graded.recall, graded.f1, graded.normalized_half_life_utility):
            assert best == pytest.approx(1)


@pytest.mark.parametrize("lists", [[], [[]], [1, 2], [[[1]]], [["a"]], [[1], None], None])
def test_padded_refuses(lists):
    with pytest.raises(DataError, match="a list of numbers for every user"):
        graded.padded(lists)


class TestRefuses:
    @pytest.mark.parametrize(
        ("lists", "message"),
        [
            ([1, 0, 1], "has shape (3,); it has to be (users, positions), also for a single user"),
            (1, "has shape (); it has to be (users, positions), also for a single user"),
            (np.empty((0, 3)), "has shape (0, 3); it has to hold a user and a position at least"),
            ([[1, 0], [1]], "has rows of different lengths"),
            ([["1", "0"]], "holds <U1; it has to be an array of numbers"),
            ([[1, None]], "holds object; it has to be an array of numbers"),
            ([[1, 0], [2, -1]], "of user row 1 is -1 in column 1 (from 0); a grade has to be a finite number from 0"),
            (
                [[1, 0], [np.inf, 0]],
                "of user row 1 is inf in column 0 (from 0); a grade has to be a finite number from 0",
            ),
            ([[1, 0, NAN], [1, NAN, 0]], "of user row 1 is nan in column 1 (from 0); NaN may only fill up a list"),
        ],
    )
    def test_malformed_lists(self, lists, message):
        with pytest.raises(DataError, match=f"^relevance {re.escape(message)}"):
            graded.ndcg(lists)

    @pytest.mark.parametrize(
        ("judged", "message"),
        [
            ([[2, 1]], "judged has 1 users and relevance 2; each needs a row in both"),
            ([2, 1], "judged has shape (2,); it has to be"),
            ([[2, 1], [-1, 2]], "judged of user row 1 is -1 in column 0"),
            ([[2, 1], [2, NAN]], "judged of user row 1 lacks grades that are on the list"),
            ([[2], [3]], "judged of user row 0 lacks grades that are on the list"),
        ],
    )
    def test_judged(self, judged, message):
        with pytest.raises(DataError, match=f"^{re.escape(message)}"):
            graded.recall([[2, 1], [2, 1]], 1, judged=judged)

    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([[3, 2]], "have shape (1, 2) and relevance (1, 3); they have to be the same"),
            ([[2, 3, NAN]], "of user row 0 is 3 in column 1 (from 0); lists are in ranked order"),
            ([[3, NAN, NAN]], "of user row 0 is nan in column 1 (from 0); NaN has to stand where relevance is NaN"),
            ([[3, 2, 1]], "of user row 0 is 1 in column 2 (from 0); NaN has to stand where relevance is NaN"),
            ([[np.inf, 2, NAN]], "of user row 0 is inf in column 0 (from 0); a score has to be a finite number"),
        ],
    )
    def test_scores(self, scores, message):
        with pytest.raises(DataError, match=f"^scores {re.escape(message)}"):
            graded.spearman([[2, 1, NAN]], scores=scores)

    @pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, "3", True, NAN])
    def test_cutoff(self, k):
        with pytest.raises(ConfigError, match=rf"^the cut-off k is {k!r}; it has to be a whole number from 1$"):
            graded.ndcg([[1, 0]], k)


@pytest.fixture(scope="module")
def ir():
    return pytest.importorskip("ir_measures", reason="ir-measures is not installed")


@pytest.fixture(scope="module")
def random_lists():
    """What ir-measures takes and what we take: lists of 1 … 30 of 40 items, of which each user judged 0 … 20."""
    rng = np.random.default_rng(7)
    qrels, run, lists, judgements = {}, {}, [], []
    for user in range(200):
        judged = rng.choice(40, size=rng.integers(0, 21), replace=False)
        grade = {f"i{item}": int(g) for item, g in zip(judged, rng.integers(0, 4, len(judged)), strict=True)}
        listed = [f"i{item}" for item in rng.permutation(40)[: rng.integers(1, 31)]]
        qrels[f"u{user}"] = grade or {"i0": 0}  # ir-measures leaves out users without a judgement
        run[f"u{user}"] = {item: float(-place) for place, item in enumerate(listed)}
        lists.append([grade.get(item, 0) for item in listed])
        judgements.append(list(grade.values()))
    return qrels, run, graded.padded(lists), graded.padded(judgements)


class TestAgainstTrecEval:
    """trec_eval, by ir-measures, on random lists."""

    def theirs(self, ir, measure, qrels, run):
        values = {result.query_id: result.value for result in ir.iter_calc([measure], qrels, run)}
        return [values[user] for user in qrels]

    @pytest.mark.parametrize("k", [1, 5, 50])
    def test_metrics_of_relevant_items(self, ir, random_lists, k):
        qrels, run, lists, judged = random_lists
        binary = [graded.binary(each, 2) for each in (lists, judged)]
        for measure, ours in (
            (ir.RR, graded.reciprocal_rank(lists)),
            (ir.RR @ k, graded.reciprocal_rank(lists, k)),
            (ir.AP, graded.average_precision(lists, judged=judged)),
            (ir.P @ k, graded.precision(lists, k)),
            (ir.R @ k, graded.recall(lists, k, judged=judged)),
            (ir.P(rel=2) @ k, graded.precision(binary[0], k)),
            (ir.AP(rel=2), graded.average_precision(binary[0], judged=binary[1])),
        ):
            assert ours.tolist() == pytest.approx(self.theirs(ir, measure, qrels, run), rel=1e-12), measure
        assert graded.mean_reciprocal_rank(lists) == pytest.approx(ir.calc_aggregate([ir.RR], qrels, run)[ir.RR])

    @pytest.mark.parametrize("k", [None, 1, 5, 50])
    def test_ndcg(self, ir, random_lists, k):
        qrels, run, lists, judged = random_lists
        for gain, measure in (
            (graded.linear_gain, ir.nDCG),
            (graded.exponential_gain, ir.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})),
        ):
            ours = graded.ndcg(lists, k, gain=gain, judged=judged)
            theirs = self.theirs(ir, measure if k is None else measure @ k, qrels, run)
            assert ours.tolist() == pytest.approx(theirs, rel=1e-12)
