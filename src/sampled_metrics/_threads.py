"""The number of threads of linear algebra."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


def on_one_thread(function: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return the function with linear algebra on one thread.

    Its arrays are small, and threads that wait for one another make it several times slower on a busy machine.
    """

    @wraps(function)
    def limited(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        import scipy.linalg.blas  # noqa: F401  # only a library that is loaded can be limited
        from threadpoolctl import threadpool_limits  # looks at all libraries

        with threadpool_limits(1, user_api="blas"):
            return function(*args, **kwargs)

    return limited
