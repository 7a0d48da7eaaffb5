"""``krohn attention``: the attention of networks that follow nested brackets."""

from pathlib import Path
from typing import Annotated, Any

import typer

from krohn.commands.options import Json, emit
from krohn.program.word_texts import join_letters
from krohn.program.wording import at_most
from krohn.show.tables import console, new_table, print_table


def attention(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="F…", help="Models of one machine: constructions balanced and dyck."
        ),
    ],
    word: Annotated[
        str | None,
        typer.Option(
            metavar="WORD", help="A prefix (default: one with all kinds and depths)."
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            min=0, help="Seed of the prefixes on which functions are compared."
        ),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A picture: .svg, .png or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare the attention of networks that compute the same function.

    Examples:
        krohn compile Dyck4,2 -T 30 --construction balanced -o a.safetensors
        krohn compile Dyck4,2 -T 30 --construction balanced --seed 1 -o b.safetensors
        krohn attention a.safetensors b.safetensors -o attention.svg
    """
    from krohn.instruments.compare.draw_attention_of_laws import compare_attention

    result = compare_attention(files, word, seed, output)
    emit("attention", result, as_json, lambda: show_attention(result))


def show_attention(result: dict[str, Any]) -> None:
    """Networks of one function, and how differently they attend."""
    out = console()
    table = new_table("network", "attention", " scale", " β", " on top", " variation")
    others = max(1, len(result["networks"]) - 1)
    for network, row in zip(result["networks"], result["variations"], strict=True):
        table.add_row(
            *(network["file"], network.get("attention", "stack-like")),
            *(f"{network[k]:.3g}" if k in network else "" for k in ("scale", "beta")),
            *(f"{network['weight on top']:.3f}", f"{sum(row) / others:.3g}"),
        )
    print_table(table)
    out.print(f"On {join_letters(result['word'])}:")
    if result["mean variation"] is not None:
        out.print(
            f"  attention variation {result['mean variation']:.4g} in the mean of all "
            f"pairs; of random patterns {result['random baseline']:.4g}"
        )
    out.print(
        f"  on {result['words']} random prefixes of {result['length']} letters the laws "
        f"differ by at most {at_most(result['function error'])}"
    )
    if "picture" in result:
        out.print(f"drew {result['picture']}")
