"""Curves of token accuracy: along position, length, bias and count, and on hard words."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import Brackets, as_brackets
from krohn.instruments.compare.comparison.measurements import (
    FEWER,
    WORDS,
    AccuracyCurve,
    MeasuredModel,
    Measurements,
)
from krohn.instruments.compare.comparison.result import (
    Curve,
    Strategy,
    Sweep,
)
from krohn.instruments.compare.measures.curves import (
    flips,
    nests,
)
from krohn.instruments.compare.tasks.task import Task

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
"""By what is varied: the words along the axis, and the words for a place in a sentence."""


def sweeps(
    models: Sequence[MeasuredModel],
    length: int,
    trained: Mapping[str, Span | None],
    proved: int | None,
) -> tuple[Sweep, ...]:
    """Token accuracy along position, length, bias and count.

    Args:
        models: All that are compared.
        length: Of the words that were trained on.
        trained: Where these lie on the axes of what is varied.
        proved: The longest word of which the compiled network is proved.
    """
    all_sweeps = [_by_position(models, length)]
    for over in TITLES:
        first = _first(models, over)
        if first is not None:
            reach = proved if over == "length" else None
            all_sweeps.append(_along(models, over, first, trained.get(over), reach))
    return tuple(all_sweeps)


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
        return {**spans, "opening": _opening_rate(task.machine, brackets, drawn)}
    if letter is None:
        return spans
    counts = (drawn == task.letters.index(letter)).sum(axis=1)
    share = float(counts.mean() / length)
    low, high = np.quantile(counts, (0.025, 0.975))
    return {**spans, "bias": (share, share), "count": (float(low), float(high))}


def _opening_rate(
    machine: Automaton, brackets: Brackets, words: IntArray
) -> Span | None:
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


def strategies(models: Sequence[MeasuredModel], words: int) -> tuple[Strategy, ...]:
    """Words that are made to break networks, those that break most first.

    Args:
        models: All that are compared.
        words: How many of each strategy.
    """
    names = dict.fromkeys(
        n for model in models for seed in model.seeds for n in seed.measured.strategies
    )
    rows = [
        Strategy(
            name,
            words,
            {
                model.key: tuple(
                    seed.measured.strategies[name]
                    for seed in model.seeds
                    if name in seed.measured.strategies
                )
                for model in models
            },
        )
        for name in names
    ]
    return tuple(sorted(rows, key=_worst))


def _worst(row: Strategy) -> float:
    """The least share of a trained network: rules fail everywhere."""
    trained = [r.value for k in ("gpt", "lstm") for r in row.shares.get(k, ())]
    return min(trained, default=1.0)


def _first(models: Sequence[MeasuredModel], over: str) -> AccuracyCurve | None:
    """The curve with the most places: some networks do not read long words."""
    curves = [
        seed.measured.curves[over]
        for model in models
        for seed in model.seeds
        if over in seed.measured.curves
    ]
    return max(curves, key=lambda a: len(a.at), default=None)


def _by_position(models: Sequence[MeasuredModel], length: int) -> Sweep:
    return Sweep(
        "By position",
        "position in the word",
        "at position {}",
        tuple(float(t) for t in range(1, length + 1)),
        None,
        None,
        WORDS,
        _curves(models, lambda m: m.positions),
    )


def _along(
    models: Sequence[MeasuredModel],
    over: str,
    first: AccuracyCurve,
    trained: Span | None,
    proved: int | None,
) -> Sweep:
    letter = first.letter or ""
    title, *labels = TITLES[over]
    axis, place = (text.replace("[letter]", letter) for text in labels)
    curves = _curves(models, lambda m: _at(m.curves.get(over), first.at))
    reach = None if proved is None else float(proved)
    return Sweep(title, axis, place, first.at, trained, reach, FEWER, curves)


def _at(curve: AccuracyCurve | None, at: Sequence[float]) -> tuple[float | None, ...]:
    """The values at given places; None where there is none."""
    known = {} if curve is None else dict(zip(curve.at, curve.values, strict=True))
    return tuple(known.get(x) for x in at)


def _curves(
    models: Sequence[MeasuredModel],
    values: Callable[[Measurements], tuple[float | None, ...]],
) -> tuple[Curve, ...]:
    return tuple(
        Curve(model.key, tuple(values(seed.measured) for seed in model.seeds))
        for model in models
    )
