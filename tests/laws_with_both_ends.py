"""Sampled ranks whose true ranks have mass at both ends, where estimates meet their bounds."""

import numpy as np
from hypothesis import strategies as st

import sampled_metrics as sm

CANDIDATES = 80
NEGATIVES = 12


@st.composite
def laws_with_both_ends(draw):
    """Sampled ranks of two recommenders, with mass at both ends of the true ranks."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ranks_by_name = {}
    for name in ("a", "b"):
        share_first = draw(st.floats(0, 0.6))
        share_last = draw(st.floats(0, 0.4))
        ranks = np.minimum(rng.geometric(draw(st.floats(0.01, 0.3)), size=120), CANDIDATES)
        place = rng.random(120)
        ranks[place < share_first] = 1
        ranks[place > 1 - share_last] = CANDIDATES
        ranks_by_name[name] = 1 + rng.hypergeometric(ranks - 1, CANDIDATES - ranks, NEGATIVES)
    return sm.sampled_ranks(ranks_by_name, negatives=NEGATIVES, candidates=CANDIDATES)
