"""Config files: YAML without repeated keys."""

import os
from pathlib import Path
from typing import Any

import yaml

from sampled_metrics.errors import ConfigError


class _StrictLoader(yaml.SafeLoader):  # type: ignore[misc]
    """A loader of plain values that refuses a repeated key."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping without repeated keys; keys that `<<` merges may be overridden."""
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                line = key.start_mark.line + 1
                raise ConfigError(f"line {line}: the key {key.value!r} is there twice")
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a config file.

    Raises:
        ConfigError: the file cannot be read, is not a mapping in YAML (or JSON, which is YAML), or
            repeats a key; the message names the file and the line.
    """
    try:
        content = yaml.load(Path(path).read_text(encoding="utf-8"), _StrictLoader)  # noqa: S506  # it is a SafeLoader
    except Exception as error:  # constructors fail too, as a value does not fit its tag
        raise ConfigError(f"{path}: {' '.join(str(error).split())}") from None
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, not a {type(content).__name__}")
    return content
