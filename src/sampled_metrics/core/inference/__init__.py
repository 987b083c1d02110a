"""Intervals, tests and verdicts: of bounded means, strict bounds, pairs, families and seeds."""
