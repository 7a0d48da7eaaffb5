"""What the channels of a Program should hold, for many words at once, with torch."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import torch
from torch import Tensor

from algebra.semiautomaton import IntArray
from verify.recheck.heads import SUMS
from verify.recheck.program import Channel, Program


@dataclass(frozen=True)
class Meant:
    """The true values of some words.

    Attributes:
        values: For each channel ``(batch, time + 1)`` integers; column 0 is BOS.
        sources: For each channel that a head fetches, the positions fetched from.
    """

    values: Mapping[str, Tensor]
    sources: Mapping[str, Tensor]


@dataclass(frozen=True)
class Tree:
    """A finite function of several whole numbers, one look-up for each of them.

    Attributes:
        domains: For each argument its values, ascending.
        levels: For each argument ``(nodes, values + 1)``: the node that a value leads to,
            last of all one that is not there. Node 0 is where no row leads; it leads to
            itself.
        results: ``(nodes,)``: the result at each leaf; −1 at leaf 0.
    """

    domains: tuple[Tensor, ...]
    levels: tuple[Tensor, ...]
    results: Tensor

    @staticmethod
    def of(rows: Mapping[tuple[int, ...], int], domains: Sequence[IntArray]) -> "Tree":
        """From argument tuples to results; ``domains`` are the values of each."""
        nodes: dict[tuple[int, ...], int] = {(): 1}
        levels = []
        for depth, domain in enumerate(domains, 1):
            place = {value: i for i, value in enumerate(domain.tolist())}
            below: dict[tuple[int, ...], int] = {}
            for row in rows:
                below.setdefault(row[:depth], len(below) + 1)
            level = torch.zeros((len(nodes) + 1, len(domain) + 1), dtype=torch.int64)
            for prefix, node in below.items():
                if prefix[-1] in place:
                    level[nodes[prefix[:-1]], place[prefix[-1]]] = node
            levels.append(level)
            nodes = below
        results = torch.full((len(nodes) + 1,), -1, dtype=torch.int64)
        for row, node in nodes.items():
            results[node] = rows[row]
        return Tree(tuple(map(torch.as_tensor, domains)), tuple(levels), results)

    def __call__(self, arguments: Sequence[Tensor]) -> Tensor:
        """The results for arguments of one shape; −1 where there is no row."""
        node = torch.ones_like(arguments[0])
        for domain, level, argument in zip(
            self.domains, self.levels, arguments, strict=True
        ):
            place = torch.searchsorted(domain, argument.contiguous()).clamp(
                max=len(domain) - 1
            )
            place = torch.where(domain[place] == argument, place, len(domain))
            node = level.reshape(-1)[node * level.shape[1] + place]
        return self.results[node]


@dataclass(frozen=True)
class Evaluator:
    """A Program, ready to be evaluated.

    Attributes:
        program: The Program.
    """

    program: Program

    @cached_property
    def tables(self) -> Mapping[str, Tree]:
        """The function of each table."""
        return {
            c.name: _tree(c, [self.program.channels[n] for n in c.inputs])
            for c in self.program.channels.values()
            if c.op == "table"
        }

    def __call__(self, words: Tensor) -> Meant:
        """Evaluate every channel on words ``(batch, time)`` of letter indices."""
        bos = words.new_full((len(words), 1), self.program.letters)
        tokens = torch.cat([bos, words], dim=1)
        values: dict[str, Tensor] = {}
        sources: dict[str, Tensor] = {}
        for channel in self.program.channels.values():
            read = [values[n] for n in channel.inputs]
            if channel.op in _FETCHED:
                at = _FETCHED[channel.op](channel, read)
                sources[channel.name] = at
                values[channel.name] = read[0].gather(1, at)
            else:
                values[channel.name] = self._here(channel, read, tokens)
        return Meant(values, sources)

    def _here(self, channel: Channel, read: list[Tensor], tokens: Tensor) -> Tensor:
        if channel.op == "token":
            return tokens
        if channel.op == "position":
            row = torch.from_numpy(channel.values[: tokens.shape[1]])
            return row.expand_as(tokens)
        if channel.op == "table":
            return self.tables[channel.name](read)
        if channel.op == "select":
            return torch.stack(read[1:], -1).gather(-1, read[0][..., None])[..., 0]
        product = torch.stack(read).prod(dim=0)
        return product.cumsum(1) if channel.op in SUMS else torch.stack(read).sum(0)


def _tree(channel: Channel, read: Sequence[Channel]) -> Tree:
    rows = map(tuple, channel.rows.tolist())
    table = dict(zip(rows, channel.results.tolist(), strict=True))
    return Tree.of(table, [c.domain for c in read])


def _positions(like: Tensor) -> Tensor:
    return torch.arange(like.shape[1]).expand_as(like)


def _last(flags: Tensor) -> Tensor:
    """The last flagged position up to each; 0 if there is none."""
    marked = torch.where(flags, _positions(flags), 0)
    return marked.cummax(dim=1).values


def _shifted(channel: Channel, read: list[Tensor]) -> Tensor:
    return (_positions(read[0]) - channel.by).clamp(min=0)


def _latest(_: Channel, read: list[Tensor]) -> Tensor:
    return _last(read[1] == 1)


def _match(_: Channel, read: list[Tensor]) -> Tensor:
    source, key, query = read
    at = torch.zeros_like(source)
    for value in torch.unique(query).tolist():
        matches = _last((key == value) & (_positions(key) > 0))
        at = torch.where(query == value, matches, at)
    return at


def _sibling(channel: Channel, read: list[Tensor]) -> Tensor:
    block = _positions(read[0]) >> channel.by
    end = ((block << channel.by) - 1).clamp(min=0)
    last = _last(read[1] == 1).gather(1, end)
    inside = (block % 2 == 1) & (last >> channel.by == block - 1)
    return torch.where(inside, last, 0)


def _earliest(_: Channel, read: list[Tensor]) -> Tensor:
    never = read[0].shape[1]
    flagged = (read[1] == 1) & (_positions(read[1]) > 0)
    first = torch.where(flagged, _positions(flagged), never).cummin(dim=1).values
    return torch.where(first == never, 0, first)


def _at(_: Channel, read: list[Tensor]) -> Tensor:
    x = torch.stack([digit << b for b, digit in enumerate(read[1:])]).sum(0)
    return torch.where(x <= _positions(x), x, 0)


_FETCHED = {
    "shift": _shifted,
    "latest": _latest,
    "latest-match": _match,
    "sibling-latest": _sibling,
    "earliest": _earliest,
    "at": _at,
}
