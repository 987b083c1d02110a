"""Ways to write events: formats with their separators, and the rows that are read of them."""

import io
from typing import Any, NamedTuple

from sampled_metrics_study.data import formats

Row = tuple[Any, Any, float, Any]
"""User, item, rating and timestamp."""


class Way(NamedTuple):
    """How events are written in a format."""

    name: str
    separator: str
    header: str | None
    options: dict
    has_text_ids: bool

    def line(self, *fields):
        return self.separator.join(map(str, fields)) + "\n"

    def file(self, lines):
        return (f"{self.header}\n" if self.header else "") + "".join(lines)

    def read(self, content):
        """The events, as rows of user, item, rating, timestamp; ids that may be text are text."""
        chunks = list(formats.get(self.name).parse(io.BytesIO(content), "events", **self.options))
        rows = [
            row
            for chunk in chunks
            for row in zip(*(column.tolist() for column in chunk[:4]), strict=True)
        ]
        return (
            [(str(user), str(item), *more) for user, item, *more in rows]
            if self.has_text_ids
            else rows
        )


COLUMNS = {"columns": {"user": "who", "item": "what", "rating": "stars", "timestamp": "when"}}
TYPED = "user_id:token\titem_id:token\trating:float\ttimestamp:float"
WAYS = [
    Way("movielens-dat", "::", None, {}, has_text_ids=False),
    Way("movielens-csv", ",", "userId,movieId,rating,timestamp", {}, has_text_ids=False),
    Way("movielens-100k", "\t", None, {}, has_text_ids=False),
    Way("recbole-inter", "\t", TYPED, {}, has_text_ids=True),
    Way("delimited", ",", "who,what,stars,when", COLUMNS, has_text_ids=True),
    Way("delimited", ";", "who;what;stars;when", COLUMNS | {"separator": ";"}, has_text_ids=True),
]


def expected(way, rows):
    kind = str if way.has_text_ids else int
    return [(kind(user), kind(item), float(rating), when) for user, item, rating, when in rows]
