"""The kinds of findings on ranked lists and judged items."""

from __future__ import annotations

from sampled_metrics.core.findings import CAUTION, REMARK, Kind

KINDS = (
    Kind(
        "one-grade",
        REMARK,
        "The judged items have no column relevance: each is relevant, with grade 1.",
        when="judged items have no grades",
        action="add the column relevance if items have grades",
    ),
    Kind(
        "nothing-relevant",
        REMARK,
        "{users} of {all} users have no relevant item, and count with the value 0.",
        when="judged users have no relevant item",
        action="leave them out if they are not part of the question",
        values="users; all: the judged users",
    ),
    Kind(
        "not-judged",
        REMARK,
        "{users} of {all} users have no judged item, and are left out.",
        when="users of ranked lists have no judged item",
        action="check that user ids are equal in both files",
        values="source; users; all: the users of the lists",
    ),
    Kind(
        "empty-lists",
        REMARK,
        "{users} of {all} users with judged items are missing, and count as empty lists.",
        when="judged users have no list",
        action="check that user ids are equal in both files",
        values="source; users; all: the judged users",
    ),
    Kind(
        "equal-scores",
        REMARK,
        "{users} of {all} users have a relevant item with the score of others; of equal scores, "
        "the last item by its id as text comes first, as in trec_eval.",
        when="a relevant item has the score of an item of another grade",
        action="write scores with more digits",
        values="source; users; all: the judged users",
    ),
    Kind(
        "items-not-judged",
        CAUTION,
        "No item of the lists is judged for any user. The lists have items such as {item!r}, and "
        "the judged ones are such as {judged!r}. Ids are compared as text.",
        when="no item of ranked lists is judged",
        action="write the ids of items in the same way in both files",
        values="source; item: of the lists; judged: of the judged items",
    ),
)
"""The kinds of this package."""
