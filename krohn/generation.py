"""Generators of nested brackets: compiling them with proof, and running them."""

import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.brackets import BracketDistribution, distribution
from krohn.algebra.formats import json_format
from krohn.asked import Asked
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.compiler import CompileError
from krohn.compiler.generator import NAME, Freedom, generator
from krohn.machines import machine_of
from krohn.network.modelfile import ModelFile
from krohn.network.precision import Precision
from krohn.verify.proof import prove

DEFAULT_OPENING = Fraction(1, 2)


def compile_generator(
    machine: object,
    length: int | None,
    free: Freedom | None = None,
    *,
    opening: Fraction = DEFAULT_OPENING,
    dtype: object = "float32",
    proved: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> CompiledModel:
    """Derive a network whose output is the law of the next bracket, and prove it.

    Args:
        machine: A stack of bounded depth that starts empty, such as ``Dyck4,2``.
        length: The longest prefix (T).
        free: The free parameters: attention pattern, first layer, seed and scale.
        opening: q, the probability of opening a bracket where both is possible.
        dtype: The number format it is stored and run in.
        proved: Whether to prove it.
        progress: Called by the proof with steps done and in all.

    Raises:
        KrohnError: If it cannot be compiled or cannot be proved.
    """
    began = time.monotonic()
    source = machine_of(machine)
    law = distribution(source, opening)
    asked = Asked(length, dtype=dtype).of(("float32",))
    longest = asked.longest("a generator needs the longest prefix")
    file = _file(source, law, longest, free or Freedom(), asked.options.precision)
    proof = prove(file, source, progress) if proved else None
    if proof is not None and proof.verdict != "verified":
        wider = "" if dtype == "float64" else "--dtype float64, "
        raise CompileError(
            f"{source.name} cannot be certified in {dtype} at length {length}, so nothing "
            f"was written ({proof.reason}). Try {wider}a shorter length, a smaller "
            "--scale, or --attention symmetric or uniform"
        )
    seconds = time.monotonic() - began
    return CompiledModel(with_evidence(file, proof), NAME, proof, seconds)


def _file(
    machine: Automaton,
    law: BracketDistribution,
    length: int,
    free: Freedom,
    precision: Precision,
) -> ModelFile:
    built = generator(law, length, free, precision)
    header = {
        "architecture": built.architecture,
        "machine": json_format.to_object(machine),
        "construction": NAME,
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
