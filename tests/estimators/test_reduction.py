"""The least-squares problem in singular vectors against the whole one."""

import mpmath
import numpy as np
import pytest
from exact_probabilities import chances, dense, exact

from sampled_metrics.estimators.linear import reduced, solved
from sampled_metrics.metrics.metric import metric
from sampled_metrics.sampling.distributions import SamplingDesign

LABELS = ["ap", "ndcg@3", "auc", "recall@1500"]
METRICS = tuple(metric(label) for label in LABELS)


def whole(n, m, replacement):
    """A and f of the whole problem."""
    A = chances(n, m, replacement) if n < 100 else dense(n, m, replacement)
    r = np.arange(1, n + 1)
    return A, np.column_stack((1 / r, (r <= 3) / np.log2(r + 1), (n - r) / (n - 1), r <= 1500))


# up to 512 ranks are all nodes; 5 of 3 negatives only with replacement; 9 of 9 show the rank
SIZES = [(2, 1, True), (2, 1, False), (3, 5, True), (9, 8, False), (60, 10, False), (60, 10, True), (60, 59, False)]
SIZES += [(600, 40, False), (600, 40, True), (4097, 6, True), (20_000, 20, False), (20_000, 20, True)]


@pytest.mark.parametrize("precise", [True, False])
@pytest.mark.parametrize(("n", "m", "replacement"), SIZES)
class TestAgainstTheWhole:
    def test_basis_is_orthonormal_under_the_marginal(self, n, m, replacement, precise):
        A, _ = whole(n, m, replacement)
        problem = reduced((n,), SamplingDesign(m, replacement), METRICS, precise)
        np.testing.assert_allclose(problem.marginal, A.mean(axis=0), rtol=1e-9, atol=1e-13)
        seen = A.max(axis=0) > 0
        kept = min(n, int(seen.sum()))
        assert problem.basis.shape == (m + 1, kept)
        basis, marginal = problem.basis[seen], A.mean(axis=0)[seen]
        np.testing.assert_allclose(basis.T @ (marginal[:, np.newaxis] * basis), np.eye(kept), atol=1e-9)
        assert (problem.basis[~seen] == 0).all()

    def test_has_the_sums_of_the_whole(self, n, m, replacement, precise):
        A, f = whole(n, m, replacement)
        problem = reduced((n,), SamplingDesign(m, replacement), METRICS, precise)
        factor = problem.singular[0][:, np.newaxis] * problem.basis.T * problem.marginal
        np.testing.assert_allclose(factor.T @ factor, A.T @ A / n, rtol=1e-9, atol=1e-13)
        kept = problem.basis.shape[1]
        assert problem.singular.shape == (1, kept)
        assert problem.projected.shape == (1, kept, len(METRICS))
        wanted = problem.basis.T @ (A.T @ f / n)
        np.testing.assert_allclose(problem.projected[0], wanted, rtol=0, atol=1e-10 * np.abs(wanted).max())
        # and back: A^T D f itself
        joint = (problem.marginal[:, np.newaxis] * problem.basis) @ problem.projected[0]
        np.testing.assert_allclose(joint, A.T @ f / n, rtol=1e-9, atol=1e-12)


class TestClosedForm:
    """Without replacement: discrete Chebyshev polynomials, against a singular value decomposition."""

    @pytest.mark.parametrize(("n", "m"), [(3, 1), (60, 10), (20_000, 20)])
    def test_is_the_decomposition(self, n, m):
        closed, computed = (reduced((n,), SamplingDesign(m), METRICS, precise) for precise in (False, True))
        np.testing.assert_allclose(closed.marginal, np.full(m + 1, 1 / (m + 1)), rtol=1e-14)
        np.testing.assert_allclose(computed.marginal, closed.marginal, rtol=1e-11)
        np.testing.assert_allclose(closed.singular, computed.singular, rtol=0, atol=1e-11)
        clear = closed.singular[0] > 1e-4  # others are lost in the rounding of a decomposition
        assert clear.sum() >= min(m + 1, 3)
        # singular vectors are unique up to their signs
        signs = np.sign((closed.basis * computed.basis).sum(axis=0))[clear]
        np.testing.assert_allclose(closed.basis[:, clear] * signs, computed.basis[:, clear], atol=1e-7)
        of_computed = signs[:, np.newaxis] * computed.projected[0, clear]
        np.testing.assert_allclose(closed.projected[0, clear], of_computed, rtol=0, atol=1e-10)

    @pytest.mark.parametrize(("n", "m"), [(12, 11), (40, 39)])
    def test_squares_are_eigenvalues_in_60_digits(self, n, m):
        with mpmath.workdps(60):
            A = mpmath.matrix([[mpmath.mpf(p.numerator) / p.denominator for p in row] for row in exact(n, m, False)])
            found = mpmath.eigsy(A.T * A * mpmath.mpf(m + 1) / n, eigvals_only=True)
            wanted = sorted((float(each) for each in found), reverse=True)
        ours = reduced((n,), SamplingDesign(m), METRICS).singular[0] ** 2
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)  # the smallest ones too


class TestSeveralCandidates:
    NUMBERS = (41, 60, 600, 601, 3541, 20_000, 100_000)

    def test_at_once_equal_one_by_one(self):
        design = SamplingDesign(40)
        together = reduced(self.NUMBERS, design, METRICS)
        assert together.singular.shape == (7, 41)
        assert together.projected.shape == (7, 41, len(METRICS))
        for at, n in enumerate(self.NUMBERS):
            alone = reduced((n,), design, METRICS)
            np.testing.assert_allclose(alone.basis, together.basis, rtol=1e-14)
            np.testing.assert_allclose(alone.singular[0], together.singular[at], rtol=1e-14)
            np.testing.assert_allclose(alone.projected[0], together.projected[at], rtol=1e-12, atol=1e-16)

    @pytest.mark.parametrize("replacement", [True, False])
    @pytest.mark.parametrize("precise", [True, False])
    def test_are_solved_one_by_one_or_at_once(self, replacement, precise):
        design, n = SamplingDesign(9, replacement), np.array([30, 10, 700])

        def solve(problem):
            return problem.weights(problem.projected)

        together = solved(solve, n, design, METRICS, precise)
        for at, each in enumerate(n):
            A, f = whole(int(each), 9, replacement)
            scale = np.divide(1, A.mean(axis=0), out=np.zeros(10), where=A.max(axis=0) > 0)
            wanted = scale[:, np.newaxis] * (A.T @ f / each)  # B B^T is the inverse of C
            np.testing.assert_allclose(together[at], wanted.T, rtol=0, atol=1e-9)


@pytest.mark.parametrize("replacement", [True, False])
@pytest.mark.parametrize(("n", "m"), [(20_000, 10), (2, 1)])  # 2 candidates: fewer than the cut-off
def test_a_metric_does_not_depend_on_those_beside_it(n, m, replacement):
    # alone, a metric with a small cut-off is summed rank by rank; beside others, on nodes
    design = SamplingDesign(m, replacement)
    together = reduced((n,), design, METRICS)
    for column, each in enumerate(METRICS):
        alone = reduced((n,), design, (each,))
        signs = np.sign((alone.basis * together.basis).sum(axis=0)) if replacement else np.ones(m + 1)
        np.testing.assert_allclose(
            alone.projected[0, :, 0], signs * together.projected[0, :, column], rtol=1e-8, atol=1e-13
        )


@pytest.mark.parametrize("precise", [True, False])
def test_cannot_be_changed_by_who_asked(precise):
    problem = reduced((60,), SamplingDesign(10), METRICS, precise)
    for part in (problem.basis, problem.marginal, problem.singular, problem.projected):
        with pytest.raises(ValueError, match="read-only"):
            part[0] = 1
