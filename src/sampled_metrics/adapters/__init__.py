"""Ranks from models of other libraries: one module for each, with a function `ranks`.

docs/adapters.md has the code for further libraries. A module imports its library only when it is called.
`sampled_ranks` of some modules returns ranks among the negatives of a sampled evaluation, for `correct`; prefer
`ranks`, which needs no correction.
"""

from sampled_metrics.adapters import implicit, lenskit, recbole, rectools

__all__ = ["implicit", "lenskit", "recbole", "rectools"]
