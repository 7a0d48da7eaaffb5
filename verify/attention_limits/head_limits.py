"""The limits of each head of a Transformer file, found from its tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import as_memory
from krohn.network.architecture import kind_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.verify.attention_limits.boxes import HeadBox, head_boxes
from krohn.verify.attention_limits.dilution import (
    holds_among,
    kept_apart,
    last_at_least,
    rank_of,
    sharpest,
)
from krohn.verify.attention_limits.linear_positions import line_of, linear_head

HALF = 0.5
MOST = 0.75
"""The weight for which positions are counted; one half sets no gap between scores."""
MOST_ENTRIES = 2e8
LONGEST = 100_000


@dataclass(frozen=True)
class HeadBounds:
    """The limits of a head. These are theorems about the head, not about the network.

    Attributes:
        block: The number of its block.
        head: Its number there.
        spread: How far two scores of one query can differ at most.
        among: Half of the weight is on one of so many positions at most.
        first: The last length at which half of the weight can be on the first letter;
            None if that was not computed.
        earlier: The last such length of some letter before the last one.
        length: The longest word that there are positions for.
        apart: To so many positions of a word it can give three quarters of its weight.
        product: κ of Proposition 5 if it reads linear positions, else None.
        lost: The length at which it no longer looks at the letter to remember, and
            the word; None if there is none.
    """

    block: int
    head: int
    spread: float
    among: float
    first: int | None
    earlier: int | None
    length: int
    apart: float
    product: float | None
    lost: tuple[int, str] | None

    def to_object(self) -> dict[str, Any]:
        """For JSON, where numbers are finite."""
        return {
            "block": self.block,
            "head": self.head,
            "spread": self.spread,
            "half among": _finite(self.among),
            "half on the first letter": self.first,
            "half on an earlier letter": self.earlier,
            "positions apart": _finite(self.apart),
            "kappa": self.product,
            "lost at": None if self.lost is None else self.lost[0],
            "lost how": None if self.lost is None else self.lost[1],
        }

    def summary(self) -> str:
        """The limits in a line."""
        return f"{self.block}.{self.head}: " + "; ".join(self._parts())

    def _parts(self) -> Iterator[str]:
        if self.first is not None and self.earlier is not None:
            yield self._beyond("the first letter", self.first)
            if self.earlier != self.first:
                yield self._beyond("any earlier letter", self.earlier)
        elif np.isfinite(self.among):
            yield (
                f"it cannot put half of its weight on one position beyond T = "
                f"{self.among:.6g}"
            )
        else:
            yield "its scores are too far apart for a bound"
        if self.apart < self.length:
            yield f"at most {self.apart:.0f} positions can get 3/4 of its weight"
        if self.lost is not None:
            at, how = self.lost
            beyond = "" if at <= self.length else " (if its positions went on)"
            yield (
                f"positions are linear, κ = {self.product:.3g}: at length {at}{beyond} "
                f"it no longer looks at the last write of {how}"
            )

    def _beyond(self, what: str, last: int) -> str:
        if last == self.length:
            return f"it can put half of its weight on {what} at T = {last}"
        if last == 0:
            return f"it never puts half of its weight on {what}"
        return f"it cannot put half of its weight on {what} beyond T = {last}"


def head_bounds(file: ModelFile, machine: Automaton) -> tuple[HeadBounds, ...]:
    """Every head of a Transformer; nothing for other networks.

    Args:
        file: The file.
        machine: What it should compute, with the letters of the file in their order.
    """
    if not kind_of(file.header["architecture"]).program:
        return ()
    return tuple(_bounds(file, machine, box) for box in head_boxes(file))


def _bounds(file: ModelFile, machine: Automaton, box: HeadBox) -> HeadBounds:
    tokens, positions = (file.tensors[f"embed.{n}"] for n in ("token", "position"))
    reads = box.block == 0
    first, earlier = _last_lengths(box, tokens, positions) if reads else (None, None)
    none: tuple[None, None] = (None, None)
    product, lost = _linear(box, machine, tokens, positions) if reads else none
    return HeadBounds(
        block=box.block,
        head=box.head,
        spread=box.spread,
        among=holds_among(box.spread, HALF),
        first=first,
        earlier=earlier,
        length=len(positions) - 1,
        apart=_apart(box),
        product=product,
        lost=lost,
    )


def _last_lengths(
    box: HeadBox, tokens: FloatArray, positions: FloatArray
) -> tuple[int | None, int | None]:
    """The last lengths at which the first or an earlier letter can have half the weight."""
    entries = (len(positions) * len(tokens)) ** 2 * box.query.shape[1]
    if entries > MOST_ENTRIES:
        return None, None
    best = sharpest(box.query, box.key, tokens, positions)
    return last_at_least(best.first, HALF), last_at_least(best.earlier, HALF)


def _apart(box: HeadBox) -> float:
    queries, keys = (
        float(np.linalg.norm(box.stream.by(m).largest)) for m in (box.query, box.key)
    )
    return kept_apart(queries, keys, rank_of(box.query, box.key), MOST)


def _linear(
    box: HeadBox, machine: Automaton, tokens: FloatArray, positions: FloatArray
) -> tuple[float | None, tuple[int, str] | None]:
    """κ, and where a memory's letters are lost, if positions lie on a line."""
    line, memory = line_of(positions), as_memory(machine)
    if line is None:
        return None, None
    bos = tokens[-1] + positions[0]
    found = linear_head(box.query, box.key, tokens[:-1], line, bos)
    if memory is None:
        return found.product, None
    writes = [a for a, q in enumerate(memory.writes) if q is not None]
    keeps = [a for a, q in enumerate(memory.writes) if q is None]
    lost = []
    for keep in keeps:
        for w in writes:
            n = found.lost_at(w, keep, LONGEST)
            lost += [] if n is None else [(n, _word(machine, (w,), keep))]
            for v in writes:
                n = found.overtaken_at(w, v, keep, LONGEST) if v != w else None
                lost += [] if n is None else [(n, _word(machine, (w, v), keep))]
    return found.product, min(lost, default=None)


def _word(machine: Automaton, writes: Sequence[int], keep: int) -> str:
    names, stays = [machine.letters[w] for w in writes], machine.letters[keep]
    return f"{names[0]} {stays} …" + (f" {names[1]} {stays}" if names[1:] else "")


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
