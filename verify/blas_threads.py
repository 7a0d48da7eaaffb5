"""One thread for products of matrices: a proof has many small ones, and threads wait."""

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> Any:
    """A context in which the linear algebra of numpy uses one thread.

    It also makes sums come out alike wherever they are added up.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()
