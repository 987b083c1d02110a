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
    assert table["events"].sum() == pytest.approx(len(ranks))
    largest_half = max(n for n, *_ in ranks) // 2
    lasts = [edge for edge in edges if edge < largest_half]
    last = 0
    expected = []
    for edge in [*lasts, largest_half, 40]:
        ends = [min(edge, n // 2) if edge < 40 else n for n, *_ in ranks]
        starts = [min(last, n // 2) for n, *_ in ranks]
        expected.append(
            sum(
                len({*range(above + 1, above + tied + 2)} & {*range(start + 1, end + 1)})
                / (tied + 1)
                for (_, above, tied), start, end in zip(ranks, starts, ends, strict=True)
            )
        )
        last = edge
    assert table["events"].tolist() == pytest.approx(expected)
