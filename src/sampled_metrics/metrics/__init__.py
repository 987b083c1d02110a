"""Metrics of ranks and of ranked lists."""
