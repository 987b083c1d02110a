"""Check a part of a config by its JSON schema, fill in its defaults, and word what is wrong.

Added keywords of the schema are:

- `labels`: the text, or each text of a list, is the label of a metric, of an estimator, or of a
  linear estimator.
- `fileName`: the text is a part of file names.
- `addresses`: each text of a list is an address to download from.
- `ascending`: a list ascends.
- `cutoff`: the label of a metric has a cut-off.
"""

import copy
import difflib
import math
import os
import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from itertools import pairwise
from typing import Any

import numpy as np
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match
from jsonschema.validators import extend

from sampled_metrics.core.estimators import (
    estimator,
    estimators_by_label,
    linear_estimator,
    usual_label,
)
from sampled_metrics.core.metrics import metric, metrics_by_label
from sampled_metrics.errors import ConfigError
from sampled_metrics_study.data.archives import require_addresses


def check(config: Any, schema: Mapping[str, Any], where: str = "") -> None:
    """Fill in the defaults of a schema, in place, and refuse what it does not allow.

    The keys get the schema's order, and a number such as 3.0 becomes 3. So configs that say the
    same are equal, also as text. The message of an error is one line that names the key.
    """
    _settle(config, schema)
    error = best_match(_Validator(schema).iter_errors(config))
    if error is not None:
        raise ConfigError(_one_line(error, where))


def settle_labels(config: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Write the labels that the keyword `labels` marks in their usual form, in place.

    The config has been checked.
    """
    for key, subschema in schema.get("properties", {}).items():
        if "labels" in subschema and isinstance(config, dict):
            config[key] = _usual(config[key], subschema["labels"])
        elif isinstance(config.get(key), Mapping):
            settle_labels(config[key], subschema)


def _usual(labels: Any, kind: str) -> Any:
    """Return one label or a list of labels, each in its usual form."""
    if isinstance(labels, list):
        return [_usual(label, kind) for label in labels]
    return metric(labels).label if kind == "metric" else usual_label(labels)


def _settle(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a value in its one form, in which a mapping has its defaults; in place, if it can be.

    Where a section may be null, false is null. A date becomes text.

    Keys that the schema names come first, in its order. The other keys keep their order if the
    schema says what is below them, such as recommenders, and are sorted if it does not.
    """
    types = np.atleast_1d(schema.get("type", []))
    if value is False and {"object", "null"} <= set(types):
        return None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and "number" in types:
        is_whole = value.is_integer() and abs(value) < 2**53
        return int(value) if is_whole else value
    if isinstance(value, list):
        value[:] = [_settle(entry, schema.get("items", {})) for entry in value]
    if not isinstance(value, dict):
        return value
    properties = schema.get("properties", {})
    schema_of_rest = schema.get("additionalProperties")
    keeps_order = isinstance(schema_of_rest, Mapping)
    if not isinstance(schema_of_rest, Mapping):
        schema_of_rest = {}
    stated = dict(value)
    value.clear()
    for key, subschema in properties.items():
        if key in stated or "default" in subschema:
            content = stated.pop(key) if key in stated else copy.deepcopy(subschema["default"])
            value[key] = _settle(content, subschema)
    for key in stated if keeps_order else sorted(stated, key=str):
        value[key] = _settle(stated[key], schema_of_rest)
    return value


_KINDS_OF_LABELS: dict[str, tuple[Callable[[str], object], Callable[[Any, str], object]]] = {
    "metric": (metric, metrics_by_label),
    "estimator": (estimator, estimators_by_label),
    "linear-estimator": (linear_estimator, estimators_by_label),
}
"""Value of the keyword `labels` → functions that read one such label, and several."""

_LONGEST_NAME = 200
"""Bytes of a part of file names, which have at most 255 bytes."""

_PERIODIC = re.compile(r"(.+?)\1{19,}$")
"""A name that Snakemake refuses, as if a rule led to itself."""


def _labels(validator: Any, kind: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a text, or a text of a list, is no label, or two are the same."""
    labels = instance if isinstance(instance, list) else [instance]
    if not labels or not all(isinstance(label, str) for label in labels):
        return
    read_label, read_labels = _KINDS_OF_LABELS[kind]
    try:
        for label in labels:
            read_label(label)
        read_labels(labels, "labels")
    except ConfigError as error:
        yield ValidationError(str(error).removeprefix("labels: "))


def _file_name(validator: Any, _: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a text cannot be a part of file names, or Snakemake refuses it."""
    if not isinstance(instance, str):
        return
    if len(os.fsencode(instance)) > _LONGEST_NAME:
        yield ValidationError("it is longer than a file name may be")
    elif repeated := _PERIODIC.search(instance):
        yield ValidationError(
            f"it ends with {repeated[1]!r} twenty times, which snakemake takes for a loop"
        )


def _addresses(validator: Any, _: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a text of a list is no address to download from."""
    if not isinstance(instance, list) or not all(isinstance(url, str) for url in instance):
        return
    try:
        if instance:
            require_addresses(instance, "urls")
    except ConfigError as error:
        yield ValidationError(str(error).removeprefix("urls: "))


def _ascending(validator: Any, _: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if the numbers of a list do not ascend."""
    is_list = isinstance(instance, list) and all(
        isinstance(number, int | float) for number in instance
    )
    if is_list and not all(low < high for low, high in pairwise(instance)):
        yield ValidationError("does not ascend")


def _cutoff(validator: Any, _: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a metric has no cut-off; whether it is one is for the keyword `labels`."""
    try:
        if isinstance(instance, str) and metric(instance).cutoff is None:
            yield ValidationError("has no cut-off")
    except ConfigError:
        return


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    """Yield an error if a text does not match.

    In JSON schema, $ does not match before a last line break.
    """
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield ValidationError("does not match")


# 100.0 is an integer in JSON schema, but not for numpy
_Validator = extend(
    Draft202012Validator,
    {
        "pattern": _pattern,
        "labels": _labels,
        "fileName": _file_name,
        "addresses": _addresses,
        "ascending": _ascending,
        "cutoff": _cutoff,
    },
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {
            "integer": lambda _, value: isinstance(value, int) and not isinstance(value, bool),
            "number": lambda _, value: (
                isinstance(value, int | float)
                and not isinstance(value, bool)
                and math.isfinite(value)
            ),
        }
    ),
)


def _one_line(error: ValidationError, where: str) -> str:
    """Return an error as one line that names the key and says what it may be."""
    key = ".".join([*([where] if where else []), *map(str, error.absolute_path)]) or "(top level)"
    if "propertyNames" in error.absolute_schema_path and error.validator == "maxLength":
        letters = f"it has {len(error.instance)} letters, and may have {error.validator_value}"
        return f"{key}: {error.instance!r:.80} cannot be a name: {letters}"
    if "propertyNames" in error.absolute_schema_path and error.validator == "type":
        return f"{key}: {_as_in_yaml(error.instance)} cannot be a name{_QUOTE}"
    if error.validator == "fileName":
        return f"{key}: {error.instance!r:.80} cannot be a name: {error.message}"
    if error.validator in ("labels", "addresses"):
        return f"{key}: {error.message}"
    if "propertyNames" in error.absolute_schema_path:
        signs = "letters and digits, and spaces and . _ + - in between"
        return f"{key}: {error.instance!r} cannot be a name; it may be {signs}"
    if error.validator == "additionalProperties":
        allowed = list(error.schema.get("properties", {}))
        unknown = next(name for name in error.instance if name not in allowed)
        near = difflib.get_close_matches(str(unknown), allowed, n=1)
        guess = f" (did you mean {near[0]}?)" if near else ""
        prefix = "" if key == "(top level)" else f"{key}: "
        return f"{prefix}unknown key {unknown!r}{guess}; it may be {', '.join(allowed)}"
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        return f"{key}: lacks the key {missing!r}"
    allowed = _ALLOWED.get(str(error.validator), error.message)
    value = error.validator_value
    is_of_wrong_type = error.validator == "type"
    if is_of_wrong_type and isinstance(error.instance, str):
        if re.fullmatch(r"-?[\d.]+", error.instance):
            allowed += " (in --config, numbers inside of braces are text: write them into a file)"
        if _POWER.fullmatch(error.instance):
            allowed += f" (YAML reads {error.instance} as text: write {float(error.instance):.15g})"
    should_be_text = (
        is_of_wrong_type and "string" in value and not isinstance(error.instance, str | list | dict)
    )
    if isinstance(value, list):
        value = (" or " if is_of_wrong_type else ", ").join(map(str, value))
    return (
        f"{key}: {allowed.replace('VALUE', str(value))}, not "
        f"{_as_in_yaml(error.instance)}{_QUOTE * should_be_text}"
    )


def _as_in_yaml(value: Any) -> str:
    """Return a value in short, as a config file writes it if it is null, true or false."""
    words = {None: "null", True: "true", False: "false"}
    is_word = value is None or isinstance(value, bool)
    return words[value] if is_word else _IN_SHORT.repr(value)


_POWER = re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d{1,2}")
"""Numbers such as 1e2, which are text without a point and a sign: in YAML 1.1 they are 1.0e+2."""

_QUOTE = (
    "; text that YAML reads as a number, true, false or null stands in quotation marks, as "
    '"1" or "on"'
)


_ALLOWED = {
    "enum": "may be VALUE",
    "const": "must be VALUE",
    "type": "must be of type VALUE",
    "minimum": "must be VALUE or more",
    "maximum": "must be VALUE or less",
    "exclusiveMinimum": "must be more than VALUE",
    "exclusiveMaximum": "must be less than VALUE",
    "minItems": "needs VALUE or more entries",
    "maxItems": "needs VALUE or fewer entries",
    "minProperties": "needs VALUE or more entries",
    "ascending": "must ascend",
    "cutoff": "must have a cut-off, such as recall@10",
    "uniqueItems": "must not repeat an entry",
    "pattern": "must match VALUE",
    "minLength": "must not be empty",
    "maxLength": "must have at most VALUE letters",
}
_IN_SHORT = reprlib.Repr()
_IN_SHORT.maxstring = _IN_SHORT.maxother = _IN_SHORT.maxlong = 80
