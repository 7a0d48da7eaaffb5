"""``krohn zoo``, ``explain``, ``decompose``; and ``krohn schema``."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from krohn import schemas
from krohn.commands import options as common
from krohn.commands.options import (
    FileReading,
    Json,
    NetworkOptions,
    PatternReading,
    emit,
    expand_option_groups,
    given_parameters,
    print_remark,
    say_written,
)
from krohn.commands.progress import progress
from krohn.option_rules import explained_architectures
from krohn.program.slices import slice_sources, source_examples
from krohn.show import explanation as show
from krohn.source_kinds import describe, machines

Arch = Annotated[
    str,
    typer.Option(help=f"Whose networks: {' or '.join(explained_architectures())}."),
]


@dataclass(frozen=True)
class Networks(NetworkOptions):
    """The networks whose costs are said."""

    length: Annotated[
        int | None,
        typer.Option(
            "-T",
            "--length",
            min=1,
            help="The longest word (default: that of a model file; of all else 128).",
        ),
    ] = None
    arch: Arch = "transformer"


@expand_option_groups
def explain(
    context: typer.Context,
    machine: common.Machine,
    *,
    networks: Networks,
    reading: PatternReading,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            help="Draw the depth and size of the networks of a machine: .svg, .png, .pdf.",
        ),
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Say what a machine is, and compare the networks that can compute it.

    Examples:
        krohn explain S5
        krohn explain 'regex:(ab)*' -T 64 --dtype bfloat16
        krohn explain examples/turnstile.dot -T 64 -o sizes.svg
    """
    from krohn.compilation import claimed_length, explain as explained

    kind, source = reading.source(machine, given_parameters(context), networks.start)
    given = {**vars(networks), "observe": networks.observe}
    if networks.length is None and networks.arch == "transformer":
        given["length"] = claimed_length(machine)
    unsaid = {"observe"} | ({"dtype", "arch"} - set(given_parameters(context)))
    if output is not None:
        from krohn.drawing import check_suffix  # matplotlib takes half a second

        check_suffix(output)
    with progress("explaining"):
        result = explained(
            source, **{n: v for n, v in given.items() if n not in unsaid}
        )
    result.what, result.text = describe(machine)
    if output is not None:
        from krohn.drawing import save
        from krohn.pictures import draw_front

        save(draw_front(result), output)
    print_remark(result.get("remark", ""))
    facts = {**result, **kind.remarks(source)}
    text = say_written(lambda: show.print_facts(result), output)
    emit("explain", facts, as_json, text)


def zoo(
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="Draw all machines on one sheet: .svg, .png, .pdf."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """List the machines that are known by name.

    Examples:
        krohn zoo
        krohn zoo -o zoo.png
        krohn zoo --json
    """
    from krohn.algebra import zoo as animals

    rows = []
    for name in animals.names():
        machine = animals.machine(name)
        rows.append(
            {
                "name": name,
                "states": len(machine.states),
                "letters": len(machine.letters),
                "description": animals.description(name),
            }
        )
    families = [
        {"name": example, "kind": kind, "description": description}
        for kind in slice_sources()
        for example, description in source_examples(kind).items()
    ]
    if output is not None:
        _draw_zoo(output)
    result = {"machines": rows, "families": families}
    text = say_written(lambda: show.zoo(rows, families), output)
    emit("zoo", result, as_json, text)


def _draw_zoo(output: Path) -> None:
    """Draw the machines that are known by name, on one sheet."""
    from krohn.algebra import zoo as animals
    from krohn.drawing import check_suffix, draw_machine, save
    from krohn.drawing.sheet import draw_sheet

    check_suffix(output)
    with progress("drawing"):
        save(
            draw_sheet(
                [
                    (name, draw_machine(animals.machine(name), bare=True))
                    for name in animals.names()
                ]
            ),
            output,
        )


def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="A name of the list; without, the list."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print the JSON Schema of what a command prints with --json, or of a file.

    Examples:
        krohn schema
        krohn schema verify
        krohn schema circuit
    """
    if name is not None:
        print(json.dumps(schemas.schema(name), ensure_ascii=False, indent=1))
        return
    listed = [
        {
            "name": each,
            "version": schemas.VERSIONS[each],
            "id": schemas.identifier(each),
            "about": about.replace("`", ""),
        }
        for each, about in schemas.ABOUT.items()
    ]
    emit("schema", {"schemas": listed}, as_json, lambda: _show_schemas(listed))


def _show_schemas(listed: list[dict[str, object]]) -> None:
    for each in listed:
        print(f"{each['name']:<16} {each['version']}  {each['about']}")


@expand_option_groups
def decompose(
    machine: common.Machine,
    *,
    method: Annotated[
        str, typer.Option(help="auto, holonomy, derived, congruence or prime.")
    ] = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A picture: .svg, .png or .pdf; the tables: .json."
        ),
    ] = None,
    effort: common.Effort = "high",
    start: Annotated[
        str | None,
        typer.Option(
            metavar="STATE", help="Decompose only what is reachable from this state."
        ),
    ] = None,
    reading: FileReading,
    as_json: common.Json = False,
) -> None:
    """Decompose a machine into a cascade of small ones, with a proof.

    Examples:
        krohn decompose S4
        krohn decompose S4 --method prime -o s4.svg
        krohn decompose examples/turnstile.dot -o turnstile.json
    """
    from krohn import decomposition
    from krohn.show import machine as shown

    if output is not None:
        decomposition.check_output(output)
    read = reading.read(machine, start)
    with progress("decomposing"):
        decomposed_machine = decomposition.decompose(read, method, effort, start=start)
        if output is not None:
            decomposition.save(decomposed_machine, output)
    result = decomposition.describe(decomposed_machine) | machines().remarks(read)
    if output is not None:
        result["file"] = str(output)
    text = say_written(lambda: shown.decomposition(result), output)
    emit("decompose", result, as_json, text)
