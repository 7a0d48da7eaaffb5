"""The places that are read to write each token of a text, with or without a network."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from krohn.drawing.attention import LEAST, Head, Rollout
from krohn.kinds.dynamic_programs.draw import (
    Cell,
    Recurrence,
    name_cell as naming,
)
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network.modelfile import ModelFile
from krohn.program.domains import IntArray

Weights: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
REMARKS = {
    "sparse": "slot: what the last positions hold is gathered at each; far: so the end "
    "of a block is read in place of a position out of sight.",
    "linear": "sum: a head adds up a block of positions, slot by slot, and the MLP picks "
    "the slot that is asked for.",
}
CONTRIBUTES = 0.5
"""The least weight of a look that a head is named by: it is most of what is taken."""
INDICES, MOST_NAMED = "ijklmnpq", 2
"""Names of indices; tables that a head is named by, at most."""


def attention(file: ModelFile, text: IntArray) -> list[Weights]:
    """``(heads, tokens, tokens)`` for each layer with heads, of a whole text.

    Entry [h, g, p] says how much of token p head h takes when token g is written; what it
    takes of BOS, before the text, is left out.
    """
    import torch

    from krohn.network.model import Model
    from krohn.network.transformer import Attention, Transformer

    network = Model(file).network
    assert isinstance(network, Transformer)
    layers = list[Weights]()
    with torch.no_grad():
        stream = network.snapshots(torch.from_numpy(text[None, :-1]))
        for x, each in zip(stream[::2], network.attention, strict=False):
            if isinstance(each, Attention):
                weights = each.weights(x)[0, :, :, 1:].double().numpy()
                layers.append(np.pad(weights, ((0, 0), (0, 0), (0, 1))))
    return layers


def _stem(channel: str) -> str:
    """The name of a channel without what stands in brackets at its end."""
    return channel.partition("[")[0] if channel.endswith("]") else channel


def group_heads(
    weights: Weights, channels: Sequence[str], called: Sequence[str]
) -> tuple[Head, ...]:
    """Heads that fetch channels of one stem, ``slot`` of ``slot3``, as one.

    Args:
        weights: ``(heads, tokens, tokens)``.
        channels: What each head fetches.
        called: What each token is called.
    """
    stems = [_stem(re.sub(r"^(slot)\d+$", r"\1", c)) for c in channels]
    heads = []
    for stem in dict.fromkeys(stems):
        own = weights[[i for i, s in enumerate(stems) if s == stem]].max(axis=0)
        if (own <= LEAST).all():
            continue
        pairs = np.argwhere(own > CONTRIBUTES).tolist()
        looks = relation([(called[g], called[p]) for g, p in pairs])
        heads.append(Head(f"{stem}: {looks}" if looks else stem, own))
    return tuple(heads)


def of_steps(source: ChainOfThought, called: Sequence[str]) -> tuple[Head, ...]:
    """The places that the steps of a chain of thought read, argument by argument."""
    count, start = source.length, len(source.prompt)
    most = max((len(step.reads) for step in source.steps), default=0)
    weights = np.zeros((most, count, count))
    for g, step in enumerate(source.steps, start):
        for k, read in enumerate(step.reads):
            if read.place:
                weights[k, g, read.place - 1] = 1.0
    used = [k for k in range(most) if weights[k].any()]
    return group_heads(weights[used], [f"argument{k}" for k in used], called)


def relation(looks: Iterable[tuple[str, str]]) -> str:
    """Where a head looks, by names: ``D[i−1, j]`` where ``D[i, j]`` is written.

    Args:
        looks: Pairs of the name of what is written and of what is looked at.
    """
    groups = dict[str, list[tuple[tuple[int, ...], tuple[int, ...]]]]()
    for written, read in looks:
        (table, at), (other, place) = _parse_cell(written), _parse_cell(read)
        if table and other and at:
            groups.setdefault(other, []).append((at, place))
    if len(groups) > MOST_NAMED:
        return ""
    return " or ".join(f"{name}{_indices(pairs)}" for name, pairs in groups.items())


def _parse_cell(name: str) -> Cell:
    """A name and its indices."""
    name = name.removesuffix(" so far")
    match = re.fullmatch(r"(.+)\[(-?\d+(?:, -?\d+)*)\]", name)
    if match is None:
        return name, ()
    return match[1], tuple(map(int, match[2].split(", ")))


def _indices(pairs: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> str:
    """The indices of what is looked at, each as one of what is written and a difference."""
    sides = min(len(at) for at, _ in pairs), min(len(place) for _, place in pairs)
    written, read = (
        np.array([side[:n] for side in column], np.int64).reshape(len(pairs), n)
        for n, column in zip(sides, zip(*pairs, strict=True), strict=True)
    )
    shown = [_index(written, column, k) for k, column in enumerate(read.T)]
    return f"[{', '.join(shown)}]" if shown else ""


def _index(written: IntArray, column: IntArray, k: int) -> str:
    order = sorted(range(written.shape[1]), key=lambda q: (q != k, q))
    for q in order:
        apart = column - written[:, q]
        if (apart == apart[0]).all() and q < len(INDICES):
            return (
                f"{INDICES[q]}{_format_signed(int(apart[0]))}"
                if apart[0]
                else INDICES[q]
            )
    return str(int(column[0])) if (column == column[0]).all() else "·"


def _format_signed(number: int) -> str:
    return f"{number:+d}".replace("-", "−")


class Text(NamedTuple):
    """A text that was written.

    Attributes:
        name: What it is a text of.
        tokens: All tokens by name, those of the prompt first.
        called: What each of them is called; nothing for signs.
        start: How many tokens the prompt has.
        answer: The place of the answer, from 0.
    """

    name: str
    tokens: tuple[str, ...]
    called: Sequence[str]
    start: int
    answer: int

    @classmethod
    def of(
        cls, source: ChainOfThought, called: Sequence[str], text: IntArray
    ) -> "Text":
        """A text of a chain of thought, ``(tokens,)``."""
        tokens = tuple(source.tokens[i] for i in text)
        return cls(source.name, tokens, called, len(source.prompt), source.answer - 1)


def of_network(file: ModelFile, text: Text, tokens: IntArray) -> Rollout:
    """The attention of a network while it writes a text, ``(tokens,)``."""
    every, layers = file.architecture.blocks, list[tuple[str, tuple[Head, ...]]]()
    blocks = [b for b, block in enumerate(every) if block.heads]
    for block, weights in zip(blocks, attention(file, tokens), strict=True):
        channels = [f"head{h}" for h in range(len(weights))]
        for each in file.header["program"]["channels"]:
            if each.get("head") is not None and each["snapshots"][0] == 2 * block + 1:
                channels[each["head"]] = each["name"]
        layers.append(
            (f"layer {block + 1}", group_heads(weights, channels, text.called))
        )
    (kind,) = {every[b].attention.kind for b in blocks} or {"no"}
    facts = f"{len(tokens)} tokens, {kind} attention, {file.precision.name}."
    return _rollout(
        text, facts, tuple(layers), (REMARKS[kind],) if kind in REMARKS else ()
    )


def of_interpreter(
    source: ChainOfThought, called: Sequence[str], text: IntArray
) -> Rollout:
    """The places that the steps of a text read, without a network."""
    facts = f"{source.length} tokens, and what the dynamic program reads for each."
    return _rollout(
        Text.of(source, called, text), facts, (("", of_steps(source, called)),)
    )


def recurrence(source: ChainOfThought, called: Sequence[str]) -> Recurrence:
    """Which numbers are computed of which; all that lead to a cell count as that cell."""
    start, cells = len(source.prompt), [_parse_cell(name) for name in called]
    reads = dict[tuple[int, Cell, Cell], None]()
    for cell, step in zip(cells[start:], source.steps, strict=True):
        for k, read in enumerate(step.reads):
            if read.place and cell != cells[read.place - 1]:
                reads[k, cell, cells[read.place - 1]] = None
    most = max((k for k, _, _ in reads), default=-1) + 1
    named_by = [
        relation((naming(c), naming(r)) for j, c, r in reads if j == k)
        for k in range(most)
    ]
    return Recurrence(
        source.name,
        tuple(dict.fromkeys(c for c in cells[:start] if c[0])),
        tuple(dict.fromkeys(c for c in cells[start:] if c[0])),
        tuple(reads),
        tuple(name or f"argument {k}" for k, name in enumerate(named_by)),
    )


def _rollout(
    text: Text,
    facts: str,
    layers: tuple[tuple[str, tuple[Head, ...]], ...],
    remarks: tuple[str, ...] = (),
) -> Rollout:
    prompt = " ".join(text.tokens[: text.start - 1])
    caption = f"{prompt}: the answer is {text.tokens[text.answer]}. {facts}"
    called = tuple(text.called)
    return Rollout(
        text.name,
        caption,
        text.tokens,
        called,
        text.start,
        text.answer,
        layers,
        remarks,
    )
