"""Small linear programmes of few rows, by the dual simplex method.

The programme of a known mean has some ten rows and some hundreds of columns, and a page of values
needs thousands of them. A general solver takes longer to read such a programme than to solve it.
"""

from __future__ import annotations

import numpy as np

from sampled_metrics.checks import Floats, Ints

_MOST_PIVOTS = 300
_PIVOT = 1e-8
_CLOSE = 1e-10


def smallest(
    objective: Floats, rows: Floats, ends: Floats, sums: Floats, basis: Ints | None = None
) -> tuple[Floats, Ints] | None:
    """Return the x >= 0 with the smallest objective, rows·x >= ends and sums·x = 1.

    Args:
        objective: (columns,) costs; those of columns outside the sum are 0 or more.
        rows: (rows, columns) coefficients.
        ends: (rows,) smallest products.
        sums: (columns,) 1 for the columns of the sum, 0 for others.
        basis: what the same programme returned with other ends, or without its last rows.

    Returns:
        (columns,) x, whose reduced costs prove that it is the best, and its basis; None if no such
        x was found.

    References:
        C. E. Lemke, The dual method of solving the linear programming problem, Naval Research
        Logistics Quarterly 1, 1954.
    """
    count, size = rows.shape
    columns = np.zeros((count + 1, size + count))
    columns[:count, :size] = rows
    columns[count, :size] = sums
    columns[:count, size:] = -np.eye(count)
    right = np.append(ends, 1.0)
    costs = np.append(objective, np.zeros(count))
    # no reduced cost is negative if the cheapest column is the whole sum
    cheapest = np.argmin(np.where(sums > 0, objective, np.inf))
    known = np.array([cheapest]) if basis is None else basis
    basis = np.append(known, size + np.arange(len(known) - 1, count))
    for _ in range(_MOST_PIVOTS):
        try:
            inverse = np.linalg.inv(columns[:, basis])
        except np.linalg.LinAlgError:
            return None
        values = inverse @ right
        reduced = costs - (costs[basis] @ inverse) @ columns
        reduced[basis] = 0.0
        if reduced.min() < -_CLOSE * max(1.0, float(np.abs(objective).max())):
            return None
        if values.min() >= -_CLOSE:
            solution = np.zeros(size + count)
            solution[basis] = np.maximum(values, 0.0)
            return solution[:size], basis
        leaving = int(np.argmin(values))
        entries = inverse[leaving] @ columns
        entries[basis] = 0.0
        can_enter = entries < -_PIVOT * np.abs(entries).max()
        if not can_enter.any():
            return None
        ratios = np.full(size + count, np.inf)
        ratios[can_enter] = np.maximum(reduced[can_enter], 0.0) / -entries[can_enter]
        is_nearest = ratios <= ratios.min() + _CLOSE
        basis[leaving] = np.argmin(np.where(is_nearest, entries, 0.0))
    return None
