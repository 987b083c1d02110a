"""Compute ranks with models of other libraries; each module has a function `ranks`.

The adapters need the core and `ranking`; that of sentence-transformers needs `lists` in place of
`ranking`. Validation of a training, with RecBole or sentence-transformers, also needs `validation`.

docs/adapters.md has the code for further libraries. A module imports its library only when it is
called. `sampled_ranks` of some modules returns ranks among the negatives of a sampled evaluation,
for `correct`; prefer `ranks`, which needs no correction.
"""

from sampled_metrics.adapters import implicit, lenskit, recbole, rectools, sentence_transformers

__all__ = ["implicit", "lenskit", "recbole", "rectools", "sentence_transformers"]
