"""Tables of the ranks of one recommender, as the public functions read them."""

import io

from sampled_metrics.ranks.files import read_stream
from sampled_metrics.ranks.read import UNNAMED, Form, read_exact, read_sampled


def rank_table(ranks, candidates=None, **form):
    """Return exact ranks as a rank table."""
    return read_exact(ranks, Form(candidates, **form))[UNNAMED]


def sampled_ranks(ranks, candidates=None, negatives=None, *, replacement=False):
    """Return ranks among sampled negatives, checked."""
    return read_sampled(ranks, Form(candidates, negatives, replacement=replacement))[UNNAMED]


def parse_columns(content, name, separator=None, names=()):
    """Return the content of a csv file of ranks as columns."""
    return read_stream(io.BytesIO(content), name, separator, names)
