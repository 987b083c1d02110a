"""The functions for users with ranks: evaluate, correct, compare, expect and plan. Each returns a table."""

from sampled_metrics.evaluation.accumulator import RankAccumulator
from sampled_metrics.evaluation.compare import compare
from sampled_metrics.evaluation.correct import correct
from sampled_metrics.evaluation.evaluate import evaluate
from sampled_metrics.evaluation.expect import expect
from sampled_metrics.evaluation.plan import plan

__all__ = ["RankAccumulator", "compare", "correct", "evaluate", "expect", "plan"]
