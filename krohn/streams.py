"""Streams: words of any length, by networks that are certified for T letters.

A network that is certified for words of every length just goes on. Any other one reads
a stream in segments: each is a word that leads from the start to the state that the
segment before it ended with, as the network said, and then as many letters as its length
has room for. So every answer is one that the certificate speaks of, whatever the length
of the stream.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.graphs import approaches
from krohn.compiled_model import CompiledModel
from krohn.foreign import stated_machine
from krohn.network import modelfile
from krohn.network.cache import Cache, Tree
from krohn.network.model import Model, check_tokens, name_answers
from krohn.network.transformer import Transformer

AT_ONCE = 256
"""The most letters that a network with recurrent state reads before it answers."""


@dataclass
class _Group:
    """Streams whose segments began with words of one length.

    Attributes:
        rows: Which streams they are.
        opening: ``(streams, letters)``: those words.
        cache: What the network remembers of the segment; None as long as it need not.
    """

    rows: IntArray
    opening: Tensor
    cache: Cache | None = None


class Stream:
    """Streams of letters, and the states after each of them.

    Attributes:
        model: The network.
        states: The states by name; what `step` and `feed` return are their indices.
        now: ``(batch,)``: the states where the streams are.
        letters: How many letters of each stream were read.
    """

    def __init__(self, model: Model, machine: Automaton, batch: int = 1) -> None:
        """Begin ``batch`` streams at the start state.

        Args:
            model: The network.
            machine: Its machine.
            batch: How many streams run side by side.

        Raises:
            KrohnError: If the network says outputs and cannot begin elsewhere, or if its
                length has no room for a letter behind each state.
        """
        self.model, self.states = model, model.classes
        self.machine = machine
        self.now: IntArray = np.full(batch, machine.start, dtype=np.int64)
        self.letters = 0
        self._room = 0
        self._words = _openings(model, machine)
        self._groups: list[_Group] = []

    def step(self, letters: IntArray) -> IntArray:
        """One more letter of every stream: ``(batch,)`` indices to ``(batch,)`` states.

        Raises:
            KrohnError: If the network gives no answer.
        """
        return self.feed(np.asarray(letters)[..., None])[:, 0]

    def feed(self, letters: IntArray) -> IntArray:
        """More letters of every stream: ``(batch, n)`` to the states after each.

        Raises:
            KrohnError: If the network gives no answer.
        """
        chunks: list[IntArray] = [np.zeros((len(self.now), 0), dtype=np.int64)]
        tokens = self._tokens(letters)
        with torch.inference_mode():
            while tokens.shape[1]:
                if not self._room:
                    self._begin()
                most = min(self._room, AT_ONCE)
                chunks.append(self._read(tokens[:, :most]))
                tokens = tokens[:, most:]
        return np.concatenate(chunks, axis=1)

    def _tokens(self, letters: IntArray) -> Tensor:
        """Indices of letters, a row for each stream, once they are known to be that.

        Raises:
            KrohnError: If they are not.
        """
        given = np.asarray(letters)
        if given.dtype.kind not in "iu" or given.shape[:-1] != self.now.shape:
            raise KrohnError(
                f"streams read indices of letters, a row for each of {len(self.now)}; "
                "these are "
                + (str(given.shape) if given.dtype.kind in "iu" else "none")
            )
        tokens = torch.from_numpy(given.astype(np.int64))
        check_tokens(tokens, self.model.letters, tokens.device)
        return tokens

    def _begin(self) -> None:
        """Begin a segment of every stream at the state where it is."""
        if self._words is None:
            whole = torch.zeros((len(self.now), 0), dtype=torch.int64)
            start = self.model.network.start(len(self.now))
            self._groups = [_Group(np.arange(len(self.now)), whole, start)]
            self._room = AT_ONCE
            return
        words = [self._words[q] for q in self.now.tolist()]
        sizes = np.array([len(word) for word in words])
        self._groups = [
            _Group(rows, torch.tensor([words[i] for i in rows], dtype=torch.int64))
            for rows in (np.flatnonzero(sizes == n) for n in np.unique(sizes))
        ]
        self._room = _longest(self.model) - int(sizes.max())

    def _read(self, tokens: Tensor) -> IntArray:
        logits: Tensor | None = None
        for group in self._groups:
            group_logits = self._logits(group, tokens[group.rows])
            if logits is None:
                logits = group_logits.new_empty((*tokens.shape, group_logits.shape[2]))
            logits[group.rows] = group_logits
        assert logits is not None
        answers = self._answers(logits)
        self.letters += tokens.shape[1]
        self.now = answers[:, -1]
        if self._words is not None:
            self._room -= tokens.shape[1]
        return answers

    def _logits(self, group: _Group, tokens: Tensor) -> Tensor:
        """The logits of the network after letters; whole segments need no memory."""
        if group.cache is None and tokens.shape[1] == self._room:
            word = torch.cat([group.opening, tokens], dim=1)
            whole: Tensor = self.model(word)
            return whole[:, group.opening.shape[1] :]
        if group.cache is None:
            group.cache = self.model.network.start(len(group.rows))
            if group.opening.shape[1]:
                self._go_on(group, group.opening)
        return self._go_on(group, tokens)

    def _go_on(self, group: _Group, tokens: Tensor) -> Tensor:
        """Logits after letters that continue a segment, by one pass."""
        assert group.cache is not None
        count, size = tokens.shape
        chain = Tree(1, size)
        logits, grow = self.model.network.branch(tokens, group.cache, chain)
        group.cache = grow(0, count)
        return logits

    def _answers(self, logits: Tensor) -> IntArray:
        most = logits.amax(dim=-1, keepdim=True)
        chosen = logits.argmax(dim=-1)
        if int((logits == most).sum()) != chosen.numel() or not logits.isfinite().all():
            self._complain(logits)
        return chosen.numpy()

    def _complain(self, logits: Tensor) -> None:
        for place in range(logits.shape[1]):
            for answer in name_answers(logits[:, place], self.states):
                if answer not in self.states:
                    at = self.letters + place + 1
                    raise KrohnError(
                        f"the network gives no answer after letter {at:,} {answer}; "
                        "`krohn verify` finds the shortest such word"
                    )


def _longest(model: Model) -> int:
    """The longest word that the network is claimed for, and has positions for."""
    limits = [n for n in (model.length, model.longest) if n is not None]
    return min(limits)


def _openings(model: Model, machine: Automaton) -> list[tuple[int, ...]] | None:
    """For each state a word that leads to it; None if the network needs no segments."""
    if model.length is None and not isinstance(model.network, Transformer):
        return None
    if model.shows == "outputs":
        raise KrohnError(
            "this model says outputs, and a segment of a stream begins at the state where "
            "the one before it ended; compile it without --observe, or with --arch rnn"
        )
    length = _longest(model)
    words = approaches(machine, length // 4)
    for state, word in zip(machine.states, words, strict=True):
        if word is not None and len(word) >= length:
            raise KrohnError(
                f"this model is for words of up to {length} letters, and the state "
                f"{state!r} is {len(word)} letters from the start; a stream needs a model "
                f"for longer words (-T {len(word) + 1} at least)"
            )
    return [() if word is None else word for word in words]


def stream(source: str | Path | Model | CompiledModel, batch: int = 1) -> Stream:
    """Streams of letters through a compiled network, of any length.

    Args:
        source: A model file, an open model, or what `krohn.compile` returned.
        batch: How many streams run side by side.

    Raises:
        KrohnError: If the network cannot run streams.
        ModelFileError: If the file cannot be read.
    """
    if isinstance(source, CompiledModel):
        source = source.model
    model = source if isinstance(source, Model) else Model(modelfile.read(source))
    machine = json_format.from_object(stated_machine(model))
    if not model.classes:
        raise KrohnError("a stream is of states, and this network says none")
    return Stream(model, machine, batch)
