"""Tables of the ranks of one recommender, as the public functions read them."""

from sampled_metrics.ranks.read import UNNAMED, Form, read_exact, read_sampled


def rank_table(ranks, candidates=None, **form):
    """Return exact ranks as a rank table."""
    return read_exact(ranks, Form(candidates, **form))[UNNAMED]


def sampled_ranks(ranks, candidates=None, negatives=None, *, replacement=False):
    """Return ranks among sampled negatives, checked."""
    return read_sampled(ranks, Form(candidates, negatives, replacement=replacement))[UNNAMED]
