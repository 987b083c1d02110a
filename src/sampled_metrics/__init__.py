"""Sampled metrics of item recommendation, and the true metrics behind them.

`evaluate`, `correct`, `compare`, `expect` and `plan` take ranks and return tables. The packages below
them hold the parts that they are made of (docs/architecture.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sampled_metrics.errors import ConfigError, DataError, DownloadError, NumericError, SampledMetricsError, WriteError

if TYPE_CHECKING:  # at run time each is imported when it is used: a job of the workflow needs few of the modules
    from sampled_metrics.estimators import estimator
    from sampled_metrics.evaluation.compare import compare
    from sampled_metrics.evaluation.correct import correct
    from sampled_metrics.evaluation.evaluate import evaluate
    from sampled_metrics.evaluation.expect import expect
    from sampled_metrics.evaluation.plan import plan
    from sampled_metrics.evaluation.plan_stages import plan_stages
    from sampled_metrics.evaluation.published import published
    from sampled_metrics.metrics.metric import metric
    from sampled_metrics.ranking.negatives import rank_among_negatives
    from sampled_metrics.ranking.rank import rank
    from sampled_metrics.ranking.stages import staged_ranks
    from sampled_metrics.ranks.exact import ExactRanks, exact_ranks
    from sampled_metrics.ranks.judged_lists import RankedLists, ranked_lists
    from sampled_metrics.ranks.sampled import SampledRanks, sampled_ranks
    from sampled_metrics.ranks.staged import StagedRanks
    from sampled_metrics.reporting.report import report

    __version__: str

__all__ = [
    "ConfigError",
    "DataError",
    "DownloadError",
    "ExactRanks",
    "NumericError",
    "RankedLists",
    "SampledMetricsError",
    "SampledRanks",
    "StagedRanks",
    "WriteError",
    "__version__",
    "compare",
    "correct",
    "estimator",
    "evaluate",
    "exact_ranks",
    "expect",
    "metric",
    "plan",
    "plan_stages",
    "published",
    "rank",
    "rank_among_negatives",
    "ranked_lists",
    "report",
    "sampled_ranks",
    "staged_ranks",
]

_MODULES = {
    "ExactRanks": "ranks.exact",
    "RankedLists": "ranks.judged_lists",
    "SampledRanks": "ranks.sampled",
    "StagedRanks": "ranks.staged",
    "compare": "evaluation",
    "correct": "evaluation",
    "published": "evaluation",
    "estimator": "estimators",
    "evaluate": "evaluation",
    "exact_ranks": "ranks.exact",
    "expect": "evaluation",
    "metric": "metrics.metric",
    "plan": "evaluation",
    "plan_stages": "evaluation",
    "rank": "ranking.rank",
    "rank_among_negatives": "ranking.negatives",
    "ranked_lists": "ranks.judged_lists",
    "report": "reporting.report",
    "sampled_ranks": "ranks.sampled",
    "staged_ranks": "ranking.stages",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import PackageNotFoundError, version  # slow to import

        try:
            return version("sampled-metrics")
        except PackageNotFoundError:  # used from a checkout, without installation
            return _version_of_checkout()
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def _version_of_checkout() -> str:
    import tomllib
    from pathlib import Path

    try:
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, KeyError):
        return "0+unknown"
    return f"{project['version']}+checkout"


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
