"""Intervals, tests and verdicts.

They are for means of bounded values, strict bounds, paired differences, families and seeds.
"""
