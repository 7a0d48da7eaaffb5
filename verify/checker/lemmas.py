"""Facts about a channel that an earlier part has shown (docs/proofs/invariants.md)."""

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, IntArray, beside
from krohn.program.errors import demand
from krohn.program.operations.shift import Shift
from krohn.program.statement import MOST_CELLS, Channel
from krohn.verify.checker.model_file import Machine

if TYPE_CHECKING:
    from krohn.verify.checker.invariant import Part


class Assumed(NamedTuple):
    """The values of a channel that an earlier part has shown to be possible.

    Attributes:
        beside: ``(states, values)``: what it may be beside a state of that part's machine.
        back: So many letters ago.
        machine: The machine of that part, if it is another one.
    """

    beside: BoolArray
    back: int
    machine: Machine | None

    def step_values(
        self, moved: tuple[IntArray, IntArray, IntArray], old: BoolArray
    ) -> tuple[BoolArray, BoolArray]:
        """Possible values beside a state, now or some letters ago, and the memory then."""
        before, now, a = moved
        if self.machine is not None:
            which, q = beside(np.arange(len(a)), old[:, 0])
            new = np.zeros_like(old)
            new[which, 0, self.machine.transitions[a[which], q]] = True
            return _either(new[:, 0], self.beside), new
        if self.back < 2:
            return self.beside[before if self.back else now], old
        last = np.equal.outer(before, np.arange(len(self.beside)))
        kept = np.concatenate([old[:, 1:], last[:, None]], axis=1)
        return _either(old[:, 0], self.beside), kept


def lemma(channel: Channel, part: "Part", machine: Machine, length: int) -> Assumed:
    """The facts that another part shows of a channel, or of the channel that it shifts."""
    here, same = channel.name in part.outputs, part.machine is machine
    shift, back = channel.operation, 0
    if not here and isinstance(shift, Shift) and part.outputs == [shift.source]:
        back = shift.by
    fits = here or (back > 0 and same)
    early = length <= part.length + back
    demand(fits and early, f"{channel.name!r} is not known so far")
    column = part.outputs.index(channel.name) if here else 0
    rows = np.array(list(part.shown), np.int64).reshape(-1, len(part.outputs) + 1)
    rows = rows[np.isin(rows[:, column], channel.domain)]
    size = len(part.machine.shows), len(channel.domain)
    demand(prod(size) <= MOST_CELLS, "a lemma tells too much")
    beside_state = np.zeros(size, np.bool_)
    beside_state[rows[:, -1], channel.place(rows[:, column])] = True
    if back:
        beside_state[machine.start] |= channel.domain == channel.bos
    return Assumed(beside_state, back, None if same else part.machine)


def _either(states: BoolArray, beside_state: BoolArray) -> BoolArray:
    """``(rows, values)``: what there is beside one of the states of a row."""
    return np.asarray(states.astype(np.float32) @ beside_state.astype(np.float32) > 0)
