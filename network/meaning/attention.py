"""What heads see from points, and how they weigh it: the definition of each kind.

**Hidden means absent.** What a head does not see from a point has no part in what it
takes there, be it infinite or no number at all.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from krohn.network.meaning.net import Heads
from krohn.program.attention import (
    Attention,
    HeadKind,
    Linear,
    Rectified,
    Sight,
    Softmax,
    Sparse,
    visible,
)
from krohn.program.errors import Refused

if TYPE_CHECKING:
    from krohn.network.meaning.engine import Engine

PROJECT = "btd,hdk->bhtk"
"""Queries, keys and values of the stream."""
SCORES = "bhik,bhjk->bhij"
"""Inner products of queries and keys."""
WRITE = "bhtv,hvd->btd"
"""What heads took, added to the stream."""


class Places(NamedTuple):
    """What the places of a block are called, for `Engine.at`."""

    query: str
    key: str
    value: str
    pattern: str
    taken: str
    after_heads: str
    after_mlp: str
    layers: str

    def hidden_place(self, layer: int) -> str:
        """The units of a hidden layer, after their functions."""
        return f"{self.layers}.{layer}"


def _name_places(block: int) -> Places:
    at = f"blocks.{block}.attention"
    heads = (f"{at}.{name}" for name in ("query", "key", "value", "pattern", "taken"))
    streams = (f"stream.{2 * block + i}" for i in (1, 2))
    return Places._make((*heads, *streams, f"blocks.{block}.mlp.hidden"))


# To name a place takes as long as a small operation there.
_FIRST = tuple(map(_name_places, range(128)))
FIRST = _FIRST[0]


def places_of(block: int) -> Places:
    """The places of a block by its number."""
    return _FIRST[block] if block < len(_FIRST) else _name_places(block)


@dataclass(slots=True)
class Points:
    """New points, in a batch of words, after those that are remembered.

    Attributes:
        tokens: ``(batch, n)``.
        index: ``(n,)``: their positions, or a slice of positions.
        places: Their positions ``(n, 1)``, and those of all points ``(m + n,)``, the
            remembered ones first; called where somebody needs to know.
        remembered: Whether there are remembered ones.
        single: Whether there is one new point.
        path: ``(n, m + n)``: which points are on the way to each, called where somebody
            needs to know; None where all are.
        masks: What heads see from them, as far as somebody asked.
    """

    tokens: Any
    index: Any
    places: Callable[[], tuple[Any, Any]]
    remembered: bool = False
    single: bool = False
    path: Callable[[], Any] | None = None
    masks: dict[Any, Any] = field(default_factory=dict)

    def visibility(
        self, o: "Engine", kind: Attention, sights: tuple[Sight, ...]
    ) -> Any:
        """``([heads,] n, m + n)``: whether a head sees a point from a new one.

        Args:
            o: The engine that says so.
            kind: How the heads weigh positions.
            sights: The positions that each sees.
        """
        if (known := self.masks.get((kind, sights))) is not None:
            return known
        i, j = self.places()
        seen = visible(kind, sights, i, j, partial(o.flags, like=i), o.who)
        if self.path is not None:
            seen = seen & self.path()
        return self.masks.setdefault((kind, sights), seen)


@dataclass(slots=True)
class View:
    """What heads see from new points.

    Attributes:
        engine: Whose operations say so.
        heads: The heads.
        points: The points.
        places: What the places of their block are called.
    """

    engine: "Engine"
    heads: Heads[Any]
    points: Points
    places: Places = FIRST

    @property
    def visibility(self) -> Any:
        """``([heads,] n, m + n)``: whether a head sees a point from a new one."""
        return self.points.visibility(self.engine, self.heads.kind, self.heads.sights)

    def sees(self, i: Any, j: Any) -> Any:
        """Whether heads see some positions from others, whatever the way to them."""
        o, heads = self.engine, self.heads
        flags = partial(o.flags, like=i)
        return visible(heads.kind, heads.sights, i, j, flags, o.who)

    @property
    def past(self) -> bool:
        """Whether all heads see all that is on the way to a point, itself included."""
        plain = type(self.heads.kind).sees is HeadKind.sees
        sights = self.heads.sights
        return plain and sights.count(Sight.CAUSAL) == len(sights)

    @property
    def backward(self) -> bool:
        """Whether all heads see all that there is up to each point, itself included."""
        return self.points.path is None and self.past

    @property
    def everything(self) -> bool:
        """Whether all heads see all points that there are."""
        return self.points.single and self.backward


# What heads of each kind make of queries and keys.

Weights = tuple[Any, Any]
"""Weights ``(batch, heads, n, m + n)``, and what divides their sum, or None."""
Weigh = Callable[["Engine", Heads[Any], Any, Any, View], Weights]


def scores(o: "Engine", heads: Heads[Any], q: Any, k: Any) -> Any:
    """``(batch, heads, n, m + n)``: inner products, divided as the heads say."""
    products = o.contract(SCORES, q, k)
    return products if heads.divisor == 1 else o.scale_by(products, 1 / heads.divisor)


def _softmax(o: "Engine", heads: Heads[Any], q: Any, k: Any, view: View) -> Weights:
    return o.softmax(scores(o, heads, q, k), view.visibility), None


def _linear(o: "Engine", heads: Heads[Any], q: Any, k: Any, view: View) -> Weights:
    weights = o.keep_seen(scores(o, heads, o.phi(q), o.phi(k)), view.visibility)
    return weights, o.total(weights)


def _rectify_scores(
    o: "Engine", heads: Heads[Any], q: Any, k: Any, view: View
) -> Weights:
    return o.keep_seen(o.relu(scores(o, heads, q, k)), view.visibility), None


WEIGH: dict[type[Any], Weigh] = {
    Softmax: _softmax,
    Sparse: _softmax,
    Linear: _linear,
    Rectified: _rectify_scores,
}
"""The weights of each kind of attention; another one needs an entry, and no more."""


def weigh(o: "Engine", heads: Heads[Any], q: Any, k: Any, view: View) -> Weights:
    """The weights of heads on the points that they see."""
    return definition(heads.kind, o.who)(o, heads, q, k, view)


def definition(kind: Attention, who: str) -> Weigh:
    """How heads of a kind weigh.

    Raises:
        Refused: If nobody has said so, in the name of who asks.
    """
    if type(kind) not in WEIGH:
        raise Refused(f"{who} is not about {kind.kind!r}")
    return WEIGH[type(kind)]


def attend(o: "Engine", heads: Heads[Any], q: Any, k: Any, v: Any, view: View) -> Any:
    """``(batch, heads, n, v)``: what heads take; the definition, which engines override."""
    weights, total = weigh(o, heads, q, k, view)
    taken = o.combine(weights, v, view.visibility)
    return taken if total is None else taken / total


def pattern(o: "Engine", heads: Heads[Any], q: Any, k: Any, view: View) -> Any:
    """``(batch, heads, n, m + n)``: how much of each point heads take."""
    weights, total = weigh(o, heads, q, k, view)
    return weights if total is None else weights / total
