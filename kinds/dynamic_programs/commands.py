"""Dynamic programs as chains of thought, in the commands."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Literal, NotRequired, TypeAlias, TypedDict

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.compile_options import (
    ADDRESSES,
    BINARY,
    QUADRATIC,
    CompileOptions,
    check_one_of,
)
from krohn.compiled_model import BY_NEED
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import as_written
from krohn.kinds.dynamic_programs import (
    commands_facts as recurrence_facts,
    source as dynamic_programs,
)
from krohn.kinds.dynamic_programs.build import (
    ATTENTION,
    NAME,
    block_size,
    chain_of_thought,
)
from krohn.kinds.dynamic_programs.commands_facts import (
    prompt_of,
    sentences,
    width_needed,
)
from krohn.kinds.dynamic_programs.source import (
    DynamicProgram,
    read_text,
)
from krohn.kinds.dynamic_programs.statement import ChainOfThought
from krohn.network.attention_cost import parts
from krohn.network.modelfile import ModelFile
from krohn.network.reading import Opened
from krohn.program.architectures.transformer import Transformer
from krohn.program.attention import Sparse
from krohn.program.domains import IntArray
from krohn.program.errors import Refused, told_as
from krohn.program.word_texts import BLANK
from krohn.report import Progress
from krohn.schemas.parts import Dtype, Sizes
from krohn.source_kinds.base import Built, read_stated_source, sizes
from krohn.source_kinds.kind import Answers, Example, Whole
from krohn.source_kinds.written_texts import (
    BATCH,
    Row,
    TextKind,
    Writer,
    blank_after_prompt,
    named_by,
    simulate_texts,
)
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Source: TypeAlias = ChainOfThought | DynamicProgram
MOST_PROMPTS = 2**20
Cell: TypeAlias = tuple[str, dict[str, int]]
"""The name of a step's token, and the places that it reads, by name."""
WRITTEN = "written"
"""Where a model file has the text of a dynamic program."""


class TextNetwork(Sizes):
    """A network that writes a text.

    Attributes:
        meeting_flops: Of queries that meet keys.
        width_needed: The least width of any network, by counting; null if none is known.
    """

    attention: Literal["standard", "sparse", "linear"]
    applies: Literal[True]
    meeting_flops: int
    other_flops: int
    width_needed: int | None


class NoTextNetwork(TypedDict):
    """Why there is no network with such attention."""

    attention: Literal["standard", "sparse", "linear"]
    applies: Literal[False]
    why: str


class ChainOfThoughtFacts(TypedDict):
    """The facts of a dynamic program.

    Attributes:
        prompt: The tokens of a prompt.
        tokens: The tokens of a whole text.
        steps: The tokens that the network writes.
        numbers: The steps that compute a number.
        least: The least number of a text.
        largest: The largest number of a text.
        rules: The rules by which numbers are computed.
        reads: The most places that one step reads.
        locality: How far back a step looks, to any token.
        locality_of_numbers: The same, to another number.
        prompts: The possible prompts, counted.
        different_texts: The different texts of the prompts that were run.
        of_prompts: The prompts that were run.
        text_bits: log2 of the number of different texts, at least.
        regular: Whether different prompts always have different numbers (Yang et al.
            2024, Definition 4.3); null if that is open.
        one_text: Two prompts of one text.
        lines_that_define_no_cell: Lines of the source without effect.
        lower_bounds: The least sizes of any network, from theorems.
        networks: The network of each kind of attention, with its size.
    """

    name: str
    prompt: int
    tokens: int
    steps: int
    numbers: int
    least: int
    largest: int
    rules: int
    reads: int
    locality: int
    locality_of_numbers: int
    prompts: str
    different_texts: int
    of_prompts: str
    text_bits: float
    regular: bool | None
    one_text: list[str] | None
    lines_that_define_no_cell: NotRequired[list[int]]
    lower_bounds: list[str]
    kind: Literal["chain-of-thought"]
    claim: Literal["exact", "generates"]
    dtype: Dtype
    networks: list[TextNetwork | NoTextNetwork]
    proved: None


class Written(TypedDict):
    """The text of a dynamic program, with its sizes."""

    text: str
    given: dict[str, int]


class StatedChainOfThought(TypedDict):
    """The steps of a dynamic program."""

    kind: Literal["chain-of-thought"]
    name: str
    letters: list[str]
    contents: list[int]
    numbers: int
    prompt: list[tuple[int, int]]
    rules: list[Any]
    steps: list[Any]
    answer: int
    written: NotRequired[Written]


class ChainsOfThought(TextKind[Source]):
    """Texts of a fixed form, continued number by number."""

    wire = "chain-of-thought"
    facts_types = (ChainOfThoughtFacts,)
    stated_type = StatedChainOfThought
    source = Source
    called = "a dynamic program"
    measured = True
    claim = "generates"
    formats = BY_NEED
    takes = frozenset({"strict", "keep", "activation", "attention", "addresses"})
    asks = ("digits", "gadgets", "error", "timeout")

    def find_by_name(self, text: str) -> DynamicProgram | None:
        """The dynamic program of a name or a text; None if it is the name of none."""
        with told_as(about=f"{text}: "):
            program = dynamic_programs.find_by_name(text)
            if program is not None:
                program.chain_of_thought.boxes()
            return program

    def of_file(self, file: ModelFile) -> ChainOfThought:
        """The chain of thought that a file states."""
        return read_stated_source(file, ChainOfThought.from_wire)

    def to_wire(self, source: Source, length: int | None) -> dict[str, Any]:
        """As a model file states it; beside the steps the text that says them."""
        if isinstance(source, ChainOfThought):
            return source.to_wire()
        statement = source.chain_of_thought.to_wire()
        text = {"text": source.text, "given": source.given}
        return statement | ({WRITTEN: text} if source.text else {})

    def problem(self, file: ModelFile) -> str:
        """Whether the text of a file says something else than its steps."""
        written = self.reread_program(file)
        source = self.of_file(file)
        if (
            written is None
            or replace(written.chain_of_thought, name=source.name) == source
        ):
            return ""
        return "the text in the file says another dynamic program than the one proved"

    def reread_program(self, file: ModelFile) -> DynamicProgram | None:
        """The dynamic program of the text in a file, read again; None if there is none.

        Raises:
            KrohnError: If the text is wrong.
        """
        statement = file.header["source"].get(WRITTEN)
        if statement is None:  # as the checker reads it
            return None
        try:
            text, given = str(statement["text"]), dict(statement["given"])
            name = str(file.header["source"]["name"])
            return read_text(text, name, (), given)
        except (Refused, LookupError, TypeError, ValueError) as error:
            raise KrohnError(f"the file is damaged: of its text, {error}") from None

    def build(self, source: Source, asked: CompileOptions) -> Built:
        """The network, for texts of the one length that there is."""
        source, options = _steps(source), asked.options
        if asked.length is not None:
            raise CompileError(
                f"-T is for words of any length; every text of {source.name} has "
                f"{source.length} tokens"
            )
        attention = asked.attention or "standard"
        if attention not in ATTENTION:
            known = ", ".join(ATTENTION)
            raise CompileError(f"--attention takes {known}, not {attention!r}")
        addresses = asked.addresses or BINARY
        check_one_of("--addresses", addresses, ADDRESSES)
        if asked.addresses and attention == "linear":
            raise CompileError("linear heads add up blocks; leave --addresses out")
        seen = Sparse(block_size(source), 1, 1) if attention == "sparse" else None
        with told_as(CompileError, f"{source.name}: "):
            program = chain_of_thought(source, attention, addresses == QUADRATIC)
            built = as_written(NAME, program, replace(options, sparse=seen))
        return built, {"length": program.length}

    def describe_source(self, source: Source, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a dynamic program, and the network of each kind of attention."""
        steps, options = _steps(source), asked.options
        ways = [self._way(steps, replace(asked, attention=a)) for a in ATTENTION]
        known = recurrence_facts.facts(steps)
        for way in (way for way in ways if way["applies"]):
            bits = known["text_bits"]
            way["width_needed"] = width_needed(steps, way, options.precision, bits)
        return {
            **known,
            **self.remarks(source),
            "lower_bounds": sentences(steps, known, ways),
            "kind": self.wire,
            "claim": self.claim,
            "dtype": options.precision.name,
            "networks": ways,
        }

    def remarks(self, source: Source) -> dict[str, Any]:
        """The lines of the text that define no cell, if there are any."""
        idle_lines = source.idle_lines if isinstance(source, DynamicProgram) else []
        return {"lines_that_define_no_cell": idle_lines} if idle_lines else {}

    def advice(self, source: Source, finer: bool) -> str:
        """A finer format; digits, which keep numbers small; and the widest number."""
        ways = ["try --dtype float64"] * finer
        if not isinstance(source, DynamicProgram):
            return "".join(f"; {way}" for way in ways)
        if not (source.base or source.divides):
            ways.append("write numbers in digits by the line: digits 10")
        clauses = [", or ".join(ways)] * bool(ways) + [source.widest]
        if source.multiplies_products:
            clauses.append(
                "a product of products is surer as a table, so that it is a token"
            )
        return "".join(f"; {each}" for each in clauses)

    def _way(self, source: ChainOfThought, asked: CompileOptions) -> dict[str, Any]:
        """The size of a network; why there is none, if there is none."""
        try:
            built, _ = self.build(source, replace(asked, length=None))
        except KrohnError as reason:
            return {"attention": asked.attention, "applies": False, "why": str(reason)}
        assert built.cost is not None
        shape = Transformer.of(built.network.architecture)
        meeting, rest = parts(shape, source.length - 1)
        return {
            "attention": asked.attention,
            "applies": True,
            **sizes(built.cost),
            "meeting_flops": meeting,
            "other_flops": rest,
        }

    def writer(self, file: ModelFile) -> Writer:
        """A prompt is asked for; what stands after it is said, step by step."""
        source = self.of_file(file)
        start, blank = len(source.prompt), [BLANK] * len(source.steps)

        @cache  # reading the text takes longer than many prompts
        def cells() -> list[Cell]:
            written = self.reread_program(file)
            return _cells(source, _names(source, written))

        def row(words: Sequence[str]) -> Row:
            return [*prompt_of(source, words).tolist(), *blank]

        def describe_text(row: Row, text: list[int]) -> Answers:
            return Answers(_text_result(source, text), range(start, len(text)))

        def explain(text: list[int]) -> dict[str, Any]:
            return {"steps": _steps_of_text(source, cells(), text)}

        return Writer(source.tokens, row, describe_text, explain=explain)

    def interpreter(self, source: Source) -> Callable[[list[str]], dict[str, Any]]:
        """Texts without a network."""
        return partial(self.interpret_prompt, source)

    def interpret_prompt(self, source: Source, words: list[str]) -> dict[str, Any]:
        """The text by the reference interpreter: whole numbers, no network."""
        steps = _steps(source)
        text = steps.continue_prompts(prompt_of(steps, words)[None])[0]
        cells = _cells(steps, _names(steps, source))
        explained = {"steps": _steps_of_text(steps, cells, text.tolist())}
        return _text_result(steps, text.tolist()) | explained

    def draw(self, source: Source) -> "Figure":
        """Which numbers are computed of which."""
        from krohn.kinds.dynamic_programs.draw import draw_recurrence
        from krohn.kinds.dynamic_programs.draw_rollout import recurrence

        steps = _steps(source)
        return draw_recurrence(recurrence(steps, _names(steps, source)))

    def draw_text(self, source: Source | ModelFile, words: list[str]) -> "Figure":
        """Which token attends to which; without a network what each step reads."""
        from krohn.drawing import draw_rollout
        from krohn.kinds.dynamic_programs.draw_rollout import (
            Text,
            of_interpreter,
            of_network,
        )

        if not isinstance(source, ModelFile):
            steps = _steps(source)
            text = steps.continue_prompts(prompt_of(steps, words)[None])[0]
            names = _names(steps, source)
            return draw_rollout(of_interpreter(steps, names, text))
        steps, written = self.of_file(source), self.reread_program(source)
        tokens = self.texts(source, [self.writer(source).row(words)])[0]
        if BLANK in tokens:
            raise KrohnError("the network gives no answer after this prompt")
        names = _names(steps, written)
        text = np.array(tokens)
        return draw_rollout(of_network(source, Text.of(steps, names, text), text))

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> IntArray:
        """Random prompts."""
        low, high = np.array(self.of_file(file).prompt).T
        return rng.integers(low, high + 1, size=(count, len(low)))

    def list_inputs(self, file: ModelFile, length: int) -> IntArray:
        """Every prompt."""
        source = self.of_file(file)
        low, high = np.array(source.prompt).T
        count = int(np.prod((high - low + 1).astype(float)))
        if length < len(low):
            raise KrohnError(
                f"every prompt of {source.name} has {len(low)} tokens; say --exhaustive "
                f"{len(low)} for all {count:,}"
            )
        if count > MOST_PROMPTS:
            raise KrohnError(
                f"{source.name} has {count:,} prompts, too many to run; say --sample N"
            )
        prompts: IntArray = np.indices(high - low + 1).reshape(len(low), -1).T + low
        return prompts

    def is_longest(self, file: ModelFile, length: int) -> bool:
        """Yes: all prompts have as many tokens."""
        return True

    def simulate_inputs(
        self,
        file: ModelFile,
        inputs: IntArray,
        progress: Progress,
        network: Opened = None,
    ) -> Simulation:
        """Let the network continue prompts."""
        source, start = self.of_file(file), inputs.shape[1]

        def texts() -> Iterator[tuple[Row, Sequence[int]]]:
            for at in range(0, len(inputs), BATCH):
                for text in source.continue_prompts(inputs[at : at + BATCH]).tolist():
                    yield blank_after_prompt(text, start), text

        arguments = len(inputs), source.length, progress, network
        return simulate_texts(file, self.writer(file), texts(), *arguments)

    def example(self, file: ModelFile) -> Example:
        """The prompt that has the least of everything, and what follows."""
        source = self.of_file(file)
        blank = [BLANK] * len(source.steps)
        return self.begun(file, [*(low for low, _ in source.prompt), *blank])

    def whole(
        self, file: ModelFile, many: Callable[[int], int], rng: np.random.Generator
    ) -> Whole:
        """Random prompts, continued."""
        source = self.of_file(file)
        prompts = self.sample_inputs(file, many(source.length), rng)

        def rows(some: slice) -> IntArray:
            return source.continue_prompts(prompts[some])

        return Whole(source.length, len(prompts), rows, prompts.shape[1], source.tokens)


def _steps(source: Source) -> ChainOfThought:
    """The steps of a source.

    Raises:
        KrohnError: If there are none.
    """
    with told_as(about=f"{source.name}: "):
        return source if isinstance(source, ChainOfThought) else source.chain_of_thought


def _names(steps: ChainOfThought, source: Source | None) -> Sequence[str]:
    """The name of each token of a text: of its dynamic program, or its place."""
    named = source.names if isinstance(source, DynamicProgram) else ()
    return named or [f"place {t + 1}" for t in range(steps.length)]


def _cells(source: ChainOfThought, called: Sequence[str]) -> list[Cell]:
    start = len(source.prompt)
    return [
        (called[t], {called[r.place - 1]: r.place - 1 for r in step.reads if r.place})
        for t, step in enumerate(source.steps, start)
    ]


def _steps_of_text(
    source: ChainOfThought, cells: Sequence[Cell], text: Sequence[int]
) -> list[dict[str, Any]]:
    """What each token after the prompt is, and of which it is computed."""
    names, start = named_by(source.tokens, text), len(source.prompt)
    return [
        {"token": token, "is": name, "reads": {n: names[at] for n, at in reads.items()}}
        for token, (name, reads) in zip(names[start:], cells, strict=True)
    ]


def _text_result(source: ChainOfThought, text: Sequence[int]) -> dict[str, Any]:
    """A whole text, token by token."""
    names, start = named_by(source.tokens, text), len(source.prompt)
    first, *rest = text[source.answer - 1 :]
    answer = [first, *takewhile(range(source.numbers).__contains__, rest)]
    return {
        "prompt": names[:start],
        "text": names[start:],
        "answer": " ".join(named_by(source.tokens, answer)),
        "shown": " ".join(names),
    }
