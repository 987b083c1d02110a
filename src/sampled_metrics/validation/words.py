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
        "This epoch has the highest {metric} of {epochs} epochs, so the value is too high on "
        "average. Other users give an unbiased one.",
        when="the epoch has the highest value of two epochs or more",
        action="report the metric on test users",
        values="epochs: how many so far",
    ),
)
"""The kinds of this package."""
