"""Compiling generators, and verifying them: laws are held against those of brackets."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import BracketDistribution, distribution
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.architectures.generator.build import (
    NAME as GENERATOR,
    Freedom,
    generator,
)
from krohn.compile_options import CompileOptions
from krohn.compiled_model import (
    CompiledModel,
    halves,
    there_is,
    with_evidence,
)
from krohn.compiler import CompileError
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, Precision
from krohn.verify.proof import prove_own
from krohn.verify.testing.simulation_result import Simulation

if TYPE_CHECKING:
    from krohn.replaying import Replay
    from krohn.verify.testing.counterexample import Counterexample
    from krohn.verify.testing.shortest_failing import Minimal
from krohn.architectures.generator import find_words
from krohn.verification_target import DEFAULT_SAMPLE_LENGTH, Target

LONGEST_PREFIX = 1024
"""Longer prefixes are not drawn for a generator, whose claim needs no positions."""


@dataclass(frozen=True)
class GeneratorTarget(Target):
    """A generator and its stacks: each output is held against a law of brackets."""

    @property
    def says_classes(self) -> bool:
        """No: they are laws."""
        return False

    def run_all(self, length: int) -> Simulation:
        """Run every legal prefix of up to ``length`` letters."""
        if self.sharding is not None:
            raise KrohnError(
                "the words of a generator are run by one process only; leave --jobs, "
                "--job-file, --shard and --cluster out"
            )
        report = self.report("running all words")
        return find_words.run_all(self.file, self.machine, length, report)

    def run_sample(
        self, count: int, seed: int, longest: int | None = None
    ) -> Simulation:
        """Run random prefixes."""
        most = LONGEST_PREFIX if longest is None else min(longest, LONGEST_PREFIX)
        length = min(self.length or DEFAULT_SAMPLE_LENGTH, most)
        report = self.report("running samples")
        return find_words.run_sample(
            self.file, self.machine, count, length, seed, report
        )

    def minimise(self, found: "Counterexample") -> "Minimal":
        """The smallest wrong prefix that is found from this one."""
        return find_words.minimise(self.file, self.machine, found, self.budget)

    def compare(self, word: Sequence[str], state: str | None = None) -> "Replay":
        """Hold every law along a prefix against the right one.

        Raises:
            KrohnError: If a state is given, or the word is no legal prefix.
        """
        from krohn.replaying import along

        if state is not None:
            raise KrohnError(
                "a generator gives laws, not states; use --expect without a state, "
                "which compares every law with the right one"
            )
        letters = self.machine.encode(word)
        mismatch = find_words.replay(self.file, self.machine, letters)
        return along(word, mismatch, "(the right law)")


DEFAULT_OPENING = Fraction(1, 2)


def compile_generator(
    machine: object,
    length: int | None,
    free: Freedom | None = None,
    *,
    opening: Fraction = DEFAULT_OPENING,
    dtype: object = "float32",
    proof: bool = True,
    progress: Callable[[int, int], None] | None = None,
    **reading: Unpack[MachineKeywords],
) -> CompiledModel:
    """Derive a network whose output is the law of the next bracket, and prove it.

    Args:
        machine: A stack of bounded depth that starts empty, such as ``Dyck4,2``.
        length: The longest prefix (T).
        free: The free parameters: attention pattern, first layer, seed and scale.
        opening: q, the probability of opening a bracket where both is possible.
        dtype: The number format it is stored and run in.
        proof: Whether to prove it.
        progress: Called by the proof with steps done and in all.
        **reading: How it is read, by the names in `krohn.machine_reading.MachineReading`.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.

    Examples:
        >>> krohn.compile_generator("Dyck2,2", 4)
        <CompiledModel Dyck2,2: balanced, T = 4, 1 layer, verified>
    """
    began, how = time.monotonic(), MachineReading(**reading)
    source = with_outputs(machine_of(machine, how), how.observe)
    law = distribution(source, opening)
    asked = CompileOptions(length, dtype=dtype).of(("float32",))
    longest = asked.longest("a generator needs the longest prefix")
    wanted = Wanted(free or Freedom(), longest, asked.options.precision)
    file = _file(source, law, wanted)
    shown = prove_own(file, source, progress) if proof else None
    if shown is not None and shown.verdict != "verified":
        works = (
            option
            for option, each in _easier_laws(wanted)
            if prove_own(_file(source, law, each), source, progress).verdict
            == "verified"
        )
        raise CompileError(
            f"{source.name} cannot be certified in {asked.formats[0]} at length {length}, "
            f"so nothing was written ({shown.reason}){there_is(islice(works, 2))}"
        )
    seconds = time.monotonic() - began
    return CompiledModel(with_evidence(file, shown), GENERATOR, shown, seconds)


class Wanted(NamedTuple):
    """What is asked for of a generator: its free parameters, T, and the number format."""

    free: Freedom
    length: int
    precision: Precision


def _easier_laws(wanted: Wanted) -> Iterator[tuple[str, Wanted]]:
    """Options that may lead to a generator, and what they ask for."""
    free = wanted.free
    if wanted.precision.name != "float64":
        yield "--dtype float64", wanted._replace(precision=PRECISIONS["float64"])
    if free.pattern == "random":
        symmetric = replace(free, pattern="symmetric")
        yield "--attention symmetric", wanted._replace(free=symmetric)
    if free.pattern != "uniform":
        smaller = replace(free, scale=free.scale / 4)
        yield f"--scale {smaller.scale:g}", wanted._replace(free=smaller)
    for length in halves(wanted.length):
        yield f"-T {length}", wanted._replace(length=length)


def _file(machine: Automaton, law: BracketDistribution, wanted: Wanted) -> ModelFile:
    free, length, precision = wanted
    built = generator(law, length, free, precision)
    header = {
        "architecture": built.architecture,
        "machine": json_format.claimed_machine(machine),
        "construction": GENERATOR,
        "claim": {
            "start": machine.states[machine.start],
            "dtype": precision.name,
            "length": length,
            "opening": str(law.opening),
            # A probability is stored with one rounding, and nothing else is lost.
            "tolerance": precision.unit,
        },
        "freedom": _freedom(free),
    }
    tensors = {n: precision.round(t) for n, t in built.tensors.items()}
    return ModelFile(header, tensors, precision)


def _freedom(free: Freedom) -> dict[str, Any]:
    chosen: dict[str, Any] = {"attention": free.pattern, "depth": free.depth}
    if free.pattern != "uniform":
        chosen |= {"seed": free.seed, "scale": free.scale}
    return chosen
