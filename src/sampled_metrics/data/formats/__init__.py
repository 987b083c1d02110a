"""Parsers of event files, by name. A new format is a module here that registers its parser, and a line below."""

from sampled_metrics.data.formats import movielens_dat as movielens_dat
from sampled_metrics.data.formats.registry import FORMATS, EventChunk, Format, get, register

__all__ = ["FORMATS", "EventChunk", "Format", "get", "register"]
