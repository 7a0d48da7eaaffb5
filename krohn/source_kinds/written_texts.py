"""Texts that networks write after prompts: many at once, by one decoder."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import CompileOptions
from krohn.compiled_model import CompiledModel
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import Tried
from krohn.network.modelfile import ModelFile
from krohn.network.reading import Begin, Opened, decode, plain_reader
from krohn.program.word_texts import BLANK
from krohn.report import Progress, silent
from krohn.source_kinds.base import R, ReadableKind, SourceKind
from krohn.source_kinds.kind import Answers, Example, Runs, in_batches, mark_unproved
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from torch.nn import Module

    from krohn.checks import Checks
    from krohn.network.model import Network

BATCH = 256
"""So many texts are written together at most."""
MOST_LINES = 2**16
"""So many lines are run at most."""
SHOWN = 8
"""So many tokens that are written are shown in an example."""
Line = tuple[int, ...]
Row = Sequence[int]
"""A text as it is asked for: `BLANK` stands where the network is to write."""
S = TypeVar("S")


@dataclass(frozen=True)
class Writer:
    """How the texts of a file are asked for, and what they say.

    Attributes:
        tokens: The name of each token.
        row: The text to be written after a prompt, as a person writes it; raises
            KrohnError if it is none.
        told: What a row says when it is written; raises KrohnError if it says nothing.
        first: The token of the network's first class.
        end: The token that ends a text; None if all texts of a prompt are of one length.
        room: How many tokens are read at once, where a network may begin anew; or None.
        explain: What `krohn run --json` says beside: how a text comes about.
    """

    tokens: Sequence[str]
    row: Callable[[Sequence[str]], Row]
    told: Callable[[Row, list[int]], Answers]
    first: int = 0
    end: int | None = None
    room: int | None = None
    explain: Callable[[list[int]], dict[str, Any]] = lambda _: {}

    def write_texts(self, begin: Begin, rows: Sequence[Row]) -> list[list[int]]:
        """The texts that a network writes into rows, which may be of unlike lengths.

        No row sees another one. What a row says does not depend on those beside it,
        wherever the network is proved: its proof allows for sums in any order.

        Returns:
            Each row up to its end; `BLANK` where the network gives no answer.
        """
        texts = []
        for at in range(0, len(rows), BATCH):
            texts += self._together(begin, rows[at : at + BATCH])
        return texts

    def runs(self, file: ModelFile, network: Opened = None, *, brief: bool) -> Runs:
        """The function that continues many prompts together.

        Args:
            file: The model.
            network: The open network; None for that of the file.
            brief: Leave out what explains texts, which may take longer than they do.

        Returns:
            A function from prompts to the texts after each, with marks of the parts
            beyond the claim. It raises KrohnError at the first that is no prompt, after
            all that are before it.
        """
        begin = reader(file, network)

        def answer(rows: list[Row]) -> Iterator[dict[str, Any]]:
            for row, text in zip(rows, self.write_texts(begin, rows), strict=True):
                told = self.told(row, text)
                if not brief:
                    told = told._replace(result=told.result | self.explain(text))
                yield mark_unproved(file, told)

        return lambda prompts: in_batches(prompts, self.row, answer, BATCH)

    def _together(self, begin: Begin, rows: Sequence[Row]) -> list[list[int]]:
        # What stands after a row is read after it, and cut off.
        texts = np.zeros((len(rows), max(map(len, rows))), np.int64)
        for text, row in zip(texts, rows, strict=True):
            text[: len(row)] = row
        answers = decode(begin, texts, self.first, self.end, self.room).tolist()
        return [
            self._up_to_end(row, text[: len(row)])
            for row, text in zip(rows, answers, strict=True)
        ]

    def _up_to_end(self, row: Row, text: list[int]) -> list[int]:
        """A text up to the first end that is written; one without an answer as it is."""
        begin = list(row).index(BLANK) if BLANK in row else len(row)
        if self.end is not None and self.end in text[begin:]:
            return text[: text.index(self.end, begin) + 1]
        return text


class TextKind(SourceKind[S]):
    """Sources whose networks write texts after prompts."""

    spelled = False
    asks: ClassVar[tuple[str, ...]] = ("digits",)

    @abstractmethod
    def simulate_inputs(
        self,
        file: ModelFile,
        inputs: Any,
        progress: Progress,
        network: Opened = None,
    ) -> Simulation:
        """Hold the texts of a network after inputs against the reference.

        Args:
            file: The model.
            inputs: Prompts, as `sample_inputs` gives them.
            progress: Called with what is being done, how much is done, and of how much.
            network: The open network that writes; None for that of the file.
        """

    def is_right_on(
        self, file: ModelFile, network: "Module", count: int, checks: "Checks"
    ) -> bool:
        """Whether an open network continues random prompts rightly."""
        inputs = self.sample_inputs(file, count, np.random.default_rng(checks.seed))
        return self.simulate_inputs(file, inputs, silent, network).has_passed

    def compile(self, source: S, asked: CompileOptions) -> CompiledModel:
        """The network in the first of the formats in which it is proved."""
        tried, (*narrow, last) = list[Tried](), asked.formats
        for dtype in narrow:
            try:
                return super().compile(source, replace(asked, formats=(dtype,)))
            except CompileError as reason:
                tried.append(Tried(self.wire, None, reason.why, dtype))
        model = super().compile(source, replace(asked, formats=(last,)))
        return replace(model, tried=(*tried, *model.tried))

    def begun(self, file: ModelFile, row: Row) -> Example:
        """A prompt, with the beginning of what the network writes behind it."""
        text, first = self.texts(file, [row])[0][:-1], list(row).index(BLANK)
        text = text[: first + SHOWN]
        return Example(text[: text.index(BLANK)] if BLANK in text else text, first)

    @abstractmethod
    def writer(self, file: ModelFile) -> Writer:
        """How the texts of a file are asked for.

        Raises:
            KrohnError: If the file is damaged.
        """

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The text that the network writes after a prompt."""
        writer = self.writer(file)
        row = writer.row(words)
        text = writer.write_texts(reader(file, network), [row])[0]
        told = writer.told(row, text)
        return told._replace(result=told.result | writer.explain(text))

    def texts(self, file: ModelFile, rows: Sequence[Row]) -> list[list[int]]:
        """The texts that the network writes into rows, as `Writer.write_texts` says it."""
        return self.writer(file).write_texts(reader(file), rows)

    def runs(self, file: ModelFile, network: Opened = None) -> Runs:
        """The function that continues many prompts together, as `krohn run` prints them."""
        return self.writer(file).runs(file, network, brief=False)


def named_by(tokens: Sequence[str], text: Iterable[int]) -> list[str]:
    """The names of the tokens of a text."""
    return [tokens[i] if i != BLANK else "(no answer)" for i in text]


def blank_after_prompt(text: Sequence[int], prompt: int) -> Row:
    """A whole text as it is asked for after its first tokens."""
    return [*text[:prompt], *[BLANK] * (len(text) - prompt)]


def simulate_texts(
    file: ModelFile,
    writer: Writer,
    texts: Iterable[tuple[Row, Sequence[int]]],
    count: int,
    length: int,
    progress: Progress,
    network: Opened = None,
) -> Simulation:
    """Hold what the network writes against the reference.

    Args:
        file: The network.
        writer: How its texts are asked for.
        texts: Rows, each with the right text, which is as long.
        count: How many there are.
        length: How long they are, as the result says it.
        progress: Called with what is being done, how much is done, and of how much.
        network: The open network that writes; None for that of the file.
    """
    from krohn.verify.testing.counterexample import Counterexample

    left, begin, done = iter(texts), reader(file, network), 0
    # A wrong text is shown as far as the right one goes.
    endless = replace(writer, end=None)
    while batch := list(islice(left, BATCH)):
        progress("running texts", done, count)
        outputs = endless.write_texts(begin, [row for row, _ in batch])
        for (_, wanted), text in zip(batch, outputs, strict=True):
            done += 1
            if text != list(wanted):
                right, actual = (
                    tuple(named_by(writer.tokens, x)) for x in (wanted, text)
                )
                wrong = Counterexample(
                    right[:-1], right[1:], actual[1:], "letter by letter"
                )
                return Simulation(done, length, wrong)
    return Simulation(done, length, None)


def row_of(end: int, line: Line, length: int) -> Row:
    """A line, its end, and room for as much as a network that reads so many tokens says.

    Raises:
        KrohnError: If it is to read fewer tokens than a line has.
    """
    room = length - len(line)
    if room < 1:
        raise KrohnError(f"the file is for texts of up to {length} tokens")
    return [*line, end, *[BLANK] * room]


class LineKind(TextKind[R], ReadableKind[R]):
    """A source whose texts begin with a line that is chosen, of any length."""

    @abstractmethod
    def text_of(self, source: R, line: Sequence[int], most: int) -> list[int]:
        """The first tokens of the text of a line, ``most`` of them or all."""

    def is_longest(self, file: ModelFile, length: int) -> bool:
        """Whether no line has more letters."""
        source: Any = self.of_file(file)
        return bool(source.longest == length)

    def example(self, file: ModelFile) -> Example:
        """A line, and the beginning of its text."""
        (line,) = self.sample_inputs(file, 1, np.random.default_rng(0))
        source: Any = self.of_file(file)
        return self.begun(file, row_of(source.end, line, file.claim.longest))

    def simulate_inputs(
        self,
        file: ModelFile,
        inputs: list[Line],
        progress: Progress,
        network: Opened = None,
    ) -> Simulation:
        """Let the network continue lines, the shortest first."""
        source: Any = self.of_file(file)
        length = file.claim.longest

        def texts() -> Iterator[tuple[Row, Sequence[int]]]:
            for line in sorted(inputs, key=len):
                text = self.text_of(source, line, length + 1)
                yield blank_after_prompt(text, len(line) + 1), text

        arguments = len(inputs), length, progress, network
        return simulate_texts(file, self.writer(file), texts(), *arguments)


def reader(file: ModelFile, network: Opened = None) -> Begin:
    """The reading of texts by a network, on the arrays that serve it.

    Args:
        file: The model.
        network: The open network; None for that of the file.

    Raises:
        ModelFileError: If it does not read letter by letter.
    """
    plain = plain_reader(file) if network is None else None
    if plain is not None:
        return plain
    from krohn.network.running_file import plain_network
    from krohn.network.stepping import stepping

    return stepping(cast("Network", network or plain_network(file)))
