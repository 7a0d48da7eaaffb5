"""Machines that write their state into the text, in the commands."""

from typing import Any

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import reachable
from krohn.claimed_answers import Answers
from krohn.compiler.compiled_network import CompiledNetwork, as_written
from krohn.compiler.constructions.blocks import NAME, blocks
from krohn.compiler.constructions.scan import MOST_POINTS, levels
from krohn.compiler.errors import CompileError
from krohn.compiler.pipeline import Options
from krohn.network.modelfile import ModelFile
from krohn.option_rules import IN_BLOCKS
from krohn.program.blocks import KIND, Blocks, blanks, longest, passes
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.progress import Progress
from krohn.source_kinds.base import (
    USUAL,
    How,
    ReadableKind,
    every_word,
    letters_in,
    sizes,
)
from krohn.verify.testing.simulation_result import Simulation

BATCH = 256
EXPLAINED = 128
"""The length that is explained where none is given."""


class TextsInBlocks(ReadableKind[Blocks]):
    """Words in blocks of letters, each followed by the state that the network writes."""

    wire = KIND
    source = Blocks
    claim = "generates"
    takes = frozenset(IN_BLOCKS)

    def named(self, text: str) -> Blocks | None:
        """None has a name: a machine is given with the letters of a block (--block)."""
        return None

    def build(
        self, source: Blocks, length: int | None, options: Options, how: How = USUAL
    ) -> tuple[CompiledNetwork, dict[str, Any]]:
        """The network for words of up to ``length`` letters; its texts are longer."""
        if length is None or length < 1:
            raise CompileError(
                "a network that writes states needs the longest word it is for (-T)"
            )
        if len(source.states) > MOST_POINTS:
            raise CompileError(
                f"{source.name} has {len(source.states)} states; maps of up to "
                f"{MOST_POINTS} are composed"
            )
        program = blocks(source, length)
        built = as_written(NAME, program, options)
        return built, {"length": program.length, "letters": length}

    def explain(
        self, source: Blocks, length: int | None, options: Options, how: How = USUAL
    ) -> dict[str, Any]:
        """Its size and passes, and the depth that it would have without writing."""
        length = length or EXPLAINED
        built, _ = self.build(source, length, options)
        assert built.cost is not None
        return {
            "name": source.name,
            "kind": self.wire,
            "claim": self.claim,
            "states": len(source.states),
            "letters": len(source.letters),
            "length": length,
            "block": source.block,
            "passes": passes(length, source.block),
            "tokens": longest(length, source.block),
            "construction": NAME,
            **sizes(built.cost),
            "levels": levels(source.block + 1, 2),
            "levels_without_writing": levels(length, 2),
            "dtype": options.precision.name,
        }

    def answers(self, file: ModelFile, words: list[str]) -> Answers:
        """The text that the network makes of a word: letters, and states in brackets."""
        source = self.of_file(file)
        word = letters_in(words, source.name, source.letters)
        text = written_by(file, source, word[None])[0]
        names = [source.tokens[i] if i >= 0 else "(no answer)" for i in text]
        result = {
            "word": [source.letters[i] for i in word],
            "text": names,
            "passes": passes(len(word), source.block),
            "answer": names[-1],
            "shown": " ".join(names),
        }
        size = _room(file, source) or len(names)
        # A piece after the first begins with a written state.
        read = [i if i < size else i % size + 1 for i in range(len(names))]
        return Answers(result, read)

    def sample(
        self, file: ModelFile, count: int, seed: int, progress: Progress
    ) -> Simulation:
        """Let the network write the states of random words of full length."""
        source, length = self.of_file(file), file.header["claim"]["letters"]
        rng = np.random.default_rng(seed)
        words = rng.integers(len(source.letters), size=(count, length))
        return _simulated(file, source, words, progress)

    def every(self, file: ModelFile, length: int, progress: Progress) -> Simulation:
        """Let it write those of every word of so many letters."""
        source = self.of_file(file)
        words = every_word(len(source.letters), length)
        return _simulated(file, source, words, progress, every=True)

    def covers(self, file: ModelFile) -> str:
        """What a proof is about, in words."""
        claim, source = file.header["claim"], self.of_file(file)
        return (
            f"every written state in the texts of all {len(source.letters)}^"
            f"{claim['letters']} words of {claim['letters']} letters, and of shorter ones"
        )


def in_blocks(machine: Automaton, block: int) -> Blocks:
    """A machine, its reachable part, that writes its state after so many letters.

    Raises:
        CompileError: If a letter is called like the token of a state.
    """
    part = reachable(machine)
    names = machine.name, part.letters, part.states
    try:
        return Blocks(*names, part.transitions, part.start, block)
    except Refused as reason:
        raise CompileError(
            f"{machine.name} cannot write its states: {reason}"
        ) from None


def check_length(word: IntArray, file: ModelFile) -> None:
    """Refuse a word whose text is longer than the texts of a model.

    Raises:
        KrohnError: If it is.
    """
    most = file.header["claim"]["letters"]
    if len(word) > most:
        raise KrohnError(
            f"this model is for words of up to {most} letters; compile it again "
            f"with a larger length (-T {len(word)})"
        )


def written_by(file: ModelFile, source: Blocks, words: IntArray) -> IntArray:
    """``(batch, T + ⌈T/b⌉)``: the texts that the network makes of words, of any length.

    Where there is no room for more tokens, it begins anew with the state written last.

    Raises:
        KrohnError: If words are longer than those of the file, and this has no room for
            a whole block.
    """
    import torch

    from krohn.network.decoding import decode
    from krohn.network.model import Model
    from krohn.network.transformer import Transformer

    network = Model(file).network
    assert isinstance(network, Transformer)
    texts, first = torch.from_numpy(blanks(words, source.block)), len(source.letters)
    room = _room(file, source)
    if not room:
        check_length(words[0], file)
    found, size = torch.zeros_like(texts[:, :0]), room or texts.shape[1]
    with torch.no_grad():
        for piece in torch.split(texts, size, dim=1):
            last = found[:, -1:]
            made = decode(network, torch.cat([last, piece], dim=1), first)
            found = torch.cat([found, made[:, last.shape[1] :]], dim=1)
    return np.asarray(found.numpy())


def _room(file: ModelFile, source: Blocks) -> int:
    """How many tokens, of whole blocks, are read at once; 0 if there is no room for one."""
    block: int = source.block + 1
    return int(file.header["claim"]["length"]) // block * block


def _said(file: ModelFile, texts: IntArray) -> IntArray:
    """``(batch, N)``: the states that the network says after each token of texts."""
    import torch

    from krohn.network.model import Model

    with torch.no_grad():
        return np.asarray(Model(file)(torch.from_numpy(texts)).argmax(dim=-1).numpy())


def _simulated(
    file: ModelFile,
    source: Blocks,
    words: IntArray,
    progress: Progress,
    every: bool = False,
) -> Simulation:
    """Hold what it writes, and says after each token of the text, against the machine."""
    from krohn.verify.testing.counterexample import Counterexample

    def wrong(row: IntArray, right: IntArray, said: IntArray) -> Counterexample:
        names = [*source.tokens, "(no answer)"]
        word, expected, actual = (
            tuple(names[i] for i in one) for one in (row, right, said)
        )
        return Counterexample(word, expected, actual, "letter by letter")

    first = len(source.letters)
    for at in range(0, len(words), BATCH):
        texts = source.written(words[at : at + BATCH])
        progress("running words", at, len(words))
        found = written_by(file, source, words[at : at + BATCH])
        for i in np.flatnonzero((found != texts).any(axis=1))[:1].tolist():
            example = wrong(texts[i, :-1], texts[i, 1:], found[i, 1:])
            return Simulation(at + i + 1, words.shape[1], example)
        read = texts[:, :-1]
        right, said = first + source.run(read), first + _said(file, read)
        for i in np.flatnonzero((right != said).any(axis=1))[:1].tolist():
            example = wrong(read[i], right[i], said[i])
            return Simulation(at + i + 1, words.shape[1], example)
    return Simulation(len(words), words.shape[1], None, every=every)
