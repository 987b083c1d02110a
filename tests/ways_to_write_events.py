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

    def line(self, *fields):
        return self.separator.join(map(str, fields)) + "\n"

    def file(self, lines):
        return (f"{self.header}\n" if self.header else "") + "".join(lines)

    def read(self, content):
        """The events, as rows of user, item, rating, timestamp; ids are text."""
        chunks = list(formats.get(self.name).parse(io.BytesIO(content), "events", **self.options))
        rows = [
            row
            for chunk in chunks
            for row in zip(*(column.tolist() for column in chunk[:4]), strict=True)
        ]
        return [(str(user), str(item), *more) for user, item, *more in rows]


COLUMNS = {"columns": {"user": "who", "item": "what", "rating": "stars", "timestamp": "when"}}
TYPED = "user_id:token\titem_id:token\trating:float\ttimestamp:float"
WAYS = [
    Way("movielens-dat", "::", None, {}),
    Way("movielens-csv", ",", "userId,movieId,rating,timestamp", {}),
    Way("movielens-100k", "\t", None, {}),
    Way("recbole-inter", "\t", TYPED, {}),
    Way("delimited", ",", "who,what,stars,when", COLUMNS),
    Way("delimited", ";", "who;what;stars;when", COLUMNS | {"separator": ";"}),
]


def expected(rows):
    return [(str(user), str(item), float(rating), when) for user, item, rating, when in rows]
