"""Who runs the shards of a job: this process, several of this machine, or a cluster.

All three are a function that takes a shard and returns the future of what it comes to.
Each process opens the networks of the job once; if there are several, each runs them on
one thread.
"""

import ctypes
import multiprocessing
import os
import resource
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from multiprocessing.synchronize import Event
from pathlib import Path

import torch

from network.model import Model
from verify.counterexample import CheckError
from verify.shards import Job, Outcome, Shard, run

Crew = Callable[[Shard], Future[Outcome]]

# glibc's names, from malloc.h.
M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_MAX = -1, -2, -4
KEPT = 2**26
"""How much freed memory a process keeps at the top of its heap."""

LEAST = 2**24
"""Below this much memory for words there is more bookkeeping than work."""


class Stopped(Exception):
    """A shard was given up because nobody waits for it."""


class Worker:
    """The networks of a job, opened in the process that runs them.

    Attributes:
        pairs: Networks and machines.
        budget: How many bytes a walk may take.
        stop: Set when nobody waits any more.
    """

    def __init__(self, job: Job, memory: int, stop: Event | None = None) -> None:
        """Open the networks.

        Raises:
            CheckError: If the memory is too small for this process.
        """
        self.pairs = [(Model(file), machine) for file, machine in job.pairs]
        self.stop = stop
        # A quarter is left to the holes between what is allocated.
        self.budget = (memory - resident()) * 3 // 4
        if self.budget < LEAST:
            needed = (resident() + 2 * LEAST) // 2**20 + 1
            raise CheckError(
                f"a process has {memory // 2**20} MiB, which is too little for the "
                f"network and its words; allow at least --memory {needed}MiB"
            )

    def run(self, shard: Shard) -> Outcome:
        """Run one shard.

        Raises:
            Stopped: If nobody waits for it.
        """
        network, machine = self.pairs[shard.network]
        return run(network, machine, shard, self.budget, self._tick)

    def _tick(self, done: int, total: int) -> None:
        if self.stop is not None and self.stop.is_set():
            raise Stopped


def resident() -> int:
    """How many bytes of memory this process has now, or has had at most."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return pages * os.sysconf("SC_PAGE_SIZE")


_OPEN: dict[str, Worker] = {}
"""The jobs that this process has opened, by their keys."""


def open_job(job: Job, memory: int, stop: Event | None = None) -> None:
    """Make this process ready for the shards of a job.

    Raises:
        CheckError: If the memory is too small.
    """
    torch.set_num_threads(1)
    _OPEN.clear()
    _OPEN[job.key] = Worker(job, memory, stop)


def run_here(key: str, shard: Shard) -> Outcome:
    """Run a shard of a job that this process has opened."""
    return _OPEN[key].run(shard)


def _join_crew(job: Job, memory: int, stop: Event) -> None:
    """What a new process of this machine does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    _keep_memory()
    open_job(job, memory, stop)


def _keep_memory() -> None:
    """Do not give freed memory back after every pass, where the C library is glibc.

    Measured: processes that return and ask again for the same pages, side by side, take
    2.5 times as long.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        for option in (M_TRIM_THRESHOLD, M_TOP_PAD):
            mallopt(option, KEPT)
        mallopt(M_MMAP_MAX, 0)


def leave_with_parent() -> None:
    """End this process as soon as the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


@contextmanager
def this_process(job: Job, memory: int) -> Iterator[Crew]:
    """Shards are run as they are handed in; problems are raised at once.

    Raises:
        CheckError: If the memory is too small.
    """
    worker = Worker(job, memory)

    def hand(shard: Shard) -> Future[Outcome]:
        future: Future[Outcome] = Future()
        future.set_result(worker.run(shard))
        return future

    yield hand


@contextmanager
def processes(job: Job, count: int, memory: int) -> Iterator[Crew]:
    """Several processes of this machine; the memory is that of each.

    Raises:
        CheckError: If the memory is too small.
    """
    Worker(job, memory)  # what is wrong is said here, not in each of them
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = ProcessPoolExecutor(count, context, _join_crew, (job, memory, stop))
    try:
        yield lambda shard: pool.submit(run_here, job.key, shard)
    finally:
        stop.set()
        pool.shutdown(wait=True, cancel_futures=True)
