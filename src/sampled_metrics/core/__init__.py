"""The core: from files, arrays and data frames of ranks to answers.

The core has the metrics of ranks, tables of exact and of sampled ranks, what a sample of negatives
shows of a rank, estimators of the true metrics, intervals, and the functions `evaluate`, `correct`,
`compare` and `expect`.

No other package of the library is imported or named here: what the others add is in
`sampled_metrics._registry`.

Begin with `core/evaluation/evaluate.py`, the shortest way from a table to numbers.
`core/ranks/table.py` says what a table is, and `core/metrics.py` what a metric is.
"""
