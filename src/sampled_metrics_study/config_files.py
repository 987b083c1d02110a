"""Config files: YAML without repeated keys, and without aliases that expand without end."""

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
        sizes: dict[int, int] = {}

        def expanded(node: yaml.Node) -> int:
            if id(node) not in sizes:
                sizes[id(node)] = 0  # until the values below it are counted
                below: list[yaml.Node] = []
                if isinstance(node, yaml.SequenceNode):
                    below = node.value
                elif isinstance(node, yaml.MappingNode):
                    below = [part for pair in node.value for part in pair]
                sizes[id(node)] = 1 + sum(map(expanded, below))
            size = sizes[id(node)]
            line = node.start_mark.line + 1
            if not size:
                raise ConfigError(
                    f"line {line}: an alias stands for a value that holds the alias itself"
                )
            if size > _MOST_VALUES:
                raise ConfigError(
                    f"line {line}: its aliases expand to more than {_MOST_VALUES:,} values"
                )
            return size

        expanded(node)
        return super().construct_document(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping without repeated keys; keys that `<<` merges may be overridden."""
        seen = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge" or not isinstance(key, yaml.ScalarNode):
                continue
            if (key.tag, key.value) in seen:
                raise ConfigError(
                    f"line {key.start_mark.line + 1}: the key {key.value!r} is there twice"
                )
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)


def read_config(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a config file.

    Raises:
        ConfigError: the file cannot be read, is not a mapping in YAML (or JSON, which is YAML), has
            no keys, repeats a key, or has aliases that expand without end; the message names the
            file and the line.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        content = yaml.load(text, _StrictLoader)  # noqa: S506  # it is a SafeLoader
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: is not text in UTF-8") from None
    except ConfigError as error:
        raise ConfigError(f"{path}, {error}") from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = f", line {mark.line + 1}" if mark else ""
        raise ConfigError(
            f"{path}{line}: {error.problem or error.context or 'is not YAML'}"
        ) from None
    except Exception as error:
        # constructors fail too: a value does not fit its tag, or is nested too deep
        raise ConfigError(f"{path}: is not YAML: {reason(error)}") from None
    if content is None:
        raise ConfigError(f"{path}: has no keys, and a config file states some")
    if not isinstance(content, dict):
        raise ConfigError(f"{path}: must be a mapping of keys, not a {type(content).__name__}")
    return content
