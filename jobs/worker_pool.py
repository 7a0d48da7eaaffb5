"""Who works on the tasks of a job: this process, several of this machine, or a cluster.

All three are a `WorkerPool`, which takes a task and gives the future of its result.
"""

import json
import multiprocessing
import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import Connection, wait as wait_for_end
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, Protocol, TypeVar

from krohn.algebra.errors import KrohnError
from krohn.program import strict_json
from krohn.program.files import read_bytes

LIVES = 3
"""How many processes may die with a task before it is taken to be the reason."""
UNGUARDED = (
    "this process was started to help, and by importing your script it would start the "
    "work again: put what the script does under `if __name__ == '__main__':`, or say "
    "jobs=1"
)
PAUSE = 0.2
"""Seconds between reports of a process: more often than anybody looks."""

Task = TypeVar("Task")
Result = TypeVar("Result")
Task_contra = TypeVar("Task_contra", contravariant=True)
Result_co = TypeVar("Result_co", covariant=True)
Report = Callable[[int, int], None]
"""Called with how much of a task is done, and of how much."""
Tell = Callable[[Any, int, int], None]
"""Called with a task, how much of it is done, and of how much."""


class WorkerDied(KrohnError):
    """Processes died with a task again and again."""


class Work(Protocol[Task_contra, Result_co]):
    """Work on tasks; each process gets a copy of it."""

    def open(self, own: bool) -> Callable[[Task_contra, Report], Result_co]:
        """Make this process ready, once; the function that is returned does one task.

        Args:
            own: Whether the process was started for this work, and does nothing else.

        Raises:
            KrohnError: If this process cannot do the work.
        """
        ...


@dataclass(frozen=True)
class WorkerPool(Generic[Task, Result]):
    """A pool of processes or machines that work on tasks.

    Attributes:
        hand: Takes a task; the future fails with `KrohnError` if the task does.
        width: How many tasks are worked on at once.
        lost: Further errors of a future: of workers that died with a task.
    """

    hand: Callable[[Task], Future[Result]]
    width: Callable[[], int]
    lost: tuple[type[Exception], ...] = ()

    def each(
        self, tasks: Iterable[Task], ahead: int = 1
    ) -> Iterator[tuple[Task, Result | KrohnError]]:
        """The tasks as they are done, each with its result or with why there is none.

        Args:
            tasks: What is to be done; the next one is asked for when it is handed out.
            ahead: How many tasks each worker has, the one that it works on among them.
        """
        pending: dict[Future[Result], Task] = {}
        for task in tasks:
            pending[self.hand(task)] = task
            if len(pending) >= ahead * self.width():
                yield from self._finished_tasks(pending)
        while pending:
            yield from self._finished_tasks(pending)

    def _finished_tasks(
        self, pending: dict[Future[Result], Task]
    ) -> Iterator[tuple[Task, Result | KrohnError]]:
        for future in wait(pending, return_when=FIRST_COMPLETED).done:
            task = pending.pop(future)
            try:
                yield task, future.result()
            except self.lost as error:
                yield task, WorkerDied(str(error))
            except KrohnError as error:
                yield task, error


@contextmanager
def this_process(
    work: Work[Task, Result], tell: Tell | None = None
) -> Iterator[WorkerPool[Task, Result]]:
    """Tasks are done as they are handed in.

    Raises:
        KrohnError: If this process cannot do the work.
    """
    run = work.open(own=False)

    def hand(task: Task) -> Future[Result]:
        future: Future[Result] = Future()
        try:
            future.set_result(run(task, partial(tell or _silent, task)))
        except KrohnError as error:
            future.set_exception(error)
        return future

    yield WorkerPool(hand, lambda: 1)


def _silent(task: object, done: int, total: int) -> None:
    del task, done, total


@contextmanager
def processes(
    work: Work[Task, Result], count: int, tell: Tell | None = None, nice: int = 0
) -> Iterator[WorkerPool[Task, Result]]:
    """Several processes of this machine; where one dies, another one goes on.

    Args:
        work: What is done with each task.
        count: How many processes.
        tell: Called from several threads.
        nice: How much the processes let others go first.
    """
    workers = [_Worker(work, tell or _silent, nice) for _ in range(count)]
    idle: SimpleQueue[_Worker] = SimpleQueue()
    for worker in workers:
        idle.put(worker)

    def attend(task: Task) -> Result:
        worker = idle.get()
        try:
            result: Result = worker.work(task)
            return result
        finally:
            idle.put(worker)

    pool = ThreadPoolExecutor(count)
    try:
        yield WorkerPool(lambda task: pool.submit(attend, task), lambda: count)
    finally:
        for worker in workers:
            worker.stop()
        pool.shutdown(wait=True, cancel_futures=True)


class _Worker:
    """A process that does one task after the other; it is started anew if it dies."""

    def __init__(self, work: Work[Any, Any], tell: Tell, nice: int) -> None:
        self._work, self._tell, self._nice = work, tell, nice
        self._lock, self._stopped = threading.Lock(), False
        self._process: multiprocessing.process.BaseProcess | None = None
        self._pipe: Connection[Any, Any] | None = None

    def work(self, task: Any) -> Any:
        """The result of a task.

        Raises:
            KrohnError: If the task fails, or processes die with it again and again.
        """
        for _ in range(LIVES):
            # A process that is killed takes its end of the pipe with it.
            with suppress(EOFError, OSError):
                return self._attempt(task)
            if self._stopped:
                raise KrohnError("stopped")
            self._end()
        raise WorkerDied(
            f"processes died with it {LIVES} times; they may have been out of memory, or "
            "your script starts work outside of `if __name__ == '__main__':`"
        )

    def stop(self) -> None:
        """End the process, at once."""
        with self._lock:
            self._stopped = True
            self._end()

    def _attempt(self, task: Any) -> Any:
        pipe = self._open()
        pipe.send(task)
        while True:
            kind, message = pipe.recv()
            if kind == "done":
                return message
            if kind != "steps":
                raise KrohnError(message) if kind == "failed" else RuntimeError(message)
            self._tell(task, *message)

    def _open(self) -> "Connection[Any, Any]":
        with self._lock:
            if self._stopped:
                raise EOFError
            if self._pipe is None:
                context = multiprocessing.get_context("spawn")
                self._pipe, theirs = context.Pipe()
                given = (self._work, theirs, self._nice)
                self._process = context.Process(target=_serve, args=given, daemon=True)
                try:
                    self._process.start()
                except RuntimeError:  # a helper that imports the script that began it
                    self._process = self._pipe = None
                    raise KrohnError(UNGUARDED) from None
                theirs.close()
            return self._pipe

    def _end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.join()
        self._process = self._pipe = None


def _serve(work: Work[Any, Any], pipe: "Connection[Any, Any]", nice: int) -> None:
    """The loop of a process of this machine: it does the tasks that a pipe brings."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    os.nice(nice)
    run: Callable[[Any, Report], Any] | None = None
    while True:
        task = pipe.recv()
        try:
            run = run or work.open(own=True)
            answer = "done", run(task, _reporter(pipe))
        except KrohnError as error:
            answer = "failed", str(error)
        except Exception:  # a mistake in the work; whoever waits is to see where
            answer = "broken", traceback.format_exc()
        pipe.send(answer)


def _leave_with_parent() -> None:
    """End this process as soon as the one that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for_end([parent.sentinel])
        os._exit(1)


def _reporter(pipe: "Connection[Any, Any]") -> Report:
    last = 0.0

    def report(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > PAUSE or done == total:
            last = time.monotonic()
            pipe.send(("steps", (done, total)))

    return report


# A file of JSON objects, one a line, to which records are added as work is done.
#
# A line is written whole by one call and is on the disk when that returns. The order of
# lines is of no importance to the file: those of parts of a job are joined by writing one
# file behind the other. A line that was cut off when a run was killed is no record.

MOST_BYTES = 2**30
"""Of such a file that is read."""


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of the lines that are whole.

    Raises:
        KrohnError: If the file cannot be read.
    """
    for line in read_bytes(path, MOST_BYTES).decode(errors="replace").splitlines():
        try:
            record = strict_json.read(line)
        except ValueError:
            continue
        if isinstance(record, dict):
            yield record


def add_record(path: Path, record: dict[str, Any]) -> None:
    """Add a line; it begins with a line break if the last one was cut off.

    Raises:
        OSError: If the file cannot be written.
    """
    data = json.dumps(record, ensure_ascii=False).encode() + b"\n"
    with path.open("ab+", buffering=0) as file:
        if file.tell():
            file.seek(-1, os.SEEK_END)
            data = data if file.read(1) == b"\n" else b"\n" + data
        file.write(data)
        os.fsync(file.fileno())
