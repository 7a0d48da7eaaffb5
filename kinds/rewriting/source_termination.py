"""Orders by which lines get smaller with each step, and how many steps there are at most.

The weight of a line is Σ w(c_i) + Σ_{i<j} q(c_i, c_j), with w, q ≥ 0. Which rules make it
smaller, whatever stands around them, is a matter of linear inequalities, so that a linear
program finds weights: the interpretations of Manna and Ness (1970), in pairs of letters.
Where one weight does not do, several in a row may (Zantema 2003, relative termination).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import prod
from typing import NamedTuple, TypeAlias

import numpy as np

from krohn.kinds.rewriting.statement import (
    Computed,
    Line,
    Rewriting,
    Rule,
)
from krohn.program.domains import FloatArray, IntArray

MOST_WINDOWS, MOST_ENTRIES = 2**12, 2**20
"""Windows that are looked at, each with its letters; entries of a linear program, for
which that takes a second or so."""
DENOMINATOR = 2**10
"""Weights are fractions with at most this denominator; they are checked exactly."""
Row: TypeAlias = tuple[int, ...]


class Step(NamedTuple):
    """A rule at letters that it fits.

    Attributes:
        rule: Its number, from 0.
        before: The letters of the window that stand before what is replaced.
        replaced: What is replaced.
        after: The letters behind.
        writes: What is written.
        open: Whether a line may go on before the window, and behind it.
    """

    rule: int
    before: Line
    replaced: Line
    after: Line
    writes: Line
    open: tuple[bool, bool]


@dataclass(frozen=True)
class Weight:
    """A weight of lines, which no rule makes larger.

    Attributes:
        letters: ``(L,)``: w.
        pairs: ``(L, L)``: q, of a letter and of one behind it.
        rules: The numbers of the rules that make it smaller by 1 or more.
    """

    letters: tuple[Fraction, ...]
    pairs: tuple[tuple[Fraction, ...], ...]
    rules: tuple[int, ...]

    def of(self, line: Line) -> Fraction:
        """The weight of a line."""
        single = sum((self.letters[x] for x in line), Fraction(0))
        two = ((x, y) for i, x in enumerate(line) for y in line[i + 1 :])
        return single + sum((self.pairs[x][y] for x, y in two), Fraction(0))

    def most(self, length: int) -> int:
        """The largest weight of lines of a length, rounded down."""
        pair = max(map(max, self.pairs))
        return int(length * max(self.letters) + length * (length - 1) // 2 * pair)

    def describe_weight(self, names: Sequence[str]) -> str:
        """The weight in words."""
        parts = [
            f"{w} for each {a}" for w, a in zip(self.letters, names, strict=True) if w
        ]
        parts += [
            f"{q} for each {a} before a {b}"
            for row, a in zip(self.pairs, names, strict=True)
            for q, b in zip(row, names, strict=True)
            if q
        ]
        return ", ".join(parts)


def most_steps(weights: Sequence[Weight], length: int) -> int:
    """How many steps a line of a length takes at most.

    The rules of the first weight apply B_1 times at most. Before, between and after them
    only the others do, of which the same is true. So there are Π(B_i + 1) − 1 steps.
    """
    return prod(weight.most(length) + 1 for weight in weights) - 1


def order(system: Rewriting) -> tuple[Weight, ...]:
    """Weights that show that every text ends; () if none are found.

    Each rule makes one of them smaller, and those before that not larger.
    """
    steps = _steps(system)
    size = system.end * (system.end + 1)
    if not steps or len(steps) * size > MOST_ENTRIES:
        return ()
    weights, left = list[Weight](), set(range(len(system.rules)))
    while left:
        weight = _weight([s for s in steps if s.rule in left], left, system)
        if weight is None:
            return ()
        weights.append(weight)
        left -= set(weight.rules)
    return tuple(weights)


def _steps(system: Rewriting) -> list[Step]:
    """Each rule at all letters that it fits; none if these are too many."""
    windows = sum(prod(map(len, rule.window)) for rule in system.rules)
    if windows > MOST_WINDOWS:
        return []
    return [
        _step(system, i, rule, letters)
        for i, rule in enumerate(system.rules)
        for letters in product(*rule.window)
    ]


def _step(system: Rewriting, at: int, rule: Rule, letters: Line) -> Step:
    writes = []
    for written in rule.writes:
        if isinstance(written, Computed):
            function = system.functions[written.function]
            read = [np.array([letters[place]]) for place in written.places]
            written = int(function.values[function.place(read)[0]])
        writes.append(written)
    before, after = letters[: rule.start], letters[rule.stop :]
    ends = before[:1] == (system.end,), after[-1:] == (system.end,)
    return Step(
        at,
        before[ends[0] :],
        letters[rule.start : rule.stop],
        after[: len(after) - ends[1]],
        tuple(writes),
        (not ends[0], not ends[1]),
    )


def _change(step: Step, count: int) -> Row:
    """A step's change of the weight of its window: a factor of each w, then of each q."""
    row = np.zeros(count * (count + 1), np.int64)
    for sign, middle in ((1, step.writes), (-1, step.replaced)):
        line = (*step.before, *middle, *step.after)
        for i, x in enumerate(line):
            row[x] += sign
            for y in line[i + 1 :]:
                row[count + x * count + y] += sign
    return tuple(row.tolist())


def _around(step: Step, count: int) -> Iterator[Row]:
    """A step's change of the weight of each other letter's pairs with its window."""
    for side in (0, 1):
        for other in range(count) if step.open[side] else ():
            row = np.zeros(count * (count + 1), np.int64)
            for sign, middle in ((1, step.writes), (-1, step.replaced)):
                for x in middle:
                    pair = (other, x) if side == 0 else (x, other)
                    row[count + pair[0] * count + pair[1]] += sign
            yield tuple(row.tolist())


def _weight(steps: list[Step], rules: set[int], system: Rewriting) -> Weight | None:
    """The weight of the least bound that as many rules as possible make smaller."""
    count = system.end
    changes = dict.fromkeys((s.rule, _change(s, count)) for s in steps)
    around = list(dict.fromkeys(row for s in steps for row in _around(s, count)))
    if (len(changes) + len(around)) * count * (count + 1) > MOST_ENTRIES:
        return None
    matrix = np.array([*(row for _, row in changes), *around])
    owners = [rule for rule, _ in changes] + [-1] * len(around)
    chosen = _smaller(matrix, owners, rules)
    least = _least(matrix, owners, chosen, system) if chosen else None
    if least is None:
        return None
    weights = [Fraction(x).limit_denominator(DENOMINATOR) for x in np.maximum(least, 0)]
    for row, rule in zip(matrix.tolist(), owners, strict=True):
        added = sum(w * x for w, x in zip(weights, row, strict=True) if x)
        if added > (-1 if rule in chosen else 0):
            return None
    pairs = (tuple(weights[i : i + count]) for i in range(count, len(weights), count))
    return Weight(tuple(weights[:count]), tuple(pairs), tuple(sorted(chosen)))


def _smaller(matrix: IntArray, owners: Sequence[int], rules: set[int]) -> set[int]:
    """The rules that one weight can make smaller, and no rule larger: as many as there are.

    Weights of several such sets add up to one of their union, so that the set is the
    largest one; for each rule a slack of up to 1 is made as large as can be.
    """
    from scipy.optimize import linprog

    names = sorted(rules)
    slack = np.array([[rule == name for name in names] for rule in owners], float)
    size = matrix.shape[1]
    cost = np.repeat([0.0, -1.0], [size, len(names)])
    bounds = [(0, None)] * size + [(0, 1)] * len(names)
    solution = linprog(
        cost, np.hstack([matrix, slack]), np.zeros(len(matrix)), bounds=bounds
    )
    if solution.x is None:
        return set()
    return {name for name, s in zip(names, solution.x[size:], strict=True) if s > 0.5}


def _least(
    matrix: IntArray, owners: Sequence[int], chosen: set[int], system: Rewriting
) -> FloatArray | None:
    """The weight with the least bound that makes these rules smaller by 1."""
    from scipy.optimize import linprog

    n, count, size = system.longest, system.end, matrix.shape[1]
    below = np.array([-1.0 if rule in chosen else 0.0 for rule in owners])
    largest = np.zeros((size, 2))
    largest[:count, 0] = largest[count:, 1] = -1
    system_rows = np.vstack(
        [
            np.hstack([matrix, np.zeros((len(matrix), 2))]),
            np.hstack([np.eye(size), largest]),
        ]
    )
    # A trace of the sum, so that weights that do nothing are 0.
    cost = np.concatenate([np.full(size, 2.0**-20), [n, n * (n - 1) / 2]])
    solution = linprog(cost, system_rows, np.concatenate([below, np.zeros(size)]))
    return None if solution.x is None else np.asarray(solution.x[:size], np.float64)
