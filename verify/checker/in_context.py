"""Learning in context: a Transformer says what T_0 steps of gradient descent say.

The theorem is W12 of docs/within.md. `krohn.verify.checker.context_tensors` has the
tensors as they must be, up to a few numbers that are read from the file: points of
positions and how they are turned, the limit R and the step.
`krohn.verify.checker.descent` has the errors.
"""

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import product as tuples_of
from typing import Any

import numpy as np

from krohn.program.architecture import held
from krohn.program.architectures.transformer import Transformer
from krohn.program.errors import demand
from krohn.verify.checker.context_tensors import Place, check_architecture, free, right
from krohn.verify.checker.descent import Descent, Given, sizes_of
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model, names
from krohn.verify.checker.softmax import leak, product

MOST_POSITIONS, ROWS = 4097, 256


def source_of(said: Mapping[str, Any]) -> Given:
    """Which prompts a header speaks of, and how many steps.

    Raises:
        Refused: If it is not said, or classes are no tuples of letters in their order.
    """
    letters, classes = names(said, "letters"), names(said, "classes")
    given = sizes_of(len(letters) - 1, said)
    demand(given.length < MOST_POSITIONS, "its prompts are too long to be checked")
    demand(len(classes) == given.targets, "there are not as many classes as tuples")
    tuples = tuples_of(letters[:-1], repeat=given.ahead)
    same = all(a == " ".join(b) for a, b in zip(classes, tuples, strict=True))
    demand(same, "a class is not the tuple of its number")
    return given


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that can be shown, for all prompts of the form.

    Raises:
        Refused: If the network is another one.
    """
    held(Transformer, model.header, model.tensors)
    given, form = source_of(model.header["source"]), model.format
    demand(not form.narrow, f"{form.name} is too narrow for real numbers")
    demand(model.length == given.length, "it claims another length")
    check_architecture(model.header["architecture"], given, form)
    place = Place.of(given)
    limit, step = free(model, given, place)
    for name, tensor in right(model, given, place, limit, step).items():
        demand(np.array_equal(model.tensors[name], tensor), f"{name!r} is another one")
    astray = max(_leak(model, place, *alike) for alike in _looking(model, given))
    errors = Descent(given, form, astray, limit, step).errors()
    told: dict[str, Any] = {"argument": "gradient descent", "leak": {"copies": astray}}
    told["noise"] = {"copies": errors.feature, "weights": errors.weights}
    covers = f"all prompts of up to {given.demonstrations} demonstrations"
    return Established(form, given.length, covers, told, errors.answer)


def _looking(model: Model, given: Given) -> Iterable[tuple[int, bool]]:
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
    count, found = len(points), 0.0
    j = np.arange(count)
    # Scores are held against all at once, some rows at a time.
    for t in np.array_split(j[1:], count // ROWS + 1):
        scores = product(asked[t], points.T, form, "a score")
        right = np.clip(t - 1 if back else t + 1, 0, count - 1)[:, None]
        copied = scores.each(partial(np.take_along_axis, indices=right, axis=1))
        seen = j <= (t[:, None] if back else count)
        leaks = leak(scores, copied, seen & (j != right), count, form)
        found = float(np.maximum(found, leaks))
    demand(found < 0.125, f"the head of block {block} may read wrong positions")
    return found
