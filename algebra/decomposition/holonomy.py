"""Holonomy: a machine by the sets in which its state can still lie.

Coordinates describe a state by a chain of images, each a largest one (a *tile*) inside
the one before: all states, a tile of them, a tile of that, down to a single state. A
letter takes the chain P to P·s, but coordinates must describe a chain P' of such sets
again. The invariant is P·s ⊆ P', level by level:

* if P·s = P', the letter permutes tiles: a group element of the class of P;
* if P·s is smaller, it lies inside one tile of P', whatever the rest: a reset.

So every component permutes or resets, its group being the holonomy group of an image
class, which divides the monoid of the machine. Levels are the heights of classes in the
subduction order; they can be more than there are states (erratum E22).

Sources: thesis, Theorem 15 (stated without proof); spec 6.4. Unlike there, classes of one
height share a coordinate where this makes no group larger, because the coordinates above
tell which class a value speaks of; and the monoid is never enumerated. Coordinates of one
height do not read each other, so that there are as many levels as heights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from krohn.algebra.automaton import IntArray, Semiautomaton
from krohn.algebra.budget import Budget
from krohn.algebra.cascade import (
    INVALID,
    Cascade,
    Component,
    Projection,
    Wiring,
    component_of,
)
from krohn.algebra.decomposition.diagrams import letters_of, next_layer, number_names
from krohn.algebra.rows import distinct
from krohn.algebra.skeleton import ImageClass, Skeleton, set_keys, skeleton

PIECE = 2**24  # entries of large tables that are made at a time
PASSES = 30  # over each pair of tiles of a node, and array operations of a level


@dataclass(frozen=True, eq=False)
class _Slot:
    """A coordinate: how high the classes are that it serves, and how many values."""

    height: int
    size: int


@dataclass(frozen=True, eq=False)
class _Tiling:
    """Tiles of all images of a skeleton.

    Attributes:
        skeleton: The skeleton.
        tile: ``(images, most tiles)``: the tiles of each image, -1 beyond the last; the
            tiles of the members of a class correspond along its transports.
        slots: The coordinates, top one first.
        slot_of: ``(images,)``: the coordinate that serves an image; -1 for singletons.
    """

    skeleton: Skeleton
    tile: IntArray
    slots: tuple[_Slot, ...]
    slot_of: IntArray

    def lowest(self, slot: int) -> bool:
        """Whether a coordinate is the last one of its height."""
        last = slot + 1 == len(self.slots)
        return last or self.slots[slot + 1].height < self.slots[slot].height


def holonomy(machine: Semiautomaton, budget: Budget | None = None) -> Cascade:
    """The holonomy decomposition of any machine into permutation-reset components.

    Args:
        machine: Any semiautomaton.
        budget: How many images and nodes there may be, and how much work to do.

    Raises:
        BudgetExceeded: If the skeleton or the wiring is too large.
    """
    budget = budget or Budget()
    tiling = _tiling(skeleton(machine, budget))
    projection = _projection(tiling)
    components, wiring = _wiring(tiling, budget)
    return Cascade(
        machine.letters,
        machine.states,
        components,
        wiring,
        projection,
        _lift(tiling),
    )


def _tiling(found: Skeleton) -> _Tiling:
    large = [c for c in found.classes if c.height]
    most = max((len(c.tiles) for c in large), default=0)
    table = np.full((len(found.sets), most), INVALID, dtype=np.int64)
    for image_class in large:
        tiles = _carry_tiles(found, image_class)
        table[image_class.members, : tiles.shape[1]] = tiles
    slots, served = _slots(found, large)
    slot_of = np.full(len(found.classes), -1)
    # Classes without height come last.
    slot_of[: len(large)] = served
    return _Tiling(found, table, slots, slot_of[found.class_of])


def _carry_tiles(found: Skeleton, image_class: ImageClass) -> IntArray:
    """``(members, tiles)``: the tiles of the representative, carried to each member."""
    first = image_class.tiles
    if len(image_class.members) == 1:
        return first[None]
    inside = found.sets[first][:, image_class.points[0]]
    tile, position = np.nonzero(inside)
    shape = (len(first), found.sets.shape[1])
    piece = max(1, PIECE // (shape[0] * shape[1]))
    parts = []
    for start in range(0, len(image_class.points), piece):
        points = image_class.points[start : start + piece]
        sets = np.zeros((len(points), *shape), dtype=bool)
        sets[np.arange(len(points))[:, None], tile, points[:, position]] = True
        parts.append(found.index(sets))
    return np.concatenate(parts)


def _slots(
    found: Skeleton, large: Sequence[ImageClass]
) -> tuple[tuple[_Slot, ...], list[int]]:
    """One coordinate for all classes of a height whose groups are alike; which is whose."""
    alike: dict[tuple[int, bytes], list[int]] = {}
    for number, image_class in enumerate(large):
        key = (-image_class.height, _signature(found, image_class))
        alike.setdefault(key, []).append(number)
    slots, served = [], [0] * len(large)
    for at, ((negative, _), classes) in enumerate(sorted(alike.items())):
        slots.append(_Slot(-negative, max(len(large[c].tiles) for c in classes)))
        for c in classes:
            served[c] = at
    return tuple(slots), served


def _signature(found: Skeleton, image_class: ImageClass) -> bytes:
    """Equal for classes that may share a coordinate without larger groups."""
    rows = permutators_on_tiles(found, image_class)
    moving: IntArray = rows[(rows != np.arange(rows.shape[1])).any(axis=1)]
    if not len(moving):
        return b""
    return len(image_class.tiles).to_bytes(4, "big") + distinct(moving)[0].tobytes()


def permutators_on_tiles(found: Skeleton, image_class: ImageClass) -> IntArray:
    """``(k, tiles)``: how generators of an image's permutators act on its tiles.

    The image is the representative of the class.
    """
    tiles, generators = image_class.tiles, image_class.generators
    if not len(generators):
        return np.empty((0, len(tiles)), dtype=np.int64)
    inside = found.sets[tiles][:, image_class.points[0]]
    images = np.zeros((len(generators), *inside.shape), dtype=bool)
    tile, position = np.nonzero(inside)
    for image, generator in zip(images, generators, strict=True):
        image[tile, generator[position]] = True
    # A permutator takes tiles to tiles, so that each image equals exactly one of them.
    number = {key: i for i, key in enumerate(set_keys(inside))}
    rows = [number[key] for key in set_keys(images.reshape(-1, inside.shape[1]))]
    return np.array(rows, dtype=np.int64).reshape(-1, len(tiles))


def _projection(tiling: _Tiling) -> Projection:
    images, layers = np.array([0]), []
    for at in range(len(tiling.slots)):
        below, valid = _inside(tiling, at, images)
        nodes, follow = next_layer(below[..., None], valid)
        images = nodes[:, 0]
        layers.append(follow)
    if layers:
        states = tiling.skeleton.sets[images].argmax(axis=1)
        layers[-1] = np.where(layers[-1] == INVALID, INVALID, states[layers[-1]])
    return Projection(tuple(layers))


def _inside(
    tiling: _Tiling, at: int, images: IntArray
) -> tuple[IntArray, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The tile ``(nodes, values)`` that each value picks, and which values can occur."""
    active = tiling.slot_of[images] == at
    tiles = tiling.tile[images][:, : tiling.slots[at].size]
    below = np.where(active[:, None], tiles, images[:, None])
    return below, below != INVALID


def _wiring(tiling: _Tiling, budget: Budget) -> tuple[tuple[Component, ...], Wiring]:
    letters = len(tiling.skeleton.machine.letters)
    # Each node is (letter, image before, image after), the images twice: as they were
    # above all coordinates of this height, which alone is read, and as they are here.
    nodes = np.zeros((letters, 5), dtype=np.int64)
    nodes[:, 0] = np.arange(letters)
    components, emits, follows = [], [], []
    for at, slot in enumerate(tiling.slots):
        budget.spend(PASSES * len(nodes) * slot.size**2, PASSES)
        rows = _moves(tiling, at, nodes[:, :3])
        table, emit = letters_of(rows)
        before, valid = _inside(tiling, at, nodes[:, 3])
        after, _ = _inside(tiling, at, nodes[:, 4])
        below = np.empty((*before.shape, 5), dtype=np.int64)
        below[..., :3] = nodes[:, None, :3]
        below[..., 3] = before
        below[..., 4] = after[np.arange(len(nodes))[:, None], rows]
        if tiling.lowest(at):
            below[..., 1:3] = below[..., 3:]
        nodes, follow = next_layer(below, valid)
        budget.check(len(nodes), "nodes of the wiring")
        components.append(component_of(table, number_names(slot.size)))
        emits.append(emit)
        follows.append(follow)
    if follows:
        follows[-1] = np.where(follows[-1] == INVALID, INVALID, 0)
    entry = np.arange(letters) if follows else np.zeros(letters, dtype=np.int64)
    return tuple(components), Wiring(entry, tuple(emits), tuple(follows))


def _moves(tiling: _Tiling, at: int, nodes: IntArray) -> IntArray:
    """The coordinate's move at each node: ``(nodes, values)``."""
    piece = max(1, PIECE // tiling.slots[at].size ** 2)
    starts = range(0, len(nodes), piece)
    parts = [_some_moves(tiling, at, nodes[i : i + piece]) for i in starts]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def _some_moves(tiling: _Tiling, at: int, nodes: IntArray) -> IntArray:
    slot = tiling.slots[at]
    letter, before, after = nodes.T
    image = tiling.skeleton.step[letter, before]
    active = tiling.slot_of[after] == at
    turns, resets = active & (image == after), active & (image != after)
    rows = np.arange(slot.size)[None].repeat(len(nodes), axis=0)
    if turns.any():
        rows[turns] = _turn(tiling, slot, letter[turns], before[turns], after[turns])
    if resets.any():
        rows[resets] = _containing(tiling, slot, image[resets], after[resets])[:, None]
    return rows


def _turn(
    tiling: _Tiling, slot: _Slot, letter: IntArray, before: IntArray, after: IntArray
) -> IntArray:
    """The permutation of tiles when a letter takes one image exactly onto another."""
    tiles = tiling.tile[before][:, : slot.size]
    moved = tiling.skeleton.step[letter[:, None], tiles]
    target = tiling.tile[after][:, : slot.size]
    same = (moved[:, :, None] == target[:, None, :]) & (tiles != INVALID)[:, :, None]
    kept = np.arange(slot.size)
    return np.where(same.any(axis=2), same.argmax(axis=2), kept)


def _containing(
    tiling: _Tiling, slot: _Slot, image: IntArray, after: IntArray
) -> IntArray:
    """The first tile of the image after the letter that holds all that can come there."""
    bits = tiling.skeleton.bits
    tiles = tiling.tile[after][:, : slot.size]
    holds = ((bits[image][:, None] & ~bits[tiles]) == 0).all(axis=2)
    return np.asarray((holds & (tiles != INVALID)).argmax(axis=1))


def _lift(tiling: _Tiling) -> IntArray:
    """Coordinates of each state: always the first tile that it lies in."""
    states = np.arange(tiling.skeleton.sets.shape[1])
    images = np.zeros(len(states), dtype=np.int64)
    lift = np.zeros((len(states), len(tiling.slots)), dtype=np.int64)
    for i in range(len(tiling.slots)):
        below, valid = _inside(tiling, i, images)
        holds = tiling.skeleton.sets[below, states[:, None]] & valid
        lift[:, i] = holds.argmax(axis=1)
        images = below[states, lift[:, i]]
    return lift
