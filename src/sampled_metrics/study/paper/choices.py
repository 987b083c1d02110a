"""The choices that the text leaves open or contradicts, and how many printed numbers the other choices reproduce."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd

Changes = Mapping[str, Mapping[str, Any]]
"""Parameters to change, by recommender."""

COLUMNS = ["choice", "paper", "here", "otherwise", "table_3", "table_4"]
TYPES = {"X": "ials", "Y": "item-cf", "Z": "item-cf"}
"""The types of recommenders whose choices can be changed."""


class Choice(NamedTuple):
    """A choice that the text leaves open or contradicts.

    Attributes:
        what: what is chosen.
        text: what the text says.
        otherwise: the parameters that follow the text. If the text says nothing, they are the other way round.
    """

    what: str
    text: str
    otherwise: Changes


_WITH_DENOMINATOR: Changes = {"Y": {"denominator": True}, "Z": {"denominator": True}}
_PRINTED_NEIGHBOURS: Mapping[str, Any] = {"neighbours": None, "neighbours_prime": 10}

CHOICES = (
    Choice("Iterations of X", "does not say", {"X": {"iterations": 15}}),
    Choice("Similarity of an item to itself (Y)", "does not say", {"Y": {"keep_self": False}}),
    Choice("Denominator of the prediction (Y and Z)", "eq. 30 has one", _WITH_DENOMINATOR),
    Choice("Neighbours (Z)", "k = ∞ and k' = 10 in eq. 28", {"Z": _PRINTED_NEIGHBOURS}),
    Choice(
        "The text as written",
        "all that it says",
        {**_WITH_DENOMINATOR, "Z": {"denominator": True, **_PRINTED_NEIGHBOURS}},
    ),
)


def can_change(entries: Mapping[str, Mapping[str, Any]]) -> bool:
    """Return whether config entries of recommenders have those of the paper, by type."""
    return all(entries.get(name, {}).get("type") == kind for name, kind in TYPES.items())


def changed(entries: Mapping[str, Mapping[str, Any]], changes: Changes) -> dict[str, dict[str, Any]]:
    """Return the config entries that changes affect, changed, without those that have the changes already."""
    after = {name: {**entries[name], **changes[name]} for name in changes}
    return {name: entry for name, entry in after.items() if entry != entries[name]}


def row(choice: Choice, entries: Mapping[str, Mapping[str, Any]], compared: pd.DataFrame) -> tuple[object, ...]:
    """Return a row of `COLUMNS`: a choice, and how many numbers of Tables 3 and 4 are reproduced without it.

    Args:
        choice: the choice.
        entries: config entries by recommender.
        compared: result of `fidelity.compare_study`.
    """
    reproduced = compared.groupby("table")["ok"].sum()
    here = {name: {key: entries[name].get(key) for key in changes} for name, changes in choice.otherwise.items()}
    texts = (_text(changes) for changes in (here, choice.otherwise))
    return (choice.what, choice.text, *texts, *(int(reproduced[number]) for number in (3, 4)))


def _text(changes: Changes) -> str:
    return "; ".join(
        f"{name}: {', '.join(f'{key} {_value(value)}' for key, value in values.items())}"
        for name, values in changes.items()
    )


def _value(value: Any) -> str:
    return "∞" if value is None else ("no", "yes")[value] if isinstance(value, bool) else str(value)


def layout(table: pd.DataFrame) -> pd.DataFrame:
    """Return the choices as a table of text."""
    columns = ["Choice", "The paper", "Here", "Otherwise", "Table 3 otherwise", "Table 4 otherwise"]
    return table[COLUMNS].astype(str).set_axis(columns, axis=1)
