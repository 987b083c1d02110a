"""Adapters: ranks from models of other libraries, with a module and a function `ranks` for each.

They need the core and `ranking`; a trainer of RecBole that validates by exact metrics needs
`validation`, too.

docs/adapters.md has the code for further libraries. A module imports its library only when it is
called. `sampled_ranks` of some modules returns ranks among the negatives of a sampled evaluation,
for `correct`; prefer `ranks`, which needs no correction.
"""

from sampled_metrics.adapters import implicit, lenskit, recbole, rectools

__all__ = ["implicit", "lenskit", "recbole", "rectools"]
