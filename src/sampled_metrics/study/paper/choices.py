"""The choices that reproduce the paper's numbers, and how many numbers the other choices reproduce.

The counts are recorded, because each takes a run of its own. The runs are those of config.yaml with the recommenders of
examples/as-written.yaml, with one choice changed at a time, or on MovieLens 100K. They count numbers under the reading
`default`.
"""

from typing import NamedTuple

import pandas as pd


class Choice(NamedTuple):
    """A choice that the text leaves open or contradicts.

    Attributes:
        what: what is chosen.
        text: what the text says.
        here: what config.yaml has.
        otherwise: how many of the 300 printed numbers are reproduced if this choice alone follows the text. If the text
            says nothing, the choice is the other way round.
    """

    what: str
    text: str
    here: str
    otherwise: int


CHOICES = (
    Choice("Random start and iterations of X", "says neither", "6 iterations; otherwise 15", 292),
    Choice("Similarity of an item to itself (Y)", "does not say", "kept; otherwise left out", 229),
    Choice("Denominator of the prediction (Y and Z)", "eq. 30 has one", "none", 207),
    Choice("Neighbours (Z)", "k = ∞ and k' = 10 in eq. 28", "k = 10 and k' = ∞", 228),
)

RECORDED = pd.DataFrame(
    {
        "table": [3, 4],
        "as_written": [108, 46],  # examples/as-written.yaml
        "other_data": [1, 58],  # X, Y and Z of config.yaml on MovieLens 100K
    }
)
"""Number of printed numbers by table that are reproduced with other recommenders, or with other data."""

TOY = 36
"""Number of printed numbers in Tables 1 and 2, which depend on neither."""


def choices_table() -> pd.DataFrame:
    """Return the choices as a table of text."""
    columns = ["Choice", "The paper", "Here", "Reproduced otherwise"]
    return pd.DataFrame(CHOICES).astype(str).set_axis(columns, axis=1)
