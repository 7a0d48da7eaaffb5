"""Proof of an RNN: its hidden states form a finite machine, walked beside the given one.

Every hidden state that occurs must be computed without any rounding; then the network is
a deterministic finite automaton, and visiting all pairs of hidden state and machine state
proves it for words of every length.
"""

from typing import Any

import numpy as np

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from network.modelfile import ModelFile
from network.precision import FLOAT64, FloatArray
from verify.errors import Differs, Rejected
from verify.noisy import Noisy

MOST_PAIRS = 1_000_000


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
    tensors = file.tensors
    if len(tensors["input.weight"]) != len(machine.letters):
        raise Rejected("the file has another number of letters than the machine")
    start = Noisy.exact(tensors["hidden.start"][None], file.precision)
    drive = _drive(start, tensors)[0]
    words: dict[tuple[bytes, int], tuple[int, ...]] = {
        (drive.tobytes(), machine.start): ()
    }
    frontier = [(drive, machine.start)]
    margin = np.inf
    while frontier:
        following = []
        for drive, state in frontier:
            word = words[drive.tobytes(), state]
            after = machine.transitions[:, state]
            drives, ahead = _step(drive, shows[after], word, file)
            margin = min(margin, ahead)
            for letter, (reached, target) in enumerate(zip(drives, after, strict=True)):
                key = (reached.tobytes(), int(target))
                if key not in words:
                    words[key] = (*word, letter)
                    following.append((reached, int(target)))
        if len(words) > MOST_PAIRS:
            raise Rejected(f"the network has more than {MOST_PAIRS} hidden states")
        frontier = following
    return {
        "argument": "hidden states",
        "pairs": len(words),
        "margin": min(float(margin), FLOAT64.largest),
    }


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
    drive: FloatArray, right: IntArray, word: tuple[int, ...], file: ModelFile
) -> tuple[FloatArray, float]:
    """The drives after every letter, and how far the right logits are ahead."""
    tensors, precision = file.tensors, file.precision
    both = Noisy.exact(tensors["input.weight"], precision).plus(
        Noisy.exact(np.broadcast_to(drive, tensors["input.weight"].shape), precision)
    )
    hidden = Noisy.exact(np.maximum(_certain(both), 0.0), precision)
    logits = hidden.affine(tensors["unembed.weight"], tensors["unembed.bias"])
    _certain(logits)
    rows = np.arange(len(right))
    if (right >= logits.value.shape[1]).any():
        raise Differs((*word, int(np.argmax(right >= logits.value.shape[1]))))
    ahead = logits.value[rows, right][:, None] - logits.value
    ahead[rows, right] = np.inf
    wrong = np.flatnonzero((ahead <= 0).any(axis=1))
    if wrong.size:
        raise Differs((*word, int(wrong[0])))
    return _drive(hidden, tensors), float(ahead.min(initial=np.inf))
