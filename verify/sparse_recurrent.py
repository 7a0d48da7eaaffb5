"""Proof of an RNN with sparse matrices: only units that something drives are looked at.

All numbers are whole, so that no sum is rounded, and every unit rests, whatever the
letter, unless the state before drives it. Then what is left of a hidden state is a few
entries, and these form a finite machine that is walked beside the given one
(docs/soundness.md, section 7).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from algebra.automaton import Automaton
from algebra.semiautomaton import IntArray
from network.architecture import sparse_matrices
from network.modelfile import ModelFile
from network.precision import FLOAT64, FloatArray
from network.sparse import Sparse, is_index
from verify.errors import Differs, Rejected
from verify.recurrent import CELLS, MOST_PAIRS, Pairs

Matrix = sparse.csr_array

MOST_LETTERS = 100_000
MOST_NUMBERS = 2**27
"""Entries of all states that are kept."""
MOST_ENTRIES = 2**24
"""Of one product, and of what drives units after every letter."""
MOST_DOUBTFUL = 1_000


@dataclass(frozen=True)
class _Network:
    """What the file holds.

    Attributes:
        left: ``(hidden, rank)``; ``right`` is ``(rank, hidden)``.
        letters: ``(hidden, letters)``: what each letter adds to each unit.
        bias: ``(hidden,)``.
        readout: ``(hidden, classes)``.
        logits: ``(classes,)``: what the logits begin with.
        bound: Whole numbers below it are exact in the format, and sums of them.
        start: ``(hidden,)``: the hidden state before a word.
    """

    left: Matrix
    right: Matrix
    letters: Matrix
    bias: FloatArray
    readout: Matrix
    logits: FloatArray
    bound: float
    start: FloatArray


def prove(file: ModelFile, machine: Automaton, shows: IntArray) -> dict[str, Any]:
    """Visit all pairs of what is left of a hidden state and a state of the machine.

    Args:
        file: The network.
        machine: Its letters must be in the order of the inputs.
        shows: ``(states,)``: the logit that must be the largest in each state.

    Raises:
        Rejected: If a number is not whole, a sum too large, a unit does not rest, or
            there are too many pairs.
        Differs: With a shortest word, if a read-out is wrong.
    """
    network = _opened(file)
    if network.letters.shape[1] != len(machine.letters):
        raise Rejected("the file has another number of letters than the machine")
    _check_rest(network)
    start = _times(sparse.csr_array(network.start[None]), network.left, network)
    now = Pairs(start, np.array([machine.start]))
    seen = set(_keys(start, now.states))
    margin, length, work = np.inf, 0, 0
    while len(now.states):
        length += 1
        if length > MOST_LETTERS:
            raise Rejected(f"new hidden states come after {MOST_LETTERS} letters still")
        now, ahead = _follow(now, machine, shows, network, seen)
        margin = min(margin, ahead)
        work += now.drives.nnz
        if len(seen) > MOST_PAIRS or work > MOST_NUMBERS:
            raise Rejected(f"the network has more than {len(seen) - 1} hidden states")
    return {
        "argument": "hidden states that rest where nothing drives them",
        "pairs": len(seen),
        "margin": min(margin, FLOAT64.largest),
    }


def _opened(file: ModelFile) -> _Network:
    tensors = file.tensors
    if any((t != np.rint(t)).any() for n, t in tensors.items() if not is_index(n)):
        raise Rejected("a sparse network with weights that are not whole numbers")
    found = {
        name: _matrix(Sparse.named(tensors, name, columns))
        for name, columns in sparse_matrices(file.header["architecture"]).items()
    }
    digits = min(file.precision.digits, file.precision.accumulator_digits)
    return _Network(
        found["hidden.left"],
        found["hidden.right"],
        sparse.csr_array(found["input.weight"].T),
        tensors["hidden.bias"],
        found["unembed.weight"],
        tensors["unembed.bias"],
        2.0**digits,
        tensors["hidden.start"],
    )


def _matrix(held: Sparse) -> Matrix:
    parts = (held.values, held.columns, held.offsets)
    return sparse.csr_array(parts, shape=held.shape)


def _check_rest(network: _Network) -> None:
    """Every unit is 0 after every letter, if nothing but the letter drives it."""
    rows = np.repeat(np.arange(len(network.bias)), np.diff(network.letters.indptr))
    most = network.letters.data + network.bias[rows]
    if (network.bias > 0).any() or (most > 0).any():
        raise Rejected("a unit does not rest where nothing drives it")
    _check_sums(np.abs(network.bias), network)
    _check_sums(np.abs(network.bias[rows]) + np.abs(network.letters.data), network)


def _check_sums(terms: FloatArray, network: _Network) -> None:
    """Refuse sums whose terms, by their absolute values, come to too much."""
    if not (terms < network.bound).all():
        raise Rejected("a sum is too large to be exact")


def _times(x: Matrix, matrix: Matrix, network: _Network, beside: float = 0.0) -> Matrix:
    """The product of two matrices of whole numbers, without entries that are 0.

    Args:
        x: What is multiplied.
        matrix: By what.
        network: It says which sums are exact.
        beside: The most that is added to each sum, before it or after it.
    """
    if np.diff(matrix.indptr)[x.indices].sum() > MOST_ENTRIES:
        raise Rejected("a hidden state drives too many units, or too many logits")
    found = sparse.csr_array(x @ matrix)
    _check_sums((abs(x) @ abs(matrix)).data + beside, network)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def _follow(
    now: Pairs[Matrix],
    machine: Automaton,
    shows: IntArray,
    network: _Network,
    seen: set[bytes],
) -> tuple[Pairs[Matrix], float]:
    """The pairs that come next and are new, and the margin of all that come next."""
    letters, margin = len(machine.letters), np.inf
    drives, states, parents, by = [], [], [], []
    for first, driven in _driven(now, network, letters):
        hidden = _hidden(driven, network)
        batch = np.arange(first, first + driven.shape[0])
        reached = machine.transitions[:, now.states[batch]].T.reshape(-1)
        ahead, wrong = _margin(hidden, shows[reached], network)
        if wrong is not None:
            word = now.word(int(batch[wrong // letters]))
            raise Differs((*word, wrong % letters))
        margin = min(margin, ahead)
        after = _times(hidden, network.left, network)
        new = [i for i, key in enumerate(_keys(after, reached)) if _unseen(key, seen)]
        drives.append(after[new])
        states.append(reached[new])
        parents.append(batch[np.array(new, dtype=np.int64) // letters])
        by.append(np.array(new, dtype=np.int64) % letters)
    found = sparse.csr_array(sparse.vstack(drives, format="csr"))
    at, origins, which = map(np.concatenate, (states, parents, by))
    return Pairs(found, at, now, origins, which), margin


def _keys(drives: Matrix, states: IntArray) -> list[bytes]:
    """What tells pairs apart."""
    ends, places, values = drives.indptr, drives.indices, drives.data + 0.0
    return [
        places[a:b].tobytes() + values[a:b].tobytes() + q.to_bytes(8, "little")
        for a, b, q in zip(ends[:-1], ends[1:], states.tolist(), strict=True)
    ]


def _unseen(key: bytes, seen: set[bytes]) -> bool:
    if key in seen:
        return False
    seen.add(key)
    return True


def _driven(
    now: Pairs[Matrix], network: _Network, letters: int
) -> Iterator[tuple[int, Matrix]]:
    """What drives the units, for as many pairs at a time as fit, with the first one."""
    fan = int(np.diff(network.right.indptr).max(initial=0))
    each = int(np.diff(now.drives.indptr).max(initial=0)) * fan * letters
    size = max(1, CELLS // max(1, each))
    beside = np.abs(network.bias).max() + abs(network.letters).max()
    for first in range(0, len(now.states), size):
        part = now.drives[first : first + size]
        yield first, _times(part, network.right, network, beside)


def _hidden(driven: Matrix, network: _Network) -> Matrix:
    """The hidden states ``(pairs · letters, hidden)`` after every letter."""
    units, letters = driven.indices, network.letters.shape[1]
    if len(units) * letters > MOST_ENTRIES:
        raise Rejected("a hidden state drives too many units under too many letters")
    added = network.letters[units].toarray()
    before = driven.data + network.bias[units]
    values = np.maximum(before[:, None] + added, 0)
    entry, letter = np.nonzero(values)
    pair = np.repeat(np.arange(driven.shape[0]), np.diff(driven.indptr))
    rows = pair[entry] * letters + letter
    shape = (driven.shape[0] * letters, driven.shape[1])
    return sparse.csr_array((values[entry, letter], (rows, units[entry])), shape=shape)


def _margin(
    hidden: Matrix, right: IntArray, network: _Network
) -> tuple[float, int | None]:
    """How far the right logits are ahead, and the first row where one is not.

    Only logits to which a unit adds something are made. All others are what they begin
    with, and the largest of these stands for them; where that is not small enough, all
    logits are made.
    """
    most = np.abs(network.logits).max()
    _check_sums(most, network)
    added = _times(hidden, network.readout, network, most)
    rows = np.repeat(np.arange(len(right)), np.diff(added.indptr))
    there = right < len(network.logits)
    named = np.where(there, right, 0)
    logits = added.data + network.logits[added.indices]
    is_right = added.indices == named[rows]
    correct = network.logits[named].copy()
    correct[rows[is_right]] = logits[is_right]
    others = _largest_but(network.logits, named)
    np.maximum.at(others, rows[~is_right], logits[~is_right])
    ahead = np.where(there, correct - others, -np.inf)
    doubtful = np.flatnonzero(ahead <= 0)
    if len(doubtful) > MOST_DOUBTFUL:
        raise Rejected("too many logits begin with more than others end with")
    for row in doubtful.tolist():
        whole = network.logits + added[[row]].toarray()[0]
        whole[named[row]] = -np.inf
        if not there[row] or correct[row] <= whole.max():
            return float(ahead.min()), row
        ahead[row] = correct[row] - whole.max()
    return float(ahead.min(initial=np.inf)), None


def _largest_but(logits: FloatArray, named: IntArray) -> FloatArray:
    """The largest number but one, for each of the places ``named``."""
    most = int(logits.argmax())
    second = np.delete(logits, most).max(initial=-np.inf)
    found: FloatArray = np.where(named == most, second, logits[most])
    return found
