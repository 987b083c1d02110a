"""The kinds of findings on the epochs of a training."""

from __future__ import annotations

from sampled_metrics.core.findings import REMARK, Kind

KINDS = (
    Kind(
        "epochs-together",
        REMARK,
        "The {confidence} intervals hold together for all epochs.",
        when="a validator was called",
        action="nothing",
    ),
    Kind(
        "best-of-epochs",
        REMARK,
        "Epoch {epoch} has the highest {metric} of {epochs} epochs, so its value is too high on "
        "average. Other users give an unbiased one.",
        when="there are two epochs or more",
        action="if this epoch is kept, report the metric on test users",
        values="epoch: the one with the highest value; epochs: how many so far",
    ),
)
"""The kinds of this package."""
