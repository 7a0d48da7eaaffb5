"""Progress of long work, as commands show it: a bar, or a line now and then."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from krohn.report import Progress

EVERY = 30.0
"""Seconds between the lines of a log."""
SOON = 10.0
"""Seconds before which nothing can be said of the time that is left."""
SHARE = 20
"""At least one part in so many must be done before that."""
MOST = 3
"""Parts of the work on one line."""
Clock = Callable[[], float]


@dataclass
class Part:
    """A part of the work.

    Attributes:
        began: When it began.
        before: How much was done then, which is no work of this sitting.
        done: How much is done.
        total: Of how much.
    """

    began: float
    before: int
    done: int
    total: int

    def left(self, now: float) -> float | None:
        """The seconds that are left; None as long as nobody can tell."""
        seconds, here = now - self.began, self.done - self.before
        soon = seconds < SOON or here * SHARE < self.total - self.before
        return None if soon else seconds * (self.total - self.done) / here


@dataclass
class Log:
    """The state of some work, for lines and bars.

    Attributes:
        clock: The time in seconds.
        doing: What is done where nothing is counted.
        parts: What is counted, by what it is called.
    """

    clock: Clock
    doing: str
    parts: dict[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.began = self.clock()

    def report(self, what: str, done: int, total: int) -> None:
        """Note how much is done."""
        if what not in self.parts:
            self.parts[what] = Part(self.clock(), done, done, total)
        self.parts[what].done, self.parts[what].total = done, total

    def left(self, what: str) -> str:
        """The time that is left of a part, in words; empty as long as nobody can tell."""
        seconds = self.parts[what].left(self.clock())
        return "" if seconds is None else f"about {_minutes(seconds)} left"

    def line(self) -> str:
        """One line: the work, how much of it is done, of how much, and for how long."""
        now = self.clock()
        open_parts = {n: p for n, p in list(self.parts.items()) if p.done < p.total}
        descriptions = [self._describe_part(what) for what in list(open_parts)[-MOST:]]
        if more := len(open_parts) - len(descriptions):
            descriptions.append(f"{more} more")
        what = "; ".join(descriptions) or self.doing
        return f"krohn: {what} ({_minutes(now - self.began)} so far)"

    def _describe_part(self, what: str) -> str:
        part = self.parts[what]
        if part.total == 1:
            return what
        share = f"{what}: {part.done:,} of {part.total:,}"
        left = self.left(what)
        return f"{share}, {left}" if left else share


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def lines(log: Log, wait: Callable[[float], bool], write: Callable[[str], Any]) -> None:
    """Write a line now and then, until the work has ended.

    Args:
        log: The state of the work.
        wait: Waits so many seconds, or until the work has ended, which it returns.
        write: Takes a line.
    """
    while not wait(EVERY):
        write(log.line())


def is_interactive(stream: TextIO) -> bool:
    """Whether a person is looking on, at a terminal that can draw bars."""
    return stream.isatty() and os.environ.get("TERM") not in ("dumb", "unknown")


@contextmanager
def progress(doing: str, clock: Clock = time.monotonic) -> Iterator["Progress"]:
    """Show how far work has come: by bars on a terminal, else by a line now and then.

    Args:
        doing: What goes on, as long as none of its parts can be counted.
        clock: Seconds.
    """
    log = Log(clock, doing)
    with _bars(log) if is_interactive(sys.stderr) else _log_progress(log) as report:
        yield report


@contextmanager
def _log_progress(log: Log) -> Iterator["Progress"]:
    """Lines on standard error, from a thread of their own."""
    stream, ended = sys.stderr, Event()

    def write(line: str) -> None:
        try:
            print(line, file=stream, flush=True)
        except (OSError, ValueError):  # nobody reads it any more
            ended.set()

    thread = Thread(target=lines, args=(log, ended.wait, write), daemon=True)
    thread.start()
    try:
        yield log.report
    finally:
        ended.set()
        thread.join()


@contextmanager
def _bars(log: Log) -> Iterator["Progress"]:
    """A bar for each part of the work, on standard error; before, one for the whole."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TextColumn("{task.fields[left]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}
        whole = bar.add_task(log.doing, total=None, rate="", left="")

        def report(what: str, done: int, total: int) -> None:
            log.report(what, done, total)
            bar.update(whole, visible=False)
            if what not in tasks:
                # What an earlier sitting did is no work of this one.
                tasks[what] = bar.add_task(
                    what, total=total, completed=done, rate="", left=""
                )
            speed = next(t.speed for t in bar.tasks if t.id == tasks[what])
            # Sweeps have more lines than a terminal; those that are done make room.
            bar.update(
                tasks[what],
                completed=done,
                total=total,
                rate=f"{speed:,.0f}/s" if speed else "",
                left=log.left(what),
                visible=done < total,
            )

        yield report
