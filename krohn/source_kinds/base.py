"""How the commands treat sources of a kind that are no machines."""

import sys
import time
from abc import ABC, abstractmethod
from collections.abc import (
    Callable,
    Collection,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from functools import partial
from itertools import product
from typing import (
    TYPE_CHECKING,
    Any,
    ClassVar,
    Generic,
    NamedTuple,
    Protocol,
    Self,
    TypeVar,
)

import numpy as np

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError, MachineError
from krohn.algebra.wording import words_up_to
from krohn.claimed_answers import Answers, marked
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.cost import Cost
from krohn.compiler.errors import CompileError
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.program import claim
from krohn.program.claim import Claim
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.progress import Progress, silent
from krohn.report import Report
from krohn.source_kinds import NO_TEXTS
from krohn.sources.written_letters import written
from krohn.verify.proof import Proof, Verdict, prove, shown_of
from krohn.verify.search.find import claims
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from krohn.source_kinds.written_texts import Writer

S = TypeVar("S")
T = TypeVar("T")
MOST_WORDS = 2**20
BESIDE = ("name", "written")
"""What a file says of a source beside what is proved."""


class How(NamedTuple):
    """What kind of network is asked for.

    Attributes:
        construction: Its name, or ``"auto"``.
        arch: ``"transformer"`` or ``"rnn"``.
        attention: How heads weigh positions, of a chain of thought; None for the usual.
        within: The error that a belief may have; None if nothing is said of it.
        formats: Names of the number formats to try, the first one first; none if it is
            the one of the options.
    """

    construction: str = "auto"
    arch: str = "transformer"
    attention: str | None = None
    within: float | None = None
    formats: tuple[str, ...] = ()

    def made(self, known: Mapping[str, str]) -> str:
        """The construction of the architecture.

        Args:
            known: For each architecture that there is, its construction.

        Raises:
            CompileError: If another one is asked for.
        """
        if self.arch not in known:
            raise CompileError(
                f"--arch {self.arch} is for machines; this takes {' or '.join(known)}"
            )
        name = known[self.arch]
        if self.construction not in ("auto", name):
            raise CompileError(
                f"--construction takes auto or {name}, not {self.construction!r}"
            )
        return name


USUAL = How()


def names_in(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Letters as a person writes them."""
    return written(words, known.__contains__, known)


def letters_in(words: Sequence[str], name: str, letters: Sequence[str]) -> IntArray:
    """Letters by name, with blanks between them; without, if each is one character.

    Args:
        words: What a person wrote.
        name: Of the source.
        letters: The name of each of its letters.

    Raises:
        KrohnError: If there is none, or one is unknown.
    """
    index = {letter: i for i, letter in enumerate(letters)}
    parts = names_in(words, index)
    unknown = next((p for p in parts if p not in index), None)
    if unknown is not None:
        known = ", ".join(letters)
        raise KrohnError(
            f"{name} has no letter {unknown[:40]!r}; put blanks between letters: {known}"
        )
    if not parts:
        raise KrohnError("a word has at least one letter")
    return np.array([index[p] for p in parts], np.int64)


def every_word(letters: int, length: int) -> IntArray:
    """``(words, length)``: every word of so many letters.

    Raises:
        KrohnError: If there are too many.
    """
    count = letters**length
    if count > MOST_WORDS:
        raise KrohnError(f"there are {count:,} words; say --sample N instead")
    return np.array(list(product(range(letters), repeat=length)))


def sizes(cost: Cost) -> dict[str, int]:
    """What `krohn explain` says of the size of a network."""
    return {
        "depth": cost.depth,
        "layers": cost.layers,
        "d_model": cost.d_model,
        "heads": cost.heads,
        "mlp_width": cost.mlp_width,
        "parameters": cost.parameters,
    }


def sizes_of(network: Network) -> dict[str, int]:
    """The same of a Transformer that nothing was predicted of."""
    shape = network.architecture
    blocks = shape["blocks"]
    return {
        "depth": sum(block["heads"] > 0 for block in blocks),
        "layers": len(blocks),
        "d_model": shape["d_model"],
        "heads": max((block["heads"] for block in blocks), default=0),
        "mlp_width": max((sum(block["mlp"]) for block in blocks), default=0),
        "parameters": sum(tensor.size for tensor in network.tensors.values()),
    }


class OnFile(Protocol):
    """A source that can be read back from what a model file says of it."""

    def to_wire(self) -> dict[str, Any]:
        """What a file says."""
        ...

    @classmethod
    def from_wire(cls, said: Mapping[str, Any], /) -> Self:
        """From that; raises Refused, or what damage leads to."""
        ...


R = TypeVar("R", bound=OnFile)


def stated(file: ModelFile, read: Callable[[dict[str, Any]], T]) -> T:
    """What a file states as its source.

    Args:
        file: The model.
        read: Makes a source of what is written.

    Raises:
        KrohnError: If it cannot.
    """
    try:
        return read(file.header["source"])
    except (Refused, LookupError, TypeError, ValueError) as error:
        raise KrohnError(f"the file is damaged: of its source, {error}") from None


class SourceKind(ABC, Generic[S]):
    """Sources of one kind: how they are named, compiled, run and explained.

    Attributes:
        wire: The name of the kind on file.
        source: The type of its sources.
        claim: What is proved of its networks: ``exact``, ``within`` or ``generates``.
        takes: The options of `krohn.compile` beside length and format that matter.
        asks: The options of `krohn verify` beside those of every kind.
        ran: What is run through its networks.
        formats: The number formats where none is asked for: one, or those that are tried
            in turn.
        examples: A name of each family of sources, with a description.
        instead: What can be done, where no machine can be learned from a network.
    """

    wire: ClassVar[str]
    source: ClassVar[Any]
    claim: ClassVar[str]
    takes: ClassVar[frozenset[str]] = frozenset({"strict"})
    asks: ClassVar[tuple[str, ...]] = ()
    ran: ClassVar[str] = "words"
    formats: ClassVar[tuple[str, ...]] = ("float32",)
    examples: ClassVar[Mapping[str, str]] = {}
    instead: ClassVar[str] = ""

    @property
    def called(self) -> str:
        """What a source of this kind is called in messages."""
        return (
            f"{'an' if self.wire[0] in 'aeiou' else 'a'} {self.wire.replace('-', ' ')}"
        )

    @abstractmethod
    def named(self, text: str) -> S | None:
        """The source of a name; None if it is the name of none.

        Raises:
            KrohnError: If one of its numbers is out of range.
        """

    def owns(self, source: object) -> bool:
        """Whether a source is of this kind."""
        return isinstance(source, self.source)

    def taken(self, source: Any) -> S | None:
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

    def of_source(self, source: Any, block: int | None = None) -> S:
        """The source of this kind that a machine, or another source, is.

        Args:
            source: The machine or the other source.
            block: After how many letters it writes its state, if it writes states.

        Raises:
            CompileError: If it is none of this kind.
        """
        raise CompileError(f"{source.name} is not {self.called}")

    @abstractmethod
    def to_wire(self, source: S, length: int | None) -> dict[str, Any]:
        """As a model file for a length states it."""

    @abstractmethod
    def build(
        self, source: S, length: int | None, options: Options, how: How = USUAL
    ) -> tuple[CompiledNetwork, dict[str, Any]]:
        """A network, and what its claim says beside the kind and the format.

        Raises:
            KrohnError: If it cannot be compiled; the message says what can be done.
        """

    @abstractmethod
    def explain(
        self, source: S, length: int | None, options: Options, how: How = USUAL
    ) -> dict[str, Any]:
        """What it is, and what its network needs."""

    def remarks(self, source: S) -> dict[str, Any]:
        """What who wrote a source should know of it, as `explain` and `compile` say it."""
        return {}

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
        raise KrohnError(NO_TEXTS)

    def of_file(self, file: ModelFile) -> S | None:
        """The source that a file states; None if it does not state it whole.

        Raises:
            KrohnError: If it states none of this kind.
        """
        return None

    def inputs(self, file: ModelFile) -> tuple[str, str]:
        """The inputs of a network in words: how long they are, and one of them."""
        return words_up_to(file.header["claim"].get("length")), "such word"

    def letters_and_classes(
        self, file: ModelFile
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The names of the letters and of the classes that a network says.

        Raises:
            KrohnError: If it says numbers or texts, from which no machine is learned.
        """
        raise KrohnError(
            f"the file is about {self.called}; machines are learned from networks that "
            f"say one of several classes after each letter{self.instead}"
        )

    @abstractmethod
    def answers(self, file: ModelFile, words: list[str]) -> Answers:
        """What the network says of an input as a person writes it."""

    def run(self, file: ModelFile, words: list[str]) -> dict[str, Any]:
        """The same as `krohn run` prints it: answers beyond the claim are marked."""
        return marked(file, self.answers(file, words))

    def runs(
        self, file: ModelFile
    ) -> Callable[[Iterable[list[str]]], Iterator[dict[str, Any]]]:
        """The same of one input after the other."""
        return partial(map, partial(self.run, file))

    @abstractmethod
    def sample(
        self, file: ModelFile, count: int, seed: int, progress: Progress
    ) -> Simulation:
        """Run random inputs and hold the answers against the reference."""

    @abstractmethod
    def every(self, file: ModelFile, length: int, progress: Progress) -> Simulation:
        """Run every input of up to so many letters."""

    def compile(
        self,
        source: S,
        length: int | None,
        options: Options,
        proved: bool = True,
        progress: Callable[[int, int], None] | None = None,
        how: How = USUAL,
    ) -> CompiledModel:
        """The network of a source, proved.

        Raises:
            KrohnError: If it cannot be compiled or proved.
        """
        began = time.monotonic()
        built, claim = self.build(source, length, options, how)
        precision = PRECISIONS[built.network.architecture["dtype"]]
        options, name = replace(options, precision=precision), built.construction
        file, proof = self.file(source, built, claim, options), None
        if proved:
            proof = prove(file, None, progress)
            if proof.verdict != "verified":
                raise CompileError(
                    f"the network cannot be certified in {precision.name}, so nothing "
                    f"was written ({proof.reason}); try --dtype float64"
                )
        seconds = time.monotonic() - began
        file = with_evidence(file, proof)
        return CompiledModel(file, name, proof, seconds, built.tried)

    def file(
        self,
        source: S,
        built: CompiledNetwork,
        claim: dict[str, Any],
        options: Options,
    ) -> ModelFile:
        """What a file of a network would hold."""
        precision = options.precision
        header = {
            "architecture": built.network.architecture,
            "source": {"kind": self.wire, **self.to_wire(source, claim["length"])},
            "construction": built.construction,
            "claim": {"kind": self.claim, "dtype": precision.name, **claim},
            "program": built.program,
        }
        tensors = {n: precision.round(t) for n, t in built.network.tensors.items()}
        return ModelFile(header, tensors, precision)

    def proved(
        self,
        source: S,
        built: CompiledNetwork,
        claim: dict[str, Any],
        options: Options,
    ) -> dict[str, Any]:
        """A claim about real numbers, with the error that the checker shows.

        Raises:
            Refused: If the checker shows none.
        """
        widest = {**claim, "error": sys.float_info.max}
        return claim | claims(shown_of(self.file(source, built, widest, options)))

    def verify(
        self,
        file: ModelFile,
        proof: bool,
        exhaustive: int | None,
        sample: int | None,
        seed: int = 0,
        progress: Progress = silent,
        source: S | None = None,
    ) -> Report:
        """Prove, or run, what a file claims of its source.

        Args:
            file: The model.
            proof: Whether to prove it.
            exhaustive: Run every input of up to so many letters.
            sample: Run so many random inputs.
            seed: Of the random inputs.
            progress: Called with what is being done, how much is done, and of how much.
            source: What it must be about; None for what it says.

        Raises:
            KrohnError: If longer inputs are to be run than the file claims.
        """
        began, runs = time.monotonic(), list[Simulation]()
        if exhaustive:
            claim = file.header["claim"]
            most = claim.get("letters", claim["length"])
            if most is not None and exhaustive > most:
                raise KrohnError(f"the file is for {self.ran} of up to {most} letters")
            runs.append(self.every(file, exhaustive, progress))
        if sample:
            runs.append(self.sample(file, sample, seed, progress))
        asked = {"proof": proof, "exhaustive": exhaustive, "sample": sample}
        method = "+".join(name for name, given in asked.items() if given)
        shown = prove(file, None, partial(progress, "proving")) if proof else None
        report = self._concluded(file, method, runs, shown)
        if report.verdict == "verified" and (other := self.differs(file, source)):
            report = replace(
                report, verdict="undecided", reason=other, covers="nothing"
            )
        error = file.header["claim"].get("error")
        seconds = time.monotonic() - began
        return replace(
            report, seconds=seconds, claim=self.claim, error=error, ran=self.ran
        )

    def differs(self, file: ModelFile, source: S | None) -> str:
        """Whether a file is about another source: why, or nothing."""
        same = source is None or self._claiming(file, source) is file.header
        return "" if same else "the file is about another source than the one given"

    def about(self, file: ModelFile, source: S | None) -> Claim:
        """What a verdict is about: the claim of the file, or that with another source."""
        held = file.header if source is None else self._claiming(file, source)
        return claim.of(held)

    def _claiming(self, file: ModelFile, source: S) -> dict[str, Any]:
        """The header of a file that claims a source: its own if that is the same."""
        said = file.header["source"]
        wanted = self.to_wire(source, file.header["claim"]["length"])
        keys = [key for key in wanted if key not in BESIDE]
        if all(said.get(key) == wanted[key] for key in keys):
            return file.header
        return {**file.header, "source": {"kind": self.wire, **wanted}}

    def _concluded(
        self,
        file: ModelFile,
        method: str,
        runs: list[Simulation],
        shown: Proof | None,
    ) -> Report:
        """What runs and a proof come to together."""
        words = sum(r.words for r in runs)
        length = max((r.length for r in runs), default=0)
        wrong = next((r.counterexample for r in runs if r.counterexample), None)
        if wrong is not None:
            reason = f"the network is wrong at letter {wrong.at} of this input"
            return Report(
                "refuted", method, reason, len(wrong.word), words, "one input", wrong
            )
        verdict: Verdict = "undecided"
        reason, covers = "inputs were run, and nothing was proved", "the inputs run"
        if shown is not None:
            # A word on which the Program is wrong was not run on the network.
            verdict = "undecided" if shown.verdict == "refuted" else shown.verdict
            reason = shown.reason
            covers = self.covers(file) if verdict == "verified" else "nothing"
            length = file.header["claim"]["length"]
        elif any(r.every for r in runs):
            verdict, reason, covers = "verified", "", "every input of these lengths"
        return Report(
            verdict,
            method,
            reason,
            length,
            words,
            covers,
            proof=shown,
            runs=tuple(runs),
        )

    @abstractmethod
    def covers(self, file: ModelFile) -> str:
        """What a proof is about, in words."""


class ReadableKind(SourceKind[R]):
    """Sources that a model file states whole."""

    def of_file(self, file: ModelFile) -> R:
        """The source that a file states.

        Raises:
            KrohnError: If it states none of this kind.
        """
        found: R = stated(file, self.source.from_wire)
        return found

    def to_wire(self, source: R, length: int | None) -> dict[str, Any]:
        """As a model file states it."""
        return source.to_wire()
