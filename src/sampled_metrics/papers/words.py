"""The kinds of findings on published numbers."""

from __future__ import annotations

from sampled_metrics.core.findings import CAUTION, REMARK, Kind

_CAUSES = (
    "Usual causes are a misprint, values of several runs, negatives that all users share, ties "
    "that count in favour of the held-out item, negatives that are not drawn uniformly, and a "
    "wrong number of candidates or negatives."
)
_VALUES = "low, high: the ends of the difference; assumption; condition: in words"
_VALUES_IN_SAMPLE = "low, high: the ends of the difference; items: the held-out item and negatives"

KINDS = (
    Kind(
        "published-order",
        REMARK,
        "With these numbers, {names[0]} is better than {names[1]} by {metric}: the difference is "
        "{smallest} to {largest} with {confidence} confidence, {condition}.",
        when="published numbers of two recommenders decide their order",
        action="report the order with its assumption",
        values=f"{_VALUES}; smallest, largest: the ends of the lead",
    ),
    Kind(
        "published-undecided",
        REMARK,
        "These numbers do not order {names[0]} and {names[1]} by {metric}: the difference "
        "({names[1]} - {names[0]}) is {low:+} to {high:+} with {confidence} confidence, "
        "{condition}.",
        when="published numbers of two recommenders do not decide their order",
        action="do not repeat the order of the paper as one of true metrics",
        values=_VALUES,
    ),
    Kind(
        "sampled-order",
        REMARK,
        "Among {items:,} items, {names[0]} is better than {names[1]} by {metric} for other users, "
        "too: the difference is {smallest} to {largest} with {confidence} confidence.",
        when="other users would order two recommenders the same in a sample of as many items",
        action="report the order as one among so few items",
        values=f"{_VALUES_IN_SAMPLE}; smallest, largest: the ends of the lead",
    ),
    Kind(
        "sampled-undecided",
        REMARK,
        "Even among {items:,} items, other users may order {names[0]} and {names[1]} the other way "
        "by {metric}: the difference ({names[1]} - {names[0]}) is {low:+} to {high:+} with "
        "{confidence} confidence.",
        when="other users may order two recommenders the other way in a sample of as many items",
        action="take more users",
        values=_VALUES_IN_SAMPLE,
    ),
    Kind(
        "published-contradicted",
        CAUTION,
        "The published {values!m} contradict {assumption} ({p_value!q}), so the interval is the "
        "one of free, which assumes nothing.",
        when="published numbers contradict the assumption; a weaker one is taken",
        action="check the number of negatives and of candidates",
        values="assumption, p_value; values: that contradict it together, by label, as written",
    ),
    Kind(
        "published-unexplained",
        CAUTION,
        "No distribution of true ranks explains the published {values!m} ({p_value!q}), so there "
        f"is no interval and no verdict. {_CAUSES}",
        when="no distribution of true ranks explains published numbers: no interval",
        action="check the number of negatives and of candidates",
        values="assumption, p_value; values: the fewest that contradict one another",
    ),
    Kind(
        "exact-contradicted",
        CAUTION,
        "The exact {metric} of {value} contradicts the sampled {values!m}, with which it is {low} "
        f"to {{high}}, {{condition}}. {_CAUSES}",
        when="published sampled numbers exclude a published exact one",
        action="check the number of negatives and of candidates",
        values="value: the exact one; low, high: what the sampled ones allow; assumption: the "
        "weakest under which they do; condition: in words; values: sampled ones that together "
        "do, by label, as written",
    ),
    Kind(
        "read-with-decimals",
        REMARK,
        "{label} is read as {read}, with the decimals of the others. Text keeps its own: "
        '"{value}".',
        when="a published number is read with zeros at its end, which others of its metric have",
        action="give the number as text if it has fewer decimals",
        values="label, value: as they are given; read: the number with the zeros",
    ),
    Kind(
        "no-share",
        REMARK,
        "No number of {users:,} users has the {metric} {value}; the nearest are {below:.6g} and "
        "{above:.6g}. It is taken to be a mean over seeds.",
        when="no number of users has a published share",
        action="check the number of users",
        values="value, users, below, above: the nearest shares",
    ),
)
"""The kinds of this package."""
