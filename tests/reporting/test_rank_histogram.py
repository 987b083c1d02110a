"""Users by rank: the buckets of ranks, which are wholly or partly in them."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import table_of

from sampled_metrics.reporting.rank_histogram import rank_histogram


@st.composite
def rows(draw):
    n = draw(st.integers(1, 40))
    above = draw(st.integers(0, n - 1))
    return n, above, draw(st.integers(0, n - 1 - above))


@settings(max_examples=50)
@given(
    st.lists(rows(), min_size=1, max_size=8), st.sets(st.integers(1, 30), max_size=4).map(sorted)
)
def test_a_bucket_counts_the_ranks_in_it_each_as_likely_as_the_others_of_its_ties(ranks, edges):
    table = rank_histogram({"X": table_of(ranks)}, edges)
    largest_half = max(n for n, _, _ in ranks) // 2
    ends = [edge for edge in edges if edge < largest_half] + [largest_half]
    expected = [0.0] * (len(ends) + 1)
    for n, above, tied in ranks:
        for rank in range(above + 1, above + tied + 2):
            beyond = [rank > min(end, n // 2) for end in ends]
            expected[sum(beyond)] += 1 / (tied + 1)
    assert table["events"].tolist() == pytest.approx(expected)
