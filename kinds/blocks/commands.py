"""Machines and linear systems that write their state into the text, in the commands."""

from collections.abc import Sequence
from typing import Any, Literal, NotRequired, TypedDict

import numpy as np

from krohn import option_rules
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.minimisation import reachable
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork, as_written
from krohn.compiler.constructions.scan import MOST_POINTS
from krohn.compiler.cost import levels
from krohn.kinds.blocks.build import NAME, blocks
from krohn.kinds.blocks.source import (
    blanks,
    completed_texts,
    states_after,
)
from krohn.kinds.blocks.statement import (
    KIND,
    Blocks,
    longest,
    passes,
)
from krohn.kinds.blocks.statement_inputs import WordsInBlocks
from krohn.kinds.linear_systems.build_products import realise
from krohn.kinds.linear_systems.commands import reference
from krohn.kinds.linear_systems.source import (
    COORDINATE,
    LinearSystem,
    VectorsInBlocks,
)
from krohn.kinds.linear_systems.statement_blocks import StatedVectorsInBlocks
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Opened
from krohn.program.domains import IntArray
from krohn.program.errors import told_as
from krohn.program.word_texts import BLANK
from krohn.report import Progress
from krohn.schemas.parts import Dtype, Sizes
from krohn.source_kinds.base import Built, R, ReadableKind, letters_in, sizes
from krohn.source_kinds.kind import EXPLAINED, FEW, Answers, Example
from krohn.source_kinds.real_outputs import simulate_words
from krohn.source_kinds.written_texts import (
    BATCH,
    Row,
    TextKind,
    Writer,
    named_by,
    simulate_texts,
)
from krohn.verify.testing.simulation_result import Simulation


class TextInBlocksFacts(Sizes):
    """A machine whose state is written into the text after each block.

    Attributes:
        states: The states of the machine.
        letters: Its letters.
        block: The letters of a block.
        passes: How often the network writes a state.
        tokens: The tokens of the longest text.
        levels: The depth of a scan of one block.
        levels_without_writing: The depth of a scan of the whole word.
    """

    name: str
    kind: Literal["text-in-blocks"]
    claim: Literal["generates"]
    states: int
    letters: int
    length: int
    block: int
    passes: int
    tokens: int
    construction: str
    levels: int
    levels_without_writing: int
    dtype: Dtype
    remark: NotRequired[str]
    proved: None


class VectorsInBlocksFacts(TypedDict):
    """A linear system whose vector is written into the text after each block.

    Attributes:
        block: The letters of a block.
        passes: How often the network writes a vector.
        tokens: The tokens of the longest text.
        size: The numbers of a vector.
        depth: Blocks that attend.
        layers: All blocks.
    """

    name: str
    kind: Literal["vectors-in-blocks"]
    claim: Literal["within"]
    error: float
    length: int
    block: int
    passes: int
    tokens: int
    size: int
    construction: str
    depth: int
    layers: int
    d_model: int
    mlp_width: int
    parameters: int
    dtype: Dtype


class StatedTextInBlocks(TypedDict):
    """A machine whose state is written after each block."""

    kind: Literal["text-in-blocks"]
    name: str
    letters: list[str]
    classes: list[str]
    transitions: list[list[int]]
    start: int
    block: int


class InBlocks(ReadableKind[R]):
    """The common part of the kinds of texts in blocks."""

    explained = EXPLAINED

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> IntArray:
        """Random words of full length."""
        source: Any = self.of_file(file)
        length = longest_word(file)
        return rng.integers(len(source.letters), size=(count, length))


class TextsInBlocks(InBlocks[Blocks], TextKind[Blocks]):
    """Words in blocks of letters, each followed by the state that the network writes."""

    wire = KIND
    facts_types = (TextInBlocksFacts,)
    stated_type = StatedTextInBlocks
    source = Blocks
    claim = "generates"
    takes = frozenset(option_rules.IN_BLOCKS)

    def longest(self, file: ModelFile) -> int:
        """The most letters of a word."""
        return longest_word(file)

    def of_source(self, source: Automaton, block: int | None = None) -> Blocks:
        """A machine, its reachable part, that writes its state after so many letters.

        Raises:
            CompileError: If a letter is called like the token of a state.
        """
        assert block is not None
        part = reachable(source)
        names = source.name, part.letters, part.states
        with told_as(CompileError, f"{source.name} cannot write its states: "):
            return Blocks(*names, part.transitions, part.start, block)

    def build(self, source: Blocks, asked: CompileOptions) -> Built:
        """The network for words of up to ``length`` letters; its texts are longer."""
        options = asked.options
        length = asked.longest("a network that writes states needs the longest word")
        if len(source.states) > MOST_POINTS:
            raise CompileError(
                f"{source.name} has {len(source.states)} states; maps of up to "
                f"{MOST_POINTS} are composed"
            )
        program = blocks(source, length)
        built = as_written(NAME, program, options)
        return built, {"length": program.length, "letters": length}

    def facts(self, source: Blocks, asked: CompileOptions) -> dict[str, Any]:
        """Its size and passes, and the depth that it would have without writing."""
        built, _ = self.build(source, asked)
        length = asked.length or EXPLAINED
        assert built.cost is not None
        return {
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
        }

    def writer(self, file: ModelFile) -> Writer:
        """A word is asked for; its letters are said, and states in brackets.

        Where there is no room for more tokens, the network begins anew with the state
        written last, so that words may be of any length.
        """
        source = self.of_file(file)
        block = source.block + 1
        # Of whole blocks: after each of them a state is written, to begin anew with.
        room = file.claim.longest // block * block or None

        def row(words: Sequence[str]) -> Row:
            word = letters_in(words, source.letters)
            if room is None:
                check_length(word, file)
            tokens: list[int] = blanks(word[None], source.block)[0].tolist()
            return tokens

        def describe_text(row: Row, text: list[int]) -> Answers:
            return _text_result(source, row, text, room or len(row))

        first = len(source.letters)
        return Writer(source.tokens, row, describe_text, first=first, room=room)

    def example(self, file: ModelFile) -> Example:
        """A word of the first letters, before a state is written."""
        source = self.of_file(file)
        size = min(FEW, source.block, longest_word(file))
        return Example([i % len(source.letters) for i in range(size)], 1)

    def simulate_inputs(
        self,
        file: ModelFile,
        inputs: IntArray,
        progress: Progress,
        network: Opened = None,
    ) -> Simulation:
        """Let the network write the states of words."""
        writer, source = self.writer(file), self.of_file(file)
        return _simulate_texts(file, writer, source, inputs, progress, network)


def longest_word(file: ModelFile) -> int:
    """The most letters of a word, of a claim about words in blocks."""
    inputs = file.claim.inputs
    assert isinstance(inputs, WordsInBlocks)
    return inputs.length


def check_length(word: IntArray, file: ModelFile) -> None:
    """Refuse a word whose text is longer than the texts of a model.

    Raises:
        KrohnError: If it is.
    """
    most = longest_word(file)
    if len(word) > most:
        raise KrohnError(
            f"this model is for words of up to {most} letters; compile it again "
            f"with a larger length (-T {len(word)})"
        )


def _text_result(source: Blocks, row: Row, text: list[int], room: int) -> Answers:
    """A whole text, of which so many tokens are read at once."""
    names = named_by(source.tokens, text)
    word = [source.letters[i] for i in row if i != BLANK]
    result = {
        "word": word,
        "text": names,
        "passes": passes(len(word), source.block),
        "answer": names[-1],
        "shown": " ".join(names),
    }
    # A piece after the first begins with a written state.
    read = [i if i < room else i % room + 1 for i in range(len(names))]
    return Answers(result, read)


def _states_said(file: ModelFile, texts: IntArray) -> IntArray:
    """``(batch, N)``: the states that the network says after each token of texts."""
    import torch

    from krohn.network.model import Model

    with torch.no_grad():
        return np.asarray(Model(file)(torch.from_numpy(texts)).argmax(dim=-1).numpy())


def _simulate_texts(
    file: ModelFile,
    writer: Writer,
    source: Blocks,
    words: IntArray,
    progress: Progress,
    network: Opened,
) -> Simulation:
    """Hold what it writes, and says after each token of the text, against the machine.

    Of an open network only what it writes.
    """
    from krohn.verify.testing.counterexample import Counterexample

    rows, texts = blanks(words, source.block).tolist(), completed_texts(source, words)
    both = zip(rows, texts.tolist(), strict=True)
    simulation = simulate_texts(
        file, writer, both, len(words), words.shape[1], progress, network
    )
    if simulation.counterexample or network is not None:
        return simulation
    first, read = len(source.letters), texts[:, :-1]
    for at in range(0, len(words), BATCH):
        batch = read[at : at + BATCH]
        right, actual_states = (
            first + states_after(source, batch),
            first + _states_said(file, batch),
        )
        for i in np.flatnonzero((right != actual_states).any(axis=1))[:1].tolist():
            word, wanted, actual = (
                tuple(named_by(source.tokens, x[i]))
                for x in (batch, right, actual_states)
            )
            example = Counterexample(word, wanted, actual, "letter by letter")
            return Simulation(at + i + 1, words.shape[1], example)
    return simulation


# Linear systems, which write a vector.


class LinearSystemsInBlocks(InBlocks[VectorsInBlocks]):
    """Words in blocks of letters; after each the network reads what it has said."""

    wire = StatedVectorsInBlocks.kind
    facts_types = (VectorsInBlocksFacts,)
    stated_type = StatedVectorsInBlocks
    source = VectorsInBlocks
    claim = "within"
    takes = frozenset({"strict", "keep", "positions", "block"})
    formats = ("float64",)
    stays = "the network reads the vectors that it has written, which needs Krohn"

    def longest(self, file: ModelFile) -> int:
        """The most letters of a word."""
        return longest_word(file)

    def of_source(self, source: Any, block: int | None = None) -> VectorsInBlocks:
        """A linear system that writes its vector after so many letters.

        Raises:
            CompileError: If it is none, or cannot write its vectors.
        """
        if not isinstance(source, LinearSystem):
            raise CompileError("--block is for machines and linear systems")
        assert block is not None
        with told_as(CompileError, f"{source.name} cannot write its states: "):
            return VectorsInBlocks(source, block)

    def build(self, source: VectorsInBlocks, asked: CompileOptions) -> Built:
        """The network, and the error that the checker shows of all blocks together."""
        options = asked.options
        length = asked.longest("a network that writes vectors needs the longest word")
        tokens = longest(length, source.block)
        made = realise(source.affine, tokens, options, window=source.block + 1)
        built = CompiledNetwork(NAME, *made, None)
        claim = {"length": tokens, "letters": length}
        where = f"{source.system.name} cannot be computed in {options.precision.name}"
        with told_as(CompileError, f"{where} within any error that can be shown: "):
            return built, self.prove_claim(source, built, claim, options)

    def facts(self, source: VectorsInBlocks, asked: CompileOptions) -> dict[str, Any]:
        """Its size, its passes and its error."""
        built, claim = self.build(source, asked)
        length = asked.length or EXPLAINED
        shape, tensors = built.network.architecture, built.network.tensors
        return {
            "error": claim["error"],
            "length": length,
            "block": source.block,
            "passes": passes(length, source.block),
            "tokens": claim["length"],
            "size": source.system.size,
            "construction": NAME,
            "depth": len(shape["blocks"]),
            "layers": len(shape["blocks"]),
            "d_model": shape["d_model"],
            "mlp_width": max((sum(b["mlp"]) for b in shape["blocks"]), default=0),
            "parameters": sum(tensor.size for tensor in tensors.values()),
        }

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The answers of the network after each letter, with dashes between blocks."""
        source = self.of_file(file)
        word = letters_in(words, source.system.letters)
        check_length(word, file)
        states = said_by(file, word[None], network)[0]
        rows = [" ".join(f"{x: .9g}" for x in state) for state in states.tolist()]
        ends = range(source.block, len(word), source.block)
        for at in reversed(ends):
            rows.insert(at, "--- written, and read back")
        result = {
            "word": [source.system.letters[o] for o in word.tolist()],
            "outputs": states.tolist(),
            "passes": passes(len(word), source.block),
            "shown": "\n".join(rows),
        }
        text = blanks(word[None], source.block)[0, :-1]
        return Answers(result, (np.flatnonzero(text != BLANK) + 1).tolist())

    def simulate_inputs(
        self, file: ModelFile, inputs: IntArray, progress: Progress
    ) -> Simulation:
        """Hold outputs against the states of the system."""
        system = self.of_file(file).system
        right = reference(system)
        return simulate_words(file, system.letters, right, inputs, progress, said_by)


def said_by(file: ModelFile, words: IntArray, network: Opened = None) -> FloatArray:
    """``(batch, T, n)``: what the network says after each letter of words."""
    import torch

    from krohn.network.running_file import plain_network
    from krohn.network.stepping import fed_back
    from krohn.network.transformer import Transformer

    source = VectorsInBlocks.from_wire(file.header["source"])
    size, opened = source.affine.size, network or plain_network(file)
    assert isinstance(opened, Transformer)
    texts = blanks(words, source.block)[:, :-1]
    channels = file.header["program"]["channels"]
    first = next(c["dims"][0] for c in channels if c["op"] == "letter-matrix")
    column = range(first + size - 1, first + size * (size - 1), size)
    given = torch.from_numpy(texts).to(opened.token.device)
    with torch.no_grad():
        outputs = fed_back(opened, given, column, 1 / COORDINATE)
    letters = (texts != BLANK)[0]
    return np.asarray(outputs.double().cpu().numpy()[:, letters, :-1])
