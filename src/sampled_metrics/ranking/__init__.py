"""Ranks from a model: exact ranks among all candidates, and ranks among sampled negatives.

`rank` and `rank_among_negatives` take factors, scores or a function, training items and held-out
items. `ranks_of_scores` takes scores of held-out items and of their negatives.

The package needs the core, whose tables of ranks it returns.

Begin with `rank.py`. `inputs.py` reads what is given, `labels.py` its labels, `factors.py` has the
products in blocks, and `split.py` the training and held-out items as matrices.
"""
