"""Sparse parity: how many ones stand at the positions of a given set, modulo 2."""

import numpy as np

from algebra.automaton import Automaton, Output
from algebra.operations import reachable
from algebra.semiautomaton import Semiautomaton
from algebra.zoo.groups import require

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
