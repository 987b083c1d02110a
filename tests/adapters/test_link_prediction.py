"""Ranks from scores, against the evaluators of OGB and TGB themselves."""

import numpy as np
import pytest

import sampled_metrics as sm
from sampled_metrics.core.metrics import metric

torch = pytest.importorskip("torch", reason="torch is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # the tools' own
ROWS = 500
M = 100


def reciprocal_ranks(tool, positive, negatives):
    """The (rows,) reciprocal ranks of an evaluator, which are in float32."""
    scores = {"y_pred_pos": torch.tensor(positive), "y_pred_neg": torch.tensor(negatives)}
    if tool == "ogb":
        module = pytest.importorskip("ogb.linkproppred", reason="OGB is not installed")
        return module.Evaluator("ogbl-citation2").eval(scores)["mrr_list"].numpy()
    module = pytest.importorskip("tgb.linkproppred.evaluate", reason="TGB is not installed")
    evaluator = module.Evaluator("tgbl-wiki")
    rows = [{name: array[row : row + 1] for name, array in scores.items()} for row in range(ROWS)]
    return np.array([evaluator.eval(row | {"eval_metric": ["mrr"]})["mrr"] for row in rows])


def in_double(reciprocal):
    """Reciprocal ranks without the rounding to float32; ranks are whole numbers or halves."""
    return 2 / np.rint(2 / reciprocal.astype(np.float64))


@pytest.mark.parametrize("tool", ["ogb", "tgb"])
def test_mrr_without_ties(tool):
    scores = np.random.default_rng(0).permutation(ROWS * (M + 1)).reshape(ROWS, M + 1) / 7
    positive = scores[:, 0] + 3000 * (np.arange(ROWS) % 2)
    ranks = sm.ranks_of_scores(positive, scores[:, 1:], candidates=1000).x + 1
    theirs = in_double(reciprocal_ranks(tool, positive, scores[:, 1:]))
    ours = metric("mrr").of_rank(ranks, M + 1)
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)
    assert ours.mean() == pytest.approx(theirs.mean(), abs=1e-12)
