"""The forward pass of a Transformer, as a program over the operations of an engine.

It is about *points*: tokens at positions, new ones after those that are remembered. A
whole word is all its positions at once, and nothing is remembered; a letter is one more
position; the branches of a tree are points of which each sees those on its way.
"""

from collections.abc import Sequence
from typing import Any

from krohn.network.meaning.attention import (
    FIRST,
    WRITE,
    Places,
    Points,
    View,
    definition,
    places_of,
)
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.net import Affine, Block, Net
from krohn.program.attention import visible

# Sublayers.


def look(o: Engine, view: View, x: Any, memory: Any = None) -> tuple[Any, Any]:
    """The sum that heads add to the stream, and what is remembered of all points.

    Args:
        o: The engine.
        view: The heads, and what they see.
        x: ``(batch, n, d)``: the stream at new points.
        memory: What is remembered of the points before; None if there are none.
    """
    heads, at = view.heads, view.places
    q, k, v = o.project(heads, x)
    if o.looks:
        q, k, v = o.at(at.query, q), o.at(at.key, k), o.at(at.value, v)
    k, v, kept = o.remember(heads, memory, k, v)
    taken = o.attend(heads, q, k, v, view)
    if o.looks:
        taken = o.at(at.taken, taken)
    return o.contract(WRITE, taken, heads.out), kept


def mlp(o: Engine, block: Block[Any], x: Any, at: Places = FIRST) -> Any:
    """``mask · x + f(x)``, the stream after an MLP."""
    kept = x if block.mask is None else o.scale_by(x, block.mask)
    if not block.layers:
        return kept
    return o.add(kept, feed(o, block.layers, x, at))


def feed(o: Engine, layers: Sequence[Affine[Any]], x: Any, at: Places = FIRST) -> Any:
    """Affine maps one after the other, each with the functions of its units."""
    for j, layer in enumerate(layers):
        x = o.affine(x, layer)
        if layer.runs:
            x = apply_activations(o, layer.runs, x)
            if o.looks:
                x = o.at(at.hidden_place(j), x)
    return x


def apply_activations(o: Engine, runs: Sequence[tuple[str, int]], h: Any) -> Any:
    """Units after their functions."""
    if len(runs) == 1:
        return o.unit(runs[0][0])(h)
    parts = o.split(h, [count for _, count in runs])
    changed = [o.unit(name)(x) for (name, _), x in zip(runs, parts, strict=True)]
    return o.join(changed)


# The whole network.


def through(
    net: Net[Any], o: Engine, points: Points, memory: Sequence[Any] = ()
) -> tuple[Any, list[Any]]:
    """The stream ``(batch, n, d)`` after all blocks, and for each what is remembered.

    Places are named as `places` lists them.
    """
    x = o.at("stream.0", o.embed(net, points))
    kept: list[Any] = []
    for b, block in enumerate(net.blocks):
        at, block_memory = places_of(b), None
        if block.heads is not None:
            view = View(o, block.heads, points, at)
            added, block_memory = look(o, view, x, memory[b] if memory else None)
            x = o.add(x, added)
        kept.append(block_memory)
        if o.looks:
            x = o.at(at.after_heads, x)
        x = mlp(o, block, x, at)
        if o.looks:
            x = o.at(at.after_mlp, x)
    return x, kept


def read_out(net: Net[Any], o: Engine, x: Any) -> Any:
    """The logits ``(…, classes)`` of a stream ``(…, d)``."""
    return o.at("logits", o.affine(x, net.out))


def places(net: Net[Any]) -> list[str]:
    """The places of `Engine.at`, in the order in which a forward pass reaches them."""
    names = ["stream.0"]
    for b, block in enumerate(net.blocks):
        at = places_of(b)
        if block.heads is not None:
            names += [at.query, at.key, at.value, at.pattern, at.taken]
        hidden = range(max(0, len(block.layers) - 1))
        names += [at.after_heads, *map(at.hidden_place, hidden), at.after_mlp]
    return [*names, "logits"]


def check(net: Net[Any], o: Engine) -> None:
    """Refuse a network that an engine does not run.

    Raises:
        Refused: Which names what of it nobody has told the engine.
    """
    for block in net.blocks:
        if block.heads is not None:
            kind, sights = block.heads.kind, block.heads.sights
            definition(kind, o.who)
            visible(kind, sights, 1, 1, any, o.who)
        for layer in block.layers:
            for name, _ in layer.runs:
                o.unit(name)
