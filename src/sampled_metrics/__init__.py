"""Sampled metrics for item recommendation (Krichene and Rendle, KDD 2020): exact, sampled and corrected."""

__version__ = "0.1.0"
