"""Intervals, tests and verdicts: means of bounded values, strict bounds, paired differences,
families and seeds.
"""
