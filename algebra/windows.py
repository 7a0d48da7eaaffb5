"""Machines that are simpler once the last few letters are known."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import Automaton, IntArray

# Machines that are memories once their letters are windows of the last few letters.
#
# The *context* of a position is the window of the k − 1 letters before it, with BOS in
# place of letters before the first. After every context only some states can be there.
# If each letter either takes all of them to one state (it writes), or takes different
# ones to different ones and these keep apart for good (it keeps), then the state is a
# function of the last written value and of the window.


MOST_PAIRS = 100_000
LONGEST_WINDOW = 8


@dataclass(frozen=True)
class WindowMemory:
    """A machine that is reset by windows.

    A window is numbered in base ``letters + 1``, oldest letter first; BOS is the last
    digit. Contexts are windows of ``width − 1`` letters.

    Attributes:
        width: k, how many letters a window has.
        sink: A state that no letter leaves, which the rest of the machine does not
            count with; None if there is no need to set one apart.
        start: The label that stands at BOS.
        writes: ``(contexts, letters)``: the label that a letter writes after a context;
            −1 if it keeps the label that is there. Contexts with a letter before BOS
            do not occur; they are like those with BOS in its place.
        illegal: ``(contexts, letters, labels)``: whether the sink follows, for each
            label *after* the letter.
        state: ``(contexts, labels)``: the state after a context, the one of the label;
            −1 where there is none.
    """

    width: int
    sink: int | None
    start: int
    writes: IntArray
    illegal: IntArray
    state: IntArray


def as_window_memory(a: Automaton) -> WindowMemory | None:
    """The memory of windows that ``a`` is, or None.

    The width is the least one that serves; if none does without, an absorbing state is
    set apart, which the other states' next letter decides.
    """
    if not _settles(a.transitions):
        return None
    for sink in (None, *_absorbing(a)):
        for width in range(1, LONGEST_WINDOW + 1):
            contexts = (len(a.letters) + 1) ** (width - 1)
            if contexts * a.transitions.size > MOST_PAIRS:
                break
            memory = _with_width(a, width, sink)
            if memory is not None:
                return memory
    return None


def _settles(table: IntArray) -> bool:
    """Whether no power of a letter is a cycle: then no window could tell where it is."""
    power = table
    for _ in range(table.shape[1].bit_length()):
        power = np.take_along_axis(power, power, axis=1)
    return np.array_equal(np.take_along_axis(table, power, axis=1), power)


def _absorbing(a: Automaton) -> Iterator[int]:
    still = (a.transitions == np.arange(len(a.states))).all(axis=0)
    still[a.start] = False
    yield from np.flatnonzero(still).tolist()


def _with_width(a: Automaton, width: int, sink: int | None) -> WindowMemory | None:
    steps = _Steps.of(a, width, sink)
    part = steps.classes()
    if part is None:
        return None
    return steps.memory(_colouring(steps, part), a.start, width, sink)


@dataclass(frozen=True)
class _Steps:
    """The pairs of a context and a state that words reach, and how letters lead on.

    Attributes:
        contexts: How many contexts there are; the last one is the context of BOS.
        pairs: ``(pairs, 2)``: context and state, the sink's left out; sorted.
        after: ``(letters, pairs)``: the pair that each letter leads to; −1 for the sink.
        writing: ``(letters, pairs)``: whether all pairs of the context lead to one.
    """

    contexts: int
    pairs: IntArray
    after: IntArray
    writing: IntArray

    @staticmethod
    def of(a: Automaton, width: int, sink: int | None) -> "_Steps":
        """Follow all words from BOS."""
        letters, states = a.transitions.shape
        contexts = (letters + 1) ** (width - 1)
        index = np.full((contexts, states), -1)
        todo = np.array([[contexts - 1, a.start]])
        index[contexts - 1, a.start] = 0
        while len(todo):
            following = _successors(a, todo, contexts).reshape(-1, 2)
            following = np.unique(following[following[:, 1] != _none(sink)], axis=0)
            todo = following[index[tuple(following.T)] < 0]
            index[tuple(todo.T)] = 0
        pairs = np.argwhere(index == 0)
        index[tuple(pairs.T)] = np.arange(len(pairs))
        target = _successors(a, pairs, contexts)
        after = index[target[..., 0], target[..., 1]]
        return _Steps(contexts, pairs, after, _constant(pairs[:, 0], after, contexts))

    def classes(self) -> IntArray | None:
        """``(pairs,)``: pairs that must have one label, since letters keep it.

        None if two states of one context must have one label.
        """
        letter, pair = np.nonzero((self.after >= 0) & ~self.writing)
        target = self.after[letter, pair]
        part = np.arange(len(self.pairs))
        while (part[pair] != part[target]).any():
            least = np.minimum(part[pair], part[target])
            np.minimum.at(part, pair, least)
            np.minimum.at(part, target, least)
            part = part[part]
        both = np.stack([self.pairs[:, 0], part], axis=1)
        return part if len(np.unique(both, axis=0)) == len(both) else None

    def memory(
        self, label: IntArray, first: int, width: int, sink: int | None
    ) -> WindowMemory:
        """The memory: labels written, letters that are illegal, and states meant."""
        context, state = self.pairs.T
        shape = (self.contexts, len(self.after))
        writes = np.full(shape, -1)
        illegal = np.zeros((*shape, int(label.max()) + 1), dtype=np.int64)
        meant = np.full((self.contexts, int(label.max()) + 1), -1)
        meant[context, label] = state
        for letter, target in enumerate(self.after):
            written = self.writing[letter]
            writes[context[written], letter] = label[target[written]]
            bad = target < 0
            illegal[context[bad], letter, label[bad]] = 1
        like = _as_if_from_bos(len(self.after), width)
        writes, illegal, meant = writes[like], illegal[like], meant[like]
        start = label[(context == self.contexts - 1) & (state == first)]
        return WindowMemory(width, sink, int(start[0]), writes, illegal, meant)


def _none(sink: int | None) -> int:
    return -1 if sink is None else sink


def _as_if_from_bos(letters: int, width: int) -> IntArray:
    """``(contexts,)``: each context with BOS in place of all that is before a BOS."""
    base = letters + 1
    like = np.zeros(1, dtype=np.int64)
    for place in range(width - 1):
        # One place further back; before a BOS there is BOS as well.
        older = np.arange(base)[:, None] * base**place
        highest = like // base ** max(place - 1, 0)
        begun = (highest == letters) & (place > 0)
        like = np.where(begun, letters * base**place, older) + like
        like = like.reshape(-1)
    return like


def _successors(a: Automaton, pairs: IntArray, contexts: int) -> IntArray:
    """``(letters, pairs, 2)``: context and state after each letter."""
    letter = np.arange(len(a.letters))[:, None]
    context = (pairs[:, 0] * (len(a.letters) + 1) + letter) % contexts
    return np.stack([context, a.transitions[:, pairs[:, 1]]], axis=2)


def _constant(context: IntArray, after: IntArray, contexts: int) -> IntArray:
    """``(letters, pairs)``: whether all pairs of the same context go to one pair."""
    lowest = np.full((len(after), contexts), after.max(initial=0) + 1)
    highest = np.full((len(after), contexts), -1)
    rows = np.arange(len(after))[:, None]
    np.minimum.at(lowest, (rows, context[None]), after)
    np.maximum.at(highest, (rows, context[None]), after)
    return np.asarray(((lowest == highest) & (lowest >= 0))[:, context])


def _colouring(steps: _Steps, part: IntArray) -> IntArray:
    """``(pairs,)``: a label for each class, different within a context.

    If every class is one state, the state is the label, numbered from 0. Otherwise the
    first label that no class of a common context has.
    """
    context, state = steps.pairs.T
    if len(np.unique(np.stack([part, state], axis=1), axis=0)) == len(np.unique(part)):
        return np.asarray(state)
    colour = np.full(len(part), -1)
    for label in np.unique(part):
        here = np.isin(context, context[part == label])
        taken = set(colour[here].tolist())
        colour[part == label] = min(set(range(len(taken) + 1)) - taken)
    return colour


# Few points on which letters act if the last letters are known: smaller than the states.
#
# A machine is a shift register of the last k letters, and beside it a machine on points
# whose letters act as the register says: a cascade with a definite first component. How
# many points are needed is a matter of colouring: states that the same last letters may
# lead to must differ. Words may be forbidden; those need nothing.


BoolArray = npt.NDArray[np.bool_]
MOST_CONTEXTS, MOST_READ = 2**22, 3
"""States times contexts that are looked at; letters of the longest context."""


@dataclass(frozen=True)
class ContextPoints:
    """Points, and how many letters say how they move, and which states they are.

    Attributes:
        of: ``(states,)``: the point of each state.
        moved: The map of a letter on points depends on so many letters before it.
        read: A point and so many last letters are one state at most.
        before: ``(states, (letters + 1) ** moved)``: the last letters in each state; the
            last one counts most, and the number of letters stands for before the first.
        behind: ``(states, (letters + 1) ** read)``: the same of ``read`` letters.
    """

    of: IntArray
    moved: int
    read: int
    before: BoolArray
    behind: BoolArray

    @property
    def points(self) -> int:
        """How many points there are."""
        return int(self.of.max()) + 1


def context_points(transitions: IntArray, start: int) -> ContextPoints:
    """The fewest points that are found; all states are points if none are fewer.

    Args:
        transitions: ``(letters, states)``: where a letter leads; −1 if it cannot come.
        start: The first state; others in the order in which they are best looked at.
    """
    letters, states = transitions.shape
    candidates = list[ContextPoints]()
    for read in range(MOST_READ + 1):
        if states * (letters + 1) ** (read + 1) > MOST_CONTEXTS:
            break
        behind = _contexts(transitions, start, read)
        for moved in range(read + 1):
            before = _contexts(transitions, start, moved)
            of = _colour_contexts(transitions, before, behind)
            candidates.append(ContextPoints(of, moved, read, before, behind))
    return min(candidates, key=lambda one: (one.points, one.moved, one.read))


def _contexts(transitions: IntArray, start: int, length: int) -> BoolArray:
    """Which last letters there can be in each state."""
    letters, states = transitions.shape
    base, size = letters + 1, (letters + 1) ** length
    there = np.zeros((states, size), np.bool_)
    there[start, size - 1] = True
    todo = [(start, size - 1)]
    while todo:
        q, context = todo.pop()
        for letter in np.flatnonzero(transitions[:, q] >= 0).tolist():
            after = (context + letter * size) // base if length else 0
            to = int(transitions[letter, q])
            if not there[to, after]:
                there[to, after] = True
                todo.append((to, after))
    return there


def _colour_contexts(
    transitions: IntArray, before: BoolArray, behind: BoolArray
) -> IntArray:
    """Each state is given the first point that fits, with the mergers that this forces."""
    of = np.arange(len(behind))
    for q in range(1, len(of)):
        if of[q] == q:
            for point in np.unique(of[:q]).tolist():
                joined = _merge_points(of, (point, q), transitions, before, behind)
                if joined is not None:
                    of = joined
                    break
    return np.unique(of, return_inverse=True)[1].astype(np.int64)


def _merge_points(
    of: IntArray,
    pair: tuple[int, int],
    transitions: IntArray,
    before: BoolArray,
    behind: BoolArray,
) -> IntArray | None:
    """Two points made one, with all mergers that letters force; None if that cannot be.

    A point is called like the least of its states.
    """
    of, todo = of.copy(), [pair]
    while todo:
        first, second = sorted(int(of[q]) for q in todo.pop())
        if first == second:
            continue
        of[of == second] = first
        members = np.flatnonzero(of == first)
        if behind[members].sum(axis=0).max() > 1:
            return None
        todo += _forced_pairs(members, transitions, before)
    return of


def _forced_pairs(
    members: IntArray, transitions: IntArray, before: BoolArray
) -> Iterator[tuple[int, int]]:
    """States that letters lead to from one point, where the letters before are alike."""
    for context in np.flatnonzero(before[members].sum(axis=0) > 1):
        for row in transitions[:, members[before[members, context]]]:
            yield from pairwise(row[row >= 0].tolist())
