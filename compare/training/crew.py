"""Who works on the cells of a sweep: this process, several of this machine, a cluster.

All three are a function that takes a cell and gives the future of what comes of it. Each
process computes on one thread, because sums in another order end in other weights.
"""

import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from queue import SimpleQueue

import torch

from algebra.errors import KrohnError
from compare.training.cells import Cell, Job
from compare.training.described import Json
from compare.training.folder import RECORD, WEIGHTS
from verify.cluster import connected
from verify.crew import leave_with_parent

LIVES = 3
"""How many processes may die with a cell before it is taken to be the reason."""
PAUSE = 0.2
"""Seconds between reports of a process: more often than anybody looks."""
KIND = 10
"""How much a process of a sweep lets others go first (nice)."""

Tell = Callable[[str, int, int], None]
"""Called with what is being done, how much is done, and of how much."""
Came = tuple[Json, dict[str, bytes]]
"""What came of a cell, and files of its run that are perhaps not here."""


@dataclass(frozen=True)
class Crew:
    """Somebody who works on cells.

    Attributes:
        hand: Takes a cell; the future fails with `KrohnError` if the cell cannot be
            trained.
        width: How many cells are worked on at once.
        lost: Further errors of a future: those of workers that died with a cell.
    """

    hand: Callable[[Cell], Future[Came]]
    width: Callable[[], int]
    lost: tuple[type[Exception], ...] = ()


@contextmanager
def this_process(job: Job, tell: Tell) -> Iterator[Crew]:
    """Cells are worked on as they are handed in."""

    def hand(cell: Cell) -> Future[Came]:
        future: Future[Came] = Future()
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            future.set_result(
                (job.work(cell, lambda *done: tell(cell.said, *done)), {})
            )
        except KrohnError as error:
            future.set_exception(error)
        finally:
            torch.set_num_threads(threads)
        return future

    yield Crew(hand, lambda: 1)


@contextmanager
def processes(job: Job, count: int, tell: Tell) -> Iterator[Crew]:
    """Several processes of this machine; where one dies, another one goes on."""
    workers = [_Worker(job, tell) for _ in range(count)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def attend(cell: Cell) -> Came:
        worker = idle.get()
        try:
            return worker.work(cell), {}
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(count)
    try:
        yield Crew(lambda cell: pool.submit(attend, cell), lambda: count)
    finally:
        for worker in workers:
            worker.stop()
        pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """A process that works on one cell after the other, and what replaces it."""

    def __init__(self, job: Job, tell: Tell) -> None:
        self._job, self._tell = job, tell
        self._lock, self._stopped = threading.Lock(), False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection[Json, Json] | None = None

    def work(self, cell: Cell) -> Json:
        """What comes of a cell.

        Raises:
            KrohnError: If the cell fails, or processes die with it again and again.
        """
        for _ in range(LIVES):
            # A process that is killed takes its end of the pipe with it.
            with suppress(EOFError, OSError):
                return self._attempt(cell)
            if self._stopped:
                raise KrohnError("stopped")
            self._end()
        raise KrohnError(
            f"processes died with it {LIVES} times; they may have been out of memory"
        )

    def stop(self) -> None:
        """End the process, at once; runs go on from their folders."""
        with self._lock:
            self._stopped = True
            self._end()

    def _attempt(self, cell: Cell) -> Json:
        pipe = self._open()
        pipe.send(cell)
        while True:
            kind, said = pipe.recv()
            if kind == "done":
                return said
            if kind != "steps":
                raise KrohnError(said) if kind == "failed" else RuntimeError(said)
            self._tell(cell.said, *said)

    def _open(self) -> "Connection[Json, Json]":
        with self._lock:
            if self._stopped:
                raise EOFError
            if self._pipe is None:
                context = multiprocessing.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                self._process = context.Process(
                    target=_serve, args=(self._job, theirs), daemon=True
                )
                self._process.start()
                theirs.close()
            return self._pipe

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None


def _serve(job: Job, pipe: "Connection[Json, Json]") -> None:
    """What a process of this machine does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=leave_with_parent, daemon=True).start()
    os.nice(KIND)
    torch.set_num_threads(1)
    while True:
        pipe.send(_outcome(job, pipe.recv(), _reporter(pipe)))


def _outcome(
    job: Job, cell: Cell, report: Callable[[int, int], None]
) -> tuple[str, Json]:
    try:
        return "done", job.work(cell, report)
    except KrohnError as error:
        return "failed", str(error)
    except Exception:  # a mistake in a measure; whoever waits is to see where
        return "broken", traceback.format_exc()


def _reporter(pipe: "Connection[Json, Json]") -> Callable[[int, int], None]:
    last = 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > PAUSE or done == total:
            last = time.monotonic()
            pipe.send(("steps", (done, total)))

    return report


@contextmanager
def dask(job: Job, address: str) -> Iterator[Crew]:
    """The workers of a cluster, or of a small one that is started here.

    They keep runs in a folder of the same name; where they share it, a run goes on
    wherever its cell is handed next. What came of it is brought here in any case.

    Args:
        job: What is done with each cell.
        address: ``tcp://host:port`` or ``local:N``.

    Raises:
        CheckError: If Dask is not installed, or nobody answers.
    """
    with connected(address) as client, client.get_executor() as executor:
        from distributed import KilledWorker

        yield Crew(
            lambda cell: executor.submit(_work_there, job, cell),
            lambda: max(1, sum(client.nthreads().values())),
            (KilledWorker,),
        )


def _work_there(job: Job, cell: Cell) -> Came:
    torch.set_num_threads(1)
    record = job.work(cell)
    kept = job.run_folder(cell)
    return record, {name: (kept / name).read_bytes() for name in (WEIGHTS, RECORD)}
