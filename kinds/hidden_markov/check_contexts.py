"""The beliefs that are possible in each state of a machine that the last letters decide.

Theorem W8e of docs/proofs/beliefs.md.
"""

import numpy as np

from krohn.kinds.hidden_markov.check_situations import (
    FARTHEST,
    MOST_NUMBERS,
    Law,
    growth,
    law_of,
    vertices_of,
)
from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.program.domains import BoolArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.model_file import Machine

FEW_NUMBERS = 2**19
"""Entries of the matrices of words that are longer than it takes to know the state."""
LEAST = 2.0 ** -(FARTHEST + 50)
"""Entries of matrices that are not 0 are larger."""
Vertices = tuple[IntArray, Interval]


def context_beliefs(source: StatedHiddenMarkov, machine: Machine) -> Law:
    """The vertices of the beliefs in each state (Theorem W8e).

    Raises:
        Refused: If too many last letters leave the state open, or a letter that is
            possible leads nowhere.
    """
    size, letters = len(source.start), len(source.operators)
    vertices = list[Vertices]()
    product, state, length = _settle(source, machine, vertices)
    grows = growth(source)
    while (
        len(state) * letters * size**2 <= FEW_NUMBERS
        and (length + 1) * grows <= FARTHEST
    ):
        first = (product @ source.start)[:, :, None]
        vertices.append(_follow(source, machine, first, state))
        product, state = _go_back(source, product), np.repeat(state, letters)
        some = _is_possible(product)
        product, state, length = product[some], state[some], length + 1
    vertices.append(_follow(source, machine, product, state))
    return law_of(vertices)


def _settle(
    source: StatedHiddenMarkov, machine: Machine, vertices: list[Vertices]
) -> tuple[Interval, IntArray, int]:
    """The shortest words that lead to one state, wherever they begin.

    Args:
        source: The model.
        machine: The machine.
        vertices: To which those of shorter words with nothing before them are added.

    Returns:
        The product of each word, its state, and how many letters the longest has.

    Raises:
        Refused: If there are too many, or they are too long.
    """
    (letters, states), size = machine.transitions.shape, len(source.start)
    product, after = Interval.of(np.eye(size)[None]), np.arange(states)[None]
    settled, length = list[tuple[Interval, IntArray]](), 0
    while True:
        state, possible = after.max(axis=1), _is_possible(product)
        apart = ((after >= 0) & (after != state[:, None])).any(axis=1)
        known = possible & ~apart & (state >= 0)
        settled.append((product[known], state[known]))
        product, after = product[possible & apart], after[possible & apart]
        if not len(after):
            low, high = (
                np.concatenate([getattr(x, end) for x, _ in settled])
                for end in ("low", "high")
            )
            return Interval(low, high), np.concatenate([q for _, q in settled]), length
        first = (product @ source.start)[:, :, None]
        vertices.append(_follow(source, machine, first, after[:, machine.start]))
        numbers, length = len(after) * letters * max(states, size**2), length + 1
        few = numbers <= MOST_NUMBERS and length * growth(source) <= FARTHEST
        demand(few, "the last letters leave the state open, or they are too many")
        product = _go_back(source, product)
        after = np.pad(after, ((0, 0), (0, 1)), constant_values=-1)
        after = after[:, machine.transitions].reshape(-1, states)


def _go_back(source: StatedHiddenMarkov, product: Interval) -> Interval:
    """``(words · letters, n, n)``: the products of words with each letter before them."""
    longer = product[:, None] @ source.operators
    return longer.each(lambda x: x.reshape(-1, *x.shape[2:]))


def _is_possible(product: Interval) -> BoolArray:
    return np.asarray((product.high >= LEAST).any(axis=(1, 2)))


def _follow(
    source: StatedHiddenMarkov, machine: Machine, columns: Interval, state: IntArray
) -> Vertices:
    """The columns after some words as vertices; what is possible next leads on from there.

    Args:
        source: The model.
        machine: The machine.
        columns: ``(words, n, columns)``.
        state: ``(words,)``: where each word leads.
    """
    there: BoolArray = np.any(columns.high >= LEAST, axis=2)
    heard = (there[:, None] & source.operators.any(axis=1)).any(axis=2)
    demand(~there.any(axis=1) | (state >= 0), "a word that is possible leads nowhere")
    leads = machine.transitions.T[state] >= 0
    demand(~heard | leads, "a letter that is possible leads nowhere")
    return vertices_of(state, columns)
