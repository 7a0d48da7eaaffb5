"""Machines that are memories once their letters are windows of the last few letters.

The *context* of a position is the window of the k − 1 letters before it, with BOS in place
of letters before the first. After every context only some states can be there. If
each letter either takes all of them to one state (it writes), or takes different ones
to different ones and these keep apart for good (it keeps), then the state is a function
of the last written value and of the window.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray

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
            found = _with_width(a, width, sink)
            if found is not None:
                return found
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
    for found in np.unique(part):
        here = np.isin(context, context[part == found])
        taken = set(colour[here].tolist())
        colour[part == found] = min(set(range(len(taken) + 1)) - taken)
    return colour
