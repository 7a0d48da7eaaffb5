"""Compiling with proof: no file is written that the checker does not accept."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import signature
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from algebra.automaton import Automaton
from algebra.budget import Budget, steps_of
from algebra.formats import json_format
from compiler import generator
from compiler.compiled_network import CompiledNetwork, compile_rnn, realise
from compiler.construction_choice.known_constructions import SEARCHING
from compiler.construction_choice.planning import planning
from compiler.errors import CompileError
from compiler.pipeline import Observer, Options
from krohn.option_rules import TRANSFORMER, refuse
from krohn.sources import read, seen
from network import modelfile
from network.architecture import ACTIVATIONS, kind_of, parameters
from network.modelfile import ModelFile
from network.precision import PRECISIONS, Precision
from network.sparse import is_index
from verify.proof import Proof, prove

Architecture = Literal["transformer", "rnn"]
Progress = Callable[[int, int], None]
POSITIONS = ("dyadic", "circle")


@dataclass(frozen=True)
class CompiledModel:
    """A compiled and proved network, ready to be saved.

    Attributes:
        file: What the model file will hold.
        construction: How it was built.
        proof: The proof; None if it was not asked for.
        seconds: How long compiling and proving took.
    """

    file: ModelFile
    construction: str
    proof: Proof | None
    seconds: float = field(compare=False)

    def save(self, path: str | Path) -> None:
        """Write the model file whole or not at all.

        Raises:
            ModelFileError: If the file system refuses.
        """
        modelfile.write(path, self.file.header, self.file.tensors)

    def summary(self) -> dict[str, Any]:
        """Sizes and timing, as ``krohn compile --json`` prints them."""
        shape, tensors = self.file.header["architecture"], self.file.tensors
        kind = kind_of(shape)
        layers = kind.layers(shape)
        return {
            "construction": self.construction,
            "length": self.file.header["claim"].get("length"),
            "dtype": shape["dtype"],
            "depth": sum(layer["heads"] > 0 for layer in layers),
            "layers": len(layers),
            "d_model": kind.width(shape),
            "heads": max((layer["heads"] for layer in layers), default=0),
            "mlp_width": max((w for layer in layers for w in layer["mlp"]), default=0),
            "parameters": parameters(shape),
            **self.file.header.get("search", {}),
            "shows": self.file.header["claim"].get("shows", "states"),
            "nonzero": sum(
                int(np.count_nonzero(t)) for n, t in tensors.items() if not is_index(n)
            ),
            "verdict": self.proof.verdict if self.proof else None,
            "seconds": round(self.seconds, 3),
        }


def compile(  # noqa: A001  (the verb of the trade, and of the command)
    machine: Automaton | str | Path,
    length: int | None = None,
    construction: str = "auto",
    *,
    arch: Architecture = "transformer",
    dtype: str = "float32",
    start: str | None = None,
    strict: bool = False,
    activation: str = "relu",
    uniform: bool = False,
    positions: str = "dyadic",
    minimise: str | None = None,
    observation: str | None = None,
    effort: str | float = "normal",
    proved: bool = True,
    observe: Observer | None = None,
    progress: Progress | None = None,
) -> CompiledModel:
    """Derive a network that computes a machine, and prove that it does.

    Args:
        machine: An automaton, a zoo name, a file, or ``regex:…``.
        length: The longest word (T); required for a Transformer.
        construction: A name of ``CONSTRUCTIONS`` or ``ON_REQUEST`` in
            `compiler.construction_choice.known_constructions`; ``"auto"`` takes the
            best one that can be proved.
        arch: ``"transformer"``, or ``"rnn"`` for a network without a longest word.
        dtype: The number format it is stored and run in.
        start: The start state by name; None for the machine's own.
        strict: Plain residuals and one hidden layer in every MLP.
        activation: ``"relu"``; or ``"sine"``, with which counters read their sums from
            a circle, so that no width grows with the length.
        uniform: Memories and look-backs by weights that are those of every length; only
            the position table grows with it.
        positions: How look-backs tell positions apart: ``"dyadic"``, by angles 2πt/2^k,
            or ``"circle"``, by one angle 2πt/N (Proposition 2), in 2 dimensions.
        minimise: What is chosen by: a key of
            `compiler.construction_choice.objectives.OBJECTIVES`. None: the compromise
            for ``"auto"``, else the depth.
        observation: What the network says instead of the state: a name of
            `algebra.observation.OBSERVATIONS`, or ``"outputs"`` for the machine's own.
        effort: How much each search may do: a key of `algebra.budget.EFFORTS`, or steps.
        proved: Whether to prove it; without, nothing is known about the result.
        observe: Called after every compiler pass with its name and the Program.
        progress: Called by the proof with steps done and in all.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.
    """
    began = time.monotonic()
    values = {
        "arch": arch,
        "construction": construction,
        "length": length,
        "strict": strict,
        "activation": activation,
        "uniform": uniform,
        "positions": positions,
        "minimise": minimise,
        "effort": effort,
    }
    _check_options(values)
    if construction == generator.NAME:
        raise CompileError(
            "a balanced generator says laws instead of states; make it with "
            "krohn.compile_generator"
        )
    source = machine if isinstance(machine, Automaton) else read(machine)
    source = source if start is None else source.with_start(start)
    source = seen(source, observation)
    shown = source if observation else replace(source, output=None)
    precision = precision_of(dtype)
    reasons = []
    options = options_of(dtype, strict, activation, uniform, positions)
    budget = Budget(steps_of(effort))
    searched = arch == "transformer" and construction in ("auto", *SEARCHING)
    for built in _attempts(
        shown, length, construction, arch, options, minimise, observe, budget
    ):
        file = model_file(source, built, length, precision, observation is not None)
        if searched:
            file.header["search"] = budget.record()
        proof = prove(file, source, progress) if proved else None
        if proof is None or proof.verdict == "verified":
            file = with_evidence(file, proof)
            seconds = time.monotonic() - began
            return CompiledModel(file, built.construction, proof, seconds)
        reasons.append(f"{built.construction}: {proof.reason}")
    raise _uncertified(source.name, length, arch, dtype, reasons)


def _uncertified(
    name: str, length: int | None, arch: str, dtype: str, reasons: Sequence[str]
) -> CompileError:
    """No network could be proved: why, and what to try."""
    at = "" if length is None else f" at length {length}"
    wider = "" if dtype == "float64" else "--dtype float64, "
    other = (
        "fewer states" if arch == "rnn" else "a shorter length, or another construction"
    )
    return CompileError(
        f"{name} cannot be certified in {dtype}{at}, so nothing was written "
        f"({'; '.join(reasons)}). Try {wider}{other}"
    )


def _check_options(values: Mapping[str, Any]) -> None:
    """Refuse an architecture that there is not, and options that it has no use for."""
    if values["arch"] not in get_args(Architecture):
        raise CompileError(
            f"--arch takes {' or '.join(get_args(Architecture))}, not {values['arch']!r}"
        )
    usual = signature(compile).parameters
    given = [name for name, value in values.items() if value != usual[name].default]
    refuse(TRANSFORMER, values, given)


def precision_of(dtype: str) -> Precision:
    """The number format of a name.

    Raises:
        CompileError: If there is none.
    """
    if dtype not in PRECISIONS:
        raise CompileError(
            f"there is no dtype {dtype!r}; there are {', '.join(PRECISIONS)}"
        )
    return PRECISIONS[dtype]


def options_of(
    dtype: str,
    strict: bool,
    activation: str,
    uniform: bool = False,
    positions: str = "dyadic",
) -> Options:
    """How to lower, from the names that users give.

    Raises:
        CompileError: If there is no such format, activation or code of positions, or two
            forms exclude each other.
    """
    if activation not in ACTIVATIONS:
        raise CompileError(
            f"--activation takes {' or '.join(ACTIVATIONS)}, not {activation!r}"
        )
    if positions not in POSITIONS:
        raise CompileError(
            f"--positions takes {' or '.join(POSITIONS)}, not {positions!r}"
        )
    circle = positions == "circle"
    return Options(precision_of(dtype), strict, activation, uniform, circle)


def _attempts(
    machine: Automaton,
    length: int | None,
    construction: str,
    arch: Architecture,
    options: Options,
    minimise: str | None,
    observe: Observer | None,
    budget: Budget,
) -> Iterator[CompiledNetwork]:
    """The networks to try to prove, best first."""
    if arch == "rnn":
        if construction not in ("auto", "elman"):
            raise CompileError(
                f"an RNN is built by 'elman', not by {construction!r}; leave "
                "--construction out"
            )
        yield compile_rnn(machine, options.precision)
        return
    if length is None:
        raise CompileError("a Transformer needs the longest length it is for (-T)")
    if length < 1:
        raise CompileError("the length must be at least 1")
    known = planning(machine, length, options, construction, budget)
    tried = False
    for way in known.best_first(minimise):
        tried = True
        yield realise(way, observe)
    if not tried:
        raise CompileError(known.reasons())


def model_file(
    machine: Automaton,
    built: CompiledNetwork,
    length: int | None,
    precision: Precision,
    outputs: bool,
) -> ModelFile:
    """What the file would hold: tensors are rounded before they are proved."""
    claim: dict[str, Any] = {
        "start": machine.states[machine.start],
        "dtype": precision.name,
    }
    if outputs:
        claim["shows"] = "outputs"
    if not kind_of(built.network.architecture).recurrent:
        claim["length"] = length
    header = {
        "architecture": built.network.architecture,
        "machine": json_format.to_object(machine),
        "construction": built.construction,
        "claim": claim,
    }
    if built.program:
        header["program"] = built.program
    tensors = {
        n: np.asarray(t) if is_index(n) else precision.round(t)
        for n, t in built.network.tensors.items()
    }
    return ModelFile(header, tensors, precision)


def with_evidence(file: ModelFile, proof: Proof | None) -> ModelFile:
    """The file with a record of what was proved."""
    evidence = None
    if proof is not None:
        evidence = {"verdict": proof.verdict, "steps": proof.evidence}
    header = {**file.header, "evidence": evidence}
    return ModelFile(header, file.tensors, file.precision)
