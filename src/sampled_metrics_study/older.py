"""Results of another config than that of the run.

Snakemake runs a job again after a change of its config. Without its records, the folder .snakemake,
it uses older results unchanged.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sampled_metrics_study.recommenders.registry import parameters_of

_OF_RECOMMENDER = ("models", "ranks", "samples")
"""Folders with a file for each recommender."""


def differences(
    paths: Sequence[str], jobs: Sequence[Mapping[str, Any]], config: Mapping[str, Any]
) -> list[str]:
    """Return the jobs whose config was another one, each with the keys that differ.

    Args:
        paths: the files with the versions of the jobs, such as ``…/ml-1m/models/X.json``.
        jobs: their content.
        config: the config of the study.
    """
    different = []
    for path, job in zip(map(Path, paths), jobs, strict=True):
        is_of_recommender = path.parts[-2] in _OF_RECOMMENDER
        recommender = config["recommenders"].get(path.stem, {}) if is_of_recommender else {}
        parts = {
            **config,
            "dataset": config["datasets"].get(path.parts[-2], {}),
            "parameters": parameters_of(recommender),
        }
        keys = [key for key, value in job.get("config", {}).items() if _differs(key, value, parts)]
        if "seed" in keys and job["config"]["seed"] in (0, *recommender.get("seeds", [])):
            keys.remove("seed")
        if keys:
            different.append(f"{job['job']}: {', '.join(keys)}")
    return different


def _differs(key: str, value: Any, parts: Mapping[str, Any]) -> bool:
    """Whether a part of the config of a job is not that of the study.

    The job may have some keys of a part. The member of an archive may follow from its address.
    """
    now = parts[key]
    if not isinstance(value, dict) or not isinstance(now, Mapping):
        return bool(value != now)
    return any(now.get(name) != value[name] for name in value if name != "member")
