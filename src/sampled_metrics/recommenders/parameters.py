"""Parameters of recommenders: each says what it is and what it may be, once, where it is defined."""

from dataclasses import MISSING, field, fields
from typing import Any


def parameter(description: str, *, default: Any = MISSING, **schema: Any) -> Any:
    """Define a field of a recommender's dataclass.

    Args:
        description: what it is, for the documentation of the config.
        default: what it is if config does not say; without one, config must.
        **schema: JSON schema keywords that say what it may be, such as ``type="integer", minimum=1``.
    """
    return field(default=default, metadata={"schema": {"description": description, **schema}})


def config_schema(recommender: type) -> dict[str, Any]:
    """Return the JSON schema of a recommender's config entry, its type left aside."""
    properties = {}
    for each in fields(recommender):
        properties[each.name] = dict(each.metadata["schema"])
        if each.default is not MISSING:
            properties[each.name]["default"] = each.default
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": properties,
        "required": [each.name for each in fields(recommender) if each.default is MISSING],
    }
