"""Each algorithm against what defines it, such as a ridge regression or the paper's loss."""

import numpy as np
import pytest
from ranked_by_argsort import split_of
from scipy.sparse import csr_array, csr_matrix

from sampled_metrics.core.metrics import metric
from sampled_metrics.errors import ConfigError
from sampled_metrics_study.config import check_recommender
from sampled_metrics_study.recommenders.ease import EASE
from sampled_metrics_study.recommenders.ials import IALS
from sampled_metrics_study.recommenders.implicit_library import FIXED, ImplicitLibrary
from sampled_metrics_study.recommenders.ranking import rank_by_model
from sampled_metrics_study.recommenders.simple import RandomScores

# implicit looks at how many threads the linear algebra has, which depends on the environment of the
# tests
pytestmark = pytest.mark.filterwarnings("ignore:.*(OpenBLAS|MKL):RuntimeWarning")


def made_up(users, items, share=0.3):
    return (np.random.default_rng(3).random((users, items)) < share).astype(float)


def ease(dense, regularization):
    return np.asarray(
        EASE(regularization).fit(csr_array(dense), np.random.default_rng(0)).similarity
    )


@pytest.mark.parametrize("regularization", [0.5, 500])
def test_each_column_of_ease_is_a_ridge_regression_on_the_other_items(
    regularization,
):
    """Column j minimises ‖x_j - X b‖² + λ ‖b‖² with b_j = 0.

    These are the normal equations of the other items alone.
    """
    dense = made_up(40, 12)
    weights = ease(dense, regularization)
    for j in range(12):
        others = np.delete(np.arange(12), j)
        gram = dense[:, others].T @ dense[:, others] + regularization * np.eye(11)
        expected = np.linalg.solve(gram, dense[:, others].T @ dense[:, j])
        np.testing.assert_allclose(weights[others, j], expected, rtol=1e-10)
        assert weights[j, j] == 0


@pytest.mark.parametrize("regularization", [1e-300, 1e-15])
def test_ease_refuses_a_regularization_that_leaves_no_digit(regularization):
    with pytest.raises(ConfigError, match="regularization"):
        ease(made_up(6, 12, 0.5), regularization)


D = 3
DEVIATION = 0.1
START = {size: np.random.default_rng(size).normal(size=(size, D)) for size in (14, 10)}


class StreamOfStart:
    """A random stream that is asked for normal numbers, and gives those of START."""

    def normal(self, scale, size):
        return scale * START[size[0]].copy()


def solve(fixed, events, alpha, weight):
    """The factors that minimise the paper's loss, given those of the other side.

    They are a ridge regression for each row.
    """
    gram = alpha * fixed.T @ fixed + weight * np.eye(D)
    rows = []
    for row in events:
        with_event = fixed[row > 0]
        rows.append(np.linalg.solve(gram + with_event.T @ with_event, with_event.sum(axis=0)))
    return np.array(rows)


@pytest.mark.parametrize(("alpha", "weight"), [(0.2, 0.5), (1, 0.1), (0.05, 1)])
@pytest.mark.parametrize("iterations", [1, 6])
def test_ials_takes_the_same_steps_as_a_plain_solver_of_the_papers_loss(iterations, alpha, weight):
    training = made_up(14, 10)
    training[3] = 0  # a user without events
    # the library's factors at its start are these times √(1 + α)
    items = DEVIATION * START[10] / np.sqrt(1 + alpha)
    for _ in range(iterations):
        users = solve(items, training, alpha, weight)
        items = solve(users, training.T, alpha, weight)
    model = IALS(D, weight, alpha, iterations, DEVIATION).fit(csr_array(training), StreamOfStart())
    # implicit keeps the weights of events in single precision
    np.testing.assert_allclose(model.user_factors, users, rtol=0, atol=1e-6 * np.abs(users).max())
    np.testing.assert_allclose(model.item_factors, items, rtol=0, atol=1e-6 * np.abs(items).max())


def test_ials_gives_the_same_bytes_on_any_number_of_threads():
    training = csr_array(made_up(3000, 500, 0.05))
    factors = []
    for threads in (1, 2, 4):
        model = IALS(16).fit(training, np.random.default_rng(0), threads)
        factors.append(model.user_factors.tobytes() + model.item_factors.tobytes())
    assert factors[0] == factors[1] == factors[2]


FACTORS = ("als", "bpr", "lmf")
OPTIONS = {name: {"factors": 6} for name in FACTORS} | {
    name: {"K": 5} for name in ("cosine", "tfidf", "bm25")
}


@pytest.mark.parametrize("model", OPTIONS)
def test_models_score_as_in_implicit(model):
    """Factor models up to single precision, in which implicit multiplies; biases included.

    What implicit does not list has no neighbour among the user's items, and scores 0.
    """
    # so similarities differ from their transpose
    training = csr_array(made_up(60, 40, np.linspace(0.05, 0.5, 40)))
    ours = ImplicitLibrary(model, OPTIONS[model])
    scores = ours.fit(training, np.random.default_rng(0)).scores(slice(None), training)
    theirs = ours._trained(training, int(np.random.default_rng(0).integers(2**31)))
    events = csr_matrix(training, dtype=np.float32)
    expected = np.zeros(scores.shape)
    for user in range(60):
        items, values = theirs.recommend(user, events[user], N=40, filter_already_liked_items=False)
        expected[user, items] = values
        assert model not in FACTORS or len(items) == 40
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if model in FACTORS else {"rtol": 1e-14}
    np.testing.assert_allclose(scores, expected, **tolerance)


@pytest.mark.parametrize(
    ("entry", "says"),
    [
        ({"model": "bm25", "options": {"factors": 3}}, "options: unknown option 'factors' of impl"),
        *[({"options": {name: 4}}, f"options: {name} is fixed") for name in FIXED],
        # a segmentation fault in implicit
        ({"model": "cosine", "options": {"K": 0}}, "options.K: must be a whole number, 1 or more"),
        (
            {"model": "als", "options": {"alpha": "x"}},
            "options.alpha: must be a finite number, 0 or",
        ),
    ],
)
def test_refuses_options_of_implicit_in_one_line(entry, says):
    with pytest.raises(ConfigError) as caught:
        check_recommender({"type": "implicit"} | entry, "recommenders.V")
    assert str(caught.value).startswith(f"recommenders.V.{says}")
    assert "\n" not in str(caught.value)


def test_metrics_of_random_scores_are_those_of_chance():
    """The rank is uniform on 1 … n.

    AUC is uniform on n points that 0 and 1 enclose, and Recall@10 is a coin of 10/n.

    Within 4 standard errors of the mean of 5000 users: 0.016 for AUC, 0.017 for Recall@10.
    """
    users = 5000  # each user trains on the first 20 items, and the held-out one is among the others
    n = 100
    split = split_of(
        np.tile(np.arange(n + 20) < 20, (users, 1)),
        np.random.default_rng(5).integers(20, n + 20, users),
    )
    table = rank_by_model(RandomScores().fit(split.training, np.random.default_rng(11)), split)
    assert table.tied.max() == 0
    for label, expected, variance in (
        ("auc", 0.5, (n + 1) / (12 * (n - 1))),
        ("recall@10", 0.1, 0.1 * 0.9),
    ):
        assert abs(table.values(metric(label)).mean() - expected) < 4 * np.sqrt(variance / users)
