"""The command published."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

import sampled_metrics as sm
from sampled_metrics._defaults import PUBLISHED
from sampled_metrics.cli import options as shared
from sampled_metrics.cli.options import Command, label_option, whole_range
from sampled_metrics.cli.output import prints_result

# pandas and what needs it are imported where they are used, so that help comes at once
if TYPE_CHECKING:
    from sampled_metrics.core.evaluation.result import Result


@click.command(
    "published",
    cls=Command,
    short_help="The true metrics behind published sampled ones.",
    epilog="  sampled-metrics published --value A:hr@10=.68 --value B:hr@10=.7 --negatives 99 "
    "--candidates 3706 --users 6040",
)
@click.option(
    "--value",
    "values",
    multiple=True,
    required=True,
    metavar="NAME:METRIC=VALUE",
    help="A sampled metric of a recommender; again for another metric or recommender.",
)
@click.option(
    "--exact",
    multiple=True,
    metavar="NAME:METRIC=VALUE",
    help="A published metric among all candidates, if there is one: whether the sampled values "
    "exclude it.",
)
@click.option(
    "--negatives", type=shared.WHOLE, required=True, help="m: how many negatives were sampled."
)
@click.option(
    "--candidates",
    type=whole_range,
    metavar="N|LEAST-LARGEST",
    required=True,
    help="n: how many items an exact evaluation ranks; 3000-10000 if it is not known.",
)
@click.option(
    "--users", type=shared.WHOLE, required=True, help="How many users the values describe."
)
@label_option("estimators", PUBLISHED, known=PUBLISHED)
@label_option("metrics", (), "those of the values")
@shared.REPLACEMENT
@click.option(
    "--drawn",
    type=click.Choice(["by user", "popularity"]),
    default="by user",
    show_default=True,
    help="Whether the negatives are drawn uniformly for each user, or by popularity.",
)
@shared.CONFIDENCE_LEVEL
@prints_result
def published(values: tuple[str, ...], exact: tuple[str, ...], **options: Any) -> Result:
    """The true metrics behind published values of sampled ones, with intervals."""
    return sm.published(
        _values_by_name(values, "--value"), exact=_values_by_name(exact, "--exact"), **options
    )


def _values_by_name(texts: tuple[str, ...], option: str) -> dict[str, dict[str, str]]:
    """Return the values of NAME:METRIC=VALUE by name and by metric."""
    by_name: dict[str, dict[str, str]] = {}
    for text in texts:
        name, _, stated = text.rpartition(":")
        label, _, value = stated.rpartition("=")
        if not name.strip() or not label.strip() or label in by_name.get(name, {}):
            raise click.UsageError(
                f"{option} is NAME:METRIC=VALUE, such as GMF:hr@10=0.68, once for each metric, "
                f"not {text}"
            )
        by_name.setdefault(name, {})[label] = value
    return by_name
