"""Sampled metrics of item recommendation, and the true metrics behind them.

`evaluate`, `correct`, `compare`, `expect` and `plan` take ranks and return tables. The packages
below them hold the parts that they are made of (docs/architecture.md).
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sampled_metrics._registry import public_names

# at run time each is imported when it is used: a job of the workflow needs few of the modules
if TYPE_CHECKING:
    from sampled_metrics.core.estimators import estimator as estimator
    from sampled_metrics.core.evaluation.compare import compare as compare
    from sampled_metrics.core.evaluation.correct import correct as correct
    from sampled_metrics.core.evaluation.evaluate import evaluate as evaluate
    from sampled_metrics.core.evaluation.expect import expect as expect
    from sampled_metrics.core.metrics import metric as metric
    from sampled_metrics.core.ranks.exact import ExactRanks as ExactRanks
    from sampled_metrics.core.ranks.exact import exact_ranks as exact_ranks
    from sampled_metrics.core.ranks.sampled import SampledRanks as SampledRanks
    from sampled_metrics.core.ranks.sampled import sampled_ranks as sampled_ranks
    from sampled_metrics.core.ranks.saved import read_ranks as read_ranks
    from sampled_metrics.errors import ConfigError as ConfigError
    from sampled_metrics.errors import DataError as DataError
    from sampled_metrics.errors import DownloadError as DownloadError
    from sampled_metrics.errors import NumericError as NumericError
    from sampled_metrics.errors import SampledMetricsError as SampledMetricsError
    from sampled_metrics.errors import WriteError as WriteError
    from sampled_metrics.lists.ranked_lists import RankedLists as RankedLists
    from sampled_metrics.lists.ranked_lists import ranked_lists as ranked_lists
    from sampled_metrics.papers.published import published as published
    from sampled_metrics.planning.plan import plan as plan
    from sampled_metrics.ranking.negatives import rank_among_negatives as rank_among_negatives
    from sampled_metrics.ranking.rank import rank as rank
    from sampled_metrics.ranking.scores import ranks_of_scores as ranks_of_scores
    from sampled_metrics.reporting.report import report as report
    from sampled_metrics.stages.rank import staged_ranks as staged_ranks
    from sampled_metrics.stages.scoring import Ranker as Ranker
    from sampled_metrics.stages.table import StagedRanks as StagedRanks
    from sampled_metrics.validation.validator import validator as validator

    __version__: str

_MODULES = public_names()

__all__ = ["__version__", *_MODULES]


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

    path = Path(__file__).parents[2] / "pyproject.toml"
    try:
        project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    except (OSError, KeyError):
        return "0+unknown"
    return f"{project['version']}+checkout"


def __dir__() -> list[str]:
    dunder = {name for name in globals() if name.startswith("__")}
    return sorted({*dunder, *__all__})
