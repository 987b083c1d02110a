"""Default metrics and estimators.

The command shows them, and starts without the modules that use them.
"""

DEFAULT_METRICS = ("recall@10", "ndcg@10", "ap", "auc")
"""The default metrics, those of the paper."""

DEFAULT_ESTIMATORS = ("decreasing", "free")
"""The default estimators, whose intervals hold the true metric under an assumption each."""

PUBLISHED = (*DEFAULT_ESTIMATORS, "uncorrected")
"""The default estimators of published values: among all candidates, and in a sample."""

PLANNED = ("decreasing", "bv-0.1", "uncorrected")
"""The default estimators of a plan."""
