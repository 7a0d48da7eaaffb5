"""The limits of each head of a Transformer file, found from its tensors."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.structure import as_memory
from krohn.instruments.limits.dilution import (
    holds_among,
    kept_apart,
    last_at_least,
    rank_of,
    sharpest,
)
from krohn.network.meaning.net import Net
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program.architectures.transformer import Block, Transformer
from krohn.program.attention import (
    Linear,
    Rectified,
    Sight,
    Softmax,
    Sparse,
    sees_ahead,
)
from krohn.program.block_kinds import BlockKinds
from krohn.program.errors import refuse_unknown
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.enclosures.all_words import hull, ranges

# Between which bounds the queries and keys of heads lie, for all words.
#
# The engine of intervals on all words at once; it knows nothing of what the network means.
# docs/proofs/limits.md, Boxes.


BLOCKS = BlockKinds(
    "a limit of heads",
    (Softmax, Linear, Sparse, Rectified),
    (Sight.CAUSAL, Sight.WHOLE),
    ("relu", "sine", "gelu"),
)
"""Of heads that are no causal softmax no limit is told."""


@dataclass(frozen=True)
class HeadBox:
    """A head with the bounds of its queries and keys, BOS among them.

    Attributes:
        block: The number of its block.
        head: Its number there.
        query: ``(d, k)``.
        key: ``(d, k)``.
        queries: ``(k,)``: the bounds of queries.
        keys: ``(k,)``: those of keys.
    """

    block: int
    head: int
    query: FloatArray
    key: FloatArray
    queries: Interval
    keys: Interval

    @property
    def spread(self) -> float:
        """How far two scores of one query can differ at most."""
        return float(self.queries.size @ (self.keys.high - self.keys.low))


def head_boxes(file: ModelFile) -> Iterator[HeadBox]:
    """Every head of a Transformer that sees all before, with bounds of what it reads."""
    BLOCKS.check(file.architecture)
    net = Net.of(file.architecture, file.tensors)
    boxes = ranges(net).boxes
    for i, block in enumerate(file.architecture.blocks):
        heads, at = net.blocks[i].heads, f"blocks.{i}.attention"
        for h in range(block.heads):
            if heads is not None and _sees_all_before(block, h):
                both = (boxes[f"{at}.{name}"][0, h] for name in ("query", "key"))
                yield HeadBox(i, h, heads.query[h], heads.key[h], *map(hull, both))


def _sees_all_before(block: Block, head: int) -> bool:
    """Whether limits are known of a head: of a softmax of all that came before."""
    match block.attention:
        case Softmax():
            return not sees_ahead(block.sights[head], BLOCKS.who)
        case Linear() | Sparse() | Rectified():
            return False
        case other:
            return refuse_unknown(other, BLOCKS.who)


# Heads with linear positions, and when they look at the wrong letter (Proposition 5).
#
# A score is a quadratic form of the two positions, so the winner at each length is
# decided by a few numbers. docs/proofs/limits.md, Theorem 4.


LINEAR = 2.0**-6
"""How far a position may be off the line, in steps of it, to count as linear."""


@dataclass(frozen=True)
class Line:
    """Positions on a line: position t, from 1 on, is ``origin + t·step``.

    Attributes:
        origin: ``(d,)``.
        step: ``(d,)``.
    """

    origin: FloatArray
    step: FloatArray


@dataclass(frozen=True)
class LinearHead:
    """A head's scores from letter a at i to letter b at j: A + α_a·j + β_b·i + κ·i·j.

    Attributes:
        constant: ``(letters, letters)``: A, first index the letter that looks.
        of_key: ``(letters,)``: α, the coefficient of the position looked at.
        of_query: ``(letters,)``: β, the coefficient of the position that looks.
        product: κ, W_Qp·W_Kp of Proposition 5.
        bos: ``(letters, 2)``: the score of BOS is the first plus i times the second.
    """

    constant: FloatArray
    of_key: FloatArray
    of_query: FloatArray
    product: float
    bos: FloatArray

    def lost_at(self, write: int, keep: int, longest: int) -> int | None:
        """The first length at which a letter written first is not looked at any more.

        The word is ``write`` and then ``keep`` to the end; the last letter looks. What it
        keeps may be found elsewhere all the same: this is about the head alone.

        Returns:
            The least length, up to ``longest``, at which some other position scores as
            much; None if there is none.
        """
        i = np.arange(2, longest + 1, dtype=np.float64)
        slope = self.of_key[keep] + self.product * i
        right = self.constant[keep, write] + self.of_query[write] * i + slope
        others = self.constant[keep, keep] + self.of_query[keep] * i
        # Along a line the greatest score stands at one of its ends.
        rival = others + np.maximum(2.0 * slope, i * slope)
        rival = np.maximum(rival, self.bos[keep, 0] + self.bos[keep, 1] * i)
        return _first(rival >= right, 2)

    def overtaken_at(
        self, first: int, then: int, keep: int, longest: int
    ) -> int | None:
        """The first length at which an old letter is looked at instead of the new one.

        The word is ``first``, then ``keep``, and ``then`` as the last letter but one.
        """
        i = np.arange(3, longest + 1, dtype=np.float64)
        slope = self.of_key[keep] + self.product * i
        old = self.constant[keep, first] + self.of_query[first] * i + slope
        new = self.constant[keep, then] + self.of_query[then] * i + (i - 1) * slope
        return _first(old >= new, 3)


def line_of(positions: FloatArray) -> Line | None:
    """The line on which positions ``(T + 1, d)`` lie, BOS apart; None if they do not."""
    rows = positions[1:]
    if len(rows) < 3:
        return None
    step = (rows[-1] - rows[0]) / (len(rows) - 1)
    line = Line(rows[0] - step, step)
    ideal = line.origin + np.arange(1, len(rows) + 1)[:, None] * step
    off = float(np.abs(rows - ideal).max())
    return (
        line if 0 < np.abs(step).max() and off <= LINEAR * np.abs(step).max() else None
    )


def linear_head(
    query: FloatArray, key: FloatArray, tokens: FloatArray, line: Line, bos: FloatArray
) -> LinearHead:
    """The coefficients of a head that reads the embedding.

    Args:
        query: ``(d, k)``.
        key: ``(d, k)``.
        tokens: ``(letters, d)``.
        line: The positions.
        bos: ``(d,)``: the embedding of BOS, its position added.
    """
    asks, answers = (tokens + line.origin) @ query, (tokens + line.origin) @ key
    step_asks, step_answers = line.step @ query, line.step @ key
    seen = bos @ key
    return LinearHead(
        constant=asks @ answers.T,
        of_key=asks @ step_answers,
        of_query=answers @ step_asks,
        product=float(step_asks @ step_answers),
        bos=np.stack([asks @ seen, np.full(len(tokens), step_asks @ seen)], axis=1),
    )


def _first(
    lost: "np.ndarray[tuple[int], np.dtype[np.bool_]]", start: int
) -> int | None:
    return start + int(lost.argmax()) if lost.any() else None


# The limits of each head of a Transformer file, found from its tensors.


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
    if not isinstance(file.architecture, Transformer):
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
    queries, keys = (float(np.linalg.norm(x.size)) for x in (box.queries, box.keys))
    return kept_apart(queries, keys, rank_of(box.query, box.key), MOST)


def _linear(
    box: HeadBox, machine: Automaton, tokens: FloatArray, positions: FloatArray
) -> tuple[float | None, tuple[int, str] | None]:
    """κ, and where a memory's letters are lost, if positions lie on a line."""
    line, memory = line_of(positions), as_memory(machine)
    if line is None:
        return None, None
    bos = tokens[-1] + positions[0]
    head = linear_head(box.query, box.key, tokens[:-1], line, bos)
    if memory is None:
        return head.product, None
    writes = [a for a, q in enumerate(memory.writes) if q is not None]
    keeps = [a for a, q in enumerate(memory.writes) if q is None]
    lost = []
    for keep in keeps:
        for w in writes:
            n = head.lost_at(w, keep, LONGEST)
            lost += [] if n is None else [(n, _word(machine, (w,), keep))]
            for v in writes:
                n = head.overtaken_at(w, v, keep, LONGEST) if v != w else None
                lost += [] if n is None else [(n, _word(machine, (w, v), keep))]
    return head.product, min(lost, default=None)


def _word(machine: Automaton, writes: Sequence[int], keep: int) -> str:
    names, stays = [machine.letters[w] for w in writes], machine.letters[keep]
    return f"{names[0]} {stays} …" + (f" {names[1]} {stays}" if names[1:] else "")


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
