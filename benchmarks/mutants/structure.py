"""Mutations of whole parts: heads, hidden units, blocks, positions, the number format."""

from dataclasses import replace

import numpy as np

from krohn.architectures.recurrent.meaning import hidden_axis
from krohn.network.architecture import sparse_matrices
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.network.sparse import Sparse
from mutants.subject import Json, Mutant, Mutation, Subject
from mutants.weights import exchanged

TEMPERATURES = (0.1, 0.5, 0.9, 1.1, 2.0)
MATRICES = ("query", "key", "value", "out")


def _attending(subject: Subject, most: int) -> list[int]:
    """The blocks with at least so many heads."""
    return [b for b, block in enumerate(subject.blocks) if block["heads"] >= most]


def heads(*matrices: str) -> Mutation:
    """Two heads of a block trade some of their matrices."""

    def exchange(subject: Subject, rng: np.random.Generator) -> Mutant | None:
        blocks = _attending(subject, 2)
        if not blocks:
            return None
        block = int(rng.choice(blocks))
        left, right = rng.choice(subject.blocks[block]["heads"], size=2, replace=False)
        names = [f"blocks.{block}.attention.{m}" for m in matrices]
        changed = {
            n: exchanged(subject.file.tensors[n], int(left), int(right), 0)
            for n in names
        }
        where = f"blocks.{block}: heads {left} and {right}"
        return Mutant(where, subject.with_tensors(changed))

    return exchange


def temperature(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """The queries of one head are scaled, and so its scores."""
    name, head = "layers.0.attention.query", None
    if subject.kind.program:
        blocks = _attending(subject, 1)
        if not blocks:
            return None
        block = int(rng.choice(blocks))
        head = int(rng.integers(subject.blocks[block]["heads"]))
        name = f"blocks.{block}.attention.query"
    if name not in subject.file.tensors:
        return None
    array = subject.file.tensors[name].copy()
    factor = float(rng.choice(TEMPERATURES))
    array[... if head is None else head] *= factor
    where = f"{name}: head {head} by {factor:g}"
    return Mutant(where, subject.with_tensors({name: array}))


def units(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """Two hidden units trade places with all their weights: nothing changes."""
    if subject.kind.recurrent:
        return _hidden_units(subject, rng)
    stacks = [b for b, block in enumerate(subject.blocks) if block["mlp"]]
    if not stacks:
        return None
    block = int(rng.choice(stacks))
    layer = int(rng.integers(len(subject.blocks[block]["mlp"])))
    at, width = f"blocks.{block}.mlp", subject.blocks[block]["mlp"][layer]
    if width < 2:
        return None
    axes = {
        f"{at}.{layer}.weight": -1,
        f"{at}.{layer}.bias": -1,
        f"{at}.{layer + 1}.weight": -2,
    }
    return _together(subject, rng, axes, width)


def _hidden_units(subject: Subject, rng: np.random.Generator) -> Mutant:
    axes = {
        "hidden.start": -1,
        "hidden.bias": -1,
        "input.weight": -1,
        "unembed.weight": -2,
    }
    width = subject.file.header["architecture"]["hidden"]
    left, right = map(int, rng.choice(width, size=2, replace=False))
    if sparse := sparse_matrices(subject.file.header["architecture"]):
        return _sparse_units(subject, sparse, left, right)
    square = subject.file.tensors["hidden.weight"]
    square = exchanged(exchanged(square, left, right, 0), left, right, 1)
    changed = {
        n: exchanged(subject.file.tensors[n], left, right, axis)
        for n, axis in axes.items()
    }
    both = subject.with_tensors({**changed, "hidden.weight": square})
    return Mutant(f"hidden units {left} and {right}", both)


def _sparse_units(
    subject: Subject, matrices: dict[str, int], left: int, right: int
) -> Mutant:
    tensors, width = subject.file.tensors, len(subject.file.tensors["hidden.bias"])
    order = np.arange(width)
    order[[left, right]] = right, left
    changed = {n: tensors[n][order] for n in ("hidden.start", "hidden.bias")}
    for name, columns in matrices.items():
        axis, held = hidden_axis(name), Sparse.from_tensors(tensors, name, columns)
        if axis is None:
            continue
        moved = held.permute(rows=order) if axis == 0 else held.permute(columns=order)
        changed |= moved.tensors(name)
    return Mutant(f"hidden units {left} and {right}", subject.with_tensors(changed))


def _together(
    subject: Subject, rng: np.random.Generator, axes: dict[str, int], width: int
) -> Mutant:
    left, right = map(int, rng.choice(width, size=2, replace=False))
    changed = {
        n: exchanged(subject.file.tensors[n], left, right, axis)
        for n, axis in axes.items()
    }
    where = f"{next(iter(axes))}: units {left} and {right}"
    return Mutant(where, subject.with_tensors(changed))


def blocks(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """Two blocks of the same shape trade all their tensors."""
    parts = [_part(subject, f"blocks.{b}.") for b in range(len(subject.blocks))]
    shapes = [{n: a.shape for n, a in part.items()} for part in parts]
    alike = [
        (i, j)
        for j in range(len(parts))
        for i in range(j)
        if shapes[i] == shapes[j] and subject.blocks[i] == subject.blocks[j]
    ]
    if not alike:
        return None
    i, j = alike[int(rng.integers(len(alike)))]
    changed = {f"blocks.{i}.{n}": a for n, a in parts[j].items()}
    changed |= {f"blocks.{j}.{n}": a for n, a in parts[i].items()}
    return Mutant(f"blocks {i} and {j}", subject.with_tensors(changed))


def _part(subject: Subject, prefix: str) -> dict[str, FloatArray]:
    tensors = subject.file.tensors.items()
    return {n.removeprefix(prefix): a for n, a in tensors if n.startswith(prefix)}


def delayed(subject: Subject, _: np.random.Generator) -> Mutant | None:
    """Every position has the code of the one before; the first keeps its own."""
    if not subject.kind.program:
        return None
    table = subject.file.tensors["embed.position"]
    late = np.concatenate([table[:1], table[:-1]])
    return Mutant("embed.position", subject.with_tensors({"embed.position": late}))


def foreign(subject: Subject, _: np.random.Generator) -> Mutant | None:
    """The position table of the same model compiled for another length."""
    if subject.longer is None or not subject.kind.program:
        return None
    table = subject.file.tensors["embed.position"]
    other = subject.longer.tensors["embed.position"]
    if other.shape[1] != table.shape[1] or len(other) < len(table):
        return None
    changed = {"embed.position": other[: len(table)]}
    return Mutant("embed.position", subject.with_tensors(changed))


def embeddings(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """Two tokens, BOS among them, trade their embeddings."""
    tensors = subject.file.tensors
    names = ["embed.token", "input.weight", "embed.letter"]
    name = next((name for name in names if name in tensors), None)
    if name is None:  # a sparse matrix
        return None
    array = tensors[name]
    if len(array) < 2:
        return None
    left, right = map(int, rng.choice(len(array), size=2, replace=False))
    changed = {name: exchanged(array, left, right, 0)}
    return Mutant(f"{name}: {left} and {right}", subject.with_tensors(changed))


def reformatted(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """The weights rounded to another format, which the file then has and claims."""
    others = [n for n in PRECISIONS if n != subject.file.precision.name]
    name = str(rng.choice(others))

    def edit(header: Json) -> None:
        header["architecture"]["dtype"] = name
        header["claim"]["dtype"] = name

    other = subject.with_header(edit)
    file = replace(other.file, precision=PRECISIONS[name])
    return Mutant(name, replace(other, file=file).with_tensors(file.tensors))


KINDS: dict[str, Mutation] = {
    "two heads exchanged": heads(*MATRICES),
    "queries of two heads exchanged": heads("query"),
    "outputs of two heads exchanged": heads("out"),
    "temperature of a head": temperature,
    "two units exchanged": units,
    "two blocks exchanged": blocks,
    "position codes one late": delayed,
    "position codes of another T": foreign,
    "two tokens exchanged": embeddings,
    "another number format": reformatted,
}
