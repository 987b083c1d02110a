"""What a sample shows of a rank: against enumeration, closed forms, and a sampler that looks at items."""

import numpy as np
import pytest
from exact_probabilities import enumerated
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sampled_metrics.errors import ConfigError, DataError
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling import distributions, draws
from sampled_metrics.sampling.distributions import SamplingDesign
from sampled_metrics.sampling.draws import draw

WITH, WITHOUT = True, False
METRICS = ["auc", "ap", "ndcg", "ndcg@3", "recall@1", "recall@3", "precision@2"]


class TestExpectedMetrics:
    @pytest.mark.parametrize("replacement", [WITH, WITHOUT])
    @pytest.mark.parametrize("label", METRICS)
    def test_is_the_mean_over_every_sample(self, label, replacement):
        n, m = 6, 3
        f = metric(label).of_rank(np.arange(1, m + 2), m + 1)
        wanted = [np.dot(enumerated(r - 1, n - 1, m, replacement), f) for r in range(1, n + 1)]
        ours = draws.expected_metric(np.arange(1, n + 1), n, SamplingDesign(m, replacement), metric(label))
        np.testing.assert_allclose(ours, wanted, rtol=1e-12, atol=1e-14)

    @pytest.mark.parametrize("replacement", [WITH, WITHOUT])
    @pytest.mark.parametrize("m", [1, 7, 59])
    def test_auc_is_unbiased(self, m, replacement):
        rank = np.arange(1, 61)
        summed = draws.expected_metric(rank, 60, SamplingDesign(m, replacement), metric("auc"))
        np.testing.assert_allclose(summed, (60 - rank) / 59, atol=1e-12)

    @pytest.mark.parametrize("m", [1, 2, 30, 500])
    def test_average_precision_has_the_closed_form_of_eq_19(self, m):
        rank = np.array([1, 2, 3, 50, 799, 800])
        summed = draws.expected_metric(rank, 800, SamplingDesign(m, WITH), metric("ap"))
        theta = (rank[1:] - 1) / 799
        wanted = [1, *((1 - (1 - theta) ** (m + 1)) / ((m + 1) * theta))]
        np.testing.assert_allclose(summed, wanted, rtol=1e-10)


# --- drawing, against a sampler that looks at items -------------------------------------------------------------------

# scores of one user's candidates; the first is the held-out item's: 4 are above it, 5 tie with it, 3 are below
SCORES = np.array([2.0, 3, 5, 4, 9, 2, 2, 2, 2, 2, 1, 0, 1])
ABOVE, TIED, CANDIDATES = 4, 5, 13
REPETITIONS = 10_000


def sample_items(scores, design, tie_rule, repetitions, rng):
    """Draw negatives as an evaluation does, item by item: x of every repetition."""
    others, shape = scores[1:], (repetitions, len(scores) - 1)
    if design.replacement:
        picked = rng.integers(len(others), size=(repetitions, design.negatives))
    else:
        picked = rng.random(shape).argsort(axis=1)[:, : design.negatives]  # the first of the items, shuffled
    drawn = others[picked]
    above, is_tied = (drawn > scores[0]).sum(axis=1), drawn == scores[0]
    if tie_rule == "random":
        # the tied items and the held-out one, shuffled: its place counts
        return above + (is_tied & (rng.random(drawn.shape) < rng.random((repetitions, 1)))).sum(axis=1)
    tied = is_tied.sum(axis=1)
    return above + np.where(tied > 0, rng.integers(0, np.maximum(tied, 1)), 0)


def draw_counts(design, tie_rule, repetitions, rng, above=ABOVE, tied=TIED, candidates=CANDIDATES):
    columns = (np.full(repetitions, number) for number in (above, tied, candidates))
    return draw(*columns, design, rng).ranked_above(tie_rule)


def same_distribution(one, other, values):
    """P value of a chi-square test that two samples have one distribution, rare values taken together."""
    table = np.array([np.bincount(sample, minlength=values) for sample in (one, other)])
    rare = table.sum(axis=0) < 20
    table = np.column_stack([table[:, ~rare], table[:, rare].sum(axis=1)]) if rare.any() else table
    return stats.chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue


class TestDraw:
    @pytest.mark.parametrize("replacement", [WITH, WITHOUT])
    @pytest.mark.parametrize("tie_rule", ["random", "beats-one"])
    @pytest.mark.parametrize("m", [1, 5, 12])
    def test_agrees_with_drawing_items(self, m, tie_rule, replacement):
        design = SamplingDesign(m, replacement)
        items = sample_items(SCORES, design, tie_rule, REPETITIONS, np.random.default_rng(1))
        counts = draw_counts(design, tie_rule, REPETITIONS, np.random.default_rng(2))
        assert same_distribution(items, counts, m + 1) > 0.001

    @pytest.mark.parametrize(
        ("above", "tied", "replacement"),
        [(0, 0, WITH), (12, 0, WITH), (29, 0, WITH), (0, 0, WITHOUT), (6, 10, WITHOUT), (0, 29, WITHOUT)],
    )
    def test_has_the_distribution_over_ties(self, above, tied, replacement):
        design, repetitions = SamplingDesign(9, replacement), 100_000
        x = draw_counts(design, "random", repetitions, np.random.default_rng(3), above, tied, 30)
        expected = repetitions * distributions.distribution_over_ties([above], [tied], [30], design)[0]
        observed, often = np.bincount(x, minlength=10), expected > 20
        assert observed[expected < 1e-6].sum() == 0
        if often.sum() == 1:
            assert observed[often][0] == repetitions
            return
        last = np.flatnonzero(often)[-1]  # what is rare is counted together with the last of the others
        observed[last] += observed[~often].sum()
        expected[last] += expected[~often].sum()
        assert stats.chisquare(observed[often], expected[often]).pvalue > 0.001

    @given(st.data())
    def test_every_negative_without_replacement_gives_the_exact_metric(self, data):
        n = data.draw(st.integers(2, 30))
        above = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=10)))
        columns = above, np.zeros_like(above), np.full_like(above, n)
        draws = draw(*columns, SamplingDesign(n - 1), np.random.default_rng(6))
        for label in METRICS:
            sampled = metric(label).of_rank(1 + draws.ranked_above("random"), n)
            assert sampled.tolist() == metric(label).of_rank(above + 1, n).tolist()


@pytest.mark.parametrize("negatives", [0, -5, 5.5, 5.0, True, "5", None, float("nan"), [3, 4, 5]])
def test_a_design_needs_a_whole_number_of_negatives(negatives):
    with pytest.raises(ConfigError, match=r"^the number of negatives must be .*1 or more, not "):
        SamplingDesign(negatives)


def test_a_design_without_replacement_needs_as_many_others():
    SamplingDesign(9, WITHOUT).check([50, 10])
    with pytest.raises(DataError, match=r"^10 negatives without replacement .* only 9 candidates .* at most 9"):
        SamplingDesign(10, WITHOUT).check([50, 10])
