"""The tensors of heads whose weights are factors, as they must be (Theorem W13).

What a file may choose is read from it: the matrices of letters, how much wrong positions
lose, and the points and factors by which sums are made to be near 1.
"""

import json
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Model

MATRICES = ("query", "key", "value", "out")
LONGEST = 2**12
Heads = dict[str, FloatArray]


class Place(NamedTuple):
    """Where the stream holds what.

    Attributes:
        size: n.
        length: T.
        stages: How many vectors there are after the first.
        factors: How many numbers are said by which others are multiplied.
    """

    size: int
    length: int
    stages: int
    factors: int

    @property
    def levels(self) -> int:
        """How often windows double."""
        return max(1, (self.length - 1).bit_length())

    @property
    def digits(self) -> int:
        """Binary digits of a position."""
        return self.length.bit_length()

    def matrix(self, which: int) -> range:
        """One of two places of matrices."""
        return range(which * self.size**2, (which + 1) * self.size**2)

    @property
    def one(self) -> int:
        """The dimension that is 1 everywhere."""
        return 2 * self.size**2

    def position(self, level: int) -> range:
        """Digits of the position 2^level before, or of BOS; of the own one at −1."""
        first = self.one + 1 + (level + 1) * self.digits
        return range(first, first + self.digits)

    def vector(self, stage: int) -> range:
        """The vector after so many stages."""
        first = self.position(self.levels).start + stage * self.size
        return range(first, first + self.size)

    def factor(self, which: int) -> int:
        """A number by which others are multiplied."""
        return self.vector(self.stages + 1).start + which

    @property
    def width(self) -> int:
        """All dimensions."""
        return self.factor(self.factors)


class Product(NamedTuple):
    """A block that multiplies windows by those before them.

    Attributes:
        level: Of windows of 2^level letters.
        last: Whether the result is applied to the start.
        shut: What wrong positions lose.
    """

    level: int
    last: bool
    shut: float


class Scaling(NamedTuple):
    """A block that says c(v), v the sum of a place, and one that multiplies by it.

    c(v) = Σ_k into_k·out_k·max(points_k − v, 0).

    Attributes:
        vector: The stage of a vector; −1 for matrices.
        points: ``(heads,)``.
        into: ``(heads,)``.
        out: ``(heads,)``.
        shut: What wrong positions lose of max(points_k − v, 0).
        shut_out: What they lose of c(v).
    """

    vector: int
    points: FloatArray
    into: FloatArray
    out: FloatArray
    shut: float
    shut_out: float


Step = Product | Scaling


def steps(model: Model, size: int, length: int) -> tuple[Place, list[Step]]:
    """What the blocks of a file do, one after the other, if its tensors are as they must.

    Raises:
        Refused: If an entry of a tensor, or of the architecture, is another one.
    """
    demand(size > 1, "there is nothing to be multiplied")
    demand(length <= LONGEST, "words are too long to be checked")
    place = _place(model.header["architecture"], size, length)
    found, level, which, at = list[Step](), 0, 0, 0
    while at < place.levels + 2 * place.factors:
        ahead, count = level < place.levels, len(found) - level
        heads, shut = _heads(model, at), _shut(model, place, at)
        step: Step
        if ahead and heads["query"][0, place.one, 0] == 0:
            step = Product(level, level == place.levels - 1, shut)
            whole = not step.last or count == place.factors - place.stages
            demand(whole, "vectors are not where they must be")
            right = [_doubling(place, step, which, model.tensors["embed.token"][-1])]
            level, which = level + 1, 1 - which
        else:
            demand(count < place.factors, "a product is missing")
            points, into = (heads[m][:, place.one, 0] for m in ("query", "value"))
            out = heads["out"][:, 0, place.factor(count)]
            stage = -1 if ahead else count + place.stages - place.factors
            shut_out = _shut(model, place, at + 1)
            step = Scaling(stage, points, into, out, shut, shut_out)
            right = _scaled(place, step, count, which)
            which = 1 - which if ahead else which
        for each in right:
            _check_block(model, place, at, each)
            at += 1
        found.append(step)
    _check_ends(model, place)
    return place, found


def _place(said: dict[str, Any], size: int, length: int) -> Place:
    """Where what lies: each scaling is two blocks and a number, or also a vector.

    Raises:
        Refused: If blocks, width and positions do not go together.
    """
    none = Place(size, length, 0, 0)
    factors = (len(said["blocks"]) - none.levels) // 2
    place = none._replace(factors=factors)
    place = place._replace(stages=(said["d_model"] - place.width) // size)
    fits = said["d_model"] == place.width and said["positions"] == length + 1
    demand(fits, "the stream has another width, or there are other positions")
    there = 0 <= place.stages <= factors
    whole = len(said["blocks"]) == place.levels + 2 * factors
    demand(there and whole, "there are other blocks")
    for block in said["blocks"]:
        some = min(block["heads"], block["d_v"]) > 0
        demand(some and block["d_qk"] == 1 + 2 * place.digits, "heads are other ones")
    return place


def _heads(model: Model, at: int) -> Heads:
    return {m: model.tensors[f"blocks.{at}.attention.{m}"] for m in MATRICES}


def _shut(model: Model, place: Place, at: int) -> float:
    """What wrong positions lose in a block."""
    return -float(model.tensors[f"blocks.{at}.attention.query"][0, place.one, 1])


def _check_block(model: Model, place: Place, at: int, right: Heads) -> None:
    """Refuse a block with other heads than these."""
    count, _, wide = right["value"].shape
    shape = {"heads": count, "mlp": [], "d_qk": 1 + 2 * place.digits, "d_v": wide}
    shape |= {"attention": {"kind": "relu"}, "causal": [True] * count}
    _same(model.header["architecture"]["blocks"][at], shape)
    for name, each in right.items():
        alike = np.array_equal(model.tensors[f"blocks.{at}.attention.{name}"], each)
        demand(alike, f"block {at} has another {name}")


def _same(said: Any, right: Any) -> None:
    """Refuse another object of a header: 1 is not true."""
    alike = json.dumps(said, sort_keys=True) == json.dumps(right, sort_keys=True)
    demand(alike, "the architecture is another one than these products have")


def _check_ends(model: Model, place: Place) -> None:
    """Refuse other embeddings and read-outs, but for the matrices of letters and BOS."""
    tensors, said = model.tensors, model.header["architecture"]
    token = tensors["embed.token"]
    sizes = {k: v for k, v in said.items() if k != "blocks"}
    right = {
        "kind": "transformer",
        "dtype": model.format.name,
        "strict": True,
        "d_model": place.width,
        "vocabulary": len(token),
        "positions": place.length + 1,
        "outputs": place.size,
    }
    _same(sizes, right)
    demand(token[:, place.size**2 :] == 0, "a letter has more than a matrix")
    begun = token[-1, : place.size**2].reshape(place.size, place.size)
    demand(begun == begun[:, :1], "columns of BOS are not the same")
    t = np.arange(place.length + 1)
    position = np.zeros((len(t), place.width))
    position[:, place.one] = 1
    for level in range(-1, place.levels):
        at = np.maximum(t - (2**level if level >= 0 else 0), 0)
        digits = (at[:, None] >> np.arange(place.digits)) & 1
        position[:, place.position(level)] = digits
    demand(position == tensors["embed.position"], "positions are other ones")
    said_of = np.zeros((place.width, place.size))
    said_of[place.vector(place.stages)] = np.eye(place.size)
    demand(said_of == tensors["unembed.weight"], "the read-out is another one")
    demand(tensors["unembed.bias"] == 0, "the read-out has a bias")


def _looking(place: Place, count: int, level: int, shut: float) -> Heads:
    """Queries and keys by which heads see one position."""
    query = np.zeros((count, place.width, 1 + 2 * place.digits))
    key = np.zeros_like(query)
    key[:, place.one, 0] = 1
    for digit, (wanted, own) in enumerate(
        zip(place.position(level), place.position(-1), strict=True)
    ):
        zero, one = 1 + digit, 1 + place.digits + digit
        query[:, place.one, zero], query[:, wanted, zero] = -shut, shut
        query[:, wanted, one] = -shut
        key[:, own, zero] = 1
        key[:, place.one, one], key[:, own, one] = 1, -1
    return {"query": query, "key": key}


def _doubling(place: Place, step: Product, which: int, begun: FloatArray) -> Heads:
    """Head n·i + k has the score X_ik and takes row k; others subtract a row."""
    n, now, then = place.size, place.matrix(which), place.matrix(1 - which)
    found = _looking(place, n * n, step.level, step.shut)
    value = np.zeros((n * n, place.width, 1 if step.last else n))
    out = np.zeros((n * n, value.shape[2], place.width))
    for head, (i, k) in enumerate(np.ndindex(n, n)):
        found["query"][head, now[head], 0] = 1
        row = now[n * k : n * k + n]
        if step.last:
            value[head, row, 0] = begun[: n * n : n]
            out[head, 0, place.vector(0)[i]] = 1
        else:
            value[head, row] = np.eye(n)
            out[head][:, then[n * i : n * i + n]] = np.eye(n)
    found |= {"value": value, "out": out}
    if step.last:
        return found
    rows = [now[n * i : n * i + n] for i in range(n)]
    return _all(found, *(_taking(place, place.one, r, r, -1, step.shut) for r in rows))


def _taking(
    place: Place, score: int, source: range, result: range, sign: int, shut: float
) -> Heads:
    """A head whose score is a number of its own position, and which takes others there."""
    found, same = _looking(place, 1, -1, shut), np.eye(len(source))
    found["query"][0, score, 0] = 1
    value = np.zeros((1, place.width, len(source)))
    out = np.zeros((1, len(source), place.width))
    value[0, source], out[0][:, result] = same, sign * same
    return found | {"value": value, "out": out}


def _all(*heads: Heads) -> Heads:
    return {name: np.concatenate([each[name] for each in heads]) for name in MATRICES}


def _scaled(place: Place, step: Scaling, factor: int, which: int) -> list[Heads]:
    """Head k has the score points_k − v at its own position; then one has c(v).

    Matrices have one head more, which subtracts.
    """
    source, result = place.vector(step.vector), place.vector(step.vector + 1)
    if step.vector < 0:
        source, result = place.matrix(which), place.matrix(1 - which)
    count, said = len(step.points), place.factor(factor)
    found = _looking(place, count, -1, step.shut)
    found["query"][:, place.one, 0] = step.points
    found["query"][:, source, 0] = -1
    value = np.zeros((count, place.width, 1))
    out = np.zeros((count, 1, place.width))
    value[:, place.one, 0], out[:, 0, said] = step.into, step.out
    found |= {"value": value, "out": out}
    taken = _taking(place, said, source, result, 1, step.shut_out)
    if step.vector >= 0:
        return [found, taken]
    less = _taking(place, place.one, source, source, -1, step.shut_out)
    return [found, _all(taken, less)]
