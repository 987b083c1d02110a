"""The epochs of a training, in words."""

from __future__ import annotations

from sampled_metrics.core.evaluation.kinds import Kind

KINDS: dict[str, Kind] = {
    "epochs-together": Kind(
        when="a validator was called",
        sentence="The {confidence} intervals hold together for all epochs.",
        of_groups=False,
    ),
    "best-of-epochs": Kind(
        when="the epoch has the highest value of two epochs or more",
        values="epochs: how many so far",
        sentence=(
            "This epoch has the highest value of {epochs} epochs ({{}}), so the value is too high "
            "on average. Other users give an unbiased one."
        ),
        clause="{metric}",
        of_groups=False,
    ),
}
"""What is known of each kind of finding."""
