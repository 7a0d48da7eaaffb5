"""State space models: each layer as a finite machine, then all layers beside the machine.

Theorem D9 of docs/state-space-models.md.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import LARGEST_FLOAT64, Format
from krohn.verify.checker.model_file import Machine, Model, WrongWord
from krohn.verify.checker.state_space_layers import (
    MOST_SUMS,
    MOST_TERMS,
    Finite,
    finite,
    opened,
)

MOST_TUPLES = 2**18
ONE_LETTER = "a layer does not say one letter"


@dataclass(frozen=True)
class Established:
    """What was shown of a state space model.

    Attributes:
        form: Its format.
        length: The longest word; None for words of every length.
        values: How many hidden states each layer has.
        classes: How many of them its table can tell apart.
        tuples: How many tuples of classes and a machine state are reached.
        margin: How far the right logit is ahead of every other one, at worst.
    """

    form: Format
    length: int | None
    values: tuple[int, ...]
    classes: tuple[int, ...]
    tuples: int
    margin: float

    def facts(self) -> dict[str, Any]:
        """In numbers."""
        up_to = "any length" if self.length is None else f"up to {self.length} letters"
        return {
            "covers": f"all words of {up_to}",
            "length": self.length,
            "dtype": self.form.name,
            "values": list(self.values),
            "classes": list(self.classes),
            "tuples": self.tuples,
            "margin": self.margin,
        }


class Front(NamedTuple):
    """Tuples of classes and a machine state that are new after so many letters.

    Attributes:
        tuples: ``(rows, layers + 1)``; the state comes last.
        above: The front before; None at the start.
        origins: ``(rows,)``: the row of that, times the number of letters, plus the letter.
    """

    tuples: IntArray
    above: "Front | None"
    origins: IntArray

    def word(self, row: int, letters: int) -> tuple[int, ...]:
        """A shortest word to a row and a letter, numbered as origins are."""
        word, front = [row % letters], self
        while front.above is not None:
            row = int(front.origins[row // letters])
            word, front = [row % letters, *word], front.above
        return tuple(word)


def beside(layers: list[Finite], machine: Machine, length: int | None) -> int:
    """Walk all layers beside the machine; how many tuples there are.

    Raises:
        Refused: If a layer does not say a letter, or there are too many tuples.
        WrongWord: With a shortest word, if another class is said.
    """
    letters, read = len(machine.transitions), 0
    start = np.array([[*(layer.start for layer in layers), machine.start]])
    front, seen = Front(start, None, np.zeros(0, np.int64)), {start.tobytes()}
    while len(front.tuples) and (length is None or read < length):
        read += 1
        many = len(seen) * letters * len(layers) > MOST_SUMS
        demand(not many, "the layers have too many states together")
        x = np.tile(np.arange(letters), len(front.tuples))
        rows = front.tuples.repeat(letters, axis=0)
        state = machine.transitions[x, rows[:, -1]]
        after, symbol = [], x
        for i, layer in enumerate(layers):
            inner = symbol >= 0
            demand(inner, ONE_LETTER)
            after.append(layer.moves[rows[:, i], symbol])
            symbol = layer.says[rows[:, i], symbol]
        wrong = symbol != machine.shows[state]
        if wrong.any():
            raise WrongWord(front.word(int(wrong.argmax()), letters))
        if read == length:
            break
        found = np.stack([*after, state], axis=1)
        demand(found >= 0, "a class has no successor")
        new = _new(found, seen)
        demand(len(seen) <= MOST_TUPLES, "the layers have too many states together")
        front = Front(found[new], front, new)
    return len(seen)


def _new(found: IntArray, seen: set[bytes]) -> IntArray:
    """The rows that were not seen before, each once."""
    new = list[int]()
    for i, row in enumerate(found):
        if (key := row.tobytes()) not in seen:
            seen.add(key)
            new.append(i)
    return np.array(new, np.int64)


def established(model: Model, told: Any, machine: Machine | None) -> Established:
    """Every layer as a finite machine, and the machine beside them.

    Raises:
        Refused: If a layer has too many hidden states, something may be rounded in more
            than one way, or the margin is not as claimed.
        WrongWord: With a shortest word on which IEEE arithmetic without flushing says
            another class.
    """
    length = model.header["claim"].get("length")
    demand(length is None or (type(length) is int and length > 0), "no such length")
    demand("source" not in model.header, "the file is about no machine")
    machine, layers = machine or model.machine, opened(model)
    demand(len(machine.transitions) == len(layers[0].decay), "other letters")
    last = len(layers) - 1
    each = list[Finite]()
    for i, layer in enumerate(layers):
        each.append(finite(layer, model.format, length, i == last))
        work = sum(x.work for x in each)
        demand(work <= 2 * MOST_TERMS, "the layers are too large together")
    tuples = beside(each, machine, length)
    demand(all(x.sure for x in each), "a number may be rounded in more than one way")
    margin = min(each[-1].margin, LARGEST_FLOAT64)
    demand(margin > 0 and margin >= told.get("margin", 0), "the margin is not shown")
    values = tuple(x.values for x in each), tuple(len(x.says) for x in each)
    return Established(model.format, length, *values, tuples, margin)
