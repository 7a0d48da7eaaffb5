"""Finding cases: sets of stored values on which a map has one value.

Nothing here is trusted: `krohn.verify.checker.cases` checks the cases that are found.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import (
    BoolArray,
    IntArray,
    Matrices,
    among,
    distinct_values,
)
from krohn.program.errors import demand
from krohn.program.piecewise import Piecewise
from krohn.program.statement import Channel, Statement, cone
from krohn.verify.checker.cases import function_of
from krohn.verify.checker.contributions import sources_alone
from krohn.verify.checker.maps import Maps
from krohn.verify.checker.mlp import Mlp, below
from krohn.verify.checker.passed_sums import adds_up

MOST_CASES, MOST_ROWS, MOST_QUESTIONS = 200_000, 2_000_000, 500_000
DEEPEST = 250  # Python's stack
FEW_ENTRIES = 2_000


def needs_cases(mlp: Mlp, channel: Channel) -> bool:
    """Whether the checker asks for the cases of a channel that an MLP writes."""
    real = isinstance(channel.values, Matrices) or not mlp.layers
    piecewise = channel.op == Piecewise.wire
    return not (real or piecewise or adds_up(mlp.stream, channel))


def find_cases(
    mlp: Mlp, channel: Channel, known: dict[Any, dict[str, Any]] | None = None
) -> dict[str, Any]:
    """The cases that decide a channel, which an MLP writes.

    Args:
        mlp: The MLP.
        channel: The channel.
        known: The cases of maps that are the same function of other channels.

    Raises:
        Refused: If none are found, or there are too many.
    """
    sums = _sums(mlp, channel)
    token, _, others = sources_alone(mlp.stream, sums)
    names = [c.name for c in (token, *others, *sums)]
    program, known = mlp.stream.program, {} if known is None else known
    operations, read = function_of(program, channel.name, names)
    values = (program.channels[n].later.tobytes() for n in (channel.name, *read))
    key = operations, *values
    if key not in known:
        split = Split(program, tuple(read))
        split.of(channel)
        known[key] = split.evidence()
    sets, at = (
        dict(zip(read, known[key]["sets"], strict=True)),
        list(map(names.index, read)),
    )
    parts = [[case, at[i], number] for case, i, number in known[key]["parts"]]
    every = [sets.get(name, []) for name in names]
    return {"sums": [c.name for c in sums], "sets": every, "parts": parts}


def _sums(mlp: Mlp, channel: Channel) -> list[Channel]:
    """Sums of two integers that are read with one weight, and so as their sum."""
    sums, known = list[Channel](), mlp.stream.program.channels
    reads = below(mlp.layers, np.array(channel.span))
    todo = [known[n] for n in channel.inputs if n not in mlp.stream.noise]
    while todo:
        c = todo.pop()
        if Maps(mlp).reads_as_sum(c, reads):
            sums.append(c)
        else:
            todo += [known[n] for n in c.inputs if n not in mlp.stream.noise]
    taken = {n for c in sums for n in c.inputs}
    return sums if len(taken) == 2 * len(sums) else []


class Values(NamedTuple):
    """A set of values of a channel: marks of those that it holds, as bytes, too."""

    inside: BoolArray
    key: bytes

    @staticmethod
    def of(inside: BoolArray) -> "Values":
        """The set that marks name."""
        return Values(inside, inside.tobytes())


Divided = dict[tuple[bytes, bytes], tuple[IntArray, list[Values]]]
"""For a set and a function, as bytes: its values there, and the parts that have them."""


@dataclass(frozen=True)
class Split:
    """Cases, split until they decide a map.

    A case has for each source the number of a set of values that it has after BOS; 0
    stands for all of them.

    Attributes:
        program: The Program.
        sources: Channels that are there.
    """

    program: Statement
    sources: tuple[str, ...]
    _sets: list[list[Values]] = field(init=False, default_factory=list)
    _numbers: dict[tuple[int, bytes], int] = field(init=False, default_factory=dict)
    _splits: dict[tuple[int, int, bytes], tuple[IntArray, IntArray]] = field(
        init=False, default_factory=dict
    )
    _divided: Divided = field(init=False, default_factory=dict)
    _parts: list[tuple[int, int, int]] = field(init=False, default_factory=list)
    _questions: Iterator[int] = field(init=False, default_factory=count)

    def __post_init__(self) -> None:
        for i, name in enumerate(self.sources):
            self._sets.append([])
            every = np.ones(len(self.program.channels[name].later), bool)
            self._number(i, Values.of(every))

    def of(self, channel: Channel) -> None:
        """Split the case of all values until a map has one value in each part."""
        depth = dict.fromkeys(self.sources, 0)
        for name in cone(self.program, channel.name, self.sources):
            reads = self.program.operations[name].reads
            depth[name] = 1 + max((depth[n] for n in reads), default=0)
        demand(depth[channel.name] <= DEEPEST, "tables are nested too deeply")
        # The last column is the number of a case among all that are split.
        every = np.zeros((1, len(self.sources) + 1), np.int64)
        self._split_by_map(channel, np.arange(len(channel.later)), every)

    def evidence(self) -> dict[str, Any]:
        """The sets of each source, and which case each case is a part of."""
        sets = [
            [x.inside.nonzero()[0].tolist() for x in each[1:]] for each in self._sets
        ]
        return {"sets": sets, "parts": [list(part) for part in self._parts]}

    def _number(self, source: int, values: Values) -> int:
        sets = self._sets[source]
        number = self._numbers.setdefault((source, values.key), len(sets))
        if number == len(sets):
            sets.append(values)
        return number

    def _split_by_answers(
        self, name: str, answers: IntArray, cases: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Split cases until a function of a channel has one value in each.

        Args:
            name: The channel.
            answers: ``(later values,)``: the function.
            cases: ``(cases, sources)``.

        Returns:
            The parts, the case that each is a part of, and the answer there.
        """
        demand(next(self._questions) < MOST_QUESTIONS, "tables ask too many questions")
        if (answers == answers[0]).all():
            which = np.arange(len(cases))
            return cases, which, np.full(len(cases), answers[0])
        if name in self.sources:
            return self._split_by_source(self.sources.index(name), answers, cases)
        return self._split_by_map(self.program.channels[name], answers, cases)

    def _split_by_map(
        self, channel: Channel, answers: IntArray, cases: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        """Cases of a map that is none of the sources."""
        read = [self.program.channels[n] for n in channel.inputs]
        if channel.op == "table":
            return self._looked_up(channel, read, answers, cases)
        if channel.op == "select":
            return self._split_by_selection(channel, read, answers, cases)
        demand(channel.op == "sum", f"{channel.name!r} is not there where it is read")
        total, which = np.zeros(len(cases), np.int64), np.arange(len(cases))
        for c in read:
            cases, part, at = self._split_by_answers(
                c.name, np.arange(len(c.later)), cases
            )
            total, which = total[part] + c.later[at], which[part]
        return cases, which, answers[np.searchsorted(channel.later, total)]

    def _split_by_source(
        self, source: int, answers: IntArray, cases: IntArray
    ) -> tuple[IntArray, IntArray, IntArray]:
        numbers, back = distinct(cases[:, source])
        parts = [self._split(source, n, answers) for n in numbers.tolist()]
        which, at = spread_out(back, np.array([len(number) for _, number in parts]))
        demand(len(which) <= MOST_CASES, "too many cases")
        new_cases = cases[which]
        new_cases[:, source] = np.concatenate([number for _, number in parts])[at]
        whole = np.bincount(which, minlength=len(cases))[which] == 1
        self._number_parts(new_cases, source, np.flatnonzero(~whole))
        return new_cases, which, np.concatenate([answer for answer, _ in parts])[at]

    def _number_parts(self, cases: IntArray, source: int, new: IntArray) -> None:
        """Number some cases, which are parts of those whose numbers they have."""
        for case in new.tolist():
            of, number = int(cases[case, -1]), int(cases[case, source])
            self._parts.append((of, source, number))
            cases[case, -1] = len(self._parts)

    def _split(
        self, source: int, number: int, answers: IntArray
    ) -> tuple[IntArray, IntArray]:
        """The answers that a set has, and the numbers of its parts that have them."""
        key = source, number, answers.tobytes()
        if key not in self._splits:
            values, parts = self._divide(self._sets[source][number], answers)
            numbers = [self._number(source, part) for part in parts]
            self._splits[key] = values, np.array(numbers)
        return self._splits[key]

    def _divide(
        self, values: Values, answers: IntArray
    ) -> tuple[IntArray, list[Values]]:
        key = values.key, answers.tobytes()
        if key not in self._divided:
            each = distinct_values(answers[values.inside])
            parts = values.inside & (answers == each[:, None])
            self._divided[key] = each, [Values.of(part) for part in parts]
        return self._divided[key]

    def _split_by_selection(
        self,
        channel: Channel,
        read: Sequence[Channel],
        answers: IntArray,
        cases: IntArray,
    ) -> tuple[IntArray, IntArray, IntArray]:
        index, groups = read[0], []
        cases, which, at = self._split_by_answers(
            index.name, np.arange(len(index.later)), cases
        )
        for place in distinct_values(at):
            here, chosen = np.flatnonzero(at == place), read[1 + index.later[place]]
            then = answers[np.searchsorted(channel.later, chosen.later)]
            parts, of, answer = self._split_by_answers(chosen.name, then, cases[here])
            groups.append((parts, which[here[of]], answer))
        return _join_groups(groups)

    def _looked_up(
        self,
        channel: Channel,
        read: Sequence[Channel],
        answers: IntArray,
        cases: IntArray,
    ) -> tuple[IntArray, IntArray, IntArray]:
        """One input after the other; what leads to the same is one node."""
        which, node = np.arange(len(cases)), np.zeros(len(cases), np.int64)
        for c, nodes in zip(read, _nodes(channel, read, answers), strict=True):
            groups = []
            for n in distinct_values(node):
                here = np.flatnonzero(node == n)
                parts, of, answer = self._split_by_answers(
                    c.name, nodes[n], cases[here]
                )
                groups.append((parts, which[here[of]], answer))
            cases, which, node = _join_groups(groups)
        return cases, which, node


def _join_groups(
    found: Sequence[tuple[IntArray, IntArray, IntArray]],
) -> tuple[IntArray, IntArray, IntArray]:
    demand(sum(len(which) for _, which, _ in found) <= MOST_CASES, "too many cases")
    if len(found) == 1:
        return found[0]
    cases, which, answer = zip(*found, strict=True)
    return np.concatenate(cases), np.concatenate(which), np.concatenate(answer)


def _nodes(
    channel: Channel, read: Sequence[Channel], answers: IntArray
) -> list[IntArray]:
    """A table as a decision diagram, at values that its inputs have after BOS.

    Returns:
        For each input ``(nodes, later values)``: the node of the next input that each
        value leads to; those of the last input are the answers, the first is node 0.
    """
    columns = zip(channel.table.rows.T, read, strict=True)
    later = np.all([among(column, c.later) for column, c in columns], axis=0)
    # Rows ascend, and all that join later values are there (Lemma 1).
    below = answers[np.searchsorted(channel.later, channel.table.values[later])]
    levels: list[IntArray] = []
    for c in reversed(read):
        nodes, below = _distinct_rows(below.reshape(-1, len(c.later)))
        levels.insert(0, nodes)
    return levels


def _distinct_rows(rows: IntArray) -> tuple[IntArray, IntArray]:
    """The different rows, ascending, and the place of each row among them."""
    if rows.size > FEW_ENTRIES:
        found, place = np.unique(rows, axis=0, return_inverse=True)
        return found, place.reshape(-1)
    each = list(map(tuple, rows.tolist()))  # numpy takes longer to begin
    ordered = sorted(set(each))
    places = {row: i for i, row in enumerate(ordered)}
    return np.array(ordered), np.array([places[row] for row in each])


def distinct(numbers: IntArray) -> tuple[IntArray, IntArray]:
    """The different numbers, and the place of each number among them."""
    if (numbers == numbers[0]).all():
        return numbers[:1], np.zeros(len(numbers), np.int64)
    values, back = np.unique(numbers, return_inverse=True)
    return values, back.reshape(-1)


def spread_out(of: IntArray, choices: IntArray) -> tuple[IntArray, IntArray]:
    """Every row once for each of its choices.

    Args:
        of: ``(rows,)``: the kind of each row.
        choices: ``(kinds,)``: how many choices it has.

    Returns:
        The row of each choice, and its place among those of all kinds, one after the
        other.
    """
    each, start = choices[of], (choices.cumsum() - choices)[of]
    total = int(each.sum())
    demand(total <= MOST_ROWS, "too many rows")
    if len(of) == 1:
        return np.zeros(total, np.int64), np.arange(total) + start[0]
    which = np.repeat(np.arange(len(of)), each)
    return which, np.arange(total) + (start - each.cumsum() + each)[which]
