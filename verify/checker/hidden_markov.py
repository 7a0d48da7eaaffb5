"""Hidden Markov models: a Transformer says the belief after each letter, within an error.

The belief is a function of finitely many situations, exactly or nearly: Theorems W8 to W8c
of docs/within.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import Any, NamedTuple

import numpy as np

from program.domains import FloatArray, IntArray
from program.errors import demand
from program.operations.shift import Shift
from program.operations.token import Token
from program.statement import Channel, Statement, whole
from verify.checker import read_out, refinement
from verify.checker.affine_arithmetic import INFLATION, OWN_UNIT
from verify.checker.attention import Look
from verify.checker.model_file import Format, Machine, Model
from verify.checker.residual_stream import Stream
from verify.checker.sublayers import embedding, followed

KIND = "hidden-markov"
MOST_DIGITS = 2**14
"""Binary digits of an entry of an exact belief."""
MOST_NUMBERS, FEW_NUMBERS = 2**23, 2**17
"""Entries of the matrices of all words of a window; and of those with letters before."""
FARTHEST = 900
"""Products of a window lie between 2 to the power of minus this, and of this."""


class Source(NamedTuple):
    """A hidden Markov model as a header states it.

    Attributes:
        operators: ``(letters, n, n)``, no entry negative.
        start: ``(n,)``, no entry negative, and not 0.
    """

    operators: FloatArray
    start: FloatArray


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


@dataclass(frozen=True)
class Established:
    """Every bound that was shown of the network of a hidden Markov model.

    Attributes:
        streams: As for a machine.
        looks: As for a machine.
        kind: ``beliefs`` or ``window``: why the situations say the belief.
        situations: How many there are.
        model: How far a belief can be from the vector that the Program says.
        error: How far any output can be off, at any position of any possible word.
        variation: How far all outputs together can be off, in total variation.
    """

    streams: tuple[Stream, ...]
    looks: Mapping[str, Look]
    kind: str
    situations: int
    model: float
    error: float
    variation: float

    @property
    def program(self) -> Statement:
        """What the network computes."""
        return self.streams[0].program

    @property
    def form(self) -> Format:
        """The format that is computed in."""
        return self.streams[0].form

    def facts(self) -> dict[str, Any]:
        """In numbers: the error, that of the Program, the noise of each channel."""
        noise = {n: float(x.max()) for s in self.streams for n, x in s.noise.items()}
        return {
            "covers": f"all possible words of up to {self.program.length} letters",
            "length": self.program.length,
            "dtype": self.form.name,
            "error": self.error,
            "model error": self.model,
            "total variation": self.variation,
            "situations": self.situations,
            "noise": noise,
            "leak": {name: look.leak for name, look in self.looks.items()},
        }


def source_of(said: Mapping[str, Any]) -> Source:
    """The hidden Markov model of a header.

    Raises:
        Refused: If it states none.
    """
    demand(said["kind"] == KIND, "this is no hidden Markov model")
    operators, start = np.array(said["matrices"]), np.array(said["start"])
    real = operators.dtype == np.float64 and start.dtype == np.float64
    shape = (len(said["letters"]), len(start), len(start))
    demand(real and operators.shape == shape, "the model has no real matrices")
    for numbers in (operators, start):
        demand(np.isfinite(numbers) & (numbers >= 0), "an entry is no weight")
    demand(start.any(), "the start is 0")
    return Source(operators, start)


def followed_by(model: Model) -> Machine | None:
    """The machine of situations that a file states; None if it states none."""
    source, program = model.header.get("source", {}), model.header.get("program", {})
    if source.get("kind") != KIND or "machine" not in program:
        return None
    transitions = np.array(program["machine"]["transitions"])
    real = transitions.dtype == np.int64 and transitions.ndim == 2
    demand(real and np.all(transitions >= -1), "the situations are no machine")
    start, states = int(whole(program["machine"]["start"], 0)), transitions.shape[1]
    fits = len(transitions) == len(source["letters"]) and start < states
    demand(fits and np.all(transitions < states), "the situations are no machine")
    return Machine(start, transitions, np.arange(states))


def established(model: Model, program: Statement, said: Any) -> Established:
    """The error that can be shown; `linear_system.claimed` says if it is enough.

    Raises:
        Refused: If the network, or its Program, is another one.
    """
    source, machine = source_of(model.header["source"]), followed_by(model)
    demand(len(program.outputs) == 1, "a belief is said by one channel")
    output = program.channels[program.outputs[0]]
    demand(output.vectors is not None, "the output is not laid out as vectors")
    if machine is None:
        law = window(program, output, source)
    else:
        readings = refinement.check(program, said["program"], machine)
        law = beliefs(source, machine, readings)
    known = list(followed(model, embedding(model, program)))
    looks = {name: look for _, heads in known for name, look in heads.items()}
    size = model.tensors["unembed.weight"].shape[1]
    demand(size == len(source.start), "the network has not one output for each state")
    values, at = np.unique(law.value, return_inverse=True)
    found = read_out.said(model, known[-1][0], values)
    off = np.abs(found.value[at] - law.belief) + found.total[at] + law.off
    assert output.vectors is not None
    planned = np.abs(output.vectors[law.value] - law.belief) + law.off
    return Established(
        tuple(stream for stream, _ in known),
        looks,
        "window" if machine is None else "beliefs",
        len(values),
        float(planned.max() * INFLATION),
        float(off.max() * INFLATION),
        float(off.sum(axis=1).max() / 2 * INFLATION),
    )


def beliefs(source: Source, machine: Machine, readings: read_out.Readings) -> Law:
    """The belief of each situation that a possible word leads to (Theorem W8a).

    Raises:
        Refused: If two words lead to one situation and to different beliefs.
    """
    entries = [_sparse(operator) for operator in source.operators]
    rays = {machine.start: _ray(_whole(source.start))}
    todo = [machine.start]
    while todo:
        at = todo.pop()
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
                demand(rays[to] == ray, "a situation has two beliefs")
    totals = {q: sum(ray) for q, ray in rays.items()}
    laws = {q: [x / totals[q] for x in ray] for q, ray in rays.items()}
    pairs = [(reading[0], laws[q]) for reading, q in readings.items() if q in laws]
    value, belief = zip(*pairs, strict=True)
    return Law(np.array(value), np.array(belief), OWN_UNIT)


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


def window(program: Statement, output: Channel, source: Source) -> Law:
    """The beliefs that are possible after the last few letters (Theorem W8b).

    Raises:
        Refused: If the output is no function of the last letters, or there are too many.
    """
    width, letters = len(output.inputs), program.letters
    for back, name in enumerate(output.inputs):
        demand(_back(program, name) == back, f"{name!r} is not the letter {back} back")
    size, seen = len(source.start), _seen(program, width, source)
    product, words = np.eye(size)[None], np.zeros((1, 0), np.int64)
    found = list[tuple[IntArray, FloatArray]]()
    for length in range(min(seen, program.length) + 1):
        columns = (product @ source.start)[:, :, None] if length < seen else product
        bos = np.full((len(words), max(width - length, 0)), letters)
        value = output.table([*np.hstack([words[:, :width], bos]).T])
        found.append(_vertices(value, columns))
        if length < seen:  # the letter before stands on the right
            product = (product[:, None] @ source.operators).reshape(-1, size, size)
            before = np.tile(np.arange(letters), len(words))[:, None]
            words = np.hstack([np.repeat(words, letters, axis=0), before])
    value, belief = (np.concatenate(x) for x in zip(*found, strict=True))
    demand(len(value) > 0, "no word is possible")
    terms = (seen + 2) * (size + 2)
    return Law(value, belief, 2 * terms * OWN_UNIT / (1 - 2 * terms * OWN_UNIT))


def _seen(program: Statement, width: int, source: Source) -> int:
    """How many letters are looked at: those of the table, and some before them.

    Raises:
        Refused: If even those of the table are too many, or their products could leave
            the range of float64.
    """
    size, letters = len(source.start), program.letters
    least, most = _range(source)
    grows = max(most + np.log2(size), -least)
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


def _range(source: Source) -> tuple[float, float]:
    """The binary logarithms of the least and the largest number that is not 0."""
    numbers = np.concatenate([source.operators.ravel(), source.start])
    exponents = np.log2(numbers[numbers > 0])
    return min(float(exponents.min()), 0.0) - 1, max(float(exponents.max()), 0.0) + 1


def _vertices(value: IntArray, columns: FloatArray) -> tuple[IntArray, FloatArray]:
    """The columns of some matrices that are not 0, made to sum to 1.

    Args:
        value: ``(matrices,)``.
        columns: ``(matrices, n, columns)``.
    """
    total = columns.sum(axis=1)
    word, at = np.nonzero(total)
    return value[word], columns[word, :, at] / total[word, at][:, None]
