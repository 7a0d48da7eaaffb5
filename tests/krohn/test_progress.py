"""What is said of long work: by a clock that the tests turn, nobody sleeps."""

import io
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from krohn.algebra import zoo
from krohn.commands import progress as said
from krohn.commands.progress import Log, is_interactive, lines, progress
from krohn.instruments.compare.comparison.machines import MachineQuestion
from krohn.instruments.compare.comparison.pipeline import in_turn
from krohn.instruments.compare.comparison.settings import Settings
from krohn.instruments.compare.tasks.catalogue import task
from krohn.instruments.compare.training.run import (
    Cell,
    Job,
)
from krohn.instruments.compare.training.sweep import (
    STEPS,
    TrainingCost,
    cost_of,
    duration,
)


@dataclass
class Turned:
    """A clock that stands still until somebody turns it."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Turned:
    return Turned()


def logged(log: Log, clock: Turned, *events: Callable[[], None]) -> list[str]:
    """The lines of a log where something happens before each half minute is over."""
    todo, written = iter(events), list[str]()

    def wait(seconds: float) -> bool:
        clock.now += seconds
        event = next(todo, None)
        if event is not None:
            event()
        return event is None

    lines(log, wait, written.append)
    return written


def test_a_line_each_half_minute_says_what_is_done_of_how_much(clock: Turned) -> None:
    log = Log(clock, "working")
    log.report("proving", 0, 4_000)
    found = logged(
        log,
        clock,
        lambda: log.report("proving", 100, 4_000),
        lambda: log.report("proving", 1_000, 4_000),
        lambda: log.report("proving", 3_000, 4_000),
    )
    assert found == [
        "krohn: proving: 100 of 4,000 (0:30 so far)",
        "krohn: proving: 1,000 of 4,000, about 3:00 left (1:00 so far)",
        "krohn: proving: 3,000 of 4,000, about 0:30 left (1:30 so far)",
    ]


def test_parts_that_are_done_make_room_for_others(clock: Turned) -> None:
    log = Log(clock, "working")
    for i in range(6):
        log.report(f"network {i}", 0, 10)
    log.report("network 5", 10, 10)
    (found,) = logged(log, clock, lambda: None)
    assert found == (
        "krohn: network 2: 0 of 10; network 3: 0 of 10; network 4: 0 of 10; 2 more "
        "(0:30 so far)"
    )


def test_work_that_counts_nothing_says_for_how_long_it_goes_on(clock: Turned) -> None:
    found = logged(Log(clock, "drawing"), clock, *[lambda: None] * 121)
    assert found[0] == "krohn: drawing (0:30 so far)"
    assert found[120] == "krohn: drawing (1:00:30 so far)"


@pytest.mark.parametrize(
    ("seconds", "done", "left"),
    [
        (0, 0, ""),
        (9, 50, ""),  # so soon nothing is known
        (100, 4, ""),  # so little is done
        (100, 5, "about 31:40 left"),
        (100, 50, "about 1:40 left"),
        (100, 100, "about 0:00 left"),
    ],
)
def test_no_time_is_said_before_it_means_something(
    clock: Turned, seconds: float, done: int, left: str
) -> None:
    log = Log(clock, "working")
    log.report("proving", 0, 100)
    clock.now += seconds
    log.report("proving", done, 100)
    assert log.left("proving") == left


def test_work_of_an_earlier_sitting_is_none_of_this_one(clock: Turned) -> None:
    log = Log(clock, "working")
    log.report("rows", 900, 1_000)
    clock.now += 60
    log.report("rows", 901, 1_000)
    assert log.left("rows") == ""
    log.report("rows", 950, 1_000)
    assert log.left("rows") == "about 1:00 left"


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_only_a_terminal_gets_a_bar(
    monkeypatch: pytest.MonkeyPatch, clock: Turned
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("FORCE_COLOR", "1")  # as many continuous integrations say
    for stream, bar in ((Terminal(), True), (io.StringIO(), False)):
        monkeypatch.setattr(sys, "stderr", stream)
        with progress("working", clock) as report:
            report("proving", 1, 2)
        with progress("drawing", clock):
            pass
        assert ("\x1b" in stream.getvalue()) == bar
        assert is_interactive(stream) == bar
    assert stream.getvalue() == ""
    monkeypatch.setenv("TERM", "dumb")
    assert not is_interactive(Terminal())


def test_a_log_is_written_by_a_thread_and_ends_with_the_work(
    monkeypatch: pytest.MonkeyPatch, clock: Turned
) -> None:
    monkeypatch.setattr(said, "EVERY", 0.0)  # it waits, but for no time
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    with progress("working", clock) as report:
        report("proving", 1, 2)
        while "proving" not in stream.getvalue():
            pass
    length = len(stream.getvalue())
    assert set(stream.getvalue().splitlines()) <= {
        "krohn: working (0:00 so far)",
        "krohn: proving: 1 of 2 (0:00 so far)",
    }
    assert len(stream.getvalue()) == length


# What `krohn compare` says before it starts.


def wanted(seeds: int) -> list[Cell]:
    settings = Settings(preset="desk", seeds=seeds, length=4, width=16, steps=40)
    return in_turn(MachineQuestion(task(zoo.machine("C2")), settings).cells())


def test_what_is_one_thing_is_not_counted() -> None:
    log = Log(lambda: 0.0, "comparing")
    log.report("measuring C2", 0, 1)
    assert log.line() == "krohn: measuring C2 (0:00 so far)"


def test_the_cost_is_that_of_measured_steps(tmp_path: Path) -> None:
    """Each look at the clock is a second later: a step costs one, an evaluation none."""
    looks = iter(range(10_000))
    asked = wanted(2)
    found = cost_of(Job(tmp_path, None, "cpu", ""), asked, lambda: float(next(looks)))
    assert found == TrainingCost(4, 0, 160, 160.0)
    assert next(looks) == 2 * STEPS * 2  # two kinds of networks, measured once each
    assert str(found) == (
        "4 networks to train, 160 steps in all if none stops early: about 2.7 min of CPU "
        "time, judged by 3 steps of each kind; measuring the networks comes on top, often "
        "minutes for each, which seconds= does not bound"
    )


@pytest.mark.slow
def test_what_is_trained_costs_nothing_and_other_devices_are_not_judged(
    tmp_path: Path,
) -> None:
    first, *rest = wanted(1)
    job = Job(tmp_path, None, "cpu", "")
    job.keep(job.work(first), first)
    found = cost_of(job, [first, *rest])
    assert (found.trainings, found.done, found.steps) == (1, 1, 40)
    assert found.seconds is not None
    assert found.seconds > 0
    assert cost_of(replace(job, device="cuda"), [first, *rest]).seconds is None
    assert str(cost_of(job, [first])) == (
        "nothing is left to be trained (1 trained already)"
    )


@pytest.mark.slow
def test_a_trial_changes_no_training(tmp_path: Path) -> None:
    cell, *_ = wanted(1)
    job = Job(tmp_path / "a", None, "cpu", "")
    again = replace(job, folder=tmp_path / "b")
    before = job.work(cell)
    cost_of(again, [cell])
    losses = [[e["loss"] for e in w["history"]] for w in (before, again.work(cell))]
    assert losses[0] == losses[1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.5, "0.5 s"), (119, "119 s"), (120, "2 min"), (7200, "2 h"), (9e4, "25 h")],
)
def test_durations(seconds: float, text: str) -> None:
    assert re.fullmatch(re.escape(text), duration(seconds))
