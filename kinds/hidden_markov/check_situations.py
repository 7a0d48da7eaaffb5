"""The beliefs that a hidden Markov model can have in each of finitely many situations.

Theorems W8 to W8b of docs/proofs/beliefs.md: the beliefs of a machine, exactly; or convex
combinations of the beliefs that the last letters leave.
"""

from collections.abc import Sequence
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import demand
from krohn.program.operations.shift import Shift
from krohn.program.operations.token import Token
from krohn.program.statement import Channel, Statement
from krohn.verify.checker.arithmetic import FORMATS, Interval
from krohn.verify.checker.model_file import Machine, Model, machine_of

if TYPE_CHECKING:
    from krohn.verify.checker.sublayers import Readings

MOST_DIGITS = 2**14
"""Binary digits of an entry of an exact belief."""
MOST_STEPS = 2**26
"""How many products of up to 64 digits of beliefs are taken, of all beliefs together."""
MOST_NUMBERS, FEW_NUMBERS = 2**23, 2**17
"""Entries of the matrices of all words of a window, or of all exact beliefs; and of the
matrices of words with letters before those of the window."""
FARTHEST = 900
"""Products of a window lie between 2 to the power of minus this, and of this."""


class Law(NamedTuple):
    """Beliefs that are possible where the output has a value.

    Attributes:
        value: ``(beliefs,)``: the value.
        belief: ``(beliefs, n)``: all others there are convex combinations of these.
        off: How far an entry of these can be from the true one.
    """

    value: IntArray
    belief: FloatArray
    off: float


def beliefs(source: StatedHiddenMarkov, machine: Machine, readings: "Readings") -> Law:
    """The belief of each situation that a possible word leads to (Theorem W8a).

    Raises:
        Refused: If two words lead to one situation and to different beliefs, or there are
            too many to be multiplied out.
    """
    entries = [_sparse(operator) for operator in source.operators]
    rays = {machine.start: _ray(_whole(source.start))}
    todo, left, terms = [machine.start], MOST_STEPS, sum(map(len, entries))
    while todo:
        at = todo.pop()
        left -= terms * (1 + max(x.bit_length() for x in rays[at]) // 64)
        demand(left >= 0, "too many beliefs to be multiplied out")
        for operator, follow in zip(entries, machine.transitions, strict=True):
            joint = [0] * len(source.start)
            for i, j, weight in operator:
                joint[i] += weight * rays[at][j]
            if any(joint):  # otherwise the letter is impossible
                ray, to = _ray(joint), int(follow[at])
                demand(to >= 0, "a letter that is possible leads nowhere")
                if to not in rays:
                    rays[to] = ray
                    todo.append(to)
                    few = len(rays) * len(ray) <= MOST_NUMBERS
                    demand(few, "too many beliefs to be listed")
                demand(rays[to] == ray, "a situation has two beliefs")
    totals = {q: sum(ray) for q, ray in rays.items()}
    laws = {q: [x / totals[q] for x in ray] for q, ray in rays.items()}
    pairs = [(reading[0], laws[q]) for reading, q in readings.items() if q in laws]
    value, belief = zip(*pairs, strict=True)
    return Law(np.array(value), np.array(belief), FORMATS["float64"].unit)


def _whole(numbers: FloatArray) -> list[int]:
    """Numbers, all multiplied by the same power of 2 so that they are whole."""
    each = [Fraction(x) for x in numbers.ravel().tolist()]
    most = max(x.denominator for x in each)
    return [x.numerator * (most // x.denominator) for x in each]


def _sparse(matrix: FloatArray) -> list[tuple[int, int, int]]:
    """Row, column and weight of the entries that are not 0, scaled to whole numbers."""
    size = len(matrix)
    each = enumerate(_whole(matrix))
    return [(*divmod(at, size), weight) for at, weight in each if weight]


def _ray(vector: list[int]) -> list[int]:
    """The shortest vector of whole numbers on its ray."""
    common = gcd(*vector)
    ray = [x // common for x in vector]
    digits = max(x.bit_length() for x in ray)
    demand(digits <= MOST_DIGITS, "a belief has too many digits to be held exactly")
    return ray


def followed_by(model: Model, name: str = "machine") -> Machine | None:
    """The machine of situations that a file states; None if it states none."""
    if model.claim.kind != StatedHiddenMarkov.kind or name not in model.program:
        return None
    return machine_of(model.program[name], len(model.claim.letters), least=-1)


def window(program: Statement, output: Channel, source: StatedHiddenMarkov) -> Law:
    """The beliefs that are possible after the last few letters (Theorem W8b).

    Raises:
        Refused: If the output is no function of the last letters, or there are too many.
    """
    width, letters = len(output.inputs), program.letters
    for back, name in enumerate(output.inputs):
        demand(_back(program, name) == back, f"{name!r} is not the letter {back} back")
    size, seen = len(source.start), _count_letters(program, width, source)
    product, words = Interval.of(np.eye(size)[None]), np.zeros((1, 0), np.int64)
    vertices = list[tuple[IntArray, Interval]]()
    for length in range(min(seen, program.length) + 1):
        columns = (product @ source.start)[:, :, None] if length < seen else product
        bos = np.full((len(words), max(width - length, 0)), letters)
        value = output.table([*np.hstack([words[:, :width], bos]).T])
        vertices.append(vertices_of(value, columns))
        if length < seen:  # the letter before stands on the right
            product = product[:, None] @ source.operators
            product = product.each(lambda x: x.reshape(-1, size, size))
            before = np.tile(np.arange(letters), len(words))[:, None]
            words = np.hstack([np.repeat(words, letters, axis=0), before])
    return law_of(vertices)


def law_of(vertices: Sequence[tuple[IntArray, Interval]]) -> Law:
    """All of some vertices, each with the value of the output."""
    value = np.concatenate([values for values, _ in vertices])
    demand(len(value) > 0, "no word is possible")
    every = Interval(
        np.concatenate([x.low for _, x in vertices]),
        np.concatenate([x.high for _, x in vertices]),
    )
    belief = (every.low + every.high) / 2
    return Law(value, belief, abs(every - belief).most)


def _count_letters(program: Statement, width: int, source: StatedHiddenMarkov) -> int:
    """How many letters are looked at: those of the table, and some before them.

    Raises:
        Refused: If even those of the table are too many, or their products could leave
            the range of float64.
    """
    size, letters = len(source.start), program.letters
    grows = growth(source)
    demand(width * grows <= FARTHEST, "products of letters could leave the range")
    demand(letters**width * size * size <= MOST_NUMBERS, "too many words of a window")
    seen = width
    while (
        seen <= program.length
        and letters ** (seen + 1) * size * size <= FEW_NUMBERS
        and (seen + 1) * grows <= FARTHEST
    ):
        seen += 1
    return seen


def _back(program: Statement, name: str) -> int:
    """How many letters back a channel looks, which says that letter and nothing else."""
    channel, by = program.channels[name], 0
    while isinstance(channel.operation, Shift):
        by += channel.operation.by
        channel = program.channels[channel.inputs[0]]
    if isinstance(channel.operation, Token):
        return by
    demand(channel.op == "table" and len(channel.inputs) == 1, f"{name!r}: no letter")
    read = program.channels[channel.inputs[0]].operation
    same = channel.table.is_identity and len(channel.table.rows) == program.letters + 1
    demand(isinstance(read, Token) and same, f"{name!r} does not say the letter")
    return by


def growth(source: StatedHiddenMarkov) -> float:
    """Each letter more changes no entry that is not 0 by more than this, in log2."""
    numbers = np.concatenate([source.operators.ravel(), source.start])
    exponents = np.log2(numbers[numbers > 0])
    least = min(float(exponents.min()), 0.0) - 1
    most = max(float(exponents.max()), 0.0) + 1
    return max(most + float(np.log2(len(source.start))), -least)


def vertices_of(value: IntArray, columns: Interval) -> tuple[IntArray, Interval]:
    """The columns of some matrices that are not 0, made to sum to 1.

    What is not 0 is at least 2^-900.

    Args:
        value: ``(matrices,)``.
        columns: ``(matrices, n, columns)``.
    """
    total = columns.sum(axis=1)
    there = total > 0
    demand(there | (total.high < 2.0 ** -(FARTHEST + 50)), "a product is not known")
    word, at = np.nonzero(there)
    return value[word], columns[word, :, at] / total[word, at][:, None]
