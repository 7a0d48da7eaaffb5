"""What commands say: exit codes, results, and progress where a person is watching."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

DONE, REFUTED, CANNOT = 0, 1, 2


def emit(result: dict[str, Any], as_json: bool, text: Callable[[], None]) -> None:
    """Print a result, as JSON or as ``text`` prints it."""
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        text()


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error, only where a person is watching."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                # What an earlier sitting did is no work of this one.
                tasks[what] = bar.add_task(what, total=total, completed=done, rate="")
            speed = next(t.speed for t in bar.tasks if t.id == tasks[what])
            rate = f"{speed:,.0f}/s" if speed else ""
            # Sweeps have more lines than a terminal; those that are done make room.
            bar.update(
                tasks[what],
                completed=done,
                total=total,
                rate=rate,
                visible=done < total,
            )

        yield report


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """A clock on standard error, only where a person is watching."""
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as clock:
        clock.add_task(what, total=None)
        yield
