"""Whether the last letters decide the state: definite and generalised definite."""

import numpy as np
import numpy.typing as npt

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.classification.digraph import path
from krohn.algebra.classification.properties import Property, Witness, call, spell
from krohn.algebra.graphs import components_of_steps
from krohn.algebra.monoid import idempotent_power
from krohn.algebra.wording import count

MOST_PAIR_STEPS = 6_000_000

Flags = npt.NDArray[np.bool_]


def definite(machine: Semiautomaton) -> Property:
    """The last k letters decide the state (Perles, Rabin, Shamir 1963).

    Call states i-equivalent if all words of i letters take them to the same state: 0 is
    equality, and p, q are (i+1)-equivalent if pa, qa are i-equivalent for all letters
    a. The machine is definite if these equivalences, which only grow, come to hold for
    all states; the first such i is k. If they stop growing before that, then from two
    states that are never equivalent some letter leads to two such states again, for
    ever: in the end a word takes two different states to themselves, and so does every
    power of it. Where one state leads to all others, this says se = e for all
    idempotents e and elements s of T(A).
    """
    blocks = equivalences(machine)
    if blocks[-1].any():
        return Property(
            "definite",
            False,
            "a word keeps two different states, so that it can be repeated "
            "for ever without deciding between them",
            _endless_pair(machine, blocks[-1]),
        )
    k = len(blocks) - 1
    return Property(
        "definite", True, f"{_last(k)} the state, whatever it was before", {"k": k}
    )


def equivalences(machine: Semiautomaton) -> list[IntArray]:
    """``(states,)`` the i-equivalence class of each state, for i = 0, 1, … until it stays.

    The last is one class, all labels 0, exactly if the machine is definite.
    """
    blocks = [np.arange(len(machine.states))]
    while blocks[-1].any():
        coarser = _same_columns(blocks[-1][machine.transitions])
        if coarser.max() == blocks[-1].max():
            break
        blocks.append(coarser)
    return blocks


def generalised_definite(machine: Semiautomaton) -> Property:
    """The first and the last k letters decide the state: ese = e in T(A).

    If rese ≠ re for a state r, then e fixes p = re and q = rese, and p leads to q. If a
    word u fixes p ≠ q and p leads to q by x, then e = u^ω fixes both and p·exe = q ≠ p.
    So the test looks for two states in a cycle of the graph of pairs, the first of
    which leads to the second.
    """
    name = "generalised definite"
    found = _kept_by_powers(machine)
    letters, states = machine.transitions.shape
    if found is None and letters * states**2 > MOST_PAIR_STEPS:
        return Property(name, None, "too many pairs of states to search")
    found = found or _kept_pair(machine)
    if found is None:
        reason = "a word that keeps two states never leads from one to the other"
        return Property(name, True, f"{reason}: the first and last letters decide")
    (p, q), word = found
    between = path(machine, p, q)
    assert between is not None
    witness: Witness = {
        "states": call(machine, (p, q)),
        "kept by": spell(machine, word),
        "path": spell(machine, between),
    }
    reason = "a word keeps two states of which the first leads to the second"
    return Property(name, False, reason, witness)


def _last(k: int) -> str:
    return f"the last {count(k, 'letter')} decide{'s' if k == 1 else ''}"


def _same_columns(rows: IntArray) -> IntArray:
    """A label ``(n,)`` for each column of ``(k, n)``, from 0; equal columns share it."""
    label = np.unique(rows, axis=1, return_inverse=True)[1]
    return np.asarray(label, dtype=np.int64).reshape(-1)


def _endless_pair(machine: Semiautomaton, block: IntArray) -> Witness:
    """Two states and a word that keeps both, from states in different blocks."""
    second = int(np.flatnonzero(block != block[0])[0])
    pair, word, seen = (0, second), list[int](), dict[tuple[int, int], int]()
    while pair not in seen:
        seen[pair] = len(word)
        after = machine.transitions[:, pair]
        letter = int((block[after[:, 0]] != block[after[:, 1]]).argmax())
        word.append(letter)
        pair = int(after[letter, 0]), int(after[letter, 1])
    return {
        "states": call(machine, pair),
        "kept by": spell(machine, word[seen[pair] :]),
    }


def _kept_by_powers(machine: Semiautomaton) -> tuple[tuple[int, int], list[int]] | None:
    """Two states, the first leading to the second, that a power of a letter keeps."""
    powers = idempotent_power(machine.transitions)
    for letter, power in enumerate(powers):
        kept = np.flatnonzero(power == np.arange(len(power)))
        pair = _leads(machine, kept)
        if pair is not None:
            period = _period(machine.transitions[letter], pair)
            return pair, [letter] * period
    return None


def _leads(machine: Semiautomaton, states: IntArray) -> tuple[int, int] | None:
    """Two of the states, the first of which leads to the second."""
    wanted = np.zeros(len(machine.states), dtype=bool)
    wanted[states] = True
    for source in states.tolist():
        reached = _reachable_from(machine, source) & wanted
        reached[source] = False
        if reached.any():
            return source, int(np.flatnonzero(reached)[0])
    return None


def _reachable_from(machine: Semiautomaton, source: int) -> Flags:
    seen = np.zeros(len(machine.states), dtype=bool)
    frontier = np.array([source])
    while frontier.size:
        seen[frontier] = True
        after = np.unique(machine.transitions[:, frontier])
        frontier = after[~seen[after]]
    return seen


def _period(row: IntArray, pair: tuple[int, int]) -> int:
    """How often a letter must be repeated until both states have come back."""
    after, steps = row[list(pair)], 1
    while not np.array_equal(after, pair):
        after, steps = row[after], steps + 1
    return steps


def _kept_pair(machine: Semiautomaton) -> tuple[tuple[int, int], list[int]] | None:
    """Two states, the first leading to the second, that some word keeps."""
    letters, n = machine.transitions.shape
    after = machine.transitions[:, :, None] * n + machine.transitions[:, None, :]
    edges = after.reshape(letters, n * n).T
    label = components_of_steps(edges.T)
    own = (edges == np.arange(n * n)[:, None]).any(axis=1)
    cyclic = ((np.bincount(label)[label] > 1) | own).reshape(n, n)
    np.fill_diagonal(cyclic, False)
    for p in np.flatnonzero(cyclic.any(axis=1)).tolist():
        both = np.flatnonzero(cyclic[p] & _reachable_from(machine, p))
        if len(both):
            pairs = Semiautomaton(
                edges.T, machine.letters, tuple(map(str, range(n * n)))
            )
            node = p * n + int(both[0])
            word = path(pairs, node, node)
            assert word is not None
            return (p, int(both[0])), list(word)
    return None
