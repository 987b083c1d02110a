"""Made-up factors of three models, and the items of their 600 users, in place of your own."""

import numpy as np
from scipy.sparse import csr_array

_rng = np.random.default_rng(0)
_users = _rng.normal(size=(600, 8))
_items = _rng.normal(size=(2000, 8))
_liked = np.argsort(-(_users @ _items.T) + _rng.normal(scale=3, size=(600, 2000)), axis=1)[:, :24]
_liked = _rng.permuted(_liked, axis=1)


def _matrix(columns: slice) -> csr_array:
    """Return a (users, items) matrix of some of the 24 items that each user likes."""
    items = _liked[:, columns]
    user = np.repeat(np.arange(len(items)), items.shape[1])
    return csr_array((np.ones(items.size), (user, items.ravel())), shape=(600, 2000))


training = _matrix(slice(4, None))
"""(users, items): 20 items of each user."""

held_out = _matrix(slice(1))
"""(users, items): another one of each user."""

models = {
    name: (_users + _rng.normal(scale=noise, size=_users.shape), _items)
    for name, noise in {"A": 0.5, "B": 0.6, "C": 1.0}.items()
}
"""By name of the model, the factors of its users and of its items."""


def score(users: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Return the scores of pairs by model A, in place of an expensive ranker."""
    user_factors, item_factors = models["A"]
    return (user_factors[users] * item_factors[items]).sum(axis=1)
