"""The operations of which a forward pass is made, and what all engines share.

An engine has these operations on tensors of its own: arrays, nodes of a graph, fractions,
terms of a solver, intervals. *Defined* operations are made of others, and an engine may
override them: by a fused kernel, or a larger product. Each override is an assumption, and
a test holds it against the definition.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from krohn.network.meaning.attention import PROJECT, Points, View, attend
from krohn.network.meaning.net import Affine, Heads, Net
from krohn.program.errors import Refused


def operation(function: Any) -> Any:
    """An operation that is a function of its arguments and of no engine."""
    return staticmethod(function)


class Engine:
    """Operations on tensors, which have ``+``, ``-``, ``*``, ``/`` and ``@`` besides.

    Axes are ``b`` words, ``t`` and ``i`` new points, ``j`` all points, ``h`` heads, ``d``
    the stream, ``k`` and ``v`` widths of heads. ``seen`` is ``([heads,] i, j)``.

    Attributes:
        who: Who runs a network, as a message begins.
        units: The operations that can be functions of hidden units, by name.
        looks: Whether `at` does anything; nobody is asked else, as that takes as long as a
            small operation.
    """

    who: str = "the runtime"
    units: ClassVar[Sequence[str]] = ("relu", "sine", "gelu")
    looks: ClassVar[bool] = False

    def __init_subclass__(cls) -> None:
        """Say whether it looks at places."""
        cls.looks = cls.at is not Engine.at

    # Operations.

    def gather(self, table: Any, index: Any) -> Any:
        """Rows of a table."""
        raise NotImplementedError

    def contract(self, axes: str, x: Any, y: Any) -> Any:
        """A sum of products: `PROJECT`, `SCORES` or `WRITE`."""
        raise NotImplementedError

    def combine(self, weights: Any, values: Any, seen: Any) -> Any:
        """``bhij,bhjv->bhiv``, over what is seen: the rest is absent."""
        raise NotImplementedError

    def keep_seen(self, x: Any, seen: Any) -> Any:
        """``x`` ``(b, h, i, j)`` where it is seen, and 0 elsewhere."""
        raise NotImplementedError

    def softmax(self, scores: Any, seen: Any) -> Any:
        """Weights ``(b, h, i, j)`` in proportion to e^score where it is seen, else 0."""
        raise NotImplementedError

    def total(self, x: Any) -> Any:
        """``(b, h, i, 1)``: the sum over j."""
        raise NotImplementedError

    def relu(self, x: Any) -> Any:
        """max(x, 0)."""
        raise NotImplementedError

    def sine(self, x: Any) -> Any:
        """Sin x."""
        raise NotImplementedError

    def gelu(self, x: Any) -> Any:
        """The product of x and the normal distribution at x."""
        raise NotImplementedError

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + e^−x)."""
        raise NotImplementedError

    def tanh(self, x: Any) -> Any:
        """The hyperbolic tangent."""
        raise NotImplementedError

    def phi(self, x: Any) -> Any:
        """elu(x) + 1: x + 1 above 0, e^x below."""
        raise NotImplementedError

    def split(self, x: Any, sizes: Sequence[int]) -> Sequence[Any]:
        """Parts of the last axis."""
        raise NotImplementedError

    def parts(self, x: Any, count: int) -> Sequence[Any]:
        """Equal parts of the last axis."""
        raise NotImplementedError

    def join(self, parts: Sequence[Any]) -> Any:
        """Parts of a last axis, put together."""
        raise NotImplementedError

    def append(self, before: Any, new: Any) -> Any:
        """Keys or values ``(b, h, m, k)``, and more of them."""
        raise NotImplementedError

    def flags(self, bits: Sequence[bool], like: Any) -> Any:
        """``(h, 1, 1)``: truth values, where such positions are."""
        raise NotImplementedError

    def stack(self, parts: Sequence[Any]) -> Any:
        """``(batch, n, …)`` of n times ``(batch, …)``."""
        raise NotImplementedError

    def one_hot(self, index: Any, count: int, like: Any) -> Any:
        """``(…, count)``: unit vectors of indices ``(…)``, in the format of ``like``."""
        raise NotImplementedError

    def roll(self, x: Any, by: int) -> Any:
        """The last axis turned: number n goes to place n + by."""
        raise NotImplementedError

    def spread(self, x: Any, like: Any) -> Any:
        """``x`` for each word of ``like``."""
        raise NotImplementedError

    def layer_norm(self, x: Any, constant: Any) -> Any:
        """Px / max(|Px|, C) for vectors x, where P subtracts the mean."""
        raise NotImplementedError

    # Defined operations.

    def embed(self, net: Net[Any], points: Points) -> Any:
        """``(b, t, d)``: the stream before all blocks."""
        token, position = net.token, net.position
        x = self.gather(token, points.tokens)
        return self.add(x, self.gather(position, points.index))

    def add(self, x: Any, y: Any) -> Any:
        """A sum that is stored in the stream."""
        return x + y

    def scale_by(self, x: Any, factor: Any) -> Any:
        """A multiple, by a number or dimension by dimension."""
        return x * factor

    def affine(self, x: Any, layer: Affine[Any]) -> Any:
        """The affine map of a layer."""
        return x @ layer.weight + layer.bias

    def unit(self, name: str) -> Callable[[Any], Any]:
        """The function of units of a name.

        Raises:
            Refused: If there is none here.
        """
        if name not in self.units:
            raise Refused(f"{self.who} is not about {name!r} units")
        function: Callable[[Any], Any] = getattr(self, name)
        return function

    def project(self, heads: Heads[Any], x: Any) -> Sequence[Any]:
        """Queries, keys and values ``(b, h, t, …)`` of a stream."""
        return [
            self.contract(PROJECT, x, m) for m in (heads.query, heads.key, heads.value)
        ]

    def remember(
        self, heads: Heads[Any], before: Any, key: Any, value: Any
    ) -> tuple[Any, Any, Any]:
        """Keys and values of all points, the remembered ones first, and the new memory."""
        del heads
        if before is not None:
            key, value = self.append(before[0], key), self.append(before[1], value)
        return key, value, (key, value)

    def attend(
        self, heads: Heads[Any], query: Any, key: Any, value: Any, view: View
    ) -> Any:
        """``(b, h, i, v)``: what heads take."""
        return attend(self, heads, query, key, value, view)

    def at(self, place: str, value: Any) -> Any:
        """What stands at a place of the pass; an engine may look at it or change it."""
        del place
        return value
