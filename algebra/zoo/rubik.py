"""Rubik's cube as a machine that follows one sticker (thesis, Example 7)."""

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.semiautomaton import IntArray, Semiautomaton

# Outward normals: x to the right, y to the back, z up.
_NORMALS = {
    "U": (0, 0, 1),
    "L": (-1, 0, 0),
    "F": (0, -1, 0),
    "R": (1, 0, 0),
    "B": (0, 1, 0),
    "D": (0, 0, -1),
}


def rubik() -> Automaton:
    """The 48 stickers that move, under clockwise quarter turns of the six faces.

    A sticker is named by its face and then the other faces of its piece (``"UF"``,
    ``"ULB"``). The turns generate the group of the cube, which is not solvable; a
    word moves all stickers at once, and a state is where one of them is. The start is
    a corner's sticker; it reaches the 24 corner places and never an edge.
    """
    stickers = _stickers()
    index = {sticker: i for i, sticker in enumerate(stickers)}
    table = [
        [index[_turn(sticker, np.array(axis))] for sticker in stickers]
        for axis in _NORMALS.values()
    ]
    return Automaton(
        Semiautomaton(
            np.array(table), tuple(_NORMALS), tuple(map(_sticker_name, stickers))
        ),
        name="Rubik",
    )


def _stickers() -> list[tuple[tuple[int, ...], str]]:
    """Places of stickers: the piece in {-1, 0, 1}³ and the face it shows on."""
    return [
        (tuple(piece), face)
        for face, normal in _NORMALS.items()
        for piece in (np.indices((3, 3, 3)).reshape(3, -1).T - 1).tolist()
        if np.dot(piece, normal) == 1 and np.count_nonzero(piece) > 1
    ]


def _turn(
    sticker: tuple[tuple[int, ...], str], axis: IntArray
) -> tuple[tuple[int, ...], str]:
    """The sticker's place after a clockwise quarter turn of the face with this normal."""
    piece, face = sticker
    if np.dot(piece, axis) != 1:
        return sticker
    normal = _quarter(np.array(_NORMALS[face]), axis)
    faces = {value: key for key, value in _NORMALS.items()}
    moved = _quarter(np.array(piece), axis)
    return tuple(moved.tolist()), faces[tuple(normal.tolist())]


def _quarter(vector: IntArray, axis: IntArray) -> IntArray:
    # Clockwise as seen from outside is by -90° about the outward normal.
    return np.asarray(axis * np.dot(axis, vector) - np.cross(axis, vector))


def _sticker_name(sticker: tuple[tuple[int, ...], str]) -> str:
    piece, face = sticker
    on = [key for key, normal in _NORMALS.items() if np.dot(piece, normal) == 1]
    return face + "".join(other for other in on if other != face)
