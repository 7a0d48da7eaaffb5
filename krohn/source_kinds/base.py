"""Sources that are no machines: what their kinds have in common."""

import sys
import time
from abc import abstractmethod
from collections.abc import (
    Callable,
    Collection,
    Iterator,
    Mapping,
    Sequence,
)
from dataclasses import replace
from functools import partial
from itertools import product
from math import floor, log10
from typing import (
    Any,
    ClassVar,
    Protocol,
    Self,
    TypeVar,
)

import numpy as np

from krohn.algebra.errors import KrohnError
from krohn.checks import Checks, check_digest
from krohn.compile_options import CompileOptions
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.compiler import CompileError
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.cost import Cost
from krohn.compiler.pipeline import Options
from krohn.compiler.transformer import Network
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.reading import Opened
from krohn.option_rules import FORM, refuse, refuse_others
from krohn.program.domains import IntArray
from krohn.program.errors import Refused
from krohn.program.user_input import find_wrong_letter
from krohn.program.word_texts import letters_by_name, split_letters
from krohn.report import (
    Progress,
    Question,
    Report,
    explain_test,
    report_passing_runs,
)
from krohn.schemas.parts import Sizes, SourceFacts
from krohn.source_kinds import find_source_to_compile
from krohn.source_kinds.kind import Answers, Kind, Runs, S, mark_unproved
from krohn.verify.proof import Proof, prove, prove_own, shown_of
from krohn.verify.search.find import claims
from krohn.verify.testing.simulation_result import Simulation

T = TypeVar("T")
MOST_WORDS = 2**20
LARGEST_EXPONENT = -2
"""Of ten: of the largest error that is offered where a smaller one has no network."""
MISFITS = (ValueError, LookupError, TypeError, RuntimeError)
"""Errors in which it ends to run a network on the inputs of a source of another size."""
Built = tuple[CompiledNetwork, dict[str, Any]]
"""A network, and what its claim says beside the kind and the format."""


def names_in(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Letters as a person writes them; names of letters are taken as they are."""
    named = letters_by_name(words, known.__contains__)
    return split_letters(words, known.__contains__, known) if named is None else named


def letters_in(words: Sequence[str], letters: Sequence[str]) -> IntArray:
    """Letters by name, with blanks between them; without, if each is one character.

    Args:
        words: What a person wrote.
        letters: The name of each of its letters.

    Raises:
        KrohnError: If there is none, or one is unknown.
    """
    index = {letter: i for i, letter in enumerate(letters)}
    parts = names_in(words, index)
    if wrong := find_wrong_letter(parts, index.__contains__, letters):
        raise KrohnError(wrong)
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


def larger(within: float) -> Iterator[float]:
    """Errors that a refusal may offer in the place of one that is too small."""
    for exponent in range(floor(log10(within)) + 1, LARGEST_EXPONENT + 1):
        yield float(f"1e{exponent}")


def sizes(cost: Cost) -> dict[str, int]:
    """The sizes of a network that `krohn explain` says."""
    named = ("depth", "layers", "d_model", "heads", "mlp_width", "parameters")
    return {size: getattr(cost, size) for size in named}


def sizes_of(network: Network) -> dict[str, int]:
    """The sizes of a Transformer whose cost was not predicted."""
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
        """The statement that a file holds."""
        ...

    @classmethod
    def from_wire(cls, said: Mapping[str, Any], /) -> Self:
        """From that; raises Refused, or what damage leads to."""
        ...


R = TypeVar("R", bound=OnFile)


def read_stated_source(file: ModelFile, read: Callable[[dict[str, Any]], T]) -> T:
    """The source that a file states.

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


class SourceKind(Kind[S]):
    """Sources that are no machines, which a model file states under their own name.

    Attributes:
        facts_types: The types of the facts that ``krohn explain --json`` prints.
        facts_bases: The types whose docstrings say what shared facts mean.
        stated_type: The type of what a model file states.
    """

    facts_types: ClassVar[tuple[Any, ...]] = ()
    facts_bases: ClassVar[tuple[Any, ...]] = ()
    stated_type: ClassVar[Any] = None

    def meanings(self) -> dict[str, str]:
        """What each fact means, in the words of its JSON Schema."""
        from krohn.schemas.making import meanings_of

        return meanings_of(SourceFacts, Sizes, *self.facts_bases, *self.facts_types)

    @abstractmethod
    def answers(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> Answers:
        """The answers of the network to an input as a person writes it."""

    def run(
        self, file: ModelFile, words: list[str], network: Opened = None
    ) -> dict[str, Any]:
        """The answers as `krohn run` prints them, with marks beyond the claim."""
        return mark_unproved(file, self.answers(file, words, network))

    def runs(self, file: ModelFile, network: Opened = None) -> Runs:
        """The function that answers one input after the other."""
        return partial(map, partial(self.run, file, network=network))

    @abstractmethod
    def to_wire(self, source: S, length: int | None) -> dict[str, Any]:
        """As a model file for a length states it."""

    @abstractmethod
    def build(self, source: S, asked: CompileOptions) -> Built:
        """A network, and what its claim says beside the kind and the format.

        Raises:
            KrohnError: If it cannot be compiled; the message says what can be done.
        """

    def explain(self, source: S, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a source, and the sizes of its network."""
        refuse_others(asked.given_options, self.takes, self.called)
        asked = replace(asked, length=asked.length or self.explained)
        facts = self.describe_source(source, asked)
        # An error within which a network is right is one that the checker has shown.
        return facts if self.claim == "within" else {**facts, "proved": None}

    def describe_source(self, source: Any, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a source, in the order in which they are printed."""
        facts = {"name": source.name, "kind": self.wire, "claim": self.claim}
        facts |= self.facts(source, asked)
        return {**facts, "dtype": facts.get("dtype", asked.options.precision.name)}

    def facts(self, source: S, asked: CompileOptions) -> dict[str, Any]:
        """The facts of a source beside its name, its kind and its claim."""
        return {}

    @abstractmethod
    def sample_inputs(
        self, file: ModelFile, count: int, rng: "np.random.Generator"
    ) -> Any:
        """So many random inputs."""

    def list_inputs(self, file: ModelFile, length: int) -> Any:
        """Every input of up to so many letters: words, each of whose prefixes is one.

        Raises:
            KrohnError: If there are too many, or none.
        """
        source: Any = self.of_file(file)
        return every_word(len(source.letters), length)

    @abstractmethod
    def simulate_inputs(
        self, file: ModelFile, inputs: Any, progress: Progress
    ) -> Simulation:
        """Run inputs and hold the answers against the reference."""

    def sample(
        self, file: ModelFile, count: int, seed: int, progress: Progress
    ) -> Simulation:
        """Run random inputs."""
        inputs = self.sample_inputs(file, count, np.random.default_rng(seed))
        return self.simulate_inputs(file, inputs, progress)

    def every(self, file: ModelFile, length: int, progress: Progress) -> Simulation:
        """Run every input of up to so many letters."""
        simulation = self.simulate_inputs(
            file, self.list_inputs(file, length), progress
        )
        return replace(simulation, every=self.is_longest(file, length))

    def is_longest(self, file: ModelFile, length: int) -> bool:
        """Whether no input that a file claims something of has more letters."""
        return self.longest(file) == length

    def compile(self, source: S, asked: CompileOptions) -> CompiledModel:
        """The network of a source, proved.

        Raises:
            KrohnError: If it cannot be compiled or proved.
        """
        began = time.monotonic()
        refuse_others(asked.given_options, self.takes, self.called)
        refuse([FORM], vars(asked), asked.given_options)
        source, remark, (built, claim) = self.make_network(source, asked)
        precision = PRECISIONS[built.network.architecture["dtype"]]
        options = replace(asked.options, precision=precision)
        file, proof = self.file(source, built, claim, options), None
        if asked.proof:
            proof = prove_own(file, None, asked.progress)
            if proof.verdict != "verified":
                raise CompileError(
                    f"the network cannot be certified in {precision.name}, so nothing "
                    f"was written ({proof.reason})"
                    f"{self.advice(source, self.needs_float64(source, asked))}",
                    proof.reason,
                )
        seconds = time.monotonic() - began
        file = with_evidence(file, proof)
        return CompiledModel(
            file, built.construction, proof, seconds, built.tried, remark
        )

    def make_network(self, source: S, asked: CompileOptions) -> tuple[S, str, Built]:
        """The source that a network is of, a remark if it is another one, and the network.

        Raises:
            KrohnError: If there is no network; the message says what can be done.
        """
        return source, "", self.build(source, asked)

    def needs_float64(self, source: S, asked: CompileOptions) -> bool:
        """Whether there is a network in float64 and none was found in another format."""
        if asked.formats == ("float64",):
            return False
        try:
            self.compile(source, replace(asked, dtype=None, formats=("float64",)))
        except KrohnError:
            return False
        return True

    def advice(self, source: S, finer: bool) -> str:
        """Advice for a format that is too coarse, after a semicolon.

        Args:
            source: The source.
            finer: Whether there is a network in a finer format.
        """
        return "; try --dtype float64" * finer

    def file(
        self,
        source: S,
        built: CompiledNetwork,
        claim: dict[str, Any],
        options: Options,
    ) -> ModelFile:
        """The file of a network."""
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

    def prove_claim(
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

    def verify(self, file: ModelFile, checks: Checks) -> Report:
        """Prove, or run, what a file claims of its source.

        Raises:
            KrohnError: If longer inputs are to be run than the file claims, or an option
                is for machines.
        """
        if checks.has_any_option("observe", "length", "sharding"):
            raise KrohnError(
                "-T, --observe and jobs are for models of machines; this file is about "
                f"{self.called}"
            )
        file = self.claiming(file, checks.machine)
        check_digest(about := file.claim, checks.digest)
        shown, report = None, checks.report
        try:
            with np.errstate(all="ignore"):  # a source may have extreme numbers
                runs = self._run_inputs(file, checks)
        except MISFITS as misfit:
            if checks.machine is None or isinstance(misfit, KrohnError):
                raise
            name = about.name
            raise KrohnError(f"the network does not read inputs of {name}") from None
        if checks.proves:
            shown = prove(file, None, partial(report, "proving"))
        conclusion = self._conclude(file, checks.method, runs, shown)
        if conclusion.verdict == "verified" and (problem := self.problem(file)):
            conclusion = replace(conclusion, verdict="undecided", reason=problem)
        return replace(conclusion, ran=self.ran, about=about)

    def _run_inputs(self, file: ModelFile, checks: Checks) -> list[Simulation]:
        """Run the inputs that are asked for."""
        runs = list[Simulation]()
        if checks.exhaustive:
            most = self.longest(file)
            if most is not None and checks.exhaustive > most:
                raise KrohnError(f"the file is for {self.ran} of up to {most} letters")
            runs.append(self.every(file, checks.exhaustive, checks.report))
        if checks.sample:
            runs.append(self.sample(file, checks.sample, checks.seed, checks.report))
        return runs

    def longest(self, file: ModelFile) -> int | None:
        """The longest inputs that a file claims; None if there are none."""
        return file.claim.length

    def require_source(self, source: Any) -> Any:
        """A source of this kind, or of a name, that a file must be about.

        Raises:
            KrohnError: If it is of another kind.
        """
        other = find_source_to_compile(source)
        if other is None or other[0].wire != self.wire:
            raise KrohnError(f"the file is about {self.called}, and {source} is none")
        return other[1]

    def claiming(self, file: ModelFile, source: object) -> ModelFile:
        """The file with another source in the place of its own, which it then claims.

        Args:
            file: The model file.
            source: The other source, or what names it; None for the file's own.

        Raises:
            KrohnError: If it is of another kind, or names letters or outputs otherwise.
        """
        if source is None:
            return file
        wire_form = self.to_wire(self.require_source(source), file.claim.length)
        return self.stating(file, {"kind": self.wire, **wire_form})

    def stating(self, file: ModelFile, other: dict[str, Any]) -> ModelFile:
        """The file with another statement of a source in the place of its own.

        Raises:
            KrohnError: If letters or outputs have other names there.
        """
        own = file.header["source"]
        for names, what in (("letters", "letters"), ("classes", "outputs")):
            if own.get(names) != other.get(names):
                raise KrohnError(
                    f"{other['name']} and the model have different {what}, or another "
                    "order of them"
                )
        return replace(file, header={**file.header, "source": other})

    def _conclude(
        self,
        file: ModelFile,
        method: str,
        runs: list[Simulation],
        shown: Proof | None,
    ) -> Report:
        """The report on runs and a proof together."""
        words = sum(r.words for r in runs)
        length: int | None = max((r.length for r in runs), default=0)
        wrong = next((r.counterexample for r in runs if r.counterexample), None)
        if wrong is not None:
            reason = f"the network is wrong at letter {wrong.at} of this input"
            return Report(
                "refuted", method, reason, len(wrong.word), words, None, wrong
            )
        if shown is None:
            whole = any(run.every for run in runs)
            classes = self.claim != "within"
            asked = Question(file.claim.inputs, length, classes, whole)
            remarks = (f"; {r.words:,} {self.ran}{r.about}" for r in runs if r.about)
            reason = f"{explain_test()}{''.join(remarks)}"
            return report_passing_runs(runs, method, asked, reason)
        # A word on which the Program is wrong was not run on the network.
        verdict = "undecided" if shown.verdict == "refuted" else shown.verdict
        return Report(
            verdict,
            method,
            shown.reason,
            file.claim.length,
            words,
            shown.proved,
            proof=shown,
            runs=tuple(runs),
        )


class ReadableKind(SourceKind[R]):
    """Sources that a model file states whole."""

    def of_file(self, file: ModelFile) -> R:
        """The source that a file states.

        Raises:
            KrohnError: If it states none of this kind.
        """
        source: R = read_stated_source(file, self.source.from_wire)
        return source

    def to_wire(self, source: R, length: int | None) -> dict[str, Any]:
        """As a model file states it."""
        return source.to_wire()
