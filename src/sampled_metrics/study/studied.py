"""What was studied: the size of a dataset, what was left out of it, and the ranks and ties of each recommender."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from sampled_metrics.ranks.exact import ExactRanks, half_tied, tied_shares, ties_remark
from sampled_metrics.rendering.tables import Section

TITLE = "What was studied"
_FACTS = {
    "events_in_file": "Events in the file",
    "events_left_out_below_min_rating": "Events left out: rating below min_rating",
    "events_left_out_repeated": "Events left out: user and item repeat",
    "events_left_out_by_core": "Events left out: core",
    "users_left_out_by_core": "Users left out: core",
    "items_left_out_by_core": "Items left out: core",
    "users_left_out_with_few_training_events": "Users left out: too few training events",
    "users": "Users with training events",
    "users_without_held_out_items": "Users without a held-out item",
    "items": "Items",
    "training_events": "Training events",
    "users_whose_last_time_is_shared": "Users whose last time several events share (ties)",
    "held_out_items": "Held-out items",
    "held_out_items_without_training_events": "Held-out items without training events",
}
"""Key of dataset.json → its wording."""


def studied(ranks: Mapping[str, ExactRanks]) -> pd.DataFrame:
    """Return counts of the ranked items and of their ties, by recommender.

    Args:
        ranks: rank tables by recommender.

    Returns:
        Columns recommender, held_out_items, mean_candidates, fewest_candidates, share_with_ties (of the items),
        mean_share_tied (of an item's other candidates), half_tied (items that tie with half of their other candidates
        or more), remark.
    """
    rows = [
        {
            "recommender": name,
            "held_out_items": len(table),
            "mean_candidates": float(table.candidates.mean()),
            "fewest_candidates": int(table.candidates.min()),
            "share_with_ties": float((table.tied > 0).mean()),
            "mean_share_tied": float(tied_shares(table).mean()),
            "half_tied": half_tied(table),
            "remark": ties_remark(table),
        }
        for name, table in ranks.items()
    ]
    return pd.DataFrame(rows)


def sections(facts: Mapping[str, Any], table: pd.DataFrame) -> list[Section]:
    """Lay out the facts of dataset.json, if any, and the counts of each recommender. Shares are in per cent."""
    of_dataset = pd.DataFrame(
        [(words, f"{facts[key]}") for key, words in _FACTS.items() if facts], columns=["Dataset", ""]
    )
    of_ranks = pd.DataFrame(
        {
            "Recommender": table["recommender"],
            "Held-out items": table["held_out_items"].astype(str),
            "Candidates, mean": table["mean_candidates"].map("{:.1f}".format),
            "Fewest": table["fewest_candidates"].astype(str),
            "Items with ties, %": (100 * table["share_with_ties"]).map("{:.2f}".format),
            "Candidates tied, mean %": (100 * table["mean_share_tied"]).map("{:.3f}".format),
            "Half or more tied": table["half_tied"].astype(str),
        }
    )
    remarks = table.loc[table["remark"] != "", ["recommender", "remark"]].rename(columns=str.capitalize)
    tables = [("Events", of_dataset), ("Ranks and ties of each recommender", of_ranks), ("Remarks", remarks)]
    return [(heading, rows) for heading, rows in tables if len(rows)]
