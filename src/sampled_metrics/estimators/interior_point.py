"""Proportions under linear inequalities that are nearest to a point, or have the largest value near it.

Both are quadratic programmes over proportions p of n members, with coordinates c in units of standard errors:

    maximise Σ_g p_g v_g - κ/2 ‖Σ_g p_g c_g‖²   where rows p >= 0, Σ_g p_g = 1, p >= 0.

For the largest value within a distance, κ is adapted. A primal-dual interior-point method solves them. It keeps the
dual inequalities from its start on, so the multipliers prove a bound however exact they are.

Reference:
    S. Mehrotra, On the Implementation of a Primal-Dual Interior Point Method, SIAM Journal on Optimization 2, 1992.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.blas import dsyrk

from sampled_metrics._arrays import Floats

GAP = 1e-3
"""Relative error of the value, and of the squared distance, at which the method stops."""

_STEPS = 80  # most steps
_CLOSE = 0.02  # relative error of the distance; its effect is of second order
_RIDGE = 1e-13  # added to the diagonal, as rows may depend on each other


def furthest(
    coordinates: Floats, rows: Floats, values: Floats, start: Floats, distance: float
) -> tuple[Floats, Floats, Floats]:
    """Return the proportions with the largest value whose mean coordinates are within a distance of 0.

    Args:
        coordinates: (dimensions, members).
        rows: (rows, members) of the inequalities.
        values: (members,), not all of them equal.
        start: (members,) proportions above 0.
        distance: above 0.

    Returns:
        The (members,) proportions, the (dimensions,) slope q and the (rows,) multipliers t >= 0. For all proportions
        that keep the inequalities, Σ_g p_g v_g <= q · Σ_g p_g c_g + max_g (v_g - q · c_g + (t rows)_g).
    """
    span = float(np.ptp(values))
    found, dual = _solved(coordinates, rows, values / span, start, distance, 1.0)
    return found, span * dual[: len(coordinates)], span * dual[len(coordinates) : -1]


def nearest(coordinates: Floats, rows: Floats, start: Floats) -> Floats:
    """Return the (members,) proportions whose mean coordinates are nearest to 0; arguments as of `furthest`."""
    return _solved(coordinates, rows, np.zeros_like(start), start, None, 10.0)[0]


def _solved(
    coordinates: Floats, rows: Floats, values: Floats, start: Floats, wanted: float | None, span: float
) -> tuple[Floats, Floats]:
    """Return the proportions, and the dual solution: slope, multipliers of the rows, and of the sum."""
    size, inner = len(coordinates), slice(len(coordinates), -1)
    matrix = np.asfortranarray(np.vstack((-coordinates, rows, np.ones_like(start))))
    members, at, sums = len(start), np.arange(len(matrix)), np.zeros(len(matrix))
    sums[-1] = 1.0
    primal = np.concatenate((start, np.maximum(rows @ start, 0.01 * start.mean())))  # members, then slacks of rows
    dual = np.zeros(len(matrix))
    dual[inner] = 0.01 * span
    reduced = values + dual[inner] @ rows
    dual[-1] = -reduced.max() - 0.1 * span
    slack = np.concatenate((-reduced - dual[-1], dual[inner]))
    curvature = 0.02 if wanted else 1.0
    for step in range(_STEPS):
        gap, reached = primal @ slack, float(np.linalg.norm(coordinates @ primal[:members]))
        if wanted and step > 1:
            slope = float(np.linalg.norm(dual[:size])) / wanted
            curvature = float(np.clip(slope, curvature / 3, curvature * 3))
        rest = sums - matrix @ primal[:members]
        rest[:size] -= dual[:size] / curvature
        rest[inner] += primal[members:]
        error = float(np.linalg.norm(rest[:size]))
        scale, near = (wanted, _CLOSE * wanted) if wanted else (reached, _CLOSE * reached + GAP)
        if gap < GAP * curvature * scale**2 + 1e-12 and error < near and np.abs(rest[size:]).max() < 1e-6:
            break
        ratio = primal / slack
        normal = dsyrk(1.0, matrix * np.sqrt(ratio[:members]), lower=1)
        normal[at[:size], at[:size]] += 1 / curvature
        normal[at[inner], at[inner]] += ratio[members:]
        unit = 1 / np.sqrt(np.diag(normal))
        normal *= unit[:, np.newaxis] * unit
        normal[at, at] += _RIDGE
        factor = cho_factor(normal, lower=True, overwrite_a=True, check_finite=False)

        def direction(complementarity: Floats) -> tuple[Floats, Floats, Floats]:
            known = complementarity / slack  # noqa: B023
            right = rest - matrix @ known[:members]  # noqa: B023
            right[inner] += known[members:]
            towards = unit * cho_solve(factor, unit * right, check_finite=False)  # noqa: B023
            change = known + ratio * np.concatenate((towards @ matrix, -towards[inner]))  # noqa: B023
            return change, towards, (complementarity - slack * change) / primal  # noqa: B023

        change, _, of_slack = direction(-primal * slack)
        shares = _longest(primal, change), _longest(slack, of_slack)
        after = (primal + shares[0] * change) @ (slack + shares[1] * of_slack) / gap
        change, towards, of_slack = direction(after**3 * gap / len(primal) - primal * slack - change * of_slack)
        share, of_dual = 0.99 * _longest(primal, change), 0.99 * _longest(slack, of_slack)
        primal = primal + share * change
        dual, slack = dual + of_dual * towards, slack + of_dual * of_slack
    return primal[:members] / primal[:members].sum(), dual


def _longest(place: Floats, change: Floats) -> float:
    """Return the share of a step, at most 1, that keeps a place from falling below 0."""
    return float(1 / max(1.0, np.max(-change / place)))
