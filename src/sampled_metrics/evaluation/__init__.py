"""The functions for users with ranks, which return tables: evaluate, correct, compare, expect."""

from sampled_metrics.evaluation.compare import compare
from sampled_metrics.evaluation.correct import correct
from sampled_metrics.evaluation.evaluate import evaluate
from sampled_metrics.evaluation.expect import expect

__all__ = ["compare", "correct", "evaluate", "expect"]
