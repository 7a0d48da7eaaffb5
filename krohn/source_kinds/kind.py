"""The questions that the commands ask of every kind of source."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.wording import count
from krohn.compiler import CompileError
from krohn.network.modelfile import ModelFile, alphabets
from krohn.option_rules import refuse_others
from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import sees_ahead
from krohn.program.claim import Sense
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.slices import source_examples
from krohn.source_kinds import in_blocks, of_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from torch.nn import Module

    from krohn.checks import Checks
    from krohn.compile_options import CompileOptions
    from krohn.compiled_model import CompiledModel
    from krohn.network.reading import Opened
    from krohn.report import Report
    from krohn.source_kinds.written_texts import Writer

S = TypeVar("S")
T = TypeVar("T")
SIZES = re.compile(r"\d[\d,]*")
EXPLAINED = 128
"""The length that is explained where none is given, of every kind that has a choice."""
FEW = 3
"""How many letters a short word has."""
Runs = Callable[[Iterable[list[str]]], Iterator[dict[str, Any]]]
"""A function that answers each of many inputs."""


@dataclass(frozen=True)
class Whole:
    """Inputs of a network that reads inputs of one form.

    Attributes:
        length: How many tokens each has.
        count: How many inputs there are.
        rows: ``(rows, length)``: the tokens of some of them.
        told: How many of them are given; those behind follow. None if nothing follows.
        tokens: The names of tokens.
    """

    length: int
    count: int
    rows: Callable[[slice], IntArray]
    told: int | None
    tokens: Sequence[str]


class Example(NamedTuple):
    """A short input of a network.

    Attributes:
        tokens: It.
        first: How many of them are read before the first answer that is shown.
    """

    tokens: list[int]
    first: int


class Kind(ABC, Generic[S]):
    """Sources of one kind: how they are named, compiled, run and explained.

    Attributes:
        wire: The name of the kind on file.
        source: The type of its sources.
        claim: What is proved of its networks: ``exact``, ``within`` or ``generates``.
        takes: The options of `krohn.compile` beside length and format that matter.
        unit: What an input is made of: letters, tokens or vectors, in the singular.
        spelled: Whether an input is a word of the letters that the network reads.
        pictured: The options of `krohn draw` that matter.
        asks: The options of `krohn verify` beside those of every kind.
        ran: What is run through its networks.
        formats: The number formats where none is asked for: one, or those that are tried
            in turn.
        explained: The length that is explained where none is given, if one is needed.
        measured: Whether a source says how long its inputs are.
        instead: What can be done, where no machine can be learned from a network.
        refusal: How a name is refused: of the name, and of the reason.
        stays: Why no other library runs its networks; empty if others do.
    """

    wire: ClassVar[str]
    source: ClassVar[Any]
    claim: ClassVar[str]
    takes: ClassVar[frozenset[str]] = frozenset({"strict", "keep"})
    unit: ClassVar[str] = "token"
    spelled: ClassVar[bool] = True
    pictured: ClassVar[frozenset[str]] = frozenset({"source", "word"})
    asks: ClassVar[tuple[str, ...]] = ()
    ran: ClassVar[str] = "words"
    formats: ClassVar[tuple[str, ...]] = ("float32",)
    explained: ClassVar[int | None] = None
    measured: ClassVar[bool] = False
    instead: ClassVar[str] = ""
    refusal: ClassVar[str] = "{1}"
    stays: ClassVar[str] = ""

    @property
    def called(self) -> str:
        """The name of a source of this kind in messages."""
        return (
            f"{'an' if self.wire[0] in 'aeiou' else 'a'} {self.wire.replace('-', ' ')}"
        )

    def find_by_name(self, text: str) -> S | None:
        """The source of a name; None if it is the name of none.

        Raises:
            KrohnError: If one of its numbers is out of range.
        """
        try:
            return self.of_name(text)
        except Refused as reason:
            raise KrohnError(self.refusal.format(text, reason)) from None

    def of_name(self, text: str, /) -> S | None:
        """The source of a name; raises Refused for numbers that are out of range."""
        return None

    def owns(self, source: object) -> bool:
        """Whether a source is of this kind."""
        return isinstance(source, self.source)

    def take_object(self, source: Any) -> S | None:
        """The source that an object of Python is; None if it is none of this kind.

        Raises:
            KrohnError: If it is damaged.
        """
        return source if self.owns(source) else None

    def is_machine(self, source: S) -> bool:
        """Whether a source is compiled as the machine that it is."""
        return False

    def machine(self, source: Any) -> Automaton:
        """The machine that a source is.

        Raises:
            MachineError: If it is none.
        """
        raise MachineError(
            f"{source.name} is {self.called}, and no machine; krohn explain and krohn "
            "compile take it"
        )

    def check_given(self, given: Collection[str], values: Mapping[str, Any]) -> None:
        """Refuse options of `krohn compile` that do nothing.

        Args:
            given: Those that were given.
            values: Of all of them, by name.

        Raises:
            KrohnError: If there is one.
        """
        refuse_others(given, self.takes, self.called)

    def of_source(self, source: Any, block: int | None = None) -> S:
        """The source of this kind that a machine, or another source, is.

        Args:
            source: The machine or the other source.
            block: After how many letters it writes its state, if it writes states.

        Raises:
            CompileError: If it is none of this kind.
        """
        raise CompileError(f"{source.name} is not {self.called}")

    def says_laws(self, construction: str) -> bool:
        """Whether it is a construction of `krohn.compile_generator`."""
        return False

    def resolve_source(
        self, source: S, asked: "CompileOptions"
    ) -> "tuple[Kind[Any], Any]":
        """The source to compile, with its kind: this one, or the one that it is taken for.

        Raises:
            CompileError: If it cannot be.
        """
        return (self, source) if asked.block is None else in_blocks(source, asked.block)

    @abstractmethod
    def compile(self, source: S, asked: "CompileOptions") -> "CompiledModel":
        """The network of a source, proved.

        Raises:
            KrohnError: If it cannot be compiled or proved, or an option has no effect.
        """

    @abstractmethod
    def explain(self, source: S, asked: "CompileOptions") -> dict[str, Any]:
        """The facts of a source, and the sizes of its network.

        Raises:
            KrohnError: If an option has no effect.
        """

    @abstractmethod
    def verify(self, file: ModelFile, checks: "Checks") -> "Report":
        """Prove, or run, what a file claims of its source.

        Raises:
            KrohnError: If an option has no effect, or another source is asked about.
        """

    def is_right_on(
        self, file: ModelFile, network: "Module", count: int, checks: "Checks"
    ) -> bool:
        """Whether an open network, in the place of a file's, is right on random inputs.

        It reads letter by letter.

        Raises:
            KrohnError: If its answers are no classes or texts, which are right or wrong.
        """
        raise KrohnError(
            f"--digits is for networks that say classes or texts, and this file is about "
            f"{self.called}"
        )

    def remarks(self, source: S) -> dict[str, Any]:
        """The remarks for the author of a source, as `explain` and `compile` print them."""
        return {}

    def describe(self, name: str, source: S) -> str:
        """What the source of a name is, in a line; empty if nobody has written it down.

        Of other sizes than those of the list it is what the listed one is.
        """
        examples = source_examples(self.wire)
        full = str(getattr(source, "name", name))
        for known in (name, full, full.partition(":")[0]):
            if (text := examples.get(known)) is not None:
                return text.partition("; also")[0]
            stem = SIZES.sub("", known)
            for example, text in examples.items():
                if stem != known and SIZES.sub("", example) == stem:
                    return (
                        f"as {example}, of another size: {text.partition('; also')[0]}"
                    )
        return ""

    def draw(self, source: S) -> "Figure":
        """A picture of a source itself.

        Raises:
            DrawingError: If there is none of this kind.
        """
        from krohn.drawing import DrawingError

        raise DrawingError(
            f"{self.called} has no picture; compile it, and draw the model file"
        )

    def draw_file(self, file: ModelFile) -> "Figure":
        """A picture of a model file: the weights of its network."""
        from krohn.drawing import draw_model

        return draw_model(file)

    def draw_text(self, source: S | ModelFile, words: list[str]) -> "Figure":
        """A picture of what is looked at to write a text.

        Args:
            source: A model file; or a source, whose texts its interpreter writes.
            words: The prompt.

        Raises:
            DrawingError: If it writes no text.
        """
        from krohn.drawing import DrawingError

        raise DrawingError("--word is for dynamic programs and generators")

    def interpreter(self, source: S) -> Callable[[list[str]], dict[str, Any]] | None:
        """The reference interpreter of prompts; None of sources that write no texts."""
        return None

    def writer(self, file: ModelFile) -> "Writer":
        """How the texts of a network are asked for.

        Raises:
            KrohnError: If it writes none.
        """
        raise KrohnError(
            "this network writes no texts: run(word) gives what it says after each letter"
        )

    def text_splitter(self, file: ModelFile) -> Callable[[str], list[str]] | None:
        """How a text becomes letters by name; None for `krohn.program.word_texts`."""
        return None

    def of_file(self, file: ModelFile) -> S | None:
        """The source that a file states; None if it does not state it whole.

        Raises:
            KrohnError: If it states none of this kind.
        """
        return None

    def problem(self, file: ModelFile) -> str:
        """What a file says beside its claim and is wrong; empty if nothing is.

        A source that cannot be read back is: nobody could run what was proved.
        """
        try:
            self.of_file(file)
        except KrohnError as error:
            return str(error)
        return ""

    def letters_and_classes(
        self, file: ModelFile, machine: Automaton | None
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The name of a network's source, those of the letters and of what it says.

        Args:
            file: The model.
            machine: What it is held against, if anything; it has the names that a file
                lacks.

        Raises:
            KrohnError: If it says numbers or texts, from which no machine is learned.
        """
        raise KrohnError(
            f"the file is about {self.called}; machines are learned from networks that "
            f"say one of several classes after each letter{self.instead}"
        )

    def example(self, file: ModelFile) -> Example:
        """A short input that the claim of a file is about."""
        whole = self.whole(file, lambda _: 1, np.random.default_rng(0))
        if whole is not None:
            return Example(whole.rows(slice(0, 1))[0].tolist(), whole.length)
        letters = len(alphabets(file)[0])
        return Example([i % letters for i in range(few(file))], 1)

    def whole(
        self, file: ModelFile, many: Callable[[int], int], rng: "np.random.Generator"
    ) -> Whole | None:
        """Random inputs, where a network reads inputs of one form only; else None.

        Args:
            file: The model.
            many: How many inputs of a length are asked for.
            rng: Draws them.
        """
        return None

    def stated_machine(self, file: ModelFile) -> Automaton | None:
        """The machine that a file states; None if it states none, or only names."""
        return None

    @abstractmethod
    def runs(self, file: ModelFile, network: "Opened" = None) -> Runs:
        """The function that answers inputs one after the other, as `krohn run` does.

        Args:
            file: The model.
            network: The open network that runs, as a plain torch module; None for that of
                the file.
        """


def in_batches(
    inputs: Iterable[list[str]],
    read: Callable[[list[str]], T],
    answer: Callable[[list[T]], Iterable[dict[str, Any]]],
    size: int,
) -> Iterator[dict[str, Any]]:
    """The answers to inputs, some of which are run together.

    Args:
        inputs: As a person writes them.
        read: Reads one; raises KrohnError if it is none.
        answer: Runs some of them.
        size: How many are run together.

    Raises:
        KrohnError: At the first that is no input, after all that are before it.
    """
    left = iter(inputs)
    while batch := list(islice(left, size)):
        done, wrong = list[T](), None
        for words in batch:
            try:
                done.append(read(words))
            except KrohnError as error:
                wrong = error
                break
        yield from answer(done)
        if wrong is not None:
            raise wrong


# Which answers of a run the file's claim is about: the others are marked as unproved.


class Answers(NamedTuple):
    """The answers of a network to one input.

    Attributes:
        result: For JSON; ``shown`` is the same as text.
        read: For each answer how many tokens were read before it.
        possible: For each answer whether the claim is about such an input; None for all.
    """

    result: dict[str, Any]
    read: Sequence[int]
    possible: Sequence[bool] | None = None


def few(file: ModelFile) -> int:
    """How many letters a short word of a network has."""
    longest = file.claim.length
    return FEW if longest is None else min(FEW, longest)


def mark_unproved(file: ModelFile, answers: Answers) -> dict[str, Any]:
    """The answers, with which of them the file claims nothing of.

    Returns:
        What `krohn run` prints: ``unproved``, true or false of each answer; the claimed
        ``error``, if the claim has one, null as soon as an answer is unproved; ``note``,
        a line that says which answers are beyond the claim, if any is.
    """
    beyond = _beyond(file, answers.read)
    possible = answers.possible or [True] * len(beyond)
    unproved = [b or not p for b, p in zip(beyond, possible, strict=True)]
    result = {**answers.result, "unproved": unproved}
    if file.claim.sense is Sense.WITHIN:
        result["error"] = None if any(unproved) else file.claim.error
    return result | ({"note": _note(file, beyond)} if any(beyond) else {})


def _beyond(file: ModelFile, read: Sequence[int]) -> list[bool]:
    """Of each answer whether more was read for it than the claim is about."""
    longest = file.claim.length
    if longest is None:
        return [False] * len(read)
    # Where later letters count, an answer is that of the whole input.
    seen = read if _is_causal(file) else [max(read, default=0)] * len(read)
    return [n > longest for n in seen]


def _note(file: ModelFile, beyond: Sequence[bool]) -> str:
    """Which answers the claim is not about."""
    first, last = beyond.index(True) + 1, len(beyond)
    which = f"answer {last} is" if first == last else f"answers {first} to {last} are"
    longest = file.claim.length
    assert longest is not None
    return f"unproved: {which} beyond the {count(longest, of_file(file).unit)} of the claim"


def _is_causal(file: ModelFile) -> bool:
    """Whether what the network says depends on nothing that it reads later."""
    shape = file.architecture
    blocks = shape.blocks if isinstance(shape, Transformer) else ()
    ahead = (sees_ahead(s, "a run") for block in blocks for s in block.sights)
    return not any(ahead) and getattr(shape, "causal", True) is True
