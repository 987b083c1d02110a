"""A result of two recommenders, by two metrics, of which one is not defined."""

from sampled_metrics.core.evaluation.result import Result
from sampled_metrics.core.inference.setting import Setting

VALUES = Result(
    {
        "recommender": ["X_1", "X_1", "Y", "Y"],
        "estimator": ["free"] * 4,
        "metric": ["recall@10", "auc"] * 2,
        "value": [0.25, 0.5, 0.125, float("nan")],
        "low": [0.2, 0.45, float("nan"), float("nan")],
        "high": [0.3, 0.55, float("nan"), float("nan")],
        "users": [9] * 4,
    }
).found([], Setting(0.9, "9 users, m = 20", ("X_1", "Y")))
