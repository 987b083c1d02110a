"""Formats of event files, by name. A new format is a module here that registers its parser, and an import below."""

from sampled_metrics.data.events import EventChunk
from sampled_metrics.data.formats import delimited as delimited
from sampled_metrics.data.formats import json_lines as json_lines
from sampled_metrics.data.formats import movielens as movielens
from sampled_metrics.data.formats import ncf as ncf
from sampled_metrics.data.formats import parquet as parquet
from sampled_metrics.data.formats import recbole_inter as recbole_inter
from sampled_metrics.data.formats.registry import FORMATS, Format, get, register

__all__ = ["FORMATS", "EventChunk", "Format", "get", "register"]
