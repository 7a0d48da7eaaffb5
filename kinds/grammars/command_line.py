"""``krohn grammar``: what a grammar is, and what is lost where it is cut."""

from typing import Annotated, Any

import typer

from krohn.algebra.errors import KrohnError
from krohn.commands import options as common
from krohn.commands.options import emit, print_remark
from krohn.kinds.grammars import commands_text

SHOWN, USUAL = 6, 6
"""The depths and the lengths of a grammar that are shown where none is asked for."""


def grammar(
    source: Annotated[
        str, typer.Argument(metavar="GRAMMAR", help="A .pcfg file, or pcfg:NAME.")
    ],
    depth: Annotated[
        int | None,
        typer.Option("-D", "--depth", min=0, help="Cut here, and compare the laws."),
    ] = None,
    length: Annotated[
        int | None,
        typer.Option(
            "-T", "--length", min=0, help="Prefixes of up to so many letters; 6."
        ),
    ] = None,
    word: Annotated[
        list[str] | None,
        typer.Option(
            "--word",
            metavar="W",
            help="The probability of a word; _ is a hidden letter.",
        ),
    ] = None,
    sample: Annotated[
        int | None, typer.Option(min=1, help="Draw so many sentences.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of the draws (default: 0).")
    ] = None,
    as_json: common.Json = False,
) -> None:
    """Describe a grammar with probabilities, and what cutting it at a depth loses.

    Examples:
        krohn grammar pcfg:Dyck2
        krohn grammar pcfg:Dyck2 --depth 3 -T 6
        krohn grammar pcfg:Dyck2 --sample 5
    """
    from krohn.kinds.grammars import commands_facts as grammars

    if length is not None and depth is None:
        raise KrohnError("-T is for the comparison at a depth: say --depth as well")
    if seed is not None and sample is None:
        raise KrohnError("--seed is for --sample")
    pcfg = grammars.grammar(source)
    print_remark(pcfg.remark)
    deepest = SHOWN if depth is None else depth
    result: dict[str, Any] = grammars.facts(pcfg, deepest)
    if depth is not None:
        given = USUAL if length is None else length
        result["cut"] = grammars.against(pcfg, depth, given)
    if word:
        result["asked"] = grammars.ask(pcfg, word)
    if sample is not None:
        result["sample"] = grammars.draw_sentences(pcfg, sample, seed or 0)
    emit("grammar", result, as_json, lambda: commands_text.grammar(result))
