"""The functions for users with ranks, which return tables: evaluate, correct, compare, expect."""

from sampled_metrics.core.evaluation.compare import compare
from sampled_metrics.core.evaluation.correct import correct
from sampled_metrics.core.evaluation.evaluate import evaluate
from sampled_metrics.core.evaluation.expect import expect

__all__ = ["compare", "correct", "evaluate", "expect"]
