"""The functions for users with ranks, which return tables: evaluate, correct, compare, expect, plan."""

from sampled_metrics.evaluation.compare import compare
from sampled_metrics.evaluation.correct import correct
from sampled_metrics.evaluation.correct_value import correct_value
from sampled_metrics.evaluation.evaluate import evaluate
from sampled_metrics.evaluation.expect import expect
from sampled_metrics.evaluation.plan import plan

__all__ = ["compare", "correct", "correct_value", "evaluate", "expect", "plan"]
