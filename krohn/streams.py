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

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.graphs import approaches
from krohn.compiled_model import CompiledModel
from krohn.foreign import stated_machine
from krohn.network import modelfile
from krohn.network.model import (
    Model,
    check_tokens,
    network_for_torch,
)
from krohn.network.reading import (
    Array,
    Reading,
    choose_classes,
    name_chosen_classes,
    output_function,
)
from krohn.network.transformer import Transformer
from krohn.source_kinds.written_texts import reader

AT_ONCE = 256
"""The most letters that a network with recurrent state reads before it answers."""


@dataclass
class _Group:
    """Streams whose segments began with words of one length.

    Attributes:
        rows: Which streams they are.
        opening: ``(streams, letters)``: those words.
        reading: What goes on reading the segment; None as long as nothing need.
    """

    rows: IntArray
    opening: IntArray
    reading: Reading | None = None


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
        network = network_for_torch(model)
        self._reader = reader(model.file, network)
        self._whole = output_function(model.file, network)
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
        while tokens.shape[1]:
            if not self._room:
                self._begin()
            most = min(self._room, AT_ONCE)
            chunks.append(self._read(tokens[:, :most]))
            tokens = tokens[:, most:]
        return np.concatenate(chunks, axis=1)

    def _tokens(self, letters: IntArray) -> IntArray:
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
        tokens: IntArray = given.astype(np.int64)
        cpu = torch.device("cpu")
        check_tokens(torch.from_numpy(tokens), self.model.letters, cpu)
        return tokens

    def _begin(self) -> None:
        """Begin a segment of every stream at the state where it is."""
        if self._words is None:
            whole = np.zeros((len(self.now), 0), dtype=np.int64)
            self._groups = [_Group(np.arange(len(self.now)), whole)]
            self._room = AT_ONCE
            return
        words = [self._words[q] for q in self.now.tolist()]
        sizes = np.array([len(word) for word in words])
        self._groups = [
            _Group(rows, np.array([words[i] for i in rows], dtype=np.int64))
            for rows in (np.flatnonzero(sizes == n) for n in np.unique(sizes))
        ]
        self._room = _longest(self.model) - int(sizes.max())

    def _read(self, tokens: IntArray) -> IntArray:
        logits: Array | None = None
        for group in self._groups:
            group_logits = self._logits(group, tokens[group.rows])
            if logits is None:
                sizes = *tokens.shape, group_logits.shape[2]
                logits = np.empty(sizes, group_logits.dtype)
            logits[group.rows] = group_logits
        assert logits is not None
        answers = self._answers(logits)
        self.letters += tokens.shape[1]
        self.now = answers[:, -1]
        if self._words is not None:
            self._room -= tokens.shape[1]
        return answers

    def _logits(self, group: _Group, tokens: IntArray) -> Array:
        """The logits of the network after letters; whole segments need no memory."""
        opening, recurrent = group.opening, self._words is None
        if group.reading is None and tokens.shape[1] == self._room and not recurrent:
            return self._whole(np.concatenate([opening, tokens], axis=1))[
                :, opening.shape[1] :
            ]
        if group.reading is None:
            group.reading = self._reader(len(group.rows))
            group.reading.read_on(opening)
        return group.reading.read_on(tokens)

    def _answers(self, logits: Array) -> IntArray:
        count, size, classes = logits.shape
        chosen, sure = choose_classes(logits.reshape(-1, classes))
        if not sure.all():
            self._complain(logits)
        return chosen.reshape(count, size)

    def _complain(self, logits: Array) -> None:
        for place in range(logits.shape[1]):
            for answer in name_chosen_classes(logits[:, place], self.states):
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

    The network is read as it is now, without changes that are made later.

    Args:
        source: A model file, an open model, or what `krohn.compile` returned.
        batch: How many streams run side by side.

    Raises:
        KrohnError: If the network cannot run streams.
        ModelFileError: If the file cannot be read.

    Examples:
        >>> parity = krohn.stream(krohn.compile("C2", arch="rnn"))
        >>> parity.feed([[1, 1, 1]])
        array([[1, 0, 1]])
    """
    if isinstance(source, CompiledModel):
        source = source.model
    model = source if isinstance(source, Model) else Model(modelfile.read(source))
    machine = json_format.from_object(stated_machine(model))
    if not model.classes:
        raise KrohnError("a stream is of states, and this network says none")
    return Stream(model, machine, batch)
