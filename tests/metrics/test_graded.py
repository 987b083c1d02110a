"""Metrics of lists against the texts' worked examples, hand-computed numbers, loops, scipy and trec_eval."""

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.metrics import graded

NAN = float("nan")
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
            (
                None,
                graded.linear_gain,
                3 / log2(3) + 1 / 2 + 2 / log2(6),
                3 + 2 / log2(3) + 1 / 2,
                4 + 3 / log2(3) + 1 / log2(5) + 1 / log2(6),
            ),
            (3, graded.linear_gain, 3 / log2(3) + 1 / 2, 3 + 2 / log2(3) + 1 / 2, 3 + 3 / log2(3) + 2 / 2),
            (2, graded.linear_gain, 3 / log2(3), 3 + 2 / log2(3), 3 + 3 / log2(3)),
            (3, graded.exponential_gain, 7 / log2(3) + 1 / 2, 7 + 3 / log2(3) + 1 / 2, 7 + 7 / log2(3) + 3 / 2),
        ],
    )
    def test_dcg_and_ndcg(self, k, gain, value, of_list, of_judged):
        assert one(graded.dcg(self.LIST, k, gain=gain)) == pytest.approx(value, rel=1e-14)
        assert one(graded.ndcg(self.LIST, k, gain=gain)) == pytest.approx(value / of_list, rel=1e-14)
        assert one(graded.ndcg(self.LIST, k, gain=gain, judged=self.JUDGED)) == pytest.approx(
            value / of_judged, rel=1e-14
        )

    def test_half_life_utility(self):
        # half-life 2 and neutral grade 1: utilities 2 at rank 2 and 1 at rank 5, discounts 2 and 16
        value = 2 / 2 + 1 / 16
        assert one(graded.half_life_utility(self.LIST, neutral=1, half_life=2)) == pytest.approx(value)
        assert one(graded.half_life_utility(self.LIST, 4, neutral=1, half_life=2)) == pytest.approx(1)
        options = {"neutral": 1, "half_life": 2}
        assert one(graded.normalized_half_life_utility(self.LIST, **options)) == pytest.approx(value / (2 + 1 / 2))
        assert one(graded.normalized_half_life_utility(self.LIST, judged=self.JUDGED, **options)) == pytest.approx(
            value / (2 + 2 / 2 + 1 / 4)
        )

    @pytest.mark.parametrize(("tied", "right"), [(0.5, 3 + 2), (0, 3), (1, 3 + 4)])
    def test_concordant_pairs_with_ties_of_the_recommender(self, tied, right):
        # 0 and 3 tie, and the three pairs of 1, 0 and 2; of the others 3 above 1, 0 and 2 is right
        value = one(graded.concordant_pairs(self.LIST, scores=[[9, 9, 0.5, 0.5, 0.5]], tied=tied))
        assert value == pytest.approx(right / 9)


class TestNothingRelevant:
    NONE = ((0, 0, NAN), (NAN, NAN, NAN), (0, 2, 0))
    METRICS = (
        graded.reciprocal_rank,
        graded.average_precision,
        graded.precision,
        graded.recall,
        graded.f1,
        graded.ndcg,
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


class TestPadded:
    @pytest.mark.parametrize("lists", [[], [[]], [[], []], [1, 2], [[[1]]], ["a"], [["a"]], [[1], None], None])
    def test_refuses(self, lists):
        with pytest.raises(DataError, match="a list of numbers for every user"):
            graded.padded(lists)


LIST_METRICS = [
    graded.reciprocal_rank,
    graded.mean_reciprocal_rank,
    graded.average_precision,
    graded.mean_average_precision,
    lambda lists: graded.precision(lists, 1),
    lambda lists: graded.recall(lists, 1),
    lambda lists: graded.f1(lists, 1),
    graded.dcg,
    graded.ndcg,
    graded.half_life_utility,
    graded.normalized_half_life_utility,
    graded.spearman,
    graded.concordant_pairs,
]


def refusal(error, function, *arguments, **options):
    """The one line of the error."""
    with pytest.raises(error) as caught:
        function(*arguments, **options)
    message = str(caught.value)
    assert "\n" not in message
    return message


class TestRefuses:
    @pytest.mark.parametrize("metric", LIST_METRICS)
    def test_one_user_without_a_row(self, metric):
        assert "has to be (users, positions)" in refusal(DataError, metric, [1, 0, 1])

    @pytest.mark.parametrize(
        ("lists", "message"),
        [
            ([1, 0, 1], "relevance has shape (3,); it has to be (users, positions), also for a single user"),
            ([[[1]]], "relevance has shape (1, 1, 1); it has to be (users, positions), also for a single user"),
            (1, "relevance has shape (); it has to be (users, positions), also for a single user"),
            (np.empty((0, 3)), "relevance has shape (0, 3); it has to hold a user and a position at least"),
            ([[], []], "relevance has shape (2, 0); it has to hold a user and a position at least"),
            ([[1, 0], [1]], "relevance has rows of different lengths; fill them up with NaN, as `padded` does"),
            ([["1", "0"]], "relevance holds <U1; it has to be an array of numbers"),
            ([[1, None]], "relevance holds object; it has to be an array of numbers"),
            ([[1j]], "relevance holds complex128; it has to be an array of numbers"),
            (
                [[1, 0], [2, -1]],
                "relevance of user row 1 is -1 in column 1 (from 0); a grade has to be a finite number from 0",
            ),
            (
                [[1, 0], [np.inf, 0]],
                "relevance of user row 1 is inf in column 0 (from 0); a grade has to be a finite number from 0",
            ),
            (
                [[1, 0, NAN], [1, NAN, 0]],
                "relevance of user row 1 is nan in column 1 (from 0); NaN may only fill up a list after its end",
            ),
            (
                [[NAN, 0]],
                "relevance of user row 0 is nan in column 0 (from 0); NaN may only fill up a list after its end",
            ),
        ],
    )
    def test_malformed_lists(self, lists, message):
        assert refusal(DataError, graded.ndcg, lists) == message

    @pytest.mark.parametrize("metric", [graded.ndcg, graded.recall])
    @pytest.mark.parametrize(
        ("judged", "message"),
        [
            ([[2, 1]], "judged has 1 users and relevance 2; each needs a row in both"),
            ([2, 1], "judged has shape (2,); it has to be"),
            ([[2, 1], [-1, 2]], "judged of user row 1 is -1 in column 0"),
            ([[2, 1], [NAN, np.inf]], "judged of user row 1 is inf in column 1"),
            ([[2, 1], [2, NAN]], "judged of user row 1 "),
        ],
    )
    def test_judged(self, metric, judged, message):
        assert refusal(DataError, metric, [[2, 1], [2, 1]], 1, judged=judged).startswith(message)

    @pytest.mark.parametrize("metric", [graded.spearman, graded.concordant_pairs])
    @pytest.mark.parametrize(
        ("scores", "message"),
        [
            ([[3, 2]], "scores have shape (1, 2) and relevance (1, 3); they have to be the same"),
            (
                [[2, 3, NAN]],
                "scores of user row 0 is 3 in column 1 (from 0); "
                "lists are in ranked order, so a score may not exceed that before",
            ),
            (
                [[3, NAN, NAN]],
                "scores of user row 0 is nan in column 1 (from 0); NaN has to stand where relevance is NaN, only there",
            ),
            (
                [[3, 2, 1]],
                "scores of user row 0 is 1 in column 2 (from 0); NaN has to stand where relevance is NaN, only there",
            ),
            ([[np.inf, 2, NAN]], "scores of user row 0 is inf in column 0 (from 0); a score has to be a finite number"),
        ],
    )
    def test_scores(self, metric, scores, message):
        assert refusal(DataError, metric, [[2, 1, NAN]], scores=scores) == message

    @pytest.mark.parametrize("k", [0, -1, 1.5, 2.0, "3", True, NAN])
    def test_cutoff(self, k):
        says = f"the cut-off k is {k!r}; it has to be a whole number from 1"
        assert refusal(ConfigError, graded.ndcg, [[1, 0]], k) == says

    @pytest.mark.parametrize("metric", [*TestNothingRelevant.METRICS, graded.dcg, graded.half_life_utility])
    def test_cutoff_of_each_metric(self, metric):
        assert "the cut-off k is 0" in refusal(ConfigError, metric, [[1, 0]], 0)


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

    @pytest.mark.parametrize("k", [1, 5, 10, 50])
    def test_metrics_of_relevant_items(self, ir, random_lists, k):
        qrels, run, lists, judged = random_lists
        for measure, ours in (
            (ir.RR, graded.reciprocal_rank(lists)),
            (ir.RR @ k, graded.reciprocal_rank(lists, k)),
            (ir.AP, graded.average_precision(lists, judged=judged)),
            (ir.P @ k, graded.precision(lists, k)),
            (ir.R @ k, graded.recall(lists, k, judged=judged)),
            (ir.P(rel=2) @ k, graded.precision(graded.binary(lists, 2), k)),
            (ir.AP(rel=2), graded.average_precision(graded.binary(lists, 2), judged=graded.binary(judged, 2))),
        ):
            assert ours.tolist() == pytest.approx(self.theirs(ir, measure, qrels, run), rel=1e-12), measure
        assert graded.mean_reciprocal_rank(lists) == pytest.approx(ir.calc_aggregate([ir.RR], qrels, run)[ir.RR])

    @pytest.mark.parametrize("k", [None, 1, 5, 10, 50])
    def test_ndcg(self, ir, random_lists, k):
        qrels, run, lists, judged = random_lists
        linear = ir.nDCG if k is None else ir.nDCG @ k
        exponential = ir.nDCG(gains={0: 0, 1: 1, 2: 3, 3: 7})
        exponential = exponential if k is None else exponential @ k
        ours = graded.ndcg(lists, k, judged=judged)
        assert ours.tolist() == pytest.approx(self.theirs(ir, linear, qrels, run), rel=1e-12)
        ours = graded.ndcg(lists, k, gain=graded.exponential_gain, judged=judged)
        assert ours.tolist() == pytest.approx(self.theirs(ir, exponential, qrels, run), rel=1e-12)
