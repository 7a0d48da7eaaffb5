"""Tasks on the machines of a Dask cluster, or on a small one that is started here.

Dask and not Ray: it is Python only, it installs in seconds, its scheduler runs a task
of a lost worker again by itself, and its futures are those of `concurrent.futures`.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from uuid import uuid4

from krohn.algebra.errors import KrohnError
from krohn.jobs.worker_pool import Report, Result, Task, Work, WorkerPool

LOCAL = "local:"
LIVES = 10
"""How many workers may die with a task before it is taken to be the reason."""

_OPENED: dict[str, Callable[[Any, Report], Any]] = {}
"""The jobs that this process, a worker of a cluster, has opened."""


@contextmanager
def cluster(
    work: Work[Task, Result], address: str
) -> Iterator[WorkerPool[Task, Result]]:
    """The workers of a cluster; one that is started here ends with it.

    Args:
        work: What is done with each task; every worker gets it once, later ones too.
        address: Of a scheduler, ``tcp://host:port``, or ``local:N`` for N processes.

    Raises:
        KrohnError: If nobody answers.
    """
    count = _local(address)
    import distributed

    key = uuid4().hex
    with ExitStack() as stack:
        client = _client(distributed, address, count, stack)
        executor = stack.enter_context(client.get_executor())
        client.register_plugin(_opener(distributed, key, work), name=key)
        stack.callback(client.unregister_worker_plugin, key)
        yield WorkerPool(
            lambda task: executor.submit(_run_there, key, task),
            lambda: max(1, sum(client.nthreads().values())),
            (distributed.KilledWorker,),
        )


def _local(address: str) -> int | None:
    """The number in ``local:N``; None for the address of a scheduler.

    Raises:
        KrohnError: If it is no number.
    """
    if not address.startswith(LOCAL):
        return None
    count = address.removeprefix(LOCAL)
    if not count.isdecimal() or int(count) < 1:
        raise KrohnError(
            f"{address!r} names no local cluster; say local:2, for example"
        )
    return int(count)


def _client(distributed: Any, address: str, count: int | None, stack: ExitStack) -> Any:
    """A client of the cluster; both end with the stack."""
    import dask

    settings = {"distributed.scheduler.allowed-failures": LIVES}
    stack.enter_context(dask.config.set(settings))
    where: Any = address
    if count is not None:
        where = distributed.LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.ERROR,
        )
        stack.enter_context(where)
    try:
        return stack.enter_context(distributed.Client(where, timeout="10s"))
    except (OSError, ValueError) as error:
        raise KrohnError(
            f"no Dask scheduler answers at {address} ({error}); start one with "
            "`dask scheduler`, or say --cluster local:2"
        ) from None


def _opener(distributed: Any, key: str, work: Work[Any, Any]) -> Any:
    """The plugin that opens the work in a worker before its first task, and closes it."""

    class Opener(distributed.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            del worker
            _open_there(key, work)

        def teardown(self, worker: Any) -> None:
            del worker
            _close_there(key)

    return Opener()


# The class above is sent by value, with copies of its globals; functions of this
# module are sent by their names.
def _open_there(key: str, work: Work[Any, Any]) -> None:
    _OPENED[key] = work.open(own=True)


def _close_there(key: str) -> None:
    _OPENED.pop(key, None)


def _run_there(key: str, task: Any) -> Any:
    return _OPENED[key](task, lambda done, total: None)
