"""Tables of the ranks of one recommender, as the public functions read them."""

import io

from sampled_metrics.core.ranks.exact import exact_ranks
from sampled_metrics.core.ranks.reading import read_stream


def rank_table(ranks, candidates=None, **options):
    """Return exact ranks."""
    return exact_ranks(ranks, candidates=candidates, **options)


def parse_columns(content, name, separator=None):
    """Return the content of a csv file of ranks as columns."""
    return read_stream(io.BytesIO(content), name, separator)
