"""Sparse parity: how many ones stand at given positions, modulo 2; trees of parities."""

import numpy as np

from krohn.algebra.automaton import Automaton, Output
from krohn.algebra.minimisation import reachable
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.algebra.zoo.groups import require

MOST_POSITIONS = 2_000


def sparse_parity(positions: int, *support: int) -> Automaton:
    """Parity of the bits at the positions in ``support``, for words up to ``positions``.

    Thesis, Definition 23: the product of x_i over i in S is −1 exactly if the number of
    i in S with x_i = −1 is odd; the letter 1 stands for −1 (read as +1 it would flip the
    answer for odd |S|). States ``t,p`` count positions; beyond the last one nothing
    changes. The output is the parity.

    Args:
        positions: d.
        support: S, numbers in 1..d, ascending.

    Raises:
        MachineError: If S is empty, not ascending or not in 1..d, or d is above 2000.
    """
    name = f"Parity{positions}@{','.join(map(str, support))}"
    ascending = list(support) == sorted(set(support))
    inside = bool(support) and 1 <= support[0] and support[-1] <= positions
    fits = ascending and inside and positions <= MOST_POSITIONS
    advice = f"name ascending positions from 1 to d, d at most {MOST_POSITIONS}"
    require(fits, name, advice)
    place, parity = np.divmod(np.arange(2 * positions + 2), 2)
    after = np.minimum(place + 1, positions)
    counts = np.isin(after, support) & (place < positions)
    table = np.stack([2 * after + parity, 2 * after + (parity ^ counts)])
    states = tuple(f"{t},{p}" for t, p in zip(place, parity, strict=True))
    output = Output("states", parity, ("even", "odd"))
    machine = Semiautomaton(table, ("0", "1"), states)
    return reachable(Automaton(machine, output=output, name=name))


def parity_tree(depth: int, variables: int) -> Automaton:
    """The leaf of a binary tree in which parities choose the way.

    Thesis, section 4.2.7.3, with the path code repaired (F7): the nodes 1, 2, …, 2^D − 1
    are in heap order, and node v reads the bits (v − 1)k + 1, …, vk. An odd number of
    ones, a product of −1, leads to the left child 2v, an even one to 2v + 1.

    A state is the position, the node that the path has come to, and the parity that was
    read of it: bits off the path are forgotten, and so is the path above. The output
    is the leaf, 1 to 2^D from the left, that is reached if all bits to come are 0.

    Args:
        depth: D.
        variables: k.

    Raises:
        MachineError: If one of them is 0, or there are more than 2000 bits.
    """
    name, leaves = f"ParityTree{depth},{variables}", 2**depth
    bits = (leaves - 1) * variables
    advice = f"name a depth and a number of bits, at least 1, {MOST_POSITIONS} in all"
    require(depth >= 1 and variables >= 1 and bits <= MOST_POSITIONS, name, advice)
    states, rows = [(0, 1, 0)], []
    index = {states[0]: 0}
    for state in states:  # grows on the way
        after = [_state_after(state, bit, variables, bits) for bit in (0, 1)]
        for new in after:
            if new not in index:
                index[new] = len(states)
                states.append(new)
        rows.append([index[new] for new in after])
    shown = np.array([_leaf(v, p, leaves) - leaves for _, v, p in states])
    names = tuple(f"{t},{v},{p}" for t, v, p in states)
    machine = Semiautomaton(np.array(rows).T, ("0", "1"), names)
    output = Output("states", shown, tuple(str(i + 1) for i in range(leaves)))
    return Automaton(machine, output=output, name=name)


def _state_after(
    state: tuple[int, int, int], bit: int, variables: int, bits: int
) -> tuple[int, int, int]:
    """The state after one more bit; nothing changes when all have been read."""
    t, node, parity = state
    if t == bits:
        return state
    if t // variables + 1 != node:
        return t + 1, node, parity
    if (t + 1) % variables:
        return t + 1, node, parity ^ bit
    return t + 1, 2 * node + (parity == bit), 0


def _leaf(node: int, parity: int, leaves: int) -> int:
    """Where the path ends if nothing but zeros follows."""
    while node < leaves:
        node, parity = 2 * node + (parity == 0), 0
    return node
