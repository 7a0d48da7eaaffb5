"""``krohn compile``."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from krohn import show
from krohn.algebra.errors import KrohnError
from krohn.commands import compile_options as own
from krohn.commands import options as common
from krohn.commands.options import (
    NetworkOptions,
    Reading,
    check,
    grouped,
    remarks,
    typed,
)
from krohn.commands.terminal import emit, progress
from krohn.option_rules import COMPILE, IN_BLOCKS, refuse_others
from krohn.source_kinds import named

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.compiled_model import CompiledModel


@dataclass(frozen=True)
class Networks(NetworkOptions):
    """The network that is wanted, and whether it is proved."""

    length: own.LongestWord = None
    construction: own.Construction = "auto"
    arch: own.Arch = "transformer"
    uniform: common.Uniform = False
    positions: common.Positions = "dyadic"
    attention: own.Attention = None
    proof: own.Prove = True
    passes: own.Passes = False

    def of(self, names: Collection[str], dtype: str | None) -> dict[str, Any]:
        """Some options by the names that they have in `krohn.compile`.

        Args:
            names: Their names here.
            dtype: The format that was asked for; None if none was.
        """
        given = {name: value for name, value in vars(self).items() if name in names}
        if "observe" in given:
            given["observation"] = given.pop("observe")
        return given | {"length": self.length, "dtype": dtype, "proved": self.proof}


@dataclass(frozen=True)
class Law:
    """What only a balanced generator is free in; None keeps its default."""

    depth_layer: own.DepthLayer = None
    seed: own.ScoreSeed = None
    scale: own.Scale = None
    opening: own.Opening = None


OF_MACHINES = (
    *("construction", "arch", "start", "strict", "activation", "uniform", "positions"),
    *("minimise", "observe", "effort", "within"),
)
"""The options of machines, as `krohn.compile` takes them."""


@grouped
def compile(  # noqa: A001  (the command is called so)
    context: typer.Context,
    machine: common.Machine,
    output: own.Output,
    *,
    networks: Networks,
    reading: Reading,
    law: Law,
    as_json: common.Json = False,
) -> None:
    """Derive a network for a machine, prove it, and write it to a model file."""
    from krohn.machines import MODEL

    if output.suffix not in ("", *MODEL):
        raise KrohnError(
            f"{output}: the name of a model file ends in {' or '.join(MODEL)}, not in "
            f"{output.suffix}"
        )
    given = typed(context)
    asked = networks.dtype if "dtype" in given else None
    block = networks.block is not None
    if (other := named(machine)) is not None and not block:
        refuse_others(given, other[0].takes, other[0].called)
        taken = [name for name in given if name in other[0].takes]
        model = _compiled(machine, networks.of(taken, asked))
        return _write(model, output, as_json, other[0].remarks(other[1]))
    if block:
        refuse_others(given, IN_BLOCKS, "a text in blocks")
        how = networks.of(
            ("strict", "activation", "positions", "block", "start"), asked
        )
        told = machine if other else reading.read(machine)
        return _write(_compiled(told, how), output, as_json)
    check(context, COMPILE)
    source = reading.read(machine)
    if networks.construction == "balanced":
        model = _generator(source, networks, law, asked)
    else:
        how = networks.of(OF_MACHINES, asked)
        how |= {"observe": show.program if networks.passes else None}
        model = _compiled(source, how)
    return _write(model, output, as_json, remarks(source))


def _write(
    model: "CompiledModel",
    output: Path,
    as_json: bool,
    remarked: Mapping[str, Any] | None = None,
) -> None:
    model.save(output)
    result = {"file": str(output), **model.summary(), **(remarked or {})}
    emit(result, as_json, lambda: show.compiled(result, model))


def _compiled(source: "Automaton | str", how: dict[str, Any]) -> "CompiledModel":
    from krohn.compilation import compile as compiled

    with progress() as report:
        return compiled(source, **how, progress=partial(report, "proving"))


def _generator(
    machine: "Automaton", networks: Networks, law: Law, dtype: str | None
) -> "CompiledModel":
    """Compile a network that says the law of the next bracket."""
    from krohn.algebra.rational import probability
    from krohn.compiler.generator import Freedom
    from krohn.generation import compile_generator

    free: dict[str, Any] = {
        "pattern": networks.attention,
        "depth": law.depth_layer,
        "seed": law.seed,
        "scale": law.scale,
    }
    with progress() as report:
        return compile_generator(
            machine,
            networks.length,
            Freedom(**{name: v for name, v in free.items() if v is not None}),
            opening=probability("1/2" if law.opening is None else law.opening),
            dtype=dtype or "float32",
            proved=networks.proof,
            progress=partial(report, "proving"),
        )
