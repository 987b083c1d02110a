"""A made-up model with 500,000 items, and the items of its 120 users, in place of your own."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

USERS, ITEMS = 120, 500_000

_rng = np.random.default_rng(0)
_users = _rng.standard_normal((USERS, 8), dtype=np.float32)
_items = _rng.standard_normal((ITEMS, 8), dtype=np.float32)
_popularity = _rng.exponential(size=ITEMS).astype(np.float32)


def scores(batch: slice) -> NDArray[np.float32]:
    """Return the (users, items) scores of a slice of the users."""
    return _users[batch] @ _items.T + _popularity


def _liked(user: int) -> NDArray[np.int64]:
    """Return 21 items that a user likes, of 20,000 that the user has seen, in random order."""
    seen = _rng.choice(ITEMS, 20_000, replace=False, shuffle=False)
    score = _items[seen] @ _users[user] + _popularity[seen]
    best = np.argpartition(score + _rng.normal(size=len(seen)), -21)[-21:]
    return seen[_rng.permutation(best)]


def _matrix(items: NDArray[np.int64]) -> csr_array:
    user = np.repeat(np.arange(USERS), items.shape[1])
    return csr_array((np.ones(items.size), (user, items.ravel())), shape=(USERS, ITEMS))


_items_of_users = np.array([_liked(user) for user in range(USERS)])

training = _matrix(_items_of_users[:, 1:])
"""(users, items): 20 items of each user."""

held_out = _matrix(_items_of_users[:, :1])
"""(users, items): another one of each user."""
