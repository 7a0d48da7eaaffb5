"""Shards on the machines of a Dask cluster, or on a small one that is started here.

Dask and not Ray: it is Python only, it installs in seconds, its scheduler runs a task
of a lost worker again by itself, and its futures are those of `concurrent.futures`.
"""

import logging
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from typing import Any

from verify.counterexample import CheckError
from verify.crew import Crew, Worker, open_job, run_here
from verify.shards import Job, Outcome, Shard

LOCAL = "local:"
LIVES = 10
"""How many workers may die with a shard before it is taken to be the reason."""


def workers(address: str) -> int | None:
    """The number in ``local:N``; None for the address of a scheduler.

    Raises:
        CheckError: If it is no number.
    """
    if not address.startswith(LOCAL):
        return None
    count = address.removeprefix(LOCAL)
    if not count.isdecimal() or int(count) < 1:
        raise CheckError(
            f"{address!r} names no local cluster; say local:2, for example"
        )
    return int(count)


@contextmanager
def cluster(job: Job, address: str, memory: int) -> Iterator[Crew]:
    """The workers of a cluster; the memory is that of each process.

    Args:
        job: What they will run; it is sent to every worker, later ones included.
        address: Of a scheduler, ``tcp://host:port``, or ``local:N`` for N processes.
        memory: In bytes.

    Raises:
        CheckError: If Dask is not installed, nobody answers, or the memory is too small.
    """
    distributed = _imported()
    Worker(job, memory)  # what is wrong is said here, not on each of them
    with connected(address) as client, client.get_executor() as executor:
        client.register_plugin(_opener(distributed, job, memory), name=job.key)

        def hand(shard: Shard) -> Future[Outcome]:
            future: Future[Outcome] = executor.submit(run_here, job.key, shard)
            return future

        yield hand


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A Dask client of a cluster; one that is started here ends with it.

    Args:
        address: Of a scheduler, ``tcp://host:port``, or ``local:N`` for N processes.

    Raises:
        CheckError: If Dask is not installed, or nobody answers.
    """
    distributed = _imported()
    with ExitStack() as stack:
        yield _connect(distributed, address, stack)


def _imported() -> Any:
    try:
        import distributed
    except ImportError:
        raise CheckError(
            "--cluster needs Dask, which is not installed; pip install 'krohn[cluster]'"
        ) from None
    return distributed


def _connect(distributed: Any, address: str, stack: ExitStack) -> Any:
    """A client of the cluster; both end with the stack."""
    import dask

    settings = {
        "distributed.scheduler.allowed-failures": LIVES,
    }
    stack.enter_context(dask.config.set(settings))
    count = workers(address)
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
        raise CheckError(
            f"no Dask scheduler answers at {address} ({error}); start one with "
            "`dask scheduler`, or say --cluster local:2"
        ) from None


def _opener(distributed: Any, job: Job, memory: int) -> Any:
    """What a worker does before its first shard."""

    class Opener(distributed.WorkerPlugin):  # type: ignore[misc]
        def setup(self, worker: Any) -> None:
            del worker
            open_job(job, memory)

    return Opener()
