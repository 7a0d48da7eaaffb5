"""Disguises: weights that compute the same, without zeros and axes that mean something.

The directions of all variables stand in the file, with the plain network that the
disguised one is proved by (docs/proofs/disguise.md).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from krohn.architectures.disguise.build_growing import (
    HEAD,
    GrowingNetwork,
    circuit,
    memories,
)
from krohn.architectures.disguise.build_layout import (
    READERS,
    WRITERS,
    Tensors,
    apart,
    code,
    list_stored_channels,
    replace_units_by_steps,
)
from krohn.compiler import CompileError
from krohn.network.precision import FloatArray, Precision
from krohn.program.architectures.transformer import Transformer
from krohn.program.block_kinds import BlockKinds
from krohn.program.domains import BoolArray
from krohn.program.errors import told_as

_BLOCKS = BlockKinds("a disguise")
DISGUISES = ("rotate", "dense", "squeeze", "beside", "noise")


@dataclass(frozen=True)
class Disguise:
    """The disguise that is asked for.

    Attributes:
        kinds: Names in `DISGUISES`: ``rotate`` turns the stream, what heads read and
            write, and mixes and scales units; ``dense`` also adds directions in which
            nothing is written, and such that nobody reads, with heads and units of their
            own; ``squeeze`` leaves as few dimensions as hold what can stand in the stream
            at one time; ``beside`` lets another circuit over the same letters work in
            directions of its own; ``noise`` changes every weight.
        seed: Of all that is drawn.
        strength: Of noise, in units of the root mean square of each matrix.
    """

    kinds: tuple[str, ...]
    seed: int = 0
    strength: float = 1e-6

    @staticmethod
    def of(kinds: str, seed: int | None, strength: float | None) -> "Disguise":
        """A disguise by the names of its kinds, with commas between them.

        Raises:
            CompileError: If there is no such one.
        """
        names = tuple(name.strip() for name in kinds.split(","))
        for name in names:
            if name not in DISGUISES:
                raise CompileError(
                    f"--disguise takes {', '.join(DISGUISES)}, not {name!r}"
                )
        if strength is not None and not 0 <= strength < 1:
            raise CompileError("--strength is a number from 0 up to 1")
        return Disguise(
            names,
            0 if seed is None else seed,
            Disguise.strength if strength is None else strength,
        )


def disguise_network(
    asked: Disguise,
    header: Mapping[str, Any],
    tensors: Mapping[str, FloatArray],
    precision: Precision,
) -> tuple[dict[str, Any], Tensors]:
    """A strict Transformer in disguise: its header and tensors, with the plain ones.

    Args:
        asked: How.
        header: Of the file of the plain network.
        tensors: Of the plain network, as they are stored.
        precision: The format.

    Raises:
        CompileError: If there is no disguise for such a network.
    """
    plain = Transformer.of(header["architecture"])
    with told_as(CompileError):
        _BLOCKS.check(plain)
    alike = all(len(block.mlp) < 2 for block in plain.blocks)
    if not (plain.strict and alike and precision.name in FORMATS):
        raise CompileError(
            "a disguise is for Transformers of ReLUs and softmax heads in float64 or "
            "float32"
        )
    random = np.random.default_rng(asked.seed)
    header, tensors = apart(header, tensors)
    if precision.name == "float32":
        header, tensors = replace_units_by_steps(header, tensors)
    architecture, program = header["architecture"], header["program"]
    made = _Disguised.of(header, tensors, random)
    made.loud = precision.name == "float64"
    if made.loud or "squeeze" in asked.kinds:
        made.rough &= False
    if "squeeze" in asked.kinds:
        made.squeeze(program, tensors["embed.position"])
    if "beside" in asked.kinds:
        circuit_file = circuit(memories(header, asked.seed), precision)
        other = GrowingNetwork.of(*circuit_file, random)
        made.beside(other, 1.0 if made.loud else QUIET)
    if "dense" in asked.kinds:
        made.dense()
    made.inside()
    turned = made.turn_stream()
    if "noise" in asked.kinds:
        turned = {n: t + made.noise(t, asked.strength) for n, t in turned.items()}
    own = {f"plain.{name}": tensor for name, tensor in tensors.items()}
    written = {**turned, **made.directions(architecture)}
    stored = {name: precision.round(tensor) for name, tensor in written.items()}
    header["architecture"] = made.architecture(architecture)
    return header, {**stored, **own}


FORMATS = ("float64", "float32")
APART = 2.0**-8
"""How much one group of directions has of the axes of the other, in float32; chosen."""
QUIET = 2.0**-2
"""The scale of a circuit that works beside, in float32; chosen: by 1/2 S4 is lost."""
TRIED = 16
"""So many codes are tried of a stream that is squeezed."""


@dataclass
class _Disguised(GrowingNetwork):
    """A network that is being disguised.

    Behind the d dimensions that hold numbers are ``room``, in which nobody writes, and
    ``waste``, which nobody reads; at the end all is turned.
    """

    loud: bool = False
    room: int = 0
    waste: int = 0
    turn: FloatArray = field(init=False)
    turns: dict[int, FloatArray] = field(init=False, default_factory=dict)

    def squeeze(self, program: Mapping[str, Any], position: FloatArray) -> None:
        """As few dimensions as hold what can stand in the stream at one time."""
        each = [
            _reachable(program, position, b) @ self.code
            for b in range(2 * len(self.blocks) + 1)
        ]
        least = max(int(np.linalg.matrix_rank(rows)) for rows in each)

        def back(code: FloatArray, snapshot: int) -> FloatArray:
            rows = each[snapshot]
            return np.asarray(np.linalg.pinv(rows @ code) @ rows)

        def worst(code: FloatArray) -> float:
            sizes = [float(np.linalg.norm(back(code, b), 2)) for b in range(len(each))]
            return max(sizes)

        codes = [self.orthogonal(self.d)[:, :least] for _ in range(TRIED)]
        best = min(codes, key=worst)  # readers with small weights bear more noise
        self.recode_stream(best, lambda snapshot: back(best, snapshot))

    def draw(self, *shape: int) -> FloatArray:
        """Normal numbers."""
        return self.random.normal(size=shape)

    def noise(self, tensor: FloatArray, strength: float) -> FloatArray:
        """For a tensor, in units of its root mean square."""
        size = np.sqrt((tensor**2).mean()) if tensor.size else 0.0
        return np.asarray(strength * size * self.draw(*tensor.shape))

    def orthogonal(self, size: int) -> FloatArray:
        """A turn by chance, all alike likely."""
        turn, upper = np.linalg.qr(self.draw(size, size))
        return np.asarray(turn * np.sign(np.diag(upper)))

    @property
    def groups(self) -> BoolArray:
        """``(width,)``: of what is rough; of all else every second, if anything is."""
        more = np.arange(self.room + self.waste) % 2 == 0
        return np.concatenate([self.rough, more & bool(self.rough.any())])

    def draw_group_turn(self) -> FloatArray:
        """A turn of each group of directions, and a small one of both together.

        What sums of many terms are rounded by stays in one of them then.
        """
        rough, size = self.groups, self.width
        axes, turn = self.random.permutation(rough), np.zeros((size, size))
        for group in (False, True):
            both = np.ix_(rough == group, axes == group)
            turn[both] = self.orthogonal(int((rough == group).sum()))
        mixed = self.draw(size, size) * (axes[:, None] & ~axes)
        mixed = (mixed - mixed.T) * APART / np.sqrt(size)
        return np.asarray(
            turn @ np.linalg.solve(np.eye(size) - mixed, np.eye(size) + mixed)
        )

    @property
    def width(self) -> int:
        """How wide the stream is."""
        return self.d + self.room + self.waste

    # ---------------------------------------------------------------- dense

    def dense(self) -> None:
        """More dimensions; readers, heads and units of what means nothing."""
        d, t = self.d, self.tensors
        self.room, self.waste = max(4, d // self.thin), max(3, d // (2 * self.thin))
        self.add_dimensions(self.room + self.waste)
        for name in t:
            if name.endswith(READERS):
                self._read_room(name)
        for name in ("embed.token", "embed.position"):
            t[name][:, d + self.room :] = self._draw_waste(len(t[name]), 1)
        for b in range(len(self.blocks)):
            self._more_heads(b)
            self._more_units(b)

    @property
    def thin(self) -> int:
        """How many times as many dimensions there are as directions of no meaning."""
        return 2 if self.loud else 4

    def _draw_waste(self, rows: int, terms: int) -> FloatArray:
        """Rows of what nobody reads, of a sum of so many terms.

        Each entry of a sum is about 1; in float32 all blocks together add about that
        length, as what is long is rounded by more.
        """
        size = np.sqrt(terms)
        if not self.loud:
            size = np.sqrt(self.waste) * len(self.blocks) * terms
        return np.asarray(self.draw(rows, self.waste) / size)

    def _read_room(self, name: str) -> None:
        """A reader reads directions in which nothing is written, too.

        In float32 all of its columns read them as parts of what they read besides, so
        that those which read one variable see the same of what numbers are rounded by.
        """
        matrix, d = self.tensors[name], self.d
        part = matrix[..., d : d + self.room, :]
        if self.loud:
            size = (matrix[..., :d, :] ** 2).mean(axis=(-1, -2), keepdims=True)
            part += self.draw(*part.shape) * np.sqrt(size)
            return
        turn = self.draw(self.room, d) / np.sqrt(d)
        of = self.groups
        turn *= np.where(of[d : d + self.room, None] == of[:d], 1.0, APART)
        part += turn @ matrix[..., :d, :]

    def _reading(self, *shape: int) -> FloatArray:
        """Matrices that read all of the stream, of what is large less."""
        scale = np.ones(self.width)
        scale[self.d + self.room :] = 0.3
        matrices = self.draw(*shape[:-1], self.width, shape[-1])
        return np.asarray(matrices * scale[:, None] / np.sqrt(self.width))

    def _more_heads(self, b: int) -> None:
        """A head that reads everything and writes where nobody reads."""
        block = self.blocks[b]
        if not block["heads"]:
            return
        k, v = block["d_qk"], block["d_v"]
        out = np.zeros((1, v, self.width))
        out[0, :, -self.waste :] = self._draw_waste(v, v)
        reads = [self._reading(1, size) for size in (k, k, v)]
        self.add_heads(b, [*reads, out])

    def _more_units(self, b: int) -> None:
        """Units that read everything and write where nobody reads."""
        more = max(2, sum(self.blocks[b]["mlp"]) // (2 if self.loud else 8))
        out, last = np.zeros((more, self.width)), np.zeros(self.width)
        out[:, -self.waste :] = self._draw_waste(more, more)
        first, bias = self._reading(more), self.draw(more)
        last[-self.waste :] = self._draw_waste(1, 1)
        self.add_units(b, [first, bias, out, last])

    # --------------------------------------------------------------- rotate

    def inside(self) -> None:
        """Turn what heads read and carry; scale and mix units, and mix heads."""
        for b, block in enumerate(self.blocks):
            if block["heads"]:
                self._turn_heads(b)
            if block["mlp"]:
                self._mix_units(b)

    def _turn_heads(self, b: int) -> None:
        at, t = f"blocks.{b}.attention", self.tensors
        order = self.random.permutation(len(self.heads[b]))
        self.heads[b] = [self.heads[b][i] for i in order]
        q, k, v, o = (t[f"{at}.{n}"][order] for n in HEAD)
        self.turns[b] = np.zeros((len(order), q.shape[2], q.shape[2]))
        for h in range(len(order)):
            turn, gain = self.orthogonal(q.shape[2]), _balance(q[h], k[h])
            q[h], k[h] = q[h] @ turn * gain, k[h] @ turn / gain
            self.turns[b][h] = turn * gain
            turn, gain = self.orthogonal(v.shape[2]), _balance(v[h], o[h])
            v[h], o[h] = v[h] @ turn * gain, turn.T @ o[h] / gain
        t |= {f"{at}.{n}": x for n, x in zip(HEAD, (q, k, v, o), strict=True)}

    def _mix_units(self, b: int) -> None:
        at, t = f"blocks.{b}.mlp", self.tensors
        order = self.random.permutation(len(self.units[b]))
        self.units[b] = [self.units[b][i] for i in order]
        first, bias, second = (
            t[f"{at}.{name}"] for name in ("0.weight", "0.bias", "1.weight")
        )
        ends = np.linalg.norm(second, axis=1), np.linalg.norm(first, axis=0)
        used = (ends[0] > 0) & (ends[1] > 0)
        gain = np.sqrt(np.where(used, ends[0], 1.0) / np.where(used, ends[1], 1.0))
        t[f"{at}.0.weight"] = (first * gain)[:, order]
        t[f"{at}.0.bias"] = (bias * gain)[order]
        t[f"{at}.1.weight"] = (second / gain[:, None])[order]

    def turn_stream(self) -> Tensors:
        """All tensors with the stream turned."""
        self.turn, tensors = self.draw_group_turn(), dict(self.tensors)
        for name, tensor in self.tensors.items():
            if name.endswith(READERS):
                tensors[name] = self.turn.T @ tensor
            elif name.endswith(WRITERS):
                tensors[name] = tensor @ self.turn
        return tensors

    def directions(self, plain: Mapping[str, Any]) -> Tensors:
        """What each dimension of the plain stream, and of waste, became."""
        rows = np.delete(self.turn, np.arange(self.d, self.d + self.room), axis=0)
        rows = np.concatenate([self.code @ rows[: self.d], rows[self.d :]])
        turns = {
            f"disguise.blocks.{b}.attention": turn[:, : plain["blocks"][b]["d_qk"]]
            for b, turn in self.turns.items()
        }
        return {**turns, "disguise.directions": rows}

    def architecture(self, plain: Mapping[str, Any]) -> dict[str, Any]:
        """The architecture of the disguised network."""
        disguise = {
            "d_model": plain["d_model"],
            "waste": len(self.code) - plain["d_model"] + self.waste,
            "blocks": [dict(block) for block in plain["blocks"]],
            "heads": self.heads,
            "units": self.units,
        }
        own = {"d_model": self.width, "blocks": self.blocks, "disguise": disguise}
        return {**plain, **own}


def _reachable(
    program: Mapping[str, Any], position: FloatArray, snapshot: int
) -> FloatArray:
    """Rows that span all that can stand in the plain stream at a snapshot."""
    features, base = np.zeros_like(position), np.zeros(position.shape[1])
    for low, high in program["features"].values():
        features[:, low:high] = position[:, low:high]
    there = [
        (slice(*c["dims"]), code(c)) for c in list_stored_channels(program, snapshot)
    ]
    for at, each in there:
        base[at] = each[0]
    rows = [features + base]
    for at, each in there:
        some = np.repeat((features[0] + base)[None], len(each), axis=0)
        some[:, at] = each
        rows.append(some)
    return np.concatenate(rows)


def _balance(reads: FloatArray, writes: FloatArray) -> float:
    """What makes two matrices equally large."""
    ends = np.linalg.norm(writes), np.linalg.norm(reads)
    return float(np.sqrt(ends[0] / ends[1])) if min(ends) > 0 else 1.0
