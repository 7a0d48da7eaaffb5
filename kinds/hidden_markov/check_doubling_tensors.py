"""The tensors of heads whose weights are factors, as they must be (Theorem W13).

What a file may choose is read from it: the matrices of letters, how much wrong positions
lose, and the points and factors by which sums are made to be near 1.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from krohn.kinds.hidden_markov.statement import StatedHiddenMarkov
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.attention import Rectified
from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Model

MATRICES = ("query", "key", "value", "out")
LONGEST = 2**12
OTHER = "the architecture is another one than these products have"
Heads = dict[str, FloatArray]


class Place(NamedTuple):
    """Where the stream holds what.

    Attributes:
        size: n.
        length: T.
        stages: How many vectors there are after the first.
        factors: How many numbers are said by which others are multiplied.
        rows: ``(n,)``: the row in which a state is held. States that may come after the
            same letter, or at the start, have different rows.
        possible: ``(letters + 1, n)``: which these are.
    """

    size: int
    length: int
    stages: int
    factors: int
    rows: IntArray
    possible: BoolArray

    @property
    def row_count(self) -> int:
        """How many rows are held."""
        return int(self.rows.max()) + 1

    @property
    def shares_rows(self) -> bool:
        """Whether states share rows; then it is said which of them is possible."""
        return self.row_count < self.size

    @property
    def reachable_states(self) -> IntArray:
        """The states that some letter leads to: the others have the probability 0."""
        return np.flatnonzero(self.possible[:-1].any(axis=0))

    @property
    def answers(self) -> bool:
        """Whether two of these share a row; then a block at the end parts them."""
        return len(np.unique(self.rows[self.reachable_states])) < len(
            self.reachable_states
        )

    @property
    def wide(self) -> int:
        """Of queries and keys."""
        return 1 + 2 * self.digits + self.shares_rows

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
        count = self.row_count * self.size
        return range(which * count, (which + 1) * count)

    def row(self, which: int, row: int) -> range:
        """A row of a matrix."""
        return self.matrix(which)[row * self.size : (row + 1) * self.size]

    @property
    def one(self) -> int:
        """The dimension that is 1 everywhere."""
        return 2 * self.row_count * self.size

    def position(self, level: int) -> range:
        """Digits of the position 2^level before, or of BOS; of the own one at −1."""
        first = self.one + 1 + (level + 1) * self.digits
        return range(first, first + self.digits)

    def vector(self, stage: int) -> range:
        """The vector after so many stages."""
        first = self.position(self.levels).start + stage * self.row_count
        return range(first, first + self.row_count)

    def factor(self, which: int) -> int:
        """A number by which others are multiplied."""
        return self.vector(self.stages + 1).start + which

    @property
    def states(self) -> range:
        """1 for states that are possible after a letter."""
        first = self.factor(self.factors)
        return range(first, first + self.size * self.shares_rows)

    @property
    def answer(self) -> range:
        """The belief; or rows, each of which one state has that a letter leads to."""
        last, first = self.vector(self.stages), self.states.stop
        return range(first, first + self.size) if self.answers else last

    @property
    def width(self) -> int:
        """All dimensions."""
        return max(self.states.stop, self.answer.stop)

    def whole(self, held: FloatArray) -> FloatArray:
        """``(letters + 1, n, …)``: rows of states, of those that are held.

        Raises:
            Refused: If a row of no possible state is not 0.
        """
        each = zip(held, self.possible, strict=True)
        for rows, possible in each:
            free = np.delete(rows, self.rows[possible], axis=0)
            demand(free == 0, "a row of no state is not 0")
        return np.asarray(held[:, self.rows] * self.possible[:, :, None])


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


def rows_of(possible: BoolArray) -> IntArray:
    """``(n,)``: for one state after the other the first row that none of the others has.

    Others are those that are possible with it, ``(letters + 1, n)``.
    """
    beside: BoolArray = np.asarray(
        (possible[:, :, None] & possible[:, None]).any(axis=0)
    )
    rows = np.full(len(beside), -1)
    for state, others in enumerate(beside):
        taken = rows[others]
        rows[state] = min(set(range(len(rows))) - set(taken.tolist()))
    return rows


def steps(
    model: Model, source: StatedHiddenMarkov, length: int
) -> tuple[Place, list[Step]]:
    """Steps of the blocks of a file, in order, if its tensors are as they must be.

    Raises:
        Refused: If an entry of a tensor, or of the architecture, is another one.
    """
    demand(len(source.start) > 1, "there is nothing to be multiplied")
    demand(length <= LONGEST, "words are too long to be checked")
    place = _place(model.network(Transformer), source, length)
    block_steps, level, which, at = list[Step](), 0, 0, 0
    bos = model.tensors["embed.token"][-1]
    begun = bos[: place.one // 2 : place.size][place.rows] * place.possible[-1]
    while at < place.levels + 2 * place.factors:
        ahead, count = level < place.levels, len(block_steps) - level
        heads, shut = _heads(model, at), _shut(model, place, at)
        step: Step
        if ahead and heads["query"][0, place.one, 0] == 0:
            step = Product(level, level == place.levels - 1, shut)
            whole = not step.last or count == place.factors - place.stages
            demand(whole, "vectors are not where they must be")
            right = [_doubling(place, step, which, begun)]
            level, which = level + 1, 1 - which
        else:
            demand(count < place.factors, "a product is missing")
            points, into = (heads[m][:, place.one, 0] for m in ("query", "value"))
            out = heads["out"][:, 0, place.factor(count)]
            stage = -1 if ahead else count + place.stages - place.factors
            shut_out = _shut(model, place, at + 1)
            step = Scaling(stage, points, into, out, shut, shut_out)
            right = _build_scaling(place, step, count, which)
            which = 1 - which if ahead else which
        for each in right:
            _check_block(model, place, at, each)
            at += 1
        block_steps.append(step)
    if place.answers:
        _check_block(model, place, at, _answering(place, _shut(model, place, at)))
    _check_ends(model, place)
    return place, block_steps


def _place(said: Transformer, source: StatedHiddenMarkov, length: int) -> Place:
    """Where what lies: each scaling is two blocks and a number, or also a vector.

    Raises:
        Refused: If blocks, width and positions do not go together.
    """
    moves = (source.operators > 0).any(axis=2)
    possible = np.concatenate([moves, (source.start > 0)[None]])
    none = Place(len(source.start), length, 0, 0, rows_of(possible), possible)
    count = len(said.blocks) - none.answers
    factors = (count - none.levels) // 2
    place = none._replace(factors=factors)
    place = place._replace(stages=(said.d_model - place.width) // place.row_count)
    fits = said.d_model == place.width and said.positions == length + 1
    demand(
        fits,
        "the stream has another width, or other positions; if Krohn 0.3 compiled it, "
        "compile it again",
    )
    there = 0 <= place.stages <= factors
    whole = count == place.levels + 2 * factors
    demand(there and whole, "there are other blocks")
    for block in said.blocks:
        some = min(block.heads, block.d_v) > 0
        demand(some and block.d_qk == place.wide, "heads are other ones")
    return place


def _heads(model: Model, at: int) -> Heads:
    return {m: model.tensors[f"blocks.{at}.attention.{m}"] for m in MATRICES}


def _shut(model: Model, place: Place, at: int) -> float:
    """The gap by which wrong positions score less in a block."""
    return -float(model.tensors[f"blocks.{at}.attention.query"][0, place.one, 1])


def _check_block(model: Model, place: Place, at: int, right: Heads) -> None:
    count, _, wide = right["value"].shape
    causal, relus = (True,) * count, Rectified()
    shape = Block(count, place.wide, wide, (), causal=causal, attention=relus)
    demand(model.network(Transformer).blocks[at] == shape, OTHER)
    for name, each in right.items():
        same = np.array_equal(model.tensors[f"blocks.{at}.attention.{name}"], each)
        demand(same, f"block {at} has another {name}")


def _check_ends(model: Model, place: Place) -> None:
    """Refuse other embeddings and read-outs, but for the matrices of letters and BOS."""
    tensors, architecture = model.tensors, model.network(Transformer)
    token, length = tensors["embed.token"], place.length + 1
    right = replace(
        architecture, d_model=place.width, vocabulary=len(token), positions=length
    )
    demand(architecture == replace(right, outputs=place.size, strict=True), OTHER)
    demand(len(token) == len(place.possible), "there are other letters")
    expected = np.zeros_like(token)
    expected[:, place.states] = place.possible[:, : len(place.states)]
    first = place.matrix(0)
    demand(token[:, first.stop :] == expected[:, first.stop :], "a letter has more")
    begun = token[-1, first].reshape(place.row_count, place.size)
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
    reached = place.reachable_states
    rows = reached if place.answers else place.rows[reached]
    said_of[np.array(place.answer)[rows], reached] = 1
    demand(said_of == tensors["unembed.weight"], "the read-out is another one")
    demand(tensors["unembed.bias"] == 0, "the read-out has a bias")


def _looking(place: Place, count: int, level: int, shut: float) -> Heads:
    """Queries and keys by which heads see one position."""
    query = np.zeros((count, place.width, place.wide))
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
    """Head n·i + k has the score X_ik and takes row k; others subtract a row.

    Where states share rows, it sees only letters after which the state k is possible.
    """
    n, height = place.size, place.row_count
    heads = _looking(place, height * n, step.level, step.shut)
    value = np.zeros((height * n, place.width, 1 if step.last else n))
    out = np.zeros((height * n, value.shape[2], place.width))
    for head, (i, k) in enumerate(np.ndindex(height, n)):
        heads["query"][head, place.matrix(which)[head], 0] = 1
        if place.shares_rows:
            heads["query"][head, place.one, -1] = -step.shut
            heads["key"][head, [place.one, place.states[k]], -1] = 1, -1
        row = place.row(which, int(place.rows[k]))
        if step.last:
            value[head, row, 0] = begun
            out[head, 0, place.vector(0)[i]] = 1
        else:
            value[head, row] = np.eye(n)
            out[head][:, place.row(1 - which, i)] = np.eye(n)
    heads |= {"value": value, "out": out}
    if step.last:
        return heads
    rows = [place.row(which, i) for i in range(height)]
    return _all(heads, *(_taking(place, place.one, r, r, -1, step.shut) for r in rows))


def _answering(place: Place, shut: float) -> Heads:
    """Each state that is possible takes what its row holds."""
    demand(shut >= 4, "wrong positions are not shut out")
    last = place.vector(place.stages)
    each = zip(place.states, place.rows, place.answer, strict=True)
    return _all(
        *(
            _taking(place, state, last[row : row + 1], range(to, to + 1), 1, shut)
            for state, row, to in each
        )
    )


def _taking(
    place: Place, score: int, source: range, result: range, sign: int, shut: float
) -> Heads:
    """A head whose score is a number of its own position, and which takes others there."""
    heads, same = _looking(place, 1, -1, shut), np.eye(len(source))
    heads["query"][0, score, 0] = 1
    value = np.zeros((1, place.width, len(source)))
    out = np.zeros((1, len(source), place.width))
    value[0, source], out[0][:, result] = same, sign * same
    return heads | {"value": value, "out": out}


def _all(*heads: Heads) -> Heads:
    return {name: np.concatenate([each[name] for each in heads]) for name in MATRICES}


def _build_scaling(place: Place, step: Scaling, factor: int, which: int) -> list[Heads]:
    """Head k has the score points_k − v at its own position; then one has c(v).

    Matrices have one head more, which subtracts.
    """
    source, result = place.vector(step.vector), place.vector(step.vector + 1)
    if step.vector < 0:
        source, result = place.matrix(which), place.matrix(1 - which)
    count, channel = len(step.points), place.factor(factor)
    heads = _looking(place, count, -1, step.shut)
    heads["query"][:, place.one, 0] = step.points
    heads["query"][:, source, 0] = -1
    value = np.zeros((count, place.width, 1))
    out = np.zeros((count, 1, place.width))
    value[:, place.one, 0], out[:, 0, channel] = step.into, step.out
    heads |= {"value": value, "out": out}
    taken = _taking(place, channel, source, result, 1, step.shut_out)
    if step.vector >= 0:
        return [heads, taken]
    less = _taking(place, place.one, source, source, -1, step.shut_out)
    return [heads, _all(taken, less)]
