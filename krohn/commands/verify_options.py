"""The options of ``krohn verify`` alone."""

from pathlib import Path
from typing import Annotated

import typer

File = Annotated[str, typer.Argument(metavar="F", help="A model file.")]
ByProof = Annotated[
    bool, typer.Option("--proof", help="Prove it for all words (the default).")
]
Evidence = Annotated[
    Path | None,
    typer.Option(
        metavar="OUT",
        help="With a proof: write evidence that `krohn recheck` can check again.",
    ),
]
Trusted = Annotated[
    bool,
    typer.Option(
        help="With a proof: list the files and lines of the small checker that it rests "
        "on, measured in a process that runs the checker alone."
    ),
]
Exhaustive = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Run all words of up to N letters."),
]
Sample = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Run N random and adversarial long words."),
]
Attacked = Annotated[
    float | None,
    typer.Option(
        "--attack",
        metavar="SECONDS",
        min=0,
        help="Prove it, then try to violate every bound of the proof: words that are "
        "bred to be bad, other orders of summation, kernels and arithmetics.",
    ),
]
Longest = Annotated[
    int | None,
    typer.Option(
        "-T",
        "--length",
        metavar="N",
        min=1,
        help="Look at words of up to N letters, without a proof.",
    ),
]
Smt = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        min=1,
        help="Ask z3 about all words of up to N letters and the ideal network: hard "
        "attention, rational numbers. A claim of its own, for small networks.",
    ),
]
SmtLib = Annotated[
    Path | None,
    typer.Option(
        metavar="OUT", help="With --smt: also write the question as SMT-LIB 2."
    ),
]
Gadgets = Annotated[
    str | None,
    typer.Option(
        metavar="NOISE",
        help="Ask z3 whether the MLPs hold their tables for all inputs within NOISE "
        "(such as 1/64) of their codes, up to --error; of a dynamic program, whether "
        "they hold its rules for all real numbers. A claim of its own.",
    ),
]
GadgetError = Annotated[
    str, typer.Option(help="With --gadgets: how far outputs may be off.")
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0, help="For each question to z3.")
]
Seed = Annotated[int, typer.Option(min=0, help="Of the samples, and of z3.")]
Jobs = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Run all words by N processes.")
]
Memory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="The most that each may take (2GiB).")
]
JobFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Keep what is done of all words in a job file, and go on from there.",
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(
        metavar="I/N",
        help="Run one part of N; the job files of all parts, joined, are the whole.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Run all words on a Dask cluster: its scheduler, or local:N.",
    ),
]
EveryStart = Annotated[
    bool,
    typer.Option(
        "--every-start",
        help="Also run networks compiled in the same way for other start states.",
    ),
]
Shorten = Annotated[
    int,
    typer.Option(
        metavar="WORDS",
        min=0,
        help="How many words may be run to make a wrong one the shortest there is.",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option(metavar="OUT", help="Write all that is known as one page of HTML."),
]
HtmlEffort = Annotated[
    str,
    typer.Option(
        metavar="LEVEL",
        help="With --html: how much to search for the longest words of each format, as "
        "--effort of compile.",
    ),
]
