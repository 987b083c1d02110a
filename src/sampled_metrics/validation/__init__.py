"""Validation in a training loop: metrics after each epoch, and whether the training still improves.

`validator` ranks the held-out items of some users after each epoch, and says which epochs may be
the best.

The package needs the core, `ranking` and `stages`.

Begin with `validator.py`. `standing.py` has the verdicts, `kept.py` the values of past epochs,
`state.py` what is saved, `ranking.py` how a model is ranked, `words.py` the remarks, and
`figure.py` the figure.
"""
