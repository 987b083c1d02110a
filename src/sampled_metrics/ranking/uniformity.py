"""Test whether given negatives look as if they were drawn uniformly, for each user from the user's own candidates.

Two statistics are compared with what uniform draws give. One is the mean over negatives of log(1 + training events of
the item); its mean and variance over draws are exact, and it is taken as normal. It finds negatives by popularity. The
other is Σ_i (c_i - e_i)² / v_i for the number c_i of users who have item i among their negatives, with its mean e_i
and variance v_i over draws; it is taken as a gamma variable. It finds items that are drawn too often or never,
and negatives that users share. The p-value is twice the smaller one of the two.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaincc, ndtr

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.data.split import Split

SIGNIFICANCE = 0.01
"""Negatives do not look uniform if their p-value is at most this."""


@dataclass(frozen=True)
class Uniformity:
    """How given negatives differ from uniform ones.

    Attributes:
        p_value: the p-value.
        popularity: the number of standard errors by which popular items are drawn too often.
        never: the number of items that are a candidate of some user and never drawn.
        never_by_chance: that number if negatives are uniform, on average.
        items: the number of items that are a candidate of some user.
    """

    p_value: float
    popularity: float
    never: int
    never_by_chance: float
    items: int

    @property
    def cautions(self) -> tuple[str, ...]:
        """Return a sentence, if the negatives do not look uniform."""
        if self.p_value > SIGNIFICANCE:
            return ()
        p_value = f"p = {self.p_value:.2g}" if self.p_value > 1e-16 else "p < 1e-16"
        often = "often" if self.popularity > 0 else "rarely"
        return (
            f"The given negatives do not look as if they were drawn uniformly for each user ({p_value}): "
            f"{self.never} of {self.items} items are never drawn, by chance {self.never_by_chance:.0f}, and popular "
            f"items are drawn too {often} by {abs(self.popularity):.1f} standard errors. Corrections of samples "
            "are for uniform negatives, so their results do not hold here.",
        )


def uniformity(user: Ints, item: Ints, users: Ints, split: Split, *, replacement: bool) -> Uniformity:
    """Compare given negatives with uniform ones.

    Args:
        user: (negatives,) index among `users`.
        item: (negatives,) items.
        users: (users,) the users.
        split: the training and held-out items, which are not candidates.
        replacement: whether a negative may be there twice for the same user.
    """
    excluded = split.excluded[users]
    popularity = np.log1p(np.bincount(split.training.indices, minlength=split.shape.items))
    m = np.bincount(user, minlength=len(users)).astype(np.float64)
    n = excluded.shape[1] - np.diff(excluded.indptr).astype(np.float64)
    is_excluded = excluded.copy()
    is_excluded.data = np.ones(len(excluded.indices))

    mean = (popularity.sum() - is_excluded @ popularity) / n
    variance = np.maximum((popularity @ popularity - is_excluded @ popularity**2) / n - mean**2, 0.0)
    finite = 1.0 if replacement else (n - m) / np.maximum(n - 1, 1)
    error = float(np.sqrt((m * finite) @ variance))
    excess = popularity[item].sum() - m @ mean
    standardised = float(excess / error) if error > 0 else 0.0

    def over_users(values: Floats) -> Floats:
        """Return the (items,) sums of (users,) values over the users who have the item as a candidate."""
        return np.asarray(values.sum() - is_excluded.T @ values)

    of_draw = 1 / n if replacement else m / n  # probability of an item, in one draw or in all of them
    draws = m if replacement else np.ones_like(m)
    expected, spread = over_users(draws * of_draw), over_users(draws * of_draw * (1 - of_draw))
    never = over_users(draws * np.log1p(-np.minimum(of_draw, 1 - 1e-12)))
    counts = np.bincount(item, minlength=split.shape.items)
    varies = spread > 1e-9 * max(1.0, float(spread.max()))
    squares = float(((counts - expected)[varies] ** 2 / spread[varies]).sum())
    center, width = float(varies.sum()), float((2 + 1 / spread[varies]).sum())
    p_values = 2 * ndtr(-abs(standardised)), gammaincc(center**2 / width, squares * center / width) if center else 1.0
    is_candidate = expected > 0
    return Uniformity(
        p_value=float(min(1.0, 2 * min(p_values))),
        popularity=standardised,
        never=int((is_candidate & (counts == 0)).sum()),
        never_by_chance=float(np.exp(never[is_candidate]).sum()),
        items=int(is_candidate.sum()),
    )
