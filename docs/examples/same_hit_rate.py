"""Three models with the same hit rate@10 among 100 sampled negatives, and their true hit rates, of
10,000 items.
"""

import numpy as np

import sampled_metrics as sm

N = 10_000
USERS = 5000
rank = np.arange(1, N + 1)
shares = {  # P(rank) of each model
    "A": 0.84 / (rank + 1.8) / np.sum(1 / (rank + 1.8)) + 0.16 / N,
    "B": (rank <= 7500) / (rank + 36) / np.sum((rank <= 7500) / (rank + 36)),
    "C": (rank <= 1590) / 1590,
}
places = (np.arange(USERS) + 0.5) / USERS
ranks = {name: 1 + np.searchsorted(np.cumsum(share), places) for name, share in shares.items()}
exact = sm.exact_ranks(ranks, candidates=N, exact=True)
print(sm.expect(exact, negatives=100, metrics="hit-rate@10"))
