"""A Transformer that takes more dimensions, heads and units, and a circuit beside it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from krohn.architectures.disguise.build_layout import (
    READERS,
    WRITERS,
    Tensors,
    grades,
    snapshot_of,
)
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import as_written
from krohn.compiler.machine_programs import of_letter
from krohn.compiler.pipeline import Options
from krohn.network.precision import FloatArray, Precision
from krohn.program import (
    Latest,
    Map,
    Operation,
    Piecewise,
    Position,
    Program,
    Token,
)
from krohn.program.domains import BoolArray
from krohn.program.expressions import argument, number, rectify

# A Transformer that takes more dimensions, heads and units.

HEAD = ("query", "key", "value", "out")
MLP = ("0.weight", "0.bias", "1.weight", "1.bias")


@dataclass
class GrowingNetwork:
    """A strict Transformer, and how the numbers of its Program are written in its stream.

    Attributes:
        tensors: By name.
        blocks: Their sizes.
        d: How many dimensions hold numbers.
        code: ``(numbers, d)``: what each adds to the stream.
        random: Of all that is drawn.
        heads: For each block and head its number in the network that it was, from 1 on;
            0 if it is new.
        units: The same of hidden units.
        rough: ``(d,)``: which dimensions are rounded by much.
    """

    tensors: Tensors
    blocks: list[dict[str, Any]]
    d: int
    code: FloatArray
    random: np.random.Generator
    heads: list[list[int]]
    units: list[list[int]]
    rough: BoolArray

    @classmethod
    def of(
        cls,
        header: Mapping[str, Any],
        tensors: Mapping[str, FloatArray],
        random: np.random.Generator,
    ) -> Self:
        """A network with each number of its stream scaled to about 1."""
        blocks = [dict(block) for block in header["architecture"]["blocks"]]
        d = header["architecture"]["d_model"]
        scale, rough = grades(header, tensors)
        made = cls(
            {name: tensor.copy() for name, tensor in tensors.items()},
            blocks,
            d,
            np.eye(d),
            random,
            [list(range(1, block["heads"] + 1)) for block in blocks],
            [list(range(1, sum(block["mlp"]) + 1)) for block in blocks],
            rough,
        )
        made.recode_stream(np.diag(1 / scale), lambda _: np.diag(scale))
        return made

    def recode_stream(
        self, code: FloatArray, back: Callable[[int], FloatArray]
    ) -> None:
        """Write the stream by another code.

        Args:
            code: ``(d, dimensions)``.
            back: For each snapshot what reads it as before, ``(dimensions, d)``.
        """
        last = 2 * len(self.blocks)
        for name, tensor in self.tensors.items():
            if name.endswith(READERS):
                self.tensors[name] = back(snapshot_of(name, last)) @ tensor
            elif name.endswith(WRITERS):
                self.tensors[name] = tensor @ code
        self.code, self.d = self.code @ code, code.shape[1]
        self.rough = np.resize(self.rough, self.d)

    def add_dimensions(self, more: int) -> None:
        """Further dimensions, which nothing reads or writes."""
        for name, tensor in self.tensors.items():
            if name.endswith((*READERS, *WRITERS)):
                axis = -2 if name.endswith(READERS) else -1
                self.tensors[name] = _pad_axis(tensor, axis, tensor.shape[axis] + more)

    def add_heads(self, b: int, parts: Sequence[FloatArray]) -> None:
        """Heads that stand for none: queries, keys, values, and what they write."""
        block, stands = self.blocks[b], [0] * len(parts[0])
        for name, more in zip(HEAD, parts, strict=True):
            at, axis = f"blocks.{b}.attention.{name}", -2 if name == "out" else -1
            both = [self.tensors[at], more]
            size = max(part.shape[axis] for part in both)
            self.tensors[at] = np.concatenate([_pad_axis(x, axis, size) for x in both])
            block["d_v" if name in ("value", "out") else "d_qk"] = size
        block["heads"] += len(stands)
        self.heads[b] += stands

    def add_units(self, b: int, parts: Sequence[FloatArray]) -> None:
        """Units that stand for none: weights and biases in front, and those behind."""
        at, old, t = f"blocks.{b}.mlp", sum(self.blocks[b]["mlp"]), self.tensors
        first, bias, out, last = parts
        if not old:
            t[f"{at}.0.weight"], t[f"{at}.1.weight"] = first[:, :0], out[:0]
            t[f"{at}.0.bias"], t[f"{at}.1.bias"] = bias[:0], 0 * last
        both = [("0.weight", first, 1), ("0.bias", bias, 0), ("1.weight", out, 0)]
        for name, part, axis in both:
            t[f"{at}.{name}"] = np.concatenate([t[f"{at}.{name}"], part], axis=axis)
        t[f"{at}.1.bias"] = t[f"{at}.1.bias"] + last
        self.blocks[b]["mlp"] = [old + len(bias)]
        self.units[b] += [0] * len(bias)

    def beside(self, other: "GrowingNetwork", scale: float) -> None:
        """Let another network work in dimensions of its own, in blocks that have heads.

        What its letters write is rough, if anything is, so that all axes are shared.

        Args:
            other: It has as many blocks; it is used up.
            scale: How large its numbers are.
        """
        d, size = self.d, other.d
        self.add_dimensions(size)
        shift = np.eye(size, d + size, k=d) * scale
        other.recode_stream(shift, lambda _: shift.T / scale**2)
        for name in ("embed.token", "embed.position"):
            self.tensors[name] = self.tensors[name] + other.tensors[name]
        here = [b for b, block in enumerate(self.blocks) if block["heads"]]
        for b, i in zip(here, range(len(other.blocks)), strict=True):
            at, t = f"blocks.{i}", other.tensors
            self.add_heads(b, [t[f"{at}.attention.{n}"] for n in HEAD])
            self.add_units(b, [t[f"{at}.mlp.{n}"] for n in MLP])
        own = np.pad(self.code, ((0, 0), (0, size)))
        self.code = np.concatenate([own, other.code])
        heard = np.ptp(other.tensors["embed.token"][:-1, d:], axis=0) > 0
        self.rough = np.concatenate([self.rough, heard & bool(self.rough.any())])
        self.d = d + size


def _pad_axis(tensor: FloatArray, axis: int, size: int) -> FloatArray:
    pad = [(0, 0)] * tensor.ndim
    pad[axis] = (0, size - tensor.shape[axis])
    return np.pad(tensor, pad)


# A circuit that works beside a disguised machine, and has nothing to do with it.
#
# Its task is real: memories that letters write, and that steer each other, as in the
# cascades of Krohn and Rhodes (1965). The checker bounds it by intervals. What reads a
# sum of T letters by 2T steps would be bounded by T² then; here a head fetches one bit,
# and each unit reads two, so that a bound b becomes 2b + 2 in the next layer, at every
# length.

_X, _Y = argument(0), argument(1)
DIFFERS = Piecewise(rectify(_X - _Y) + rectify(_Y - _X))
EITHER = Piecewise(number(1) - rectify(number(1) - _X - _Y))


def memories(header: Mapping[str, Any], seed: int) -> Program:
    """Layers of memories of one bit: as many as each block of a network has heads.

    A memory of the first layer holds what a clock said when one of its letters came last.
    One of a later layer holds whether a clock and a memory below differed at the last
    position with one of its letters, or with a 1 in another memory below.

    Args:
        header: Of the file of the network, which is not disguised.
        seed: It decides which letters write, and which memories are read.

    Returns:
        ``stored{layer}.{i}`` are the memories; nobody asks what it decodes to.

    Raises:
        CompileError: If the network has no heads.
    """
    letters, length = header["machine"]["letters"], header["claim"]["length"]
    heads = [b["heads"] for b in header["architecture"]["blocks"] if b["heads"]]
    if not heads:
        raise CompileError("no circuit works beside a network without heads")
    random = np.random.default_rng(seed)
    operations: dict[str, Operation] = {"token": Token()}
    for i in range(max(heads)):
        some = random.permutation(len(letters))[: max(1, len(letters) // 2)]
        writes = (a in some for a in range(len(letters)))
        clock = tuple(t // (i + 1) % 2 for t in range(length + 1))
        operations |= {
            f"clock{i}": Position(clock),
            f"heard{i}": of_letter(writes, 1),
        }
    below = list[str]()
    for layer, count in enumerate(heads):
        for i in range(count):
            given, flag = f"clock{i}", f"heard{i}"
            if below:
                one, other = random.permutation(below)[[0, -1]].tolist()
                operations[f"given{layer}.{i}"] = Map(DIFFERS, (one, given))
                operations[f"writes{layer}.{i}"] = Map(EITHER, (other, flag))
                given, flag = f"given{layer}.{i}", f"writes{layer}.{i}"
            operations[f"stored{layer}.{i}"] = Latest(given, flag)
        below = [f"stored{layer}.{i}" for i in range(count)]
    for i, name in enumerate(below):
        operations[f"said{i}"] = Map(DIFFERS, (name, f"heard{i}"))
    outputs = tuple(n for n in operations if n.startswith(("stored", "said")))
    none = (0,) * len(outputs)
    return Program(tuple(letters), 1, length, operations, outputs, {none: 0})


def circuit(program: Program, precision: Precision) -> tuple[dict[str, Any], Tensors]:
    """The strict network of memories, each number in dimensions of its own.

    Returns:
        Its architecture and Program as a file states them, and its tensors.

    Raises:
        CompileError: If the words are too long for the format.
    """
    built = as_written("beside", program, Options(precision, strict=True, keep=True))
    header = {"architecture": built.network.architecture, "program": built.program}
    return header, dict(built.network.tensors)
