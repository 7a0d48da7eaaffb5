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
from krohn.algebra.groups.permutation_group import PermutationGroup
from krohn.algebra.skeleton import ImageClass, Skeleton, set_keys, skeleton

PIECE = 2**24  # entries of large tables that are made at a time
PASSES = 30  # over each pair of tiles of a node, and array operations of a level


@dataclass(frozen=True, eq=False)
class _Slot:
    """A coordinate: which classes it serves, how high they are, and how many values."""

    classes: IntArray
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
    """

    skeleton: Skeleton
    tile: IntArray
    slots: tuple[_Slot, ...]

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
    tiles = [found.tiles(int(c.members[0])) for c in large]
    most = max((len(t) for t in tiles), default=0)
    table = np.full((len(found.sets), most), INVALID, dtype=np.int64)
    for image_class, first in zip(large, tiles, strict=True):
        table[image_class.members, : len(first)] = _carry_tiles(
            found, image_class, first
        )
    return _Tiling(found, table, tuple(_slots(found, large, table)))


def _carry_tiles(found: Skeleton, image_class: ImageClass, first: IntArray) -> IntArray:
    """``(members, tiles)``: the tiles of the representative, carried to each member."""
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
    found: Skeleton, large: Sequence[ImageClass], table: IntArray
) -> list[_Slot]:
    """One coordinate for all classes of a height whose groups are alike."""
    alike: dict[tuple[int, bytes], list[int]] = {}
    for number, image_class in enumerate(large):
        group = holonomy_group(found, image_class, table)
        key = (-image_class.height, _signature(group))
        alike.setdefault(key, []).append(number)
    return [
        _Slot(
            np.array(classes),
            -negative,
            max(_tiles_of(large[c], table) for c in classes),
        )
        for (negative, _), classes in sorted(alike.items())
    ]


def _tiles_of(image_class: ImageClass, table: IntArray) -> int:
    return int((table[image_class.members[0]] != INVALID).sum())


def holonomy_group(
    found: Skeleton, image_class: ImageClass, table: IntArray
) -> PermutationGroup:
    """How the permutators of an image act on its tiles.

    Args:
        found: The skeleton.
        image_class: The class of the image.
        table: ``(images, most tiles)``: the tiles of each image.
    """
    tiles = table[image_class.members[0]]
    tiles = tiles[tiles != INVALID]
    inside = found.sets[tiles][:, image_class.points[0]]
    images = np.zeros((len(image_class.generators), *inside.shape), dtype=bool)
    tile, position = np.nonzero(inside)
    for image, generator in zip(images, image_class.generators, strict=True):
        image[tile, generator[position]] = True
    # A permutator takes tiles to tiles, so that each image equals exactly one of them.
    number = {key: i for i, key in enumerate(set_keys(inside))}
    rows = [number[key] for key in set_keys(images.reshape(-1, inside.shape[1]))]
    return PermutationGroup(np.array(rows, dtype=np.int64).reshape(-1, len(tiles)))


def _signature(group: PermutationGroup) -> bytes:
    """Equal for groups that may share a coordinate without becoming larger."""
    if group.order == 1:
        return b""
    return (
        group.degree.to_bytes(4, "big") + np.unique(group.generators, axis=0).tobytes()
    )


def _projection(tiling: _Tiling) -> Projection:
    images, layers = np.array([0]), []
    for slot in tiling.slots:
        below, valid = _inside(tiling, slot, images)
        nodes, follow = next_layer(below[..., None], valid)
        images = nodes[:, 0]
        layers.append(follow)
    if layers:
        states = tiling.skeleton.sets[images].argmax(axis=1)
        layers[-1] = np.where(layers[-1] == INVALID, INVALID, states[layers[-1]])
    return Projection(tuple(layers))


def _inside(
    tiling: _Tiling, slot: _Slot, images: IntArray
) -> tuple[IntArray, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
    """The tile ``(nodes, values)`` that each value picks, and which values can occur."""
    active = np.isin(tiling.skeleton.class_of[images], slot.classes)
    tiles = tiling.tile[images][:, : slot.size]
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
        rows = _moves(tiling, slot, nodes[:, :3])
        table, emit = letters_of(rows)
        before, valid = _inside(tiling, slot, nodes[:, 3])
        after, _ = _inside(tiling, slot, nodes[:, 4])
        moved = np.take_along_axis(after, rows, axis=1)
        read = np.repeat(nodes[:, None, :3], slot.size, axis=1)
        if tiling.lowest(at):
            read[..., 1:] = np.stack([before, moved], axis=-1)
        below = np.concatenate([read, before[..., None], moved[..., None]], axis=-1)
        nodes, follow = next_layer(below, valid)
        budget.check(len(nodes), "nodes of the wiring")
        components.append(component_of(table, number_names(slot.size)))
        emits.append(emit)
        follows.append(follow)
    if follows:
        follows[-1] = np.where(follows[-1] == INVALID, INVALID, 0)
    entry = np.arange(letters) if follows else np.zeros(letters, dtype=np.int64)
    return tuple(components), Wiring(entry, tuple(emits), tuple(follows))


def _moves(tiling: _Tiling, slot: _Slot, nodes: IntArray) -> IntArray:
    """The coordinate's move at each node: ``(nodes, values)``."""
    piece = max(1, PIECE // slot.size**2)
    starts = range(0, len(nodes), piece)
    parts = [_some_moves(tiling, slot, nodes[at : at + piece]) for at in starts]
    return np.concatenate(parts)


def _some_moves(tiling: _Tiling, slot: _Slot, nodes: IntArray) -> IntArray:
    skeleton = tiling.skeleton
    letter, before, after = nodes.T
    image = skeleton.step[letter, before]
    active = np.isin(skeleton.class_of[after], slot.classes)
    turns, resets = active & (image == after), active & (image != after)
    rows = np.tile(np.arange(slot.size), (len(nodes), 1))
    rows[turns] = _turn(tiling, slot, letter[turns], before[turns], after[turns])
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
    for i, slot in enumerate(tiling.slots):
        below, valid = _inside(tiling, slot, images)
        holds = tiling.skeleton.sets[below, states[:, None]] & valid
        lift[:, i] = holds.argmax(axis=1)
        images = below[states, lift[:, i]]
    return lift
