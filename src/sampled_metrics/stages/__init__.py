"""Staged ranks: unbiased true metrics of a ranker that is too expensive to score all candidates.

`staged_ranks` asks a `Ranker` for the scores of few candidates of each user, keeps them in a file,
and returns `StagedRanks`, which `evaluate`, `compare`, `report` and `plan` take.

It needs the core, and of `ranking` the inputs.

Begin with `table.py`, the table, and `rank.py`, the function. `scoring.py` asks for scores,
`stopping.py` says when a user is done, `candidate_order.py` in which order candidates are scored,
and `files.py` and `rules.py` how a file is checked.
"""
