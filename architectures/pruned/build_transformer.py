"""The Transformer of a machine, made of random matrices by masks.

The plain network is strict. Its numbers are scaled so that no weight is large: numbers of
the stream by powers of two, units by any factor, and heads read and carry what they read
and carry several times over. So every matrix is a sum of products of numbers between −1
and 1. The plain network stands beside the masked one (docs/proofs/pruned.md).
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import ceil
from typing import Any

import numpy as np

from krohn.architectures.disguise.build_layout import (
    READERS,
    WRITERS,
    Tensors,
    code,
)
from krohn.architectures.pruned.build_masks import (
    NAME,
    Choice,
    Masked,
    apply_mask,
    check_format,
    mask_for,
)
from krohn.architectures.pruned.statement import MOST, matrix_of, on_grid, uniform
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.network.precision import FloatArray, Precision
from krohn.program.architectures.transformer import Transformer
from krohn.program.block_kinds import BlockKinds
from krohn.program.errors import told_as

TRIED = (64, 96, 128, 192, 256)
"""Inner units for each input: n products come to n/8 at most, nearly."""
REACHED = 12
"""Weights are scaled, where that is free, to be at most a 12th of the units."""
MOST_WEIGHTS = 2**14
"""So many weights masks are looked for, some milliseconds each."""
NEAR = 2.0**-16
"""How far a weight may be off, for a proof to be tried."""
_BLOCKS = BlockKinds("a pruned Transformer")


def networks(
    plain: CompiledNetwork, precision: Precision, chosen: Choice
) -> Iterator[CompiledNetwork]:
    """The networks to try to prove, fewest units first.

    Args:
        plain: The strict network to compute, in the same format.
        precision: The format.
        chosen: The random network.

    Raises:
        CompileError: If no masks are near enough, or there are none for such a network.
    """
    check_format(precision)
    shape = Transformer.of(plain.network.architecture)
    with told_as(CompileError):
        _BLOCKS.check(shape)
    if any(len(block.mlp) > 1 for block in shape.blocks):
        raise CompileError("masks are for MLPs of one hidden layer")
    tried = TRIED if chosen.units is None else (chosen.units,)
    any_near, missed = False, ""
    other = f"; try another seed, as {NAME}:seed={chosen.seed + 1}"
    for units in tried:
        chosen = chosen._replace(units=units)
        scaled = ScaledNetwork(plain, precision, units / REACHED)
        if large := scaled.problem(chosen):
            missed = missed or large
            continue
        try:
            masked = scaled.find_masks(chosen)
        except CompileError as reason:
            missed = f"{reason}{other}"
            continue
        any_near = True
        yield scaled.network(masked, chosen)
    if not any_near:
        raise CompileError(missed)


def _masks(name: str, matrix: FloatArray, chosen: Choice) -> Masked:
    """The masks of two factors of a matrix."""
    units, by_row = chosen.units or TRIED[0], chosen.fixed == "left"

    def draw(side: str, shape: tuple[int, int]) -> FloatArray:
        if by_row:
            return on_grid(uniform(f"masks.{name}.{side}", chosen.seed, shape))
        side = "right" if side == "left" else "left"
        drawn = uniform(f"masks.{name}.{side}", chosen.seed, shape[::-1])
        return on_grid(drawn).T

    masked = mask_for(draw, matrix if by_row else matrix.T, units, NEAR)
    if by_row:
        return masked
    turned = [each.dense().T for each in (masked.right, masked.left)]
    left, right = (apply_mask(each, each != 0) for each in turned)
    return Masked(left, right, masked.off)


class ScaledNetwork:
    """A plain network, and the weights of the masked one that computes the same.

    Attributes:
        largest: What weights are at most, where that is free.
        tensors: What products of masked matrices must be near to.
        turns: What queries of each block are turned by.
        directions: ``(d, d)``: what numbers of the plain stream are in the other one.
    """

    def __init__(
        self, plain: CompiledNetwork, precision: Precision, largest: float
    ) -> None:
        self.precision, self.built, self.largest = precision, plain, largest
        self.plain = {n: precision.round(t) for n, t in plain.network.tensors.items()}
        scale = self._scale()
        readout = [scale[:, None] * self.plain["unembed.weight"]]
        readout.append(self.plain["unembed.bias"])
        most = max(1.0, *(np.abs(x).max() / largest for x in readout))
        for name in ("weight", "bias"):  # the largest logit stays the largest
            self.plain[f"unembed.{name}"] /= 2.0 ** np.ceil(np.log2(most))
        self.tensors = dict(self.plain)
        self.directions = np.diag(1 / scale)
        for name, tensor in self.plain.items():
            if name.endswith(READERS):
                self.tensors[name] = tensor * scale[:, None]
            elif name.endswith(WRITERS):
                self.tensors[name] = tensor / scale
        self.blocks = [dict(b) for b in plain.network.architecture["blocks"]]
        self.turns: Tensors = {}
        for i, block in enumerate(self.blocks):
            if block["heads"]:
                self._repeat_heads(i, block)
            if block["mlp"]:
                self._balance_units(i)

    def _scale(self) -> FloatArray:
        """``(d,)``: powers of two, by which numbers of the stream are divided."""
        both = [np.abs(self.plain[f"embed.{n}"]).max(0) for n in ("token", "position")]
        size = np.maximum(*both)
        channels: Any = self.built.program["channels"]
        for channel in channels:
            if "dims" in channel:
                at = slice(*channel["dims"])
                most = np.abs(code(channel)).max(axis=0, initial=0.0)
                size[at] = np.maximum(size[at], most)
        return np.asarray(2.0 ** np.ceil(np.log2(np.maximum(size / 2, 1.0))))

    def _repeat_heads(self, i: int, block: dict[str, Any]) -> None:
        """Queries and keys, and values, as often as makes both small."""
        at, d_qk = f"blocks.{i}.attention", block["d_qk"]
        parts = "query", "key", "value", "out"
        q, k, v, out = (self.tensors[f"{at}.{n}"] for n in parts)
        (q, k, turns), copies = _repeat(q, k, self.largest)
        (v, out, _), carried = _repeat(v, out.transpose(0, 2, 1), self.largest)
        out = out.transpose(0, 2, 1)
        self.tensors |= {
            f"{at}.{n}": y for n, y in zip(parts, (q, k, v, out), strict=True)
        }
        self.turns[f"disguise.{at}"] = turns
        block["d_qk"], block["d_v"] = d_qk * copies, block["d_v"] * carried

    def _balance_units(self, i: int) -> None:
        """Units as large as makes what they read and what they write alike."""
        at = f"blocks.{i}.mlp"
        first, bias, second = (
            self.tensors[f"{at}.{n}"] for n in ("0.weight", "0.bias", "1.weight")
        )
        reads = np.maximum(np.abs(first).max(axis=0), np.abs(bias))
        writes = np.abs(second).max(axis=1)
        used = (reads > 0) & (writes > 0)
        gain = np.sqrt(np.where(used, writes, 1.0) / np.where(used, reads, 1.0))
        self.tensors[f"{at}.0.weight"] = first * gain
        self.tensors[f"{at}.0.bias"] = bias * gain
        self.tensors[f"{at}.1.weight"] = second / gain[:, None]

    @property
    def maps(self) -> dict[str, tuple[int, int]]:
        """Rows and columns of each matrix."""
        wire = {**self.built.network.architecture, "blocks": self.blocks}
        return Transformer.of(wire).maps

    def problem(self, chosen: Choice) -> str:
        """What makes it too large to look for masks; empty if nothing does."""
        by_row, units = chosen.fixed == "left", chosen.units or 0
        for name, (rows, columns) in self.maps.items():
            if units * (rows if by_row else columns) * max(rows, columns) > MOST:
                return f"{name!r} needs more than {MOST:,} random numbers"
        weights = sum(np.count_nonzero(matrix_of(self.tensors, n)) for n in self.maps)
        few = weights <= MOST_WEIGHTS
        return "" if few else f"masks are looked for up to {MOST_WEIGHTS:,} weights"

    def find_masks(self, chosen: Choice) -> dict[str, Masked]:
        """The masks of each matrix, those of large numbers first.

        Raises:
            CompileError: If they are not near enough.
        """
        each = {name: matrix_of(self.tensors, name) for name in self.maps}
        order = sorted(each, key=lambda name: -np.abs(each[name]).max(initial=0.0))
        return {name: _masks(name, each[name], chosen) for name in order}

    def network(self, found: Mapping[str, Masked], chosen: Choice) -> CompiledNetwork:
        """The network of masked matrices, with the plain one beside it."""
        tensors: Tensors = dict(self.turns)
        entries = dict[str, int]()
        for name, masked in found.items():
            product = masked.left.dense() @ masked.right.dense()
            tensors |= self._unfold(name, self.precision.round(product))
            for side in ("left", "right"):
                factor = getattr(masked, side)
                entries[f"masks.{name}.{side}"] = len(factor.values)
                tensors |= factor.tensors(f"masks.{name}.{side}")
        tensors |= {f"plain.{name}": tensor for name, tensor in self.plain.items()}
        tensors["disguise.directions"] = self.directions
        old = self.built.network.architecture
        blocks = [dict(block) for block in old["blocks"]]
        disguise = {
            "d_model": old["d_model"],
            "waste": 0,
            "blocks": blocks,
            "heads": [[*range(1, block["heads"] + 1)] for block in blocks],
            "units": [[*range(1, sum(block["mlp"]) + 1)] for block in blocks],
        }
        masks = {**chosen._asdict(), "entries": entries}
        own = {"blocks": self.blocks, "disguise": disguise, "masks": masks}
        network = replace(
            self.built.network, architecture={**old, **own}, tensors=tensors
        )
        return replace(self.built, construction=NAME, network=network, cost=None)

    def _unfold(self, name: str, matrix: FloatArray) -> Tensors:
        """The tensors of the network that a matrix is."""
        if f"{name}.weight" in self.tensors:
            return {f"{name}.weight": matrix[:-1], f"{name}.bias": matrix[-1]}
        shape = self.tensors[name].shape
        if len(shape) == 3 and not name.endswith(".out"):
            heads, d, size = shape
            return {name: matrix.reshape(d, heads, size).transpose(1, 0, 2)}
        return {name: matrix.reshape(shape)}


def _repeat(
    one: FloatArray, other: FloatArray, largest: float
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], int]:
    """Two factors ``(heads, d, k)`` of a sum over k, as often as makes them small.

    Returns:
        Both, ``(heads, d, k · copies)``, and what the first is turned by, ``(heads, k,
        k · copies)``; and how many copies there are.
    """
    sizes = [np.abs(x).max(axis=(1, 2)) for x in (one, other)]
    some = (sizes[0] > 0) & (sizes[1] > 0)
    copies = max(1, ceil(float((sizes[0] * sizes[1]).max()) / largest**2))
    ratio = np.where(some, sizes[1], 1.0) / np.where(some, sizes[0], 1.0)
    gain = np.sqrt(ratio / copies)[:, None, None]
    repeat = np.tile(np.eye(one.shape[2]), (1, copies)) * gain
    return (one @ repeat, other @ (repeat / gain**2 / copies), repeat), copies
