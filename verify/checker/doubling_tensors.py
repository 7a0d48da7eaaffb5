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
    """

    size: int
    length: int
    stages: int

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

    @property
    def width(self) -> int:
        """All dimensions."""
        return self.vector(self.stages + 1).start


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
    """A block that multiplies all numbers x of a place by c(v), v their sum.

    c(v) = Σ_k into_k·out_k·max(points_k − v, 0).

    Attributes:
        vector: The stage of a vector; −1 for matrices.
        points: ``(heads,)``.
        into: ``(heads,)``.
        out: ``(heads,)``.
        shut: What wrong positions lose.
    """

    vector: int
    points: FloatArray
    into: FloatArray
    out: FloatArray
    shut: float


Step = Product | Scaling


def steps(model: Model, size: int, length: int) -> tuple[Place, list[Step]]:
    """What the blocks of a file do, one after the other, if its tensors are as they must.

    Raises:
        Refused: If an entry of a tensor, or of the architecture, is another one.
    """
    demand(size > 1, "there is nothing to be multiplied")
    demand(length <= LONGEST, "words are too long to be checked")
    blocks = model.header["architecture"]["blocks"]
    wide = [block["d_v"] for block in blocks]
    demand(1 in wide, "no block says a vector")
    place = Place(size, length, len(wide) - 1 - wide.index(1))
    stated = model.header["architecture"]
    fits = stated["d_model"] == place.width and stated["positions"] == length + 1
    demand(fits, "the stream has another width, or there are other positions")
    found, level, which = list[Step](), 0, 0
    for at, block in enumerate(blocks):
        heads = {m: model.tensors[f"blocks.{at}.attention.{m}"] for m in MATRICES}
        shut = -float(heads["query"][0, place.one, 1])
        step: Step
        if level < place.levels and wide[at] != size**2:
            step = Product(level, level == place.levels - 1, shut)
            count = size**2 + (0 if step.last else size)
            demand(block["heads"] == count, "a product has another number of heads")
            right = _doubling(place, step, which, model.tensors["embed.token"][-1])
            level, which = level + 1, 1 - which
        else:
            ahead = level < place.levels
            stage = -1 if ahead else at - wide.index(1) - 1
            step = _scaling(place, heads, which, stage, shut)
            right = _scaled(place, step, which)
            which = 1 - which if ahead else which
        shape = {"heads": len(right["query"]), "mlp": [], "d_qk": 1 + 2 * place.digits}
        shape |= {"d_v": right["value"].shape[2], "attention": {"kind": "relu"}}
        _same(block, {**shape, "causal": [True] * len(right["query"])})
        for name, each in right.items():
            demand(np.array_equal(heads[name], each), f"block {at} has another {name}")
        found.append(step)
    _check_ends(model, place)
    return place, found


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
    less = _looking(place, n, -1, step.shut)
    less["query"][:, place.one, 0] = 1
    own = np.zeros((n, place.width, n))
    for i in range(n):
        own[i, now[n * i : n * i + n]] = np.eye(n)
    less |= {"value": own, "out": -own.transpose(0, 2, 1)}
    return _both(found, less)


def _both(one: Heads, other: Heads) -> Heads:
    return {name: np.concatenate([one[name], other[name]]) for name in MATRICES}


def _ends_of(place: Place, which: int, stage: int) -> tuple[range, range]:
    """Which numbers a block scales, and where they go."""
    if stage < 0:
        return place.matrix(which), place.matrix(1 - which)
    return place.vector(stage), place.vector(stage + 1)


def _scaling(
    place: Place, heads: Heads, which: int, stage: int, shut: float
) -> Scaling:
    """What a block chooses; matrices have one head more, which subtracts."""
    source, result = _ends_of(place, which, stage)
    count = len(heads["query"]) - (stage < 0)
    points = heads["query"][:count, place.one, 0]
    into = heads["value"][:count, source[0], 0]
    return Scaling(stage, points, into, heads["out"][:count, 0, result[0]], shut)


def _scaled(place: Place, step: Scaling, which: int) -> Heads:
    """Head k has the score points_k − v at its own position, and takes all numbers."""
    source, result = _ends_of(place, which, step.vector)
    count, same = len(step.points), np.eye(len(source))
    found = _looking(place, count, -1, step.shut)
    found["query"][:, place.one, 0] = step.points
    found["query"][:, source, 0] = -1
    value = np.zeros((count, place.width, len(source)))
    out = np.zeros((count, len(source), place.width))
    value[:, source] = step.into[:, None, None] * same
    out[:, :, result] = step.out[:, None, None] * same
    found |= {"value": value, "out": out}
    if step.vector >= 0:
        return found
    less = _looking(place, 1, -1, step.shut)
    less["query"][:, place.one, 0] = 1
    own = np.zeros((1, place.width, len(source)))
    own[0, source] = same
    return _both(found, less | {"value": own, "out": -own.transpose(0, 2, 1)})
