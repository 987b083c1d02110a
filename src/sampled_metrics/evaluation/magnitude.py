"""How large a difference is: relative to the worse value, in shares of users, and against a margin."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampled_metrics._validation import Floats, Ints
from sampled_metrics.evaluation.comparison import Comparison
from sampled_metrics.inference.differences import ComparedRecommender, Differences
from sampled_metrics.inference.families import pairs_of
from sampled_metrics.inference.margins import Margin
from sampled_metrics.metrics.metric import metric_name
from sampled_metrics.sampling.moments import EQUAL

EQUIVALENT = "equivalent"
"""The conclusion where the interval includes 0 and is within the margin."""

MORE, LESS = "more than the margin", "less than the margin"
"""By how much a recommender is better, where the interval says so."""


def with_magnitudes(
    table: Comparison,
    compared: Differences,
    margin: Margin,
    recommenders: Sequence[ComparedRecommender],
    counts: Ints,
) -> Comparison:
    """Return the rows of a comparison with how large the differences are, and with the conclusion equivalent.

    Args:
        table: a row for each metric and pair.
        compared: the differences.
        margin: the smallest one that matters.
        recommenders: in their order in the pairs.
        counts: (groups,) numbers of users.
    """
    pairs, metrics = pairs_of(len(recommenders)), compared.difference.shape[1]
    sizes = [_against_margin(compared, margin, pair, metric) for metric in range(metrics) for pair in range(len(pairs))]
    shares = [_higher_shares(recommenders[one], recommenders[other], counts) for one, other in pairs]
    higher = np.stack([np.broadcast_to(of_pair, (2, metrics)) for of_pair in shares], axis=2)
    worse = table[["value_a", "value_b"]].min(axis=1)
    columns = {"relative": table["difference"] / worse.where(worse > 0)}
    columns |= {"higher_a": higher[0].ravel(), "higher_b": higher[1].ravel()}
    table = table.copy()
    for name, values in columns.items():
        table.insert(table.columns.get_loc("p_value"), name, values)
    table["conclusion"] = table["conclusion"].mask(np.array(sizes) == EQUIVALENT, EQUIVALENT)
    table.insert(table.columns.get_loc("conclusion") + 1, "size", [size.replace(EQUIVALENT, "") for size in sizes])
    return table


def _higher_shares(one: ComparedRecommender, other: ComparedRecommender, counts: Ints) -> Floats:
    """Return the (2, metrics) shares of users for whom each of two ranks higher; NaN if ranks are not known.

    The metrics are a single one if they are the same for all, as of ranks.
    """
    gaps = one.seen - other.seen  # above 0 where the other one ranks higher
    shares = np.array([gaps < -EQUAL, gaps > EQUAL]) @ counts / counts.sum()
    return np.where(np.isfinite(gaps).all(axis=1), shares, np.nan)


def _against_margin(compared: Differences, margin: Margin, pair: int, metric: int) -> str:
    """Return MORE, LESS or EQUIVALENT, as the interval of a pair and a metric says, or nothing."""
    (rising_low, rising_high), (falling_low, falling_high) = compared.above_margin(margin)[:, :, pair, metric]
    if compared.apart[pair, metric]:
        return ""
    if compared.undecided[pair, metric]:
        return EQUIVALENT if max(rising_high, falling_high) < -EQUAL else ""
    is_rising = compared.low[pair, metric] > EQUAL
    low, high = (rising_low, rising_high) if is_rising else (falling_low, falling_high)
    return MORE if low > EQUAL else LESS if high < -EQUAL else ""


def against_margin_in_words(size: str, margin: Margin) -> str:
    """Return what follows "Z is better than X"."""
    return {
        MORE: f" by more than the margin of {margin.text}",
        LESS: f", by less than the margin of {margin.text}",
    }.get(size, f"; whether by more than the margin of {margin.text} is undecided")


def relative_in_words(relative: float) -> str:
    """Return a relative difference in brackets, to follow the difference; nothing if it is not known."""
    return "" if np.isnan(relative) else f" ({100 * relative:+.3g} % of the worse value)"


def on_margin(table: Comparison, margin: Margin, level: float) -> list[str]:
    """Return a sentence for each metric of three recommenders or more, and one on what the conclusions mean."""
    sentences = []
    for label, rows in table.groupby("metric", sort=False) if "a" in table else ():
        said = [text for row in rows.to_dict("records") if (text := _in_words(row))]
        sentences += [f"{metric_name(str(label))}: {'; '.join(said)}."] if said else []
    interval = f"{100 * level:g} % interval"
    meaning = f"Equivalent means that the {interval} is within ± {margin.text}"
    if margin.is_relative:
        ratio = f"{1 + margin.size:.6g}"
        meaning = (
            f"The margin is {margin.text}, and is judged by the {interval}s of b - {ratio} a and a - {ratio} b. "
            "Equivalent means that both are below 0"
        )
    return [*sentences, f"{meaning}, which is stricter than two one-sided tests at {100 * (1 - level):.3g} %."]


def _in_words(row: Mapping[str, Any]) -> str:
    """Return what a row of three recommenders or more says of the margin, if it says something."""
    if row["conclusion"] == EQUIVALENT:
        return f"{row['a']} and {row['b']} are equivalent"
    if not row["size"]:
        return ""
    worse = row["a"] if row["conclusion"] == row["b"] else row["b"]
    return f"{row['conclusion']} is better than {worse} by {row['size']}"


def on_users(table: Comparison, names: Sequence[str], is_sampled: bool) -> list[str]:
    """Return a sentence on the shares of users for whom each of two ranks higher, if they are of ranks."""
    row = table.iloc[0]
    if len(names) > 2 or np.isnan(row["higher_a"]):
        return []
    among = "Among the sampled negatives, " if is_sampled else ""
    return [
        f"{among}{names[1]} ranks the held-out item higher for {100 * row['higher_b']:.3g} % of the users, and "
        f"{names[0]} for {100 * row['higher_a']:.3g} %."
    ]
