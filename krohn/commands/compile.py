"""``krohn compile``."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer

from krohn.algebra.errors import KrohnError
from krohn.commands import completion as complete, options as common
from krohn.commands.command import Command
from krohn.commands.options import (
    NetworkOptions,
    PatternReading,
    emit,
    expand_option_groups,
    given_parameters,
    print_remark,
)
from krohn.commands.progress import progress
from krohn.option_rules import IN_BLOCKS, one_of_architectures, refuse_others
from krohn.program.slices import needed_part, slice_constructions
from krohn.show import network as show
from krohn.source_kinds import describe

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.compiled_model import CompiledModel


def _of_slices() -> str:
    """The constructions that slices bring, in a sentence."""
    names = ", ".join(slice_constructions())
    return f" Of slices: {names}." if names else ""


Construction = Annotated[
    str,
    typer.Option(
        help="auto, memory, window, counter, parity, parity-selected, parity-tree, "
        "product, gridworld, corridor, dyck, definite, content, piecewise, "
        "departures, cascade, scan, sequential; or scan3, scan5, scan10, … (fewer "
        "layers, more heads); or as Liu (2024) builds them: semidirect, "
        "semidirect-car, wreath, series, permutation-reset, krohn-rhodes, "
        "parity-table, parity-sawtooth, chunked, memorising; or pruned: masks of "
        "random matrices; or balanced: the law of the next bracket instead of the "
        "state."
        f"{_of_slices()}",
        autocompletion=complete.completion(complete.list_constructions),
    ),
]


@dataclass(frozen=True)
class Networks(NetworkOptions):
    """The network that is wanted, and whether it is proved."""

    length: Annotated[
        int | None,
        typer.Option("-T", "--length", min=1, help="The longest word (Transformers)."),
    ] = None
    construction: Construction = "auto"
    arch: Annotated[
        str,
        typer.Option(
            help=f"{one_of_architectures()}.",
            autocompletion=complete.completion(complete.list_architectures),
        ),
    ] = "transformer"
    uniform: Annotated[
        bool,
        typer.Option(
            "--uniform",
            help="Weights that do not depend on the length: only the positions grow "
            "with it.",
            rich_help_panel=common.SHAPE,
        ),
    ] = False
    positions: Annotated[
        str,
        typer.Option(
            help="How look-backs tell positions apart: dyadic, or circle (Proposition "
            "2): 2 dimensions, and shorter words.",
            rich_help_panel=common.SHAPE,
        ),
    ] = "dyadic"
    attention: Annotated[
        str | None,
        typer.Option(
            help="Heads of a chain of thought: standard (default), linear or sparse. Of a "
            "balanced generator: random (default), symmetric, uniform.",
            rich_help_panel=common.SPECIAL,
        ),
    ] = None
    addresses: Annotated[
        str | None,
        typer.Option(
            help="How heads find a stated position, in a chain of thought or by p.at: "
            "binary (digits; default), or quadratic: a width that does not grow with "
            "the length, up to 4,094 positions in float32.",
            rich_help_panel=common.SPECIAL,
        ),
    ] = None
    disguise: Annotated[
        str | None,
        typer.Option(
            metavar="KINDS",
            help="Other weights that compute the same, proved: rotate, dense, squeeze, "
            "beside (another circuit works there, too), noise, with commas between them "
            "(docs/architectures/disguise.md). In float64, unless --dtype float32 is "
            "given: then two groups of axes can be told apart.",
            rich_help_panel=common.SHAPE,
        ),
    ] = None
    strength: Annotated[
        float | None,
        typer.Option(
            help="Noise of a disguise, in units of each matrix (1e-6).",
            rich_help_panel=common.SHAPE,
        ),
    ] = None
    proof: Annotated[
        bool, typer.Option(help="Prove the network before it is written.")
    ] = True
    compact: Annotated[
        bool,
        typer.Option(
            "--compact",
            help="Store entries that are not zero, and formulas of position tables "
            "(docs/model-format.md).",
            rich_help_panel=common.SHAPE,
        ),
    ] = False
    passes: Annotated[
        bool,
        typer.Option(
            "--passes",
            help="Print the Program after every pass.",
            rich_help_panel=common.SHAPE,
        ),
    ] = False


@dataclass(frozen=True)
class Law:
    """The options that only a balanced generator has; None keeps its default."""

    panel: ClassVar = "Generators of brackets (--construction balanced)"

    depth_layer: Annotated[
        str | None,
        typer.Option(
            help="How a balanced generator knows the depth: given (default), attended, "
            "one-hot or angle."
        ),
    ] = None
    seed: Annotated[
        int | None,
        typer.Option(
            help="Seed of a disguise, or of the scores of a balanced generator.",
            rich_help_panel=common.SHAPE,
        ),
    ] = None
    scale: Annotated[
        float | None,
        typer.Option(help="Standard deviation of the scores of a balanced generator."),
    ] = None
    opening: Annotated[
        str | None,
        typer.Option(
            metavar="Q",
            help="The probability that a bracket opens: 1/2 (default), 0.4, …",
        ),
    ] = None


class CompileCommand(Command):
    """The command, which names a length that is missing beside all else."""

    def list_missing(self, ctx: Any) -> list[str]:
        """What is required and not given; most networks are for a length."""
        missing = super().list_missing(ctx)
        lengthless = ctx.params["arch"] != "transformer" or ctx.params["length"]
        return missing if lengthless or not missing else [*missing, "-T/--length"]


@expand_option_groups
def compile(  # noqa: A001  (the command is called so)
    context: typer.Context,
    machine: common.Machine,
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The model file (.safetensors).")
    ],
    *,
    networks: Networks,
    reading: PatternReading,
    law: Law,
    as_json: common.Json = False,
) -> None:
    """Derive a network for a machine, prove it, and write a model file.

    Examples:
        krohn compile S5 -T 100 -o s5.safetensors
        krohn compile 'regex:(ab)*' -T 64 --minimise depth -o ab.safetensors
        krohn compile examples/turnstile.dot -T 64 --dtype bfloat16 -o turnstile.safetensors
    """
    from krohn.machines import MODEL

    if output.suffix not in ("", *MODEL):
        raise KrohnError(
            f"{output}: the name of a model file ends in {' or '.join(MODEL)}, not in "
            f"{output.suffix}"
        )
    given = given_parameters(context)
    dtype = networks.dtype if "dtype" in given else None
    kind, source = reading.source(machine, given, networks.start)
    if networks.block is not None:
        refuse_others(given, IN_BLOCKS, "a text in blocks")
    else:
        kind.check_given(given, context.params)
    if kind.says_laws(networks.construction):
        model = _generator(source, networks, law, dtype)
    else:
        model = _compile_source(source, networks, dtype, law.seed)
    print_remark(model.remark)
    model.save(output, networks.compact)
    remarks = {} if networks.block else kind.remarks(source)
    result = {"file": str(output), **model.summary(), **remarks}
    what, _ = describe(machine)
    text = partial(show.print_compiled_network, result, model, what)
    emit("compile", result, as_json, text)


def _compile_source(
    source: object, asked: Networks, dtype: str | None, seed: int | None
) -> "CompiledModel":
    from krohn.compilation import compile as compiled

    how = {**vars(asked), "dtype": dtype, "seed": seed}
    how["on_pass"] = show.program if asked.passes else None
    del how["passes"], how["compact"]
    with progress("compiling") as report:
        return compiled(source, **how, progress=partial(report, "proving"))


def _generator(
    machine: "Automaton", networks: Networks, law: Law, dtype: str | None
) -> "CompiledModel":
    """Compile a network that says the law of the next bracket."""
    from krohn.algebra.wording import probability

    laws = needed_part("laws by balanced", "a generator")
    free: dict[str, Any] = {
        "pattern": networks.attention,
        "depth": law.depth_layer,
        "seed": law.seed,
        "scale": law.scale,
    }
    with progress("compiling") as report:
        model: CompiledModel = laws.compile_generator(
            machine,
            networks.length,
            laws.Freedom(**{name: v for name, v in free.items() if v is not None}),
            opening=probability("1/2" if law.opening is None else law.opening),
            dtype=dtype or "float32",
            proof=networks.proof,
            progress=partial(report, "proving"),
        )
    return model
