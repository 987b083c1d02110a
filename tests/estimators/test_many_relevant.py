"""Several relevant items: against rankings of items, in which every metric is read off the list, place by place."""

from functools import cache
from math import log2

import numpy as np
import pytest
from scipy import stats

from sampled_metrics.errors import DataError
from sampled_metrics.estimators import estimator
from sampled_metrics.estimators.many_relevant import fit_many
from sampled_metrics.metrics.held_out import metric

# --- the metrics of a list, from their definitions --------------------------------------------------------------------


def recall_at(ranked, k):
    return sum(ranked[:k]) / sum(ranked)


def precision_at(ranked, k):
    return sum(ranked[:k]) / k


def hit_rate_at(ranked, k):
    return float(any(ranked[:k]))


def average_precision_at(ranked, k=None):
    k = len(ranked) if k is None else k
    return sum(sum(ranked[:place]) / place for place in range(1, k + 1) if ranked[place - 1 : place] == [True]) / min(
        sum(ranked), k
    )


def reciprocal_rank_at(ranked, k=None):
    return next((1 / place for place, is_relevant in enumerate(ranked[:k], 1) if is_relevant), 0.0)


def gain(relevant):
    return sum(1 / log2(place + 1) for place, is_relevant in enumerate(relevant, 1) if is_relevant)


def ndcg_at(ranked, k=None):
    return gain(ranked[:k]) / gain(sorted(ranked, reverse=True)[:k])


def auc_of(ranked):
    pairs = [
        (place < other)
        for place, is_relevant in enumerate(ranked)
        if is_relevant
        for other, is_other in enumerate(ranked)
        if not is_other
    ]
    return sum(pairs) / len(pairs)


DEFINITIONS = {
    "recall@3": lambda ranked: recall_at(ranked, 3),
    "recall@10": lambda ranked: recall_at(ranked, 10),
    "precision@1": lambda ranked: precision_at(ranked, 1),
    "precision@5": lambda ranked: precision_at(ranked, 5),
    "hit-rate@2": lambda ranked: hit_rate_at(ranked, 2),
    "ap": average_precision_at,
    "ap@3": lambda ranked: average_precision_at(ranked, 3),
    "ap@10": lambda ranked: average_precision_at(ranked, 10),
    "mrr": reciprocal_rank_at,
    "mrr@4": lambda ranked: reciprocal_rank_at(ranked, 4),
    "ndcg": ndcg_at,
    "ndcg@2": lambda ranked: ndcg_at(ranked, 2),
    "ndcg@10": lambda ranked: ndcg_at(ranked, 10),
    "auc": auc_of,
}
LABELS = list(DEFINITIONS)
METRICS = [metric(label) for label in LABELS]


def correct_many(estimator, metrics, above, *sizes, **options):
    """The estimates, of every user once."""
    return fit_many(estimator, metrics, above, *sizes, **options).estimate(np.ones(len(np.atleast_2d(above))))


def mean_of_lists(lists):
    """Every metric, as the mean over users of what their list shows."""
    return np.array([np.mean([of_list(ranked) for ranked in lists]) for of_list in DEFINITIONS.values()])


# --- users and their items --------------------------------------------------------------------------------------------


class Users:
    """Users with 1 … 6 relevant items and some irrelevant ones, each item with a score."""

    def __init__(self, number, irrelevant, seed, *, lift=1.5):
        rng = np.random.default_rng(seed)
        self.irrelevant = [int(each) for each in np.broadcast_to(irrelevant, number)]
        self.scores = [
            (rng.normal(lift, 1, size=1 + user % 6), rng.normal(0, 1, size=pool))
            for user, pool in enumerate(self.irrelevant)
        ]

    def __len__(self):
        return len(self.scores)

    def lists(self):
        """Whether each item is relevant, best first, of every user: all items ranked."""
        return [self.ranked(relevant, irrelevant) for relevant, irrelevant in self.scores]

    @staticmethod
    def ranked(relevant, irrelevant):
        items = [(score, True) for score in relevant] + [(score, False) for score in irrelevant]
        return [is_relevant for _, is_relevant in sorted(items, reverse=True)]

    def sampled_lists(self, negatives, rng, *, replacement=False):
        """The lists of the relevant items and some irrelevant ones picked at random."""
        sizes = np.broadcast_to(negatives, len(self))
        return [
            self.ranked(relevant, rng.choice(irrelevant, size=m, replace=replacement))
            for (relevant, irrelevant), m in zip(self.scores, sizes, strict=True)
        ]


def above_of(lists):
    """What `correct_many` takes: irrelevant items above each relevant one, rows filled up with -1."""
    rows = []
    for ranked in lists:
        places = [place for place, is_relevant in enumerate(ranked) if is_relevant]
        rows.append([place - earlier for earlier, place in enumerate(places)])
    widest = max(map(len, rows))
    return np.array([row + [-1] * (widest - len(row)) for row in rows])


def test_above_of_by_hand():
    assert above_of([[True, False, False, True, True], [False, True]]).tolist() == [[0, 2, 2], [1, -1, -1]]


# --- every irrelevant item sampled ------------------------------------------------------------------------------------

UNBIASED_THERE = ["uncorrected", "rank-estimate", "bv-0", "bv-1", "bv-0.1", "cls", "mle", "mle-1"]


@pytest.mark.parametrize("name", UNBIASED_THERE)
class TestAllIrrelevantItems:
    def test_gives_the_metrics_of_the_full_ranking(self, name):
        users = Users(60, 25, seed=1)
        lists = users.lists()
        found = correct_many(estimator(name), METRICS, above_of(lists), 25, 25)
        np.testing.assert_allclose(found, mean_of_lists(lists), atol=1e-9)

    def test_of_users_who_have_different_numbers_of_them(self, name):
        pools = np.array([4, 9, 17] * 12)
        users = Users(36, pools, seed=2)
        lists = users.lists()
        found = correct_many(estimator(name), METRICS, above_of(lists), pools, pools)
        np.testing.assert_allclose(found, mean_of_lists(lists), atol=1e-9)

    def test_one_relevant_item_each(self, name):
        lists = [[False] * above + [True] + [False] * (12 - above) for above in (0, 3, 3, 12)]
        found = correct_many(estimator(name), METRICS, above_of(lists), 12, 12)
        np.testing.assert_allclose(found, mean_of_lists(lists), atol=1e-9)

    def test_a_user_whose_relevant_items_are_all_first(self, name):
        found = correct_many(estimator(name), METRICS, [[0, 0, 0]], 30, 30)
        np.testing.assert_allclose(found, mean_of_lists([[True] * 3 + [False] * 30]), atol=1e-9)


# --- a part of them sampled -------------------------------------------------------------------------------------------


def in_a_loop(lists, sizes, pools, weight):
    """Mean over users of the sum over their relevant items of what `weight` says, for each metric."""
    total = np.zeros(len(LABELS))
    for row, m, pool in zip(above_of(lists).tolist(), sizes, pools, strict=True):
        there = [x for x in row if x >= 0]
        for position, x in enumerate(there, 1):
            total += [weight(label, x, position, len(there), m, pool) for label in LABELS]
    return total / len(lists)


def worth(label, better, position, relevant, pool):
    """What the relevant item in a position adds to a metric, with `better` irrelevant ones above it (eqs 2-6)."""
    name, _, cutoff = label.partition("@")
    rank, k = better + position, int(cutoff) if cutoff else 10**9
    inside = rank <= k
    return {
        "recall": inside / relevant,
        "precision": inside / k,
        "hit-rate": float(inside and position == 1),
        "ap": inside * position / rank / min(relevant, k),
        "mrr": inside / rank if position == 1 else 0.0,
        "ndcg": inside / log2(rank + 1) / sum(1 / log2(i + 1) for i in range(1, min(relevant, k) + 1)),
        "auc": (pool - better) / pool / relevant,
    }[name]


def test_the_share_of_a_position_adds_up_to_the_metric_of_a_list():
    # of the tests' own two definitions
    one_list = [[False, True, False, True, True, False, False]]
    found = in_a_loop(one_list, [4], [4], lambda label, x, i, relevant, m, pool: worth(label, x, i, relevant, pool))
    np.testing.assert_allclose(found, mean_of_lists(one_list), atol=1e-12)


@pytest.mark.parametrize("replacement", [True, False])
class TestPartOfThem:
    SIZES, POOLS = [5, 8, 8, 11], [20, 20, 40, 40]

    def sampled(self, replacement, users=48, seed=3):
        pools, sizes = self.POOLS * (users // 4), self.SIZES * (users // 4)
        everyone = Users(users, pools, seed)
        return everyone.sampled_lists(sizes, np.random.default_rng(seed), replacement=replacement), sizes, pools

    def test_uncorrected_is_what_the_sampled_lists_show(self, replacement):
        lists, sizes, pools = self.sampled(replacement)
        found = correct_many(estimator("uncorrected"), METRICS, above_of(lists), sizes, pools, replacement=replacement)
        np.testing.assert_allclose(found, mean_of_lists(lists), atol=1e-12)

    def test_rank_estimate_scales_each_number_up(self, replacement):
        lists, sizes, pools = self.sampled(replacement)

        def weight(label, x, position, relevant, m, pool):
            return worth(label, pool * x // m, position, relevant, pool)

        found = correct_many(
            estimator("rank-estimate"), METRICS, above_of(lists), sizes, pools, replacement=replacement
        )
        np.testing.assert_allclose(found, in_a_loop(lists, sizes, pools, weight), atol=1e-12)

    @pytest.mark.parametrize("gamma", [1, 0.1])
    def test_bias_variance_has_the_weights_of_eq_25(self, gamma, replacement):
        lists, sizes, pools = self.sampled(replacement)

        def weight(label, x, position, relevant, m, pool):
            better = np.arange(pool + 1)[:, np.newaxis]
            if replacement:
                chances = stats.binom.pmf(np.arange(m + 1), m, better / pool)
            else:
                chances = stats.hypergeom.pmf(np.arange(m + 1), pool, better, m)
            f = np.array([worth(label, b, position, relevant, pool) for b in range(pool + 1)])
            gram = chances.T @ chances / (pool + 1)
            penalty = np.diag(chances.sum(axis=0) / (pool + 1))
            return np.linalg.solve((1 - gamma) * gram + gamma * penalty, chances.T @ f / (pool + 1))[x]

        some = slice(0, 12)
        found = correct_many(
            estimator(f"bv-{gamma}"), METRICS, above_of(lists[some]), sizes[some], pools[some], replacement=replacement
        )
        np.testing.assert_allclose(found, in_a_loop(lists[some], sizes[some], pools[some], weight), atol=1e-9)


TOP_HEAVY = [label for label in LABELS if label != "auc"]
NAMES = ["uncorrected", "bv-0.01", "mle", "cls"]


@cache
def truth_and_estimates():
    """Metrics of full rankings with 400 irrelevant items, and (runs, metrics) estimates from 40 of them."""
    users, rng = Users(600, 400, seed=5), np.random.default_rng(6)
    runs = {name: [] for name in NAMES}
    for _ in range(12):
        above = above_of(users.sampled_lists(40, rng))
        for name, estimates in runs.items():
            estimates.append(correct_many(estimator(name), METRICS, above, 40, 400))
    return mean_of_lists(users.lists()), {name: np.array(estimates) for name, estimates in runs.items()}


class TestTruth:
    # bv-0.01 takes some bias for less variance: half as much as that of cls, at cut-offs that one in ten cannot show
    @pytest.mark.parametrize(("name", "at_most"), [("bv-0.01", 0.4), ("mle", 0.15)])
    def test_corrected_is_much_closer_than_uncorrected(self, name, at_most):
        truth, runs = truth_and_estimates()
        off, off_uncorrected = (np.abs(runs[each].mean(axis=0) - truth) for each in (name, "uncorrected"))
        ratio = dict(zip(LABELS, off / off_uncorrected, strict=True))
        assert {label: ratio[label] for label in TOP_HEAVY if ratio[label] > at_most} == {}
        assert np.median(list(ratio.values())) < 0.1

    def test_auc_needs_no_correction(self):
        truth, runs = truth_and_estimates()
        of_auc = runs["uncorrected"][:, LABELS.index("auc")]
        error = of_auc.std(ddof=1) / np.sqrt(len(of_auc))
        assert abs(of_auc.mean() - truth[LABELS.index("auc")]) < 4 * error
        np.testing.assert_allclose(runs["cls"][:, LABELS.index("auc")], of_auc, atol=1e-6)


class TestExpectation:
    def test_of_linear_estimates_is_what_each_position_expects(self):
        # mean over 100 repetitions, against Σ_b P(x | b) w_x with the true b of every relevant item
        users = Users(30, 50, seed=8)
        m, pool = 8, 50
        weights = {
            (label, position, relevant): [worth(label, pool * x // m, position, relevant, pool) for x in range(m + 1)]
            for label in LABELS
            for relevant in range(1, 7)
            for position in range(1, relevant + 1)
        }

        def expected(label, better, position, relevant, _, __):
            return stats.hypergeom.pmf(np.arange(m + 1), pool, better, m) @ weights[label, position, relevant]

        wanted = in_a_loop(users.lists(), [m] * 30, [pool] * 30, expected)
        rng = np.random.default_rng(9)
        runs = np.array(
            [
                correct_many(estimator("rank-estimate"), METRICS, above_of(users.sampled_lists(m, rng)), m, pool)
                for _ in range(100)
            ]
        )
        error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
        off = (runs.mean(axis=0) - wanted) / error
        assert {label: z for label, z in zip(LABELS, off, strict=True) if abs(z) > 4} == {}


class TestShapes:
    def test_an_estimate_for_each_metric(self):
        assert correct_many(estimator("mle"), METRICS, [[0, 3], [2, -1]], 5, 20).shape == (len(METRICS),)

    def test_one_user_as_a_row(self):
        found = correct_many(estimator("uncorrected"), METRICS, [1, 2, 2], 5, 20)
        np.testing.assert_allclose(
            found, mean_of_lists([[False, True, False, True, True, False, False, False]]), atol=1e-12
        )

    def test_columns_that_no_user_needs_change_nothing(self):
        narrow = correct_many(estimator("cls"), METRICS, [[0, 3], [2, -1]], 5, 20)
        wide = correct_many(estimator("cls"), METRICS, [[0, 3, -1, -1], [2, -1, -1, -1]], 5, 20)
        assert narrow.tolist() == wide.tolist()

    def test_order_of_users_changes_nothing(self):
        above, m, pool = np.array([[0, 3, 3], [2, -1, -1], [1, 1, -1]]), np.array([5, 6, 7]), np.array([20, 9, 30])
        found = correct_many(estimator("bv-0.1"), METRICS, above, m, pool)
        turned = correct_many(estimator("bv-0.1"), METRICS, above[::-1], m[::-1], pool[::-1])
        np.testing.assert_allclose(found, turned, atol=1e-12)


class TestRefusals:
    @pytest.mark.parametrize(
        ("above", "says"),
        [
            ([[0, 1], [-1, -1]], "user 2: has no relevant item"),
            ([[0, 1], [1, 2], [-1, 2]], "user 3: has -1 before its last relevant item"),
            ([[0, 1], [3, 2]], "user 2: has fewer sampled items above a worse item"),
            ([[0, 1], [3, 6]], "user 2: "),
            ([[0, -1], [1, -1], [2, -1], [0, 6]], "user 4: "),
            ([[6, 6]], "user 1: "),
            ([[]], "user 1: has no relevant item"),
        ],
    )
    def test_counts_that_cannot_be(self, above, says):
        with pytest.raises(DataError) as refused:
            correct_many(estimator("uncorrected"), METRICS, above, 5, 20)
        assert str(refused.value).startswith(says)
        assert "\n" not in str(refused.value)

    def test_more_sampled_than_there_are(self):
        with pytest.raises(DataError, match="without replacement") as refused:
            correct_many(estimator("uncorrected"), METRICS, [[0, 1], [0, -1]], [5, 21], 20)
        assert "2" in str(refused.value).split(":")[0]
        correct_many(estimator("uncorrected"), METRICS, [[0, 1], [0, -1]], [5, 21], 20, replacement=True)

    def test_nobody(self):
        with pytest.raises(DataError):
            correct_many(estimator("uncorrected"), METRICS, np.empty((0, 3)), 5, 20)
