"""Learning in context: a Transformer says what T_0 steps of gradient descent say.

The theorem is W12 of docs/proofs/in_context.md. The tensors are built anew, up
to a few numbers that are read from the file: points of positions and how they are turned,
the limit R and the step. `krohn.kinds.in_context.check_descent` has the errors.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import repeat
from operator import eq
from typing import Any, NamedTuple

import numpy as np

from krohn.kinds.in_context.check_descent import Descent
from krohn.kinds.in_context.statement import StatedInContext
from krohn.kinds.in_context.statement_inputs import WholePrompts
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.attention import Rectified
from krohn.program.domains import FloatArray
from krohn.program.errors import demand
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.softmax import leak, product

ATTENTION = ("query", "key", "value", "out")
Tensors = dict[str, FloatArray]


def check_architecture(said: Transformer, given: StatedInContext) -> None:
    """Refuse a shape that is not the one of prompts of this form.

    Blocks are compared one by one: what a header claims may be far larger than its file.
    """
    reason = "the architecture is another one than prompts of this form need"
    sizes = Place.of(given).width, given.count + 2, given.length + 1, given.targets
    demand(said == Transformer(*sizes, said.blocks, strict=True), reason)
    demand(len(said.blocks) == given.copies + given.steps + 1, reason)
    demand(all(map(eq, said.blocks, _blocks(given))), reason)


def _blocks(given: StatedInContext) -> Iterator[Block]:
    for b in range(given.copies):
        ends = b == given.copies - 1 and given.ahead > 1
        mlp, back = (given.targets,) if ends else (), b < given.window - 1
        yield Block(1, 2, given.count + 1, mlp, causal=(back,))
    heads, m = 2 * given.targets, given.features
    ahead = (False,) * heads
    step = Block(heads, m + 2, m, (), causal=ahead, attention=Rectified())
    yield from repeat(step, given.steps)
    yield replace(step, d_qk=m + 1, d_v=1)


class Place(NamedTuple):
    """Where the stream holds what: first dimensions.

    Attributes:
        letter: How many dimensions a letter has.
        position: Two coordinates; then 1, the flag of the last position, that of the test.
        past: Letters before, the nearest first; those after follow, likewise.
        target: Tuples.
        weights: W.
        out: The answer.
        width: All dimensions.
    """

    letter: int
    position: int
    past: int
    future: int
    target: int
    weights: int
    out: int
    width: int

    @classmethod
    def of(cls, given: StatedInContext) -> "Place":
        """The layout."""
        letter = given.count + 1
        past = letter + 5
        future = past + (given.window - 1) * letter
        free = future + given.ahead * letter
        alone = given.ahead == 1
        weights = free + (0 if alone else given.targets)
        out = weights + given.targets * given.features
        target = future if alone else free
        return cls(
            letter, letter, past, future, target, weights, out, out + given.targets
        )

    def block(self, number: int) -> range:
        """The letter that the head of a block copies there; −1: that of the position."""
        first = 0 if number < 0 else self.past + number * self.letter
        return range(first, first + self.letter)

    def windows(self, given: StatedInContext) -> list[int]:
        """The dimensions of z."""
        blocks = [self.block(b) for b in range(-1, given.window - 1)]
        return [d for block in blocks for d in block[:-1]]

    def delimiters(self, given: StatedInContext) -> list[int]:
        """The dimensions that say of each letter of a window and target if it is none."""
        return [self.block(b)[-1] for b in range(-1, given.copies)]

    def row(self, given: StatedInContext, target: int) -> range:
        """One row of W."""
        first = self.weights + target * given.features
        return range(first, first + given.features)


def free(model: Model, given: StatedInContext, place: Place) -> tuple[float, float]:
    """R and the step, from one entry each.

    Raises:
        Refused: If they are of no use.
    """
    at = f"blocks.{given.copies}.attention"
    test = place.position + 4
    limit = -float(model.tensors[f"{at}.key"][0, test, given.features + 1])
    step = -float(model.tensors[f"{at}.out"][0, 0, place.weights])
    demand(1 <= limit <= 2.0**20, "positions are not shut out")
    demand(0 < step <= 1, "a step goes nowhere")
    return limit, step


def right(
    model: Model, given: StatedInContext, place: Place, limit: float, step: float
) -> Tensors:
    """All tensors as they must be, with the points of positions that the file has."""
    tensors = _ends(model, given, place)
    for b in range(given.copies):
        first = b == given.window - 1  # the first that looks ahead reads the letter
        of = place.block(-1 if first else b - 1)
        tensors |= _copying(model, place, b, of)
    if given.ahead > 1:
        tensors |= _joint(given, place)
    once = _descending(given, place, limit, step)
    for b in range(given.copies, given.copies + given.steps):
        tensors |= _name_tensors(b, once)
    return tensors | _name_tensors(
        given.copies + given.steps, _answering(given, place, limit)
    )


def _name_tensors(block: int, matrices: tuple[FloatArray, ...]) -> Tensors:
    both = zip(ATTENTION, matrices, strict=True)
    return {f"blocks.{block}.attention.{name}": matrix for name, matrix in both}


def _ends(model: Model, given: StatedInContext, place: Place) -> Tensors:
    """Embeddings and read-out: BOS is a delimiter."""
    token = np.eye(place.width)[[*range(place.letter), place.letter - 1]]
    at = range(place.position, place.position + 2)
    position = np.zeros((given.length + 1, place.width))
    position[:, at] = model.tensors["embed.position"][:, at]
    position[:, place.position + 2] = position[-1, place.position + 3] = 1
    position[1 + given.examples :, place.position + 4] = 1
    return {
        "embed.token": token,
        "embed.position": position,
        "unembed.weight": np.eye(place.width)[:, place.out :],
        "unembed.bias": np.zeros(given.targets),
    }


def _copying(model: Model, place: Place, block: int, of: range) -> Tensors:
    one, at = np.eye(place.width), range(place.position, place.position + 2)
    query, key = (np.zeros((1, place.width, 2)) for _ in range(2))
    query[0, at] = model.tensors[f"blocks.{block}.attention.query"][0, at]
    key[0, at] = np.eye(2)
    into = one[place.block(block)]
    return _name_tensors(block, (query, key, one[None][:, :, of], into[None]))


def _joint(given: StatedInContext, place: Place) -> Tensors:
    """A unit for each tuple, the last letter fastest."""
    weight = np.zeros((place.width, given.targets))
    for k in range(given.ahead):
        first = place.block(given.window - 1 + k)[0]
        for target in range(given.targets):
            faster = given.count ** (given.ahead - 1 - k)
            weight[first + target // faster % given.count, target] = 1
    at = f"blocks.{given.copies - 1}.mlp"
    last = place.target + given.targets
    return {
        f"{at}.0.weight": weight,
        f"{at}.0.bias": np.full(given.targets, float(1 - given.ahead)),
        f"{at}.1.weight": np.eye(place.width)[place.target : last],
        f"{at}.1.bias": np.zeros(place.width),
    }


def _descending(
    given: StatedInContext, place: Place, limit: float, step: float
) -> tuple[FloatArray, ...]:
    m, heads, one = given.features, 2 * given.targets, np.eye(place.width)
    query, key = (np.zeros((heads, place.width, m + 2)) for _ in range(2))
    value, out = np.zeros((heads, place.width, m)), np.zeros((heads, m, place.width))
    key[:, :, :m] = value[:] = one[:, place.windows(given)]
    query[:, place.position + 2, m:] = 1
    key[:, place.delimiters(given), m + 1] = -limit
    key[:, place.position + 4, m + 1] = -limit
    for head in range(heads):
        target, sign = head // 2, 1 - 2 * (head % 2)
        query[head, :, :m] += sign * one[:, place.row(given, target)]
        key[head, place.target + target, m] = -sign
        out[head] = -sign * step * one[place.row(given, target)]
    return query, key, value, out


def _answering(
    given: StatedInContext, place: Place, limit: float
) -> tuple[FloatArray, ...]:
    m, heads, one = given.features, 2 * given.targets, np.eye(place.width)
    query, key = (np.zeros((heads, place.width, m + 1)) for _ in range(2))
    value, out = np.zeros((heads, place.width, 1)), np.zeros((heads, 1, place.width))
    key[:, :, :m] = one[:, place.windows(given)]
    key[:, place.position + 2, m], key[:, place.position + 3, m] = -limit, limit
    query[:, place.position + 2, m] = value[:, place.position + 2, 0] = 1
    for head in range(heads):
        target, sign = head // 2, 1 - 2 * (head % 2)
        query[head, :, :m] += sign * one[:, place.row(given, target)]
        out[head, 0, place.out + target] = sign
    return query, key, value, out


ROWS = 256


def check_claim(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that can be shown, for all prompts of the form.

    Raises:
        Refused: If the network is another one.
    """
    shape = model.network(Transformer)
    given, form = StatedInContext.from_wire(model.source), model.format
    demand(not form.narrow, f"{form.name} is too narrow for real numbers")
    demand(model.length == given.length, "it claims another length")
    check_architecture(shape, given)
    place = Place.of(given)
    limit, step = free(model, given, place)
    for name, tensor in right(model, given, place, limit, step).items():
        demand(np.array_equal(model.tensors[name], tensor), f"{name!r} is another one")
    astray = max(_leak(model, place, *alike) for alike in _looking(model, given))
    errors = Descent(given, form, astray, limit, step).errors()
    facts: dict[str, Any] = {"argument": "gradient descent", "leak": {"copies": astray}}
    facts["noise"] = {"copies": errors.feature, "weights": errors.weights}
    sizes = (
        given.demonstrations,
        given.window + given.ahead,
        given.window,
        given.history,
    )
    return Established(form, WholePrompts(*sizes), facts, errors.answer)


def _looking(model: Model, given: StatedInContext) -> Iterable[tuple[int, bool]]:
    """A block for each way in which copying heads look; and whether they look back."""
    ways: dict[tuple[bytes, bool], tuple[int, bool]] = {}
    for b in range(given.copies):
        query, back = model.tensors[f"blocks.{b}.attention.query"], b < given.window - 1
        ways[query.tobytes(), back] = b, back
    return ways.values()


def _leak(model: Model, place: Place, block: int, back: bool) -> float:
    """The weight on wrong positions, in units of the right one, as in Theorem 12.

    Raises:
        Refused: If the head may read wrong positions.
    """
    form, at = model.format, range(place.position, place.position + 2)
    points = model.tensors["embed.position"][:, at]
    query = model.tensors[f"blocks.{block}.attention.query"][0, at]
    asked = product(points, query, form, "a query")
    count, worst = len(points), 0.0
    j = np.arange(count)
    # Scores are held against all at once, some rows at a time.
    for t in np.array_split(j[1:], count // ROWS + 1):
        scores = product(asked[t], points.T, form, "a score")
        right = np.clip(t - 1 if back else t + 1, 0, count - 1)[:, None]
        copied = scores.each(partial(np.take_along_axis, indices=right, axis=1))
        seen = j <= (t[:, None] if back else count)
        leaks = leak(scores, copied, seen & (j != right), count, form)
        worst = float(np.maximum(worst, leaks))
    demand(worst < 0.125, f"the head of block {block} may read wrong positions")
    return worst
