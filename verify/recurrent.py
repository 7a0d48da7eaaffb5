"""Proof of an RNN: its hidden states form a finite machine, walked beside the given one.

Every hidden state that occurs must be computed without any rounding; then the network is
a deterministic finite automaton, and visiting all pairs of hidden state and machine state
proves it for words of every length.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

import numpy as np

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from network.modelfile import ModelFile
from network.precision import FLOAT64, FloatArray
from verify.errors import Differs, Rejected
from verify.noisy import Noisy

# A network that counts has no end of hidden states: to notice it takes some seconds and
# some hundred megabytes at most, however wide it is and however slowly it goes.
MOST_PAIRS = 200_000
MOST_NUMBERS = 2**25
MOST_LETTERS = 4_000
CELLS = 2**20

Drives = TypeVar("Drives")


@dataclass(frozen=True)
class Pairs(Generic[Drives]):
    """Pairs of a hidden state and a machine state first reached by words of one length.

    Attributes:
        drives: ``(pairs, hidden)``: what the hidden state adds to the next one; of a
            sparse network ``(pairs, rank)``, what is left of the hidden state.
        states: ``(pairs,)``: where the machine is.
        above: The pairs from which they are reached; None for the start.
        parents: ``(pairs,)``: from which of these.
        letters: ``(pairs,)``: by which letter.
    """

    drives: Drives
    states: IntArray
    above: "Pairs[Drives] | None" = None
    parents: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))
    letters: IntArray = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    def word(self, pair: int) -> tuple[int, ...]:
        """A shortest word that leads to a pair."""
        found: list[int] = []
        pairs = self
        while pairs.above is not None:
            found.append(int(pairs.letters[pair]))
            pair, pairs = int(pairs.parents[pair]), pairs.above
        return tuple(reversed(found))

    def batches(self, most: int) -> Iterator[range]:
        """Their numbers, at most so many at a time."""
        for low in range(0, len(self.states), most):
            yield range(low, min(low + most, len(self.states)))


def prove(file: ModelFile, machine: Automaton, shows: IntArray) -> dict[str, Any]:
    """Visit all pairs, by the input to the hidden layer that a hidden state gives.

    Args:
        file: The network.
        machine: Its letters must be in the order of the inputs.
        shows: ``(states,)``: the logit that must be the largest in each state.

    Raises:
        Rejected: If some number is not computed exactly, or there are too many states.
        Differs: With a shortest word, if a read-out is wrong.
    """
    if len(file.tensors["input.weight"]) != len(machine.letters):
        raise Rejected("the file has another number of letters than the machine")
    start = Noisy.exact(file.tensors["hidden.start"][None], file.precision)
    now = Pairs(_drive(start, file.tensors), np.array([machine.start]))
    seen = {_key(now.drives[0], machine.start)}
    margin, length = np.inf, 0
    while len(now.states):
        length += 1
        if length > MOST_LETTERS:
            raise Rejected(f"new hidden states come after {MOST_LETTERS} letters still")
        now, ahead = _follow(now, machine, shows, file, seen)
        margin = min(margin, ahead)
    return {
        "argument": "hidden states",
        "pairs": len(seen),
        "margin": min(margin, FLOAT64.largest),
    }


def _key(drive: FloatArray, state: int) -> bytes:
    return drive.tobytes() + state.to_bytes(8, "little")


def _follow(
    now: Pairs[FloatArray],
    machine: Automaton,
    shows: IntArray,
    file: ModelFile,
    seen: set[bytes],
) -> tuple[Pairs[FloatArray], float]:
    """The pairs that come next and are new, and the margin of all that come next."""
    letters, width = file.tensors["input.weight"].shape
    drives, states, origins, margin = [], [], [], np.inf
    for batch in now.batches(max(1, CELLS // (letters * width))):
        reached = machine.transitions[:, now.states[batch]].T.reshape(-1)
        after, ahead, wrong = _step(now.drives[batch], shows[reached], file)
        if wrong is not None:
            raise Differs((*now.word(batch[wrong // letters]), wrong % letters))
        margin = min(margin, ahead)
        for i, (drive, state) in enumerate(zip(after, reached.tolist(), strict=True)):
            key = _key(drive, state)
            if key not in seen:
                seen.add(key)
                drives.append(drive)
                states.append(state)
                origins.append((batch[i // letters], i % letters))
        _check_size(len(seen), width)
    parents, by = np.array(origins, dtype=np.int64).reshape(-1, 2).T
    found = np.array(drives).reshape(-1, width)
    return Pairs(found, np.array(states, dtype=np.int64), now, parents, by), margin


def _check_size(pairs: int, width: int) -> None:
    most = min(MOST_PAIRS, MOST_NUMBERS // width)
    if pairs > most:
        raise Rejected(f"the network has more than {most} hidden states")


def _drive(hidden: Noisy, tensors: dict[str, FloatArray]) -> FloatArray:
    """What hidden states ``(rows, hidden)`` add to the next one, exactly."""
    drive = hidden.affine(tensors["hidden.weight"], tensors["hidden.bias"])
    return _certain(drive)


def _certain(numbers: Noisy) -> FloatArray:
    if numbers.total.any():
        raise Rejected("a hidden state is not computed exactly")
    # Negative zero would look like another state.
    return numbers.value + 0.0


def _step(
    drives: FloatArray, right: IntArray, file: ModelFile
) -> tuple[FloatArray, float, int | None]:
    """The drives after every letter, pair by pair, and what the logits say there.

    Args:
        drives: ``(pairs, hidden)``.
        right: ``(pairs · letters,)``: the logit that must be the largest.
        file: The network.

    Returns:
        The drives ``(pairs · letters, hidden)``, how far the right logits are ahead, and
        the first row in which one is not; None if there is none.
    """
    tensors, precision = file.tensors, file.precision
    letters = len(tensors["input.weight"])
    inputs = np.tile(tensors["input.weight"], (len(drives), 1))
    before = Noisy.exact(np.repeat(drives, letters, axis=0), precision)
    both = Noisy.exact(inputs, precision).plus(before)
    hidden = Noisy.exact(np.maximum(_certain(both), 0.0), precision)
    logits = _certain(hidden.affine(tensors["unembed.weight"], tensors["unembed.bias"]))
    rows = np.arange(len(right))
    there = right < logits.shape[1]
    named = np.where(there, right, 0)
    ahead = logits[rows, named][:, None] - logits
    ahead[rows, named] = np.inf
    wrong = np.flatnonzero(~there | (ahead <= 0).any(axis=1))
    first = int(wrong[0]) if wrong.size else None
    return _drive(hidden, tensors), float(ahead.min(initial=np.inf)), first
