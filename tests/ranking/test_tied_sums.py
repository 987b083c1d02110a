"""Sums of similarities that differ by no more than rounding tie."""

import numpy as np
import pytest
from ranked_by_argsort import rows, split_of
from scipy.sparse import csr_array

from sampled_metrics.recommenders.models import SimilarityModel, SparseSimilarityModel


@pytest.mark.parametrize("model", [SimilarityModel, lambda dense: SparseSimilarityModel(csr_array(dense))])
@pytest.mark.parametrize("score", [1.0, -0.3, 1e-200, 0.0])
def test_a_small_difference_relative_to_the_score_ties(model, score):
    # item 0 trains; 1 is held out; 2 and 3 differ by rounding, 4 and 5 by more
    similarity = np.zeros((6, 6))
    similarity[0, 1:] = score * (1 + np.array([0, 1e-13, -1e-13, 1e-11, -1e-11]))
    table = model(similarity).rank(split_of([[1, 0, 0, 0, 0, 0]], [1]))
    assert rows(table) == [(1, 2) if score else (0, 4)]
