"""``krohn compile``."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from krohn import show
from krohn.algebra.errors import KrohnError
from krohn.commands import compile_options as own
from krohn.commands import options as common
from krohn.commands.options import check, reading, remarks, typed
from krohn.commands.terminal import emit, progress
from krohn.option_rules import COMPILE, IN_BLOCKS, refuse_others
from krohn.source_kinds import named

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.compiled_model import CompiledModel


@dataclass(frozen=True)
class Source:
    """What is compiled, for words of what length, in which format, and whether proved."""

    machine: "Automaton"
    length: int | None
    dtype: str | None
    proved: bool


@dataclass(frozen=True)
class Law:
    """What only a balanced generator is free in; None keeps its default."""

    pattern: str | None
    depth: str | None
    seed: int | None
    scale: float | None
    opening: str | None

    def given(self) -> dict[str, Any]:
        """What was given, by the names of `krohn.compiler.generator.Freedom`."""
        return {k: v for k, v in vars(self).items() if v is not None}


def compile(  # noqa: A001  (the command is called so)
    context: typer.Context,
    machine: common.Machine,
    output: own.Output,
    length: own.LongestWord = None,
    construction: own.Construction = "auto",
    arch: own.Arch = "transformer",
    dtype: common.Dtype = "float32",
    start: common.Start = None,
    strict: common.Strict = False,
    activation: common.Activation = "relu",
    uniform: common.Uniform = False,
    positions: common.Positions = "dyadic",
    minimise: common.Minimise = None,
    observe: common.Observe = None,
    block: common.Block = None,
    effort: common.Effort = "normal",
    complete: common.Fill = "reject",
    kind: common.ReadAs = None,
    formal: common.Formal = False,
    within: common.Within = None,
    attention: own.Attention = None,
    depth_layer: own.DepthLayer = None,
    seed: own.ScoreSeed = None,
    scale: own.Scale = None,
    opening: own.Opening = None,
    proof: own.Prove = True,
    passes: own.Passes = False,
    as_json: common.Json = False,
) -> None:
    """Derive a network for a machine, prove it, and write it to a model file."""
    from krohn.machines import MODEL

    if output.suffix not in ("", *MODEL):
        raise KrohnError(
            f"{output}: the name of a model file ends in {' or '.join(MODEL)}, not in "
            f"{output.suffix}"
        )
    asked = dtype if "dtype" in typed(context) else None
    if (other := named(machine)) is not None and block is None:
        refuse_others(typed(context), other[0].takes, other[0].called)
        taken = [name for name in typed(context) if name in other[0].takes]
        how = {name: context.params[name] for name in taken}
        model = _other(machine, length, dtype=asked, proved=proof, **how)
        return _write(model, output, as_json, other[0].remarks(other[1]))
    if block is not None:
        refuse_others(typed(context), IN_BLOCKS, "a text in blocks")
        how = {"strict": strict, "activation": activation, "positions": positions}
        how |= {"block": block, "start": start, "dtype": asked, "proved": proof}
        told = machine if other else reading(complete, kind, formal).read(machine)
        return _write(_other(told, length, **how), output, as_json)
    check(context, COMPILE)
    law = Law(attention, depth_layer, seed, scale, opening)
    source = Source(reading(complete, kind, formal).read(machine), length, asked, proof)
    how = {
        "arch": arch,
        "start": start,
        "strict": strict,
        "activation": activation,
        "uniform": uniform,
        "positions": positions,
        "observation": observe,
        "effort": effort,
        "observe": show.program if passes else None,
        "within": within,
    }
    if construction == "balanced":
        model = _generator(source, law)
    else:
        how |= {"construction": construction, "minimise": minimise}
        model = _transducer(source, how)
    return _write(model, output, as_json, remarks(source.machine))


def _write(
    model: "CompiledModel",
    output: Path,
    as_json: bool,
    remarked: Mapping[str, Any] | None = None,
) -> None:
    model.save(output)
    result = {"file": str(output), **model.summary(), **(remarked or {})}
    emit(result, as_json, lambda: show.compiled(result, model))


def _other(name: "Automaton | str", length: int | None, **how: Any) -> "CompiledModel":
    """Compile the network of a source that says no state after each letter alone."""
    from krohn.compilation import compile as compiled

    with progress() as report:
        return compiled(name, length, progress=partial(report, "proving"), **how)


def _transducer(source: Source, how: dict[str, Any]) -> "CompiledModel":
    """Compile a network that says states or outputs."""
    from krohn.compilation import compile as compiled

    with progress() as report:
        return compiled(
            source.machine,
            source.length,
            dtype=source.dtype,
            proved=source.proved,
            progress=partial(report, "proving"),
            **how,
        )


def _generator(source: Source, law: Law) -> "CompiledModel":
    """Compile a network that says the law of the next bracket."""
    from krohn.algebra.rational import probability
    from krohn.compiler.generator import Freedom
    from krohn.generation import compile_generator

    given = law.given()
    opening = probability(given.pop("opening", "1/2"))
    with progress() as report:
        return compile_generator(
            source.machine,
            source.length,
            Freedom(**given),
            opening=opening,
            dtype=source.dtype or "float32",
            proved=source.proved,
            progress=partial(report, "proving"),
        )
