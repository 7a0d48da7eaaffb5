"""From what was measured of every network to contestants, sweeps and strategies."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from algebra.automaton import Automaton
from algebra.brackets import Brackets, as_brackets
from algebra.semiautomaton import IntArray
from compare.measures.curves import flips, nests
from compare.measures.rates import spread
from compare.tasks.task import Task
from krohn.comparison.contestants import Contestant, Failure, One, Size, Training
from krohn.comparison.measured import FEWER, WORDS, Along, Measured
from krohn.comparison.result import Curve, Strategy, Sweep

Span = tuple[float, float]

TITLES = {
    "length": ("By length", "letters in the word", "at {} letters"),
    "bias": ("By bias", "Pr[σ = [letter]]", "at Pr[σ = [letter]] = {}"),
    "opening": (
        "By opening",
        "Pr[a bracket opens]",
        "where brackets open with Pr = {}",
    ),
    "count": ("By count", "letters [letter] in the word", "with {} letters [letter]"),
}
"""What is varied; what stands along the axis; a place in a sentence."""


@dataclass(frozen=True)
class Entry:
    """A network of one seed with all that is known of it.

    Attributes:
        seed: None for what is not drawn.
        measured: What was measured.
        failure: The first failing word; None if none was searched.
        training: How it came about; None for what is not trained.
    """

    seed: int | None
    measured: Measured
    failure: Failure | None = None
    training: Training | None = None


@dataclass(frozen=True)
class Team:
    """The networks of one kind.

    Attributes:
        key: Of the contestant.
        title: What tables call it.
        about: What it is.
        entries: One for each seed.
        size: What it costs.
    """

    key: str
    title: str
    about: str
    entries: tuple[Entry, ...]
    size: Size | None = None

    def contestant(self) -> Contestant:
        """What tables show of it."""
        ones = tuple(
            One(e.seed, e.measured.token, e.measured.sequence, e.failure, e.training)
            for e in self.entries
        )
        drawn = all(one.seed is not None for one in ones)
        token = spread([one.token.value for one in ones]) if drawn else None
        sequence = spread([one.sequence.value for one in ones]) if drawn else None
        return Contestant(
            self.key, self.title, self.about, ones, token, sequence, self.size
        )


def sweeps(
    teams: Sequence[Team],
    length: int,
    trained: Mapping[str, Span | None],
    proved: int | None,
) -> tuple[Sweep, ...]:
    """Token accuracy along position, length, bias and count.

    Args:
        teams: All contestants.
        length: Of the words that were trained on.
        trained: Where these lie on the axes of what is varied.
        proved: The longest word of which the compiled network is proved.
    """
    found = [_by_position(teams, length)]
    for over in TITLES:
        first = _first(teams, over)
        if first is not None:
            reach = proved if over == "length" else None
            found.append(_along(teams, over, first, trained.get(over), reach))
    return tuple(found)


def trained_spans(
    task: Task, length: int, letter: str | None
) -> dict[str, Span | None]:
    """Where training words lie on the axes of curves.

    Args:
        task: Whose words are drawn.
        length: Of them.
        letter: Which is preferred or counted; None if there is no such curve.
    """
    spans: dict[str, Span | None] = {"length": (float(length), float(length))}
    if flips(task.machine):
        return spans  # the axis is no share of letters
    drawn = task.inputs.draw(task.machine, np.random.default_rng(0), WORDS, length)
    brackets = as_brackets(task.machine)
    if brackets is not None and nests(task.machine):
        return {**spans, "opening": _opened(task.machine, brackets, drawn)}
    if letter is None:
        return spans
    counts = (drawn == task.letters.index(letter)).sum(axis=1)
    share = float(counts.mean() / length)
    low, high = np.quantile(counts, (0.025, 0.975))
    return {**spans, "bias": (share, share), "count": (float(low), float(high))}


def _opened(machine: Automaton, brackets: Brackets, words: IntArray) -> Span | None:
    """How often a bracket opened where it might also have closed; None if nowhere.

    Args:
        machine: Whose words they are.
        brackets: The stacks that it is.
        words: ``(count, length)``.
    """
    between = [s is not None and 0 < len(s) < brackets.depth for s in brackets.stacks]
    before = machine.semiautomaton.trace(words, machine.start)[:, :-1]
    free = np.array(between)[before]
    if not free.any():
        return None
    opens = np.array([kind is not None for kind in brackets.opens])[words[:, 1:]]
    share = float(opens[free].mean())
    return share, share


def strategies(teams: Sequence[Team], words: int) -> tuple[Strategy, ...]:
    """Words that are made to break networks, those that break most first.

    Args:
        teams: All contestants.
        words: How many of each strategy.
    """
    names = dict.fromkeys(
        n for t in teams for e in t.entries for n in e.measured.strategies
    )
    rows = [
        Strategy(
            name,
            words,
            {
                t.key: tuple(
                    e.measured.strategies[name]
                    for e in t.entries
                    if name in e.measured.strategies
                )
                for t in teams
            },
        )
        for name in names
    ]
    return tuple(sorted(rows, key=_worst))


def _worst(row: Strategy) -> float:
    """The least share of a trained network: rules fail everywhere."""
    trained = [r.value for k in ("gpt", "lstm") for r in row.shares.get(k, ())]
    return min(trained, default=1.0)


def _first(teams: Sequence[Team], over: str) -> Along | None:
    """The curve with the most places: some networks do not read long words."""
    found = [
        e.measured.curves[over]
        for t in teams
        for e in t.entries
        if over in e.measured.curves
    ]
    return max(found, key=lambda a: len(a.at), default=None)


def _by_position(teams: Sequence[Team], length: int) -> Sweep:
    return Sweep(
        "By position",
        "position in the word",
        "at position {}",
        tuple(float(t) for t in range(1, length + 1)),
        None,
        None,
        WORDS,
        _curves(teams, lambda m: m.positions),
    )


def _along(
    teams: Sequence[Team],
    over: str,
    first: Along,
    trained: Span | None,
    proved: int | None,
) -> Sweep:
    letter = first.letter or ""
    title, *said = TITLES[over]
    axis, place = (text.replace("[letter]", letter) for text in said)
    curves = _curves(teams, lambda m: _at(m.curves.get(over), first.at))
    reach = None if proved is None else float(proved)
    return Sweep(title, axis, place, first.at, trained, reach, FEWER, curves)


def _at(curve: Along | None, at: Sequence[float]) -> tuple[float | None, ...]:
    """The values at given places; None where there is none."""
    known = {} if curve is None else dict(zip(curve.at, curve.values, strict=True))
    return tuple(known.get(x) for x in at)


def _curves(
    teams: Sequence[Team], values: Callable[[Measured], tuple[float | None, ...]]
) -> tuple[Curve, ...]:
    return tuple(
        Curve(t.key, tuple(values(e.measured) for e in t.entries)) for t in teams
    )
