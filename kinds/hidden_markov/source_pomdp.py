"""Cassandra's ``.pomdp`` files, the form in which decision processes are passed on.

The format is described at pomdp.org. Rewards, the discount and ``values`` are skipped:
they say what an agent wants, not what it can know. A letter is an action with the
observation that answers it: ``listen/left``.

The convention of the start: ``start`` is the law of the state before the first action,
whose observation is said after the step; it is ``before`` of `HiddenMarkovModel.of`.
"""

import re
from math import prod
from typing import NoReturn

import numpy as np

from krohn.kinds.hidden_markov.source_arrays import (
    KEPT,
    MOST_NUMBERS,
)
from krohn.kinds.hidden_markov.source_model import HiddenMarkovModel
from krohn.program.domains import LARGEST_MATRIX, FloatArray
from krohn.program.errors import MOST_LETTERS as MOST_SAID, Refused, demand
from krohn.program.quoting import cut

SETS = ("states", "actions", "observations")
KEYS = (*SETS, "discount", "values", "start", "T", "O", "R")
MOST_LETTERS, MOST_WRITTEN = 2**22, 2**25
"""Characters that are read, and entries of tables that lines with ``*`` write."""
_TOKEN = re.compile(r"[^\s:#]+|:")
_NUMBER = re.compile(r"[+-]?(\d++\.?+\d*+|\.\d++)([eE][+-]?\d++)?")


def parse(text: str, name: str) -> HiddenMarkovModel:
    """The driven model of a file.

    Raises:
        Refused: If a line is not of the format, or a row is no law; the message has the
            number of the line.
    """
    return _Reader(text).model(name)


class _Reader:
    """The words of a file, and what was read of it so far.

    Attributes:
        names: Of states, actions and observations.
        steps: ``(actions, n, n)``: T[a, s, s'].
        says: ``(actions, n, observations)``: O[a, s', o].
        start: ``(n,)``: uniform if it is not said.
    """

    def __init__(self, text: str) -> None:
        demand(len(text) <= MOST_LETTERS, "it has more than 4 million characters")
        lines = (line.split("#", 1)[0] for line in text.split("\n"))
        words = ((i, _TOKEN.findall(line)) for i, line in enumerate(lines, 1))
        self._words: list[tuple[str, int, bool]] = [
            (word, line, at == 0)
            for line, each in words
            for at, word in enumerate(each)
        ]
        self._at = self._written = 0
        self.names: dict[str, list[str]] = {}
        self.steps: FloatArray | None = None
        self.says: FloatArray | None = None
        self.start: FloatArray | None = None

    def model(self, name: str) -> HiddenMarkovModel:
        """All of it: one letter for each action and observation that can answer it."""
        while self._at < len(self._words):
            self._statement()
        for key in SETS:
            demand(key in self.names, f"it does not say its {key}")
        steps, says = self._tables()
        _normalise_rows(steps, "T", self.names["actions"], self.names["states"])
        _normalise_rows(says, "O", self.names["actions"], self.names["states"])
        operators = np.einsum("aso,ats->aost", says, steps)
        states, actions, seen = (self.names[key] for key in SETS)
        pairs = [(a, o) for a in range(len(actions)) for o in range(len(seen))]
        possible = [(a, o) for a, o in pairs if operators[a, o].any()]
        size = len(states)
        start = np.full(size, 1 / size) if self.start is None else self.start
        return HiddenMarkovModel(
            name,
            tuple(states),
            tuple(_letter(actions[a], seen, o) for a, o in possible),
            np.array([operators[pair] for pair in possible]),
            start,
            tuple(a for a, _ in possible),
        )

    def _statement(self) -> None:
        key = self._word()
        if key == "start" and self._next() in ("include", "exclude"):
            self._subset(self._word() == "include")
        elif key not in KEYS:
            self._fail(f"a line begins with one of {', '.join(KEYS)}, not {key!r}")
        else:
            self._colon()
            if key in SETS:
                self._set(key)
            elif key == "start":
                self._start()
            elif key in ("T", "O"):
                self._table(key)
            else:
                self._skip()

    def _set(self, key: str) -> None:
        """Names, or how many there are: then they are 0, 1, …."""
        demand(key not in self.names, f"{self._line()}: {key} are said twice")
        given = self._list()
        if len(given) == 1 and given[0].isdecimal():
            count = int(given[0][:9])
            if count <= LARGEST_MATRIX:
                given = [str(i) for i in range(count)]
            else:
                self._fail(f"there are at most {LARGEST_MATRIX} {key}, not {given[0]}")
        few = 0 < len(given) <= LARGEST_MATRIX and ":" not in given
        if not few or len(set(given)) < len(given):
            self._fail(f"{key} are 1 to {LARGEST_MATRIX} different names, or a number")
        self.names[key] = given

    def _start(self) -> None:
        """A law, ``uniform``, or one state by its name or number."""
        size, given = len(self._of("states")), self._list()
        if given == ["uniform"]:
            self.start = np.full(size, 1 / size)
        elif len(given) == 1 and (size > 1 or not _NUMBER.fullmatch(given[0])):
            self.start = np.eye(size)[self._index("states", given[0])].sum(axis=0)
        else:
            law = np.array([self._number(word) for word in given])
            if len(law) != size or abs(law.sum() - 1) > KEPT:
                self._fail(f"start is a law of {size} states, one state, or uniform")
            self.start = law / law.sum()

    def _subset(self, include: bool) -> None:
        """Uniform over some states, or over all others."""
        self._colon()
        chosen = np.zeros(len(self._of("states")), bool)
        for word in self._list():
            chosen[self._index("states", word)] = True
        chosen = chosen if include else ~chosen
        if not chosen.any():
            self._fail("start has no states")
        self.start = chosen / chosen.sum()

    def _table(self, key: str) -> None:
        """``T: action : state : state p``, or a row, or a matrix; later lines win."""
        steps, says = self._tables()
        table, kinds = (steps, SETS[:1]) if key == "T" else (says, ("observations",))
        where = [self._index("actions", self._word())]
        for kind in ("states", *kinds):
            if self._next() != ":":
                break
            self._colon()
            where.append(self._index(kind, self._word()))
        shape = table.shape[len(where) :]
        self._written += prod(map(len, where)) * prod(shape)
        if self._written > MOST_WRITTEN:
            self._fail("its lines set the same entries too many times")
        table[np.ix_(*where)] = self._read_probabilities(shape)

    def _read_probabilities(self, shape: tuple[int, ...]) -> FloatArray | float:
        """One probability, a row, a matrix, ``uniform`` or ``identity``."""
        word = self._next()
        if shape and word == "uniform":
            self._word()
            return np.full(shape, 1 / shape[-1])
        if len(shape) == 2 and shape[0] == shape[1] and word == "identity":
            self._word()
            return np.eye(shape[0])
        count = prod(shape)
        if self._at + count > len(self._words):
            self._fail(f"{count} probabilities are expected, and the file ends")
        numbers = np.array([self._number(self._word()) for _ in range(count)])
        return numbers.reshape(shape) if shape else float(numbers[0])

    def _tables(self) -> tuple[FloatArray, FloatArray]:
        states, actions, seen = (len(self._of(key)) for key in SETS)
        if self.steps is None or self.says is None:
            if actions * states * max(states, seen) * seen > MOST_NUMBERS:
                self._fail("its tables have more than 4,194,304 entries")
            self.steps = np.zeros((actions, states, states))
            self.says = np.zeros((actions, states, seen))
        return self.steps, self.says

    def _of(self, key: str) -> list[str]:
        if key not in self.names:
            self._fail(f"{key} have to be said before this line")
        return self.names[key]

    def _index(self, key: str, word: str) -> list[int]:
        """Which one a name, a number or ``*`` says."""
        known = self._of(key)
        if word == "*":
            return list(range(len(known)))
        if word in known:
            return [known.index(word)]
        if not word.isdecimal() or int(word[:9]) >= len(known):
            self._fail(f"{word!r} is none of the {len(known)} {key}")
        return [int(word)]

    def _number(self, word: str) -> float:
        if not _NUMBER.fullmatch(word) or not 0 <= float(word) <= 1:
            self._fail(f"{word!r} is no probability")
        return float(word)

    def _list(self) -> list[str]:
        """The words up to a line that begins with a word and a colon, or with start."""
        words = []
        while self._at < len(self._words) and not self._begins(self._next()):
            words.append(self._word())
        return words

    def _skip(self) -> None:
        """Leave out all up to the next statement."""
        while self._at < len(self._words) and not self._begins(*KEYS):
            self._at += 1

    def _begins(self, *keys: str) -> bool:
        """Whether a statement of these begins here, on a new line: so names are free."""
        word, _, first = self._words[self._at]
        after = (":", "include", "exclude") if word == "start" else (":",)
        return first and word in keys and self._next(1) in after

    def _next(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._words[at][0] if at < len(self._words) else ""

    def _word(self) -> str:
        if self._at == len(self._words):
            self._fail("the file ends within a statement")
        self._at += 1
        return self._words[self._at - 1][0]

    def _colon(self) -> None:
        if self._word() != ":":
            self._fail(f"a colon is missing before {self._words[self._at - 1][0]!r}")

    def _line(self) -> str:
        last = self._words[max(0, self._at - 1)][1] if self._words else 1
        return f"line {last}"

    def _fail(self, reason: str) -> NoReturn:
        raise Refused(cut(f"{self._line()}: {reason}", MOST_SAID))


def _letter(action: str, seen: list[str], observation: int) -> str:
    """The action with its answer; alone if there is only one answer."""
    return action if len(seen) == 1 else f"{action}/{seen[observation]}"


def _normalise_rows(
    table: FloatArray, key: str, actions: list[str], states: list[str]
) -> None:
    """Make rows add up to 1 that do so but for rounding.

    Raises:
        Refused: If one does not; it is named.
    """
    sums = table.sum(axis=2)
    action, state = np.unravel_index(np.abs(sums - 1).argmax(), sums.shape)
    worst = float(sums[action, state])
    demand(
        abs(worst - 1) <= KEPT,
        f"the row {key}: {actions[action]} : {states[state]} adds up to {worst:.9g}, "
        "not to 1",
    )
    table /= sums[:, :, None]
