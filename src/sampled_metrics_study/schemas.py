"""Check a part of a config by its JSON schema, and fill in its defaults.

Two keywords are added to those of JSON schema:

- `labels`: the text is the label of a metric, of an estimator, or of a linear estimator.
- `message`: what an error of the subschema says, in place of the words of jsonschema.

Text with the format `path` may begin with ~, the home folder.
"""

import copy
import math
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from sampled_metrics.checks import did_you_mean
from sampled_metrics.core.estimators import estimator, linear_estimator, usual_label
from sampled_metrics.core.metrics import metric
from sampled_metrics.errors import ConfigError


def check(config: Any, schema: Mapping[str, Any], where: str = "") -> None:
    """Fill in the defaults of a schema, in place, and refuse what it does not allow.

    The keys get the schema's order, a number such as 3.0 becomes 3, and labels get their usual
    form. So configs that say the same are equal, also as text. The message of an error is one line
    that names the key.
    """
    _settle(config, schema)
    error = best_match(_Validator(schema).iter_errors(config))
    if error is not None:
        keys = [*([where] if where else []), *map(str, error.absolute_path)]
        raise ConfigError(f"{'.'.join(keys) or '(top level)'}: {_message(error)}")


def _settle(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value in its one form, in which a mapping has its defaults; in place, if it can be.

    Where a section may be null, false is null. A date becomes text.

    Keys that the schema names come first, in its order. The other keys keep their order if the
    schema says what is below them, such as recommenders, and are sorted if it does not.
    """
    types = set(np.atleast_1d(schema.get("type", [])))
    if value is False and {"object", "null"} <= types:
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and types & {"integer", "number"}:
        is_whole = value.is_integer() and abs(value) < 2**53
        return int(value) if is_whole else value
    if isinstance(value, str) and "labels" in schema:
        return _usual(value, schema["labels"])
    if isinstance(value, str) and schema.get("format") == "path":
        return os.path.expanduser(value)
    if isinstance(value, list):
        value[:] = [_settle(entry, schema.get("items", {})) for entry in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    schema_of_rest: Any = schema.get("additionalProperties")
    keeps_order = isinstance(schema_of_rest, Mapping)
    stated = dict(value)
    value.clear()
    for key, subschema in properties.items():
        if key in stated or "default" in subschema:
            content = stated.pop(key) if key in stated else copy.deepcopy(subschema["default"])
            value[key] = _settle(content, subschema)
    for key in stated if keeps_order else sorted(stated, key=str):
        value[key] = _settle(stated[key], schema_of_rest if keeps_order else {})
    return value


_READERS: dict[str, Callable[[str], object]] = {
    "metric": metric,
    "estimator": estimator,
    "linear-estimator": linear_estimator,
}
"""Value of the keyword `labels` → function that reads such a label."""


def _usual(label: str, kind: str) -> str:
    """Return a label in its usual form; one that cannot be read stays for the keyword `labels`."""
    try:
        return metric(label).label if kind == "metric" else usual_label(label)
    except ConfigError:
        return label


def _labels(validator: Any, kind: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a text is no label."""
    try:
        if isinstance(instance, str):
            _READERS[kind](instance)
    except ConfigError as error:
        yield ValidationError(str(error))


def _is_number(_: Any, value: Any) -> bool:
    """Return whether a value is a finite number."""
    return isinstance(value, int | float) and math.isfinite(value) and not isinstance(value, bool)


def _is_integer(_: Any, value: Any) -> bool:
    """Return whether a value is a whole number; 1e300 is none to numpy."""
    return isinstance(value, int) and not isinstance(value, bool)


_Validator = extend(
    Draft202012Validator,
    {"labels": _labels},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_number, "integer": _is_integer}
    ),
)


def _message(error: ValidationError) -> str:
    """Return in one line what is wrong, and what is allowed."""
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        unknown = next(name for name in error.instance if name not in allowed)
        guess = did_you_mean(str(unknown), allowed)
        return f"unknown key {unknown!r}{guess}; it may be {', '.join(allowed)}"
    shown = f"{error.instance!r:.80}"
    if "message" in error.schema:
        return f"{shown} {error.schema['message']}"
    return error.message.replace(repr(error.instance), shown)
