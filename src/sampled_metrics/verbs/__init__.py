"""What people do with ranks: evaluate, correct, compare, expect, plan. Each is a function that returns a table."""

from sampled_metrics.verbs.compare import compare
from sampled_metrics.verbs.correct import correct
from sampled_metrics.verbs.evaluate import evaluate
from sampled_metrics.verbs.expect import expect
from sampled_metrics.verbs.plan import plan

__all__ = ["compare", "correct", "evaluate", "expect", "plan"]
