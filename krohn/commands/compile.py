"""``krohn compile``."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import typer

from krohn import show
from krohn.algebra.errors import KrohnError
from krohn.commands import compile_options as own
from krohn.commands import options as common
from krohn.commands.options import NetworkOptions, Reading, grouped, typed
from krohn.commands.terminal import emit, progress
from krohn.option_rules import IN_BLOCKS, refuse_others

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


@dataclass(frozen=True)
class Law:
    """What only a balanced generator is free in; None keeps its default."""

    depth_layer: own.DepthLayer = None
    seed: own.ScoreSeed = None
    scale: own.Scale = None
    opening: own.Opening = None


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
    dtype = networks.dtype if "dtype" in given else None
    kind, source = reading.source(machine, given)
    if networks.block is not None:
        refuse_others(given, IN_BLOCKS, "a text in blocks")
    else:
        kind.check_given(given, context.params)
    if networks.construction == "balanced":
        model = _generator(source, networks, law, dtype)
    else:
        model = _compiled(source, networks, dtype)
    model.save(output)
    remarks = {} if networks.block else kind.remarks(source)
    result = {"file": str(output), **model.summary(), **remarks}
    emit(result, as_json, lambda: show.compiled(result, model))


def _compiled(source: object, asked: Networks, dtype: str | None) -> "CompiledModel":
    from krohn.compilation import compile as compiled

    how = {**vars(asked), "dtype": dtype, "proved": asked.proof}
    how |= {
        "observation": how.pop("observe"),
        "observe": show.program if asked.passes else None,
    }
    del how["proof"], how["passes"]
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
