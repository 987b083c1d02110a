"""Config files: YAML without repeated keys, and without aliases that expand without end."""

import math
import os
from pathlib import Path
from typing import Any

import yaml

from sampled_metrics.errors import ConfigError, reason

_MOST_VALUES = 100_000
"""Values that a config file may have, each alias counted as what it stands for."""


class _StrictLoader(yaml.SafeLoader):  # type: ignore[misc]
    """A loader of plain values that refuses a repeated key, and aliases that expand without end."""

    def construct_document(self, node: yaml.Node) -> Any:
        """Return the content of a file, whose aliases stand for a limited number of values."""
        _count(node, {})
        return super().construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping without repeated keys; keys that `<<` merges may be overridden."""
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                problem = f"the key {key.value!r} is there twice"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=key.start_mark)
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def _count(node: yaml.Node, counts: dict[int, float]) -> float:
    """Return the number of values of a node, with each alias counted as what it stands for.

    Args:
        node: the node.
        counts: those of other nodes by their identity. A node within itself has no end.
    """
    if id(node) not in counts:
        counts[id(node)] = math.inf
        below = []
        if isinstance(node, yaml.SequenceNode):
            below = node.value
        elif isinstance(node, yaml.MappingNode):
            below = [part for pair in node.value for part in pair]
        counts[id(node)] = 1 + sum(_count(part, counts) for part in below)
        if counts[id(node)] > _MOST_VALUES:
            problem = f"aliases expand to more than {_MOST_VALUES:,} values"
            raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
    return counts[id(node)]


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a config file.

    Raises:
        ConfigError: the file cannot be read, is not a mapping in YAML (or JSON, which is YAML),
            repeats a key, or has aliases that expand without end; the message names the file and
            the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = yaml.load(text, _StrictLoader)  # noqa: S506  # it is a SafeLoader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(f"{path}{line}: {error.problem or error.context}") from None
    except Exception as error:
        # constructors fail too: a value does not fit its tag, or is nested too deep
        raise ConfigError(f"{path}: {reason(error)}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, not a {type(content).__name__}")
    return content
