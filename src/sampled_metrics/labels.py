"""Labels of metrics and estimators as people give them: one, or several."""

from collections.abc import Sequence

from sampled_metrics.errors import ConfigError


def labels_of(given: str | Sequence[str], what: str) -> list[str]:
    """Return labels as a list.

    Args:
        given: one label, or several.
        what: what they are of, for messages.

    Raises:
        ConfigError: there are none.
    """
    labels = [given] if isinstance(given, str) else list(given)
    if not labels:
        raise ConfigError(f"{what}: give one label or more")
    return labels
