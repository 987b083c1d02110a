"""Recommenders. A new one is a file of this package, and an entry of `RECOMMENDERS` in registry.py.

A class outside the library needs neither: its type is its dotted path (docs/own-study.md). Nothing
here imports the registry, and a recommender is imported when it is used. So a job of the workflow
depends on its own recommender alone.
"""

from sampled_metrics_study.recommenders.recommender import (
    Recommender,
    TrainingEvents,
    config_schema,
    parameter,
)

__all__ = ["Recommender", "TrainingEvents", "config_schema", "parameter"]
