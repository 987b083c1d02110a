"""Staged ranks: unbiased true metrics of a ranker that is too expensive to score all candidates.

`staged_ranks` asks a `Ranker` for the scores of few candidates of each user, keeps them in a file,
and returns `StagedRanks`, which `evaluate`, `compare`, `report` and `plan` take.

The package needs the core, and the inputs of `ranking`.

Begin with `table.py`, the table, and `rank.py`, the function. A run reads as follows: `rank.py`
prepares the data, `candidate_order.py` says in which order candidates are scored, `counting.py`
counts those above the held-out items, `scoring.py` asks for scores, `executors.py` runs its calls,
`journal.py` keeps the answers, and `stopping.py` says which users go on. `files.py` writes and
reads files.
"""
