"""Compute exact ranks from a model or from scores."""
