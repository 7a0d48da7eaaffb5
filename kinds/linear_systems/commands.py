"""Linear systems in the commands: networks that are right within a proved error."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, NotRequired

import numpy as np

from krohn.algebra.automaton import Automaton, Semiautomaton
from krohn.algebra.errors import MachineError
from krohn.compile_options import CompileOptions
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.transformer import Network
from krohn.kinds.linear_systems import build_gated, source as linear_systems
from krohn.kinds.linear_systems.build_products import (
    NAME,
    realise,
)
from krohn.kinds.linear_systems.commands_facts import (
    ChainFacts,
    MixingTime,
    Observability,
)
from krohn.kinds.linear_systems.source import LinearSystem
from krohn.kinds.linear_systems.statement import StatedLinearSystem
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.network.reading import Opened
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.slices import part
from krohn.report import Progress
from krohn.schemas.parts import Dtype, Sizes
from krohn.source_kinds.base import (
    Built,
    ReadableKind,
    letters_in,
    sizes_of,
)
from krohn.source_kinds.kind import EXPLAINED, Answers
from krohn.source_kinds.real_outputs import (
    Reference,
    outputs,
    replace_nan,
    simulate_words,
)
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONSTRUCTIONS = {"transformer": NAME, "rnn": build_gated.GATED}


class LinearSystemFacts(Sizes):
    """A linear system; the facts of a chain, if its letters are stochastic.

    Attributes:
        size: The numbers of a state vector.
        letters: The matrices, one for each letter, counted.
        rnn_width: The units of its RNN.
        rnn_error: How far an output of the RNN is off at most.
    """

    name: str
    kind: Literal["linear-system"]
    claim: Literal["within"]
    error: float
    length: int | None
    size: int
    letters: int
    properties: NotRequired[list[str]]
    beliefs: NotRequired[int | None]
    forgets_after: NotRequired[int | None]
    contraction: NotRequired[float | None]
    mixing_time: NotRequired[MixingTime]
    rank: NotRequired[int]
    observability: NotRequired[Observability | None]
    depth_growth: NotRequired[list[str]]
    construction: str
    dtype: Dtype
    rnn_width: int
    rnn_error: float


class LinearSystems(ReadableKind[LinearSystem]):
    """States that are multiplied by the matrix of each letter."""

    wire = StatedLinearSystem.kind
    facts_types = (LinearSystemFacts,)
    facts_bases = (ChainFacts,)
    stated_type = StatedLinearSystem
    source = LinearSystem
    claim = "within"
    takes = frozenset({"strict", "keep", "positions", "construction", "arch"})
    formats = ("float64",)
    explained = EXPLAINED

    def of_name(self, text: str) -> LinearSystem | None:
        """The system of a name; None if it is the name of none."""
        return linear_systems.find_by_name(text)

    def is_machine(self, source: LinearSystem) -> bool:
        """Whether each letter maps states to states."""
        return source.functions() is not None

    def machine(self, source: LinearSystem) -> Automaton:
        """The machine whose letters are these maps."""
        functions = source.functions()
        if functions is None:
            raise MachineError(f"{source.name} is a linear system, and no machine")
        states = tuple(str(i + 1) for i in range(source.size))
        moves = Semiautomaton(functions, source.letters, states)
        return Automaton(moves, start=int(source.start.argmax()), name=source.name)

    def of_source(self, source: Any, block: int | None = None) -> LinearSystem:
        """A machine: letters are maps, and states unit vectors."""
        return as_system(source)

    def build(self, source: LinearSystem, asked: CompileOptions) -> Built:
        """The network, and the error that the checker shows of it.

        Of RNNs it is the first that can be proved: the least α has the least error.
        """
        options = asked.options
        length = asked.longest("a network of a linear system needs the longest length")
        name, reason = asked.choose_construction(CONSTRUCTIONS), ""
        for network, described in _networks(source, length, asked):
            built = CompiledNetwork(name, network, described, None)
            try:
                return built, self.prove_claim(
                    source, built, {"length": length}, options
                )
            except Refused as refused:
                reason = str(refused)
        raise CompileError(
            f"{source.name} cannot be computed in {options.precision.name} within "
            f"any error that can be shown: {reason}"
        )

    def facts(self, source: LinearSystem, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a linear system, the error of its network, and its size."""
        built, claim = self.build(source, asked)
        rnn, within = self.build(source, replace(asked, arch="rnn"))
        return {
            "error": claim["error"],
            "length": asked.length,
            "size": source.size,
            "letters": len(source.letters),
            **_of_chain(source),
            "construction": NAME,
            **sizes_of(built.network),
            "dtype": asked.options.precision.name,
            "rnn_width": rnn.network.architecture["hidden"],
            "rnn_error": within["error"],
        }

    def draw(self, source: LinearSystem) -> "Figure":
        """Its states, if its letters are stochastic: then it is a driven Markov chain."""
        draw_chain = part("picture of a driven chain")
        try:
            return draw_chain(source) if draw_chain else super().draw(source)
        except Refused:
            return super().draw(source)

    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The answers of the network after each letter, with the error they may have."""
        source = self.of_file(file)
        word = letters_in(words, source.letters)
        states = outputs(file, word[None], network)[0]
        rows = [" ".join(f"{x: .9g}" for x in state) for state in states.tolist()]
        result = {
            "word": [source.letters[o] for o in word.tolist()],
            "outputs": states.tolist(),
            "shown": "\n".join(rows),
        }
        return Answers(result, range(1, len(word) + 1))

    def sample_inputs(
        self, file: ModelFile, count: int, rng: np.random.Generator
    ) -> IntArray:
        """Random words of full length, those of one letter among them."""
        letters = len(self.of_file(file).letters)
        words = rng.integers(letters, size=(count, file.claim.longest))
        words[:letters] = np.arange(min(count, letters))[:, None]
        return words

    def simulate_inputs(
        self, file: ModelFile, inputs: IntArray, progress: Progress
    ) -> Simulation:
        """Hold outputs against the states of the system."""
        source = self.of_file(file)
        return simulate_words(file, source.letters, reference(source), inputs, progress)


def reference(source: LinearSystem) -> Reference:
    """Its states, as they are held against what networks say."""

    def run(words: IntArray) -> FloatArray:
        return replace_nan(source.run(words))

    return Reference(run, exactly=source.ratios)


def _networks(
    source: LinearSystem, length: int, asked: CompileOptions
) -> Iterator[tuple[Network, dict[str, object]]]:
    """The networks that can be tried, each with its Program if it has one."""
    options = asked.options
    if asked.arch == "transformer":
        yield realise(source, length, options)
        return
    for scale in build_gated.scales(source):
        yield build_gated.gated_network(source, options.precision, scale), {}


def _of_chain(source: LinearSystem) -> dict[str, Any]:
    """The facts of the system as a driven Markov chain, if its letters are stochastic."""
    facts_of_chain = part("facts of a driven chain")
    try:
        return facts_of_chain(source) if facts_of_chain else {}
    except Refused:
        return {}


def as_system(machine: Automaton) -> LinearSystem:
    """A machine as a linear system: letters are maps, and states unit vectors.

    Raises:
        CompileError: If it has more states than a product of matrices is made for.
    """
    states = len(machine.states)
    if states > linear_systems.LARGEST:
        raise CompileError(
            f"matrices of at most {linear_systems.LARGEST} states are multiplied; "
            f"{machine.name} has {states}"
        )
    start = np.eye(states)[machine.start]
    return LinearSystem(machine.name, machine.letters, letter_matrices(machine), start)


def letter_matrices(machine: Automaton) -> FloatArray:
    """``(letters, n, n)``: one 1 in each column, where the letter leads."""
    states = len(machine.states)
    matrices = np.zeros((len(machine.letters), states, states))
    for letter, images in enumerate(machine.transitions.tolist()):
        matrices[letter, images, range(states)] = 1.0
    return matrices
