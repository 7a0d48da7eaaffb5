"""All that an exact network can remember, beside a machine, the shortest words first."""

from base64 import b64encode
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from krohn.program.domains import BoolArray, FloatArray, IntArray
from krohn.program.errors import demand
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.simulation import CELLS, follow_letters, rights
from krohn.verify.checker.sparse_matrix import Sparse
from krohn.verify.errors import WrongWord


class Limits(NamedTuple):
    """How far a walk may go.

    Attributes:
        nodes: How many nodes there may be.
        letters: How many letters may lead to new ones.
        work: Operations.
        reason: What is said of too many nodes, or too much work.
    """

    nodes: int
    letters: int
    work: int
    reason: str


class Found(NamedTuple):
    """The nodes, each with a state of the machine, and the edges between them.

    Attributes:
        nodes: ``(nodes, …)``: a sparse matrix, or an array.
        states: ``(nodes,)``.
        edges: ``(nodes, letters)``; -1 where none is needed.
        depths: ``(nodes,)``: the length of a shortest word to each.
        letters: How many letters lead to new ones, and one more.
    """

    nodes: Any
    states: IntArray
    edges: IntArray
    depths: IntArray
    letters: int


def _behind(ahead: FloatArray) -> BoolArray:
    return ~(ahead > 0)


def walk(
    net: Any,
    machine: Machine,
    limits: Limits,
    length: int | None = None,
    last: bool = True,
    wrong: Callable[[FloatArray], BoolArray] = _behind,
) -> Found:
    """Walk on from the start until nothing is new, or the longest word is read.

    Args:
        net: The network, a dataclass as the checker reads it: ``nodes`` are hidden states,
            ``follow`` says where letters lead from these, ``cost`` how costly that is.
        machine: The machine.
        limits: How far to go.
        length: The longest word; None for words of every length.
        last: Whether something is said after the last letter, too.
        wrong: Which answers of the network, as it follows letters, are wrong.

    Raises:
        Refused: If a limit is reached.
        WrongWord: With a shortest word after which the network is wrong.
    """
    front, states = net.start, np.array([machine.start])
    number = {key: i for i, key in enumerate(_keys(front, states))}
    nodes, reached, edges, origins = [front], [states], list[IntArray](), [states * 0]
    letters, read, work = len(machine.transitions), 0, 0
    while len(states):
        end = read + 1 == length
        if end and not last:
            edges.append(np.full((len(states), letters), -1))
            break
        demand(read < limits.letters, f"new hidden states come after {read} letters")
        net, base = replace(net, nodes=front), len(number) - len(states)
        cost, cells = net.cost
        work += len(states) * cost
        demand(work <= limits.work, limits.reason)
        parts, fresh = list[Any](), list[IntArray]()
        size = max(1, CELLS // cells)
        for low in range(0, len(states), size):
            at = np.arange(low, min(low + size, len(states)))
            after = follow_letters(machine, states[at], 1)
            images, ahead = net.follow(at, rights(machine, after))
            if wrong(ahead).any():
                row = int(wrong(ahead).argmax()) + low * letters
                raise WrongWord(_word(origins, base * letters + row, letters))
            if end:
                edges.append(np.full((len(at), letters), -1))
                continue
            new, rows, to = _new(images, after[1], number)
            demand(len(number) <= limits.nodes, limits.reason)
            edges.append(to.reshape(-1, letters))
            origins.append((base + low) * letters + rows)
            parts.append(new)
            fresh.append(after[1][rows])
        read += 1
        if end:
            break
        front, states = _join_rows(parts), np.concatenate(fresh)
        reached.append(states)
        nodes.append(front)
    states = np.concatenate(reached)
    sizes = [int(part.shape[0]) for part in nodes]
    depths = np.repeat(np.arange(len(sizes)), sizes)
    return Found(_join_rows(nodes), states, np.concatenate(edges), depths, read)


def _new(
    images: Any, states: IntArray, number: dict[bytes, int]
) -> tuple[Any, IntArray, IntArray]:
    """The images that are new, with their rows, and the node of each image."""
    to, new = np.full(len(states), -1), list[int]()
    possible = np.flatnonzero(states >= 0)
    some = images if len(possible) == len(states) else _some(images, possible)
    for row, key in zip(possible.tolist(), _keys(some, states[possible]), strict=True):
        to[row] = number.setdefault(key, before := len(number))
        if to[row] == before:
            new.append(row)
    rows = np.array(new, np.int64)
    return _some(images, rows), rows, to


def _word(origins: Sequence[IntArray], row: int, letters: int) -> tuple[int, ...]:
    """A shortest word to a node and a letter, numbered as origins are."""
    every, word = np.concatenate(origins), list[int]()
    while True:
        row, letter = divmod(row, letters)
        word.append(int(letter))
        if row == 0:
            return tuple(reversed(word))
        row = int(every[row])


def _some(nodes: Any, rows: IntArray) -> Any:
    return nodes.some(rows) if isinstance(nodes, Sparse) else nodes[rows]


def _join_rows(parts: Sequence[Any]) -> Any:
    """All rows of some nodes, one below the other."""
    if not isinstance(parts[0], Sparse):
        return np.concatenate(parts)
    counts = [part.shape[0] for part in parts]
    above = np.repeat(np.cumsum([0, *counts[:-1]]), [len(part.rows) for part in parts])
    rows, columns, values = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("rows", "columns", "values")
    )
    return Sparse(rows + above, columns, values, (sum(counts), parts[0].shape[1]))


def _keys(nodes: Any, states: IntArray) -> list[bytes]:
    """Equal for equal rows with equal states, and only for these."""
    tail = np.ascontiguousarray(states, np.int64).tobytes()
    if isinstance(nodes, Sparse):
        entries = np.stack([nodes.columns, nodes.values.view(np.int64)], axis=1)
        data, ends = entries.tobytes(), (16 * nodes.offsets).tolist()
    else:
        data, width = nodes.tobytes(), 8 * nodes.shape[1]
        ends = list(range(0, width * len(nodes) + 1, width)) or [0]
    return [
        data[a:b] + tail[8 * i : 8 * i + 8] for i, (a, b) in enumerate(pairwise(ends))
    ]


def pack_array(numbers: Any) -> str:
    """An array for the checker: whole numbers of 32 bits, or floats."""
    code = numbers.dtype.str if numbers.dtype.kind == "f" else "<i4"
    in_range = code != "<i4" or numbers.max(initial=0) < 2**31
    demand(in_range, "there are too many nodes")
    return b64encode(numbers.astype(code).tobytes()).decode()
