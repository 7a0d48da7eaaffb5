"""Sequence functions written as Programs, in the commands."""

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.compile_options import ADDRESSES, QUADRATIC, CompileOptions, check_one_of
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import compile_program
from krohn.compiler.cost import check_written
from krohn.kinds.sequence_functions.source import (
    ProgramError,
    Realised,
    SequenceFunction,
    parse,
)
from krohn.kinds.sequence_functions.source_catalogue import (
    ABOUT,
    FUNCTIONS,
)
from krohn.network.modelfile import (
    ModelFile,
    alphabets,
    check_length,
    longest,
    names,
)
from krohn.network.reading import Opened, name_chosen_classes, output_function
from krohn.program import ShiftBy
from krohn.program.domains import IntArray
from krohn.program.slices import families, family_source, find
from krohn.program.user_input import read_text
from krohn.program.word_texts import join_letters
from krohn.report import Progress
from krohn.schemas.parts import Dtype, Sizes, StatedProgram
from krohn.source_kinds.base import (
    Built,
    SourceKind,
    letters_in,
    names_in,
    read_stated_source,
    sizes,
)
from krohn.source_kinds.kind import EXPLAINED, Answers
from krohn.verify.testing.simulation_result import Simulation

PREFIX, SUFFIX = "program:", ".program"
MOST_BYTES = 1_000_000
BATCH, MOST_WORDS = 4096, 2**22
EMPTY = '""'
"""How an output that is no letter is printed."""


class SequenceFunctionFacts(Sizes):
    """A function of a sequence.

    Attributes:
        letters: The letters of words.
        outputs: The values of the function, counted.
        channels: The variables of the Program.
        causal: Whether an answer depends on the letters so far only.
    """

    name: str
    kind: Literal["program"]
    claim: Literal["exact"]
    letters: str
    outputs: int
    channels: int
    causal: bool
    length: int
    dtype: Dtype
    proved: None


class StatedSequenceFunction(TypedDict):
    """A function of a sequence, as the Program that it is."""

    kind: Literal["program"]
    name: str
    letters: list[str]
    classes: list[str]
    program: StatedProgram


class SequenceFunctions(SourceKind[SequenceFunction]):
    """One value at each letter of a word."""

    wire = "program"
    facts_types = (SequenceFunctionFacts,)
    stated_type = StatedSequenceFunction
    source = SequenceFunction
    claim = "exact"
    explained = EXPLAINED
    takes = frozenset({"strict", "keep", "activation", "positions", "addresses"})

    def find_by_name(self, text: str) -> SequenceFunction | None:
        """A function of the catalogue, ``program:reverse``, or that of a file."""
        if (function := family_source(self.wire, text)) is not None:
            return function  # type: ignore[no-any-return]
        if text.endswith(SUFFIX):
            return _read(Path(text))
        if not text.startswith(PREFIX):
            return None
        name = text.removeprefix(PREFIX)
        if name not in FUNCTIONS:
            raise KrohnError(
                f"there is no program {name!r}; there are {', '.join(FUNCTIONS)}, and "
                f"krohn.program or a file *{SUFFIX} for your own"
            )
        return FUNCTIONS[name]()

    def describe(self, name: str, source: SequenceFunction) -> str:
        """The first line that its function says of itself, if the list does not."""
        if (text := super().describe(name, source)) or not name.startswith(PREFIX):
            return text.removesuffix(", as a Program")
        return ABOUT[name.removeprefix(PREFIX)]

    def take_object(self, source: Any) -> SequenceFunction | None:
        """A Program, or what other slices make one of."""
        each = (find(one.taken)(source) for one in families(self.wire) if one.taken)
        made = next((function for function in each if function is not None), None)
        return super().take_object(source) if made is None else made

    def letters_and_classes(
        self, file: ModelFile, machine: Automaton | None
    ) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        """The names of the function, of the letters and of the classes."""
        source = file.header["source"]
        if "classes" not in source:
            return super().letters_and_classes(file, machine)
        name = str(source.get("name", "a program"))
        return name, names(source, "letters"), names(source, "classes")

    def to_wire(self, source: SequenceFunction, length: int | None) -> dict[str, Any]:
        """The Program as it was written, before all passes."""
        return _realise_function(source, length).to_wire()

    def make_network(
        self, source: SequenceFunction, asked: CompileOptions
    ) -> tuple[SequenceFunction, str, Built]:
        """The function with addresses as they are asked for, and its network."""
        if asked.addresses is not None:
            check_one_of("--addresses", asked.addresses, ADDRESSES)
            if not any(channel.call == "at" for channel in source.channels):
                raise CompileError("--addresses is for p.at, which is not used here")
            source = replace(source, by_distance=asked.addresses == QUADRATIC)
        return super().make_network(source, asked)

    def claiming(self, file: ModelFile, source: object) -> ModelFile:
        """The file with another function, whose addresses are as in the file."""
        if source is None:
            return file
        stated = _stated_program(file).program.operations.values()
        by_distance = any(isinstance(each, ShiftBy) for each in stated)
        own = replace(self.require_source(source), by_distance=by_distance)
        return super().claiming(file, own)

    def build(self, source: SequenceFunction, asked: CompileOptions) -> Built:
        """The network for words of up to T letters."""
        program = _realise_function(source, asked.length).program
        return compile_program(program, asked.options), {"length": program.length}

    def facts(self, source: SequenceFunction, asked: CompileOptions) -> dict[str, Any]:
        """Its size, and that of its network."""
        realised = _realise_function(source, asked.length)
        built = compile_program(realised.program, asked.options)
        assert built.cost is not None
        operations = realised.program.operations.values()
        return {
            "letters": join_letters(source.letters),
            "outputs": len(realised.names),
            "channels": len(realised.program.operations),
            "causal": all(operation.causal for operation in operations),
            "length": realised.program.length,
            **sizes(built.cost),
        }

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The answers of the network at each letter of a word."""
        _stated_program(file)  # nothing is said of a source that cannot be read
        letters, _, classes = alphabets(file)
        word = names_in(words, letters)
        tokens = letters_in(word, letters)
        check_length(len(word), longest(file))
        outputs = list(
            name_chosen_classes(
                output_function(file, network)(tokens[None])[0], classes
            )
        )
        result = {
            "word": word,
            "outputs": outputs,
            "shown": " ".join(each or EMPTY for each in outputs),
        }
        return Answers(result, range(1, len(outputs) + 1))

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> list[IntArray]:
        """Random words of random lengths, half of them as long as can be."""
        program = _stated_program(file).program
        longest, letters = program.length, len(program.letters)
        lengths = np.where(
            rng.random(count) < 0.5, longest, rng.integers(1, longest + 1, count)
        )
        return [
            rng.integers(0, letters, (int((lengths == n).sum()), n))
            for n in np.unique(lengths)
        ]

    def list_inputs(self, file: ModelFile, length: int) -> list[IntArray]:
        """Every word of 1, 2, … letters: a shorter one may be answered otherwise."""
        source = _stated_program(file)
        letters, lengths = len(source.program.letters), range(1, length + 1)
        if length > source.program.length:
            raise KrohnError(
                f"the model is for words of up to {source.program.length} letters"
            )
        total = sum(letters**n for n in lengths)
        if total > MOST_WORDS:
            raise KrohnError(
                f"there are {total:,} words of up to {length} letters, too many to run; "
                "say --sample N"
            )
        return [np.array(list(product(range(letters), repeat=n))) for n in lengths]

    def simulate_inputs(
        self, file: ModelFile, inputs: list[IntArray], progress: Progress
    ) -> Simulation:
        """Hold what the network says against the interpreter, shortest words first."""
        return _simulate_words(file, _stated_program(file), inputs, progress)


def _read(path: Path) -> SequenceFunction:
    """The function of a file.

    Raises:
        KrohnError: If it cannot be read, or a line of it is wrong.
    """
    return parse(read_text(path, MOST_BYTES), path.name)


def _realise_function(source: SequenceFunction, length: int | None) -> Realised:
    """The Program for a length.

    Raises:
        CompileError: If no length is said, or a channel cannot be.
    """
    if length is None or length < 1:
        raise CompileError(
            "a Transformer needs the longest length it is for (-T), at least 1"
        )
    check_written(length)
    try:
        return source.realise(length)
    except ProgramError as error:
        raise CompileError(str(error)) from error


def _stated_program(file: ModelFile) -> Realised:
    """The Program that a file states as its source.

    Raises:
        KrohnError: If it is damaged.
    """
    return read_stated_source(
        file, lambda said: Realised.from_wire(said, file.claim.longest)
    )


def _simulate_words(
    file: ModelFile,
    source: Realised,
    every_length: list[IntArray],
    progress: Progress,
) -> Simulation:
    """Hold what the network says against the interpreter, shortest words first."""
    import torch

    from krohn.network.model import Model
    from krohn.verify.testing.counterexample import Counterexample, differs

    model, done = Model(file), 0
    total = sum(map(len, every_length))
    for words in every_length:
        for at in range(0, len(words), BATCH):
            batch = words[at : at + BATCH]
            right = source.answers(batch)
            with torch.inference_mode():
                logits = model(torch.from_numpy(batch))
                wrong = differs(logits, torch.from_numpy(right))
            done += len(batch)
            progress("running words", done, total)
            if wrong is not None:
                row = int(wrong.any(dim=1).nonzero()[0, 0])
                word = tuple(model.letters[a] for a in batch[row])
                names = (*model.classes, "(no answer)")
                counterexample = Counterexample(
                    word, tuple(names[q] for q in right[row]), tuple(model.run(word))
                )
                return Simulation(done, batch.shape[1], counterexample)
    return Simulation(total, every_length[-1].shape[1], None)
