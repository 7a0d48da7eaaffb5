"""The ``krohn`` command: arguments in, text or JSON out, exit code 0, 1 or 2.

What needs torch or matplotlib is imported inside the commands, so that help is instant.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from algebra.errors import KrohnError
from algebra.formats import Complete
from krohn import show
from network.modelfile import ModelFileError

if TYPE_CHECKING:
    from algebra.automaton import Automaton
    from krohn.compilation import CompiledModel

DONE, REFUTED, CANNOT = 0, 1, 2
INTERRUPTED = 130  # what typer makes of Ctrl-C
# typer brings its own copy of click or uses the installed one; this is right for both.
UsageError: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="krohn",
    help=(
        "Compile finite machines to neural networks, and prove that they compute them.\n\n"
        "MACHINE is a zoo name (see `krohn zoo`), a file (.json .dot .kiss2 .fst.txt .gap "
        ".dfa), or regex:PATTERN. Exit codes: 0 done or verified, 1 refuted, 2 cannot."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Machine = Annotated[
    str, typer.Argument(metavar="MACHINE", help="Zoo name, file, or regex:…")
]
Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else.")
]
Length = Annotated[int, typer.Option("-T", "--length", min=1, help="The longest word.")]
Dtype = Annotated[str, typer.Option(help="float64, float32, bfloat16 or float16.")]
Start = Annotated[
    str | None, typer.Option(metavar="STATE", help="Start state by name.")
]
Strict = Annotated[
    bool,
    typer.Option(help="Plain residuals x + f(x), one hidden layer per MLP."),
]
Activation = Annotated[
    str,
    typer.Option(
        help="relu, or sine: counters whose width does not grow with the length."
    ),
]
Uniform = Annotated[
    bool,
    typer.Option(
        "--uniform",
        help="Weights that do not depend on the length: only the positions grow with it.",
    ),
]
Minimise = Annotated[
    str,
    typer.Option(help="What to choose by: depth, width, parameters or latency."),
]
Observe = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="Say what a state shows instead of the state: outputs (the machine's own), "
        "stack-top, balance, boundary, first-chair, occupant, zero, location, accept.",
    ),
]
Fill = Annotated[
    str,
    typer.Option(
        "--complete",
        metavar="HOW",
        help="Missing transitions of a file: reject, sink (a new state) or stay.",
    ),
]

Attention = Annotated[
    str | None,
    typer.Option(help="Of a balanced generator: random (default), symmetric, uniform."),
]
DepthLayer = Annotated[
    str | None,
    typer.Option(
        help="How a balanced generator knows the depth: given (default) or attended."
    ),
]
ScoreSeed = Annotated[
    int | None, typer.Option(help="Of the scores of a balanced generator.")
]
Scale = Annotated[
    float | None,
    typer.Option(help="Standard deviation of the scores of a balanced generator."),
]
Opening = Annotated[
    str | None,
    typer.Option(
        metavar="Q", help="The probability that a bracket opens: 1/2 (default), 0.4, …"
    ),
]


def main() -> None:
    """Run the command; every problem is one line on standard error and exit code 2."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """The command with its arguments; returns the exit code."""
    wants_json = "--json" in arguments
    try:
        code = app(arguments or ["--help"], standalone_mode=False)
    except (typer.Abort, KeyboardInterrupt):
        return _cannot("interrupted; nothing was written", wants_json)
    except UsageError as error:
        hint = "see `krohn --help`, or `krohn COMMAND --help`"
        return _cannot(f"{error.format_message()} ({hint})", wants_json)
    except (KrohnError, ModelFileError) as error:
        return _cannot(str(error), wants_json)
    except BrokenPipeError:
        # The reader has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CANNOT
    except MemoryError:
        return _cannot("out of memory; choose a shorter length", wants_json)
    except OSError as error:
        return _cannot(
            f"{error.filename or 'input/output'}: {error.strerror}", wants_json
        )
    if code == INTERRUPTED:
        return _cannot("interrupted; nothing was written", wants_json)
    return code if isinstance(code, int) else DONE


def _cannot(message: str, wants_json: bool) -> int:
    line = " ".join(message.split())
    if wants_json:
        print(json.dumps({"error": line}, ensure_ascii=False))
    print(f"krohn: {line}", file=sys.stderr)
    return CANNOT


def _print(result: dict[str, Any], as_json: bool, text: Callable[[], None]) -> None:
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
    else:
        text()


@contextmanager
def _progress() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error, only where a person is watching."""
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as bar:
        tasks: dict[str, Any] = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                # What an earlier sitting did is no work of this one.
                tasks[what] = bar.add_task(what, total=total, completed=done, rate="")
            speed = next(t.speed for t in bar.tasks if t.id == tasks[what])
            rate = f"{speed:,.0f}/s" if speed else ""
            bar.update(tasks[what], completed=done, total=total, rate=rate)

        yield report


@contextmanager
def _waiting(what: str) -> Iterator[None]:
    """A clock on standard error, only where a person is watching."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    quiet = not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=quiet) as clock:
        clock.add_task(what, total=None)
        yield


def _filled(how: str) -> Complete:
    if how not in ("reject", "sink", "stay"):
        raise KrohnError(f"--complete takes reject, sink or stay, not {how!r}")
    return how  # type: ignore[return-value]


@app.command()
def zoo(as_json: Json = False) -> None:
    """List the machines that are known by name."""
    from algebra import zoo as animals

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
    _print({"machines": rows}, as_json, lambda: show.zoo(rows))


@app.command()
def explain(
    machine: Machine,
    length: Length = 128,
    dtype: Dtype = "float32",
    start: Start = None,
    strict: Strict = False,
    activation: Activation = "relu",
    minimise: Minimise = "depth",
    observe: Observe = None,
    complete: Fill = "reject",
    as_json: Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    result = explained(
        machine,
        length,
        dtype,
        start,
        strict,
        _filled(complete),
        minimise,
        observe,
        activation,
    )
    _print(result, as_json, lambda: show.explanation(result))


@app.command()
def decompose(
    machine: Machine,
    method: Annotated[
        str, typer.Option(help="auto, holonomy, derived, congruence or prime.")
    ] = "auto",
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", help="A picture: .svg, .png or .pdf; the tables: .json."
        ),
    ] = None,
    budget: Annotated[
        float, typer.Option(metavar="SECONDS", min=0, help="How long to search.")
    ] = 30.0,
    start: Annotated[
        str | None,
        typer.Option(
            metavar="STATE", help="Decompose only what is reachable from this state."
        ),
    ] = None,
    minimise: Minimise = "depth",
    complete: Fill = "reject",
    as_json: Json = False,
) -> None:
    """Take a machine apart into a cascade of small ones, proved to cover it."""
    from krohn import decomposition

    if output is not None:
        decomposition.check_output(output)
    with _waiting("decomposing"):
        found = decomposition.decompose(
            machine, method, budget, start, _filled(complete)
        )
        if output is not None:
            decomposition.save(found, output)
    result = decomposition.describe(found)
    if output is not None:
        result["file"] = str(output)
    _print(result, as_json, lambda: show.decomposition(result))


@app.command()
def compile(  # noqa: A001  (the command is called so)
    machine: Machine,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model file.")],
    length: Annotated[
        int | None,
        typer.Option("-T", "--length", min=1, help="The longest word (Transformers)."),
    ] = None,
    construction: Annotated[
        str,
        typer.Option(
            help="auto, memory, window, counter, product, gridworld, corridor, dyck, "
            "cascade, scan, sequential; or scan3, scan5, scan10: fewer layers, more "
            "heads; or as the thesis builds them: semidirect, semidirect-car, wreath, "
            "series, permutation-reset, krohn-rhodes, chunked, memorising; or balanced: "
            "the law of the next bracket instead of the state.",
        ),
    ] = "auto",
    arch: Annotated[str, typer.Option(help="transformer or rnn.")] = "transformer",
    dtype: Dtype = "float32",
    start: Start = None,
    strict: Strict = False,
    activation: Activation = "relu",
    uniform: Uniform = False,
    minimise: Minimise = "depth",
    observe: Observe = None,
    complete: Fill = "reject",
    attention: Attention = None,
    depth_layer: DepthLayer = None,
    seed: ScoreSeed = None,
    scale: Scale = None,
    opening: Opening = None,
    proof: Annotated[
        bool, typer.Option(help="Prove the network before it is written.")
    ] = True,
    passes: Annotated[
        bool, typer.Option("--passes", help="Print the Program after every pass.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Derive a network for a machine, prove it, and write it to a model file."""
    from krohn.compilation import compile as compiled
    from krohn.sources import read

    if arch not in ("transformer", "rnn"):
        raise KrohnError(f"--arch takes transformer or rnn, not {arch!r}")
    free = {
        "--attention": attention,
        "--depth-layer": depth_layer,
        "--seed": seed,
        "--scale": scale,
        "--opening": opening,
    }
    if construction == "balanced":
        others = (
            *(arch != "transformer", start is not None, strict, passes),
            *(activation != "relu", observe is not None, uniform),
        )
        model = _generator(
            read(machine, _filled(complete)), length, free, dtype, proof, any(others)
        )
        model.save(output)
        result = {"file": str(output), **model.summary()}
        _print(result, as_json, lambda: show.compiled(result, model))
        return
    for option, value in free.items():
        if value is not None:
            raise KrohnError(f"{option} is for --construction balanced only")
    with _progress() as report:
        model = compiled(
            read(machine, _filled(complete)),
            length,
            construction,
            arch=arch,  # type: ignore[arg-type]
            dtype=dtype,
            start=start,
            strict=strict,
            activation=activation,
            uniform=uniform,
            minimise=minimise,
            observation=observe,
            proved=proof,
            observe=show.program if passes else None,
            progress=lambda done, total: report("proving", done, total),
        )
    model.save(output)
    result = {"file": str(output), **model.summary()}
    _print(result, as_json, lambda: show.compiled(result, model))


def _generator(
    machine: "Automaton",
    length: int | None,
    given: dict[str, Any],
    dtype: str,
    proof: bool,
    others: bool,
) -> "CompiledModel":
    """Compile a generator; what was not given keeps its default."""
    from compiler.generator import Freedom
    from krohn.generation import compile_generator, probability

    if others:
        raise KrohnError(
            "--construction balanced takes none of --arch, --start, --strict, "
            "--activation, --observe, --uniform and --passes"
        )
    names = {
        "pattern": given["--attention"],
        "depth": given["--depth-layer"],
        "seed": given["--seed"],
        "scale": given["--scale"],
    }
    free = Freedom(
        **{name: value for name, value in names.items() if value is not None}
    )
    opening = probability(given["--opening"] or "1/2")
    with _progress() as report:
        return compile_generator(
            machine,
            length,
            free,
            opening=opening,
            dtype=dtype,
            proved=proof,
            progress=lambda done, total: report("proving", done, total),
        )


@app.command()
def verify(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    machine: Annotated[
        str | None,
        typer.Option(help="The machine to hold it against (default: the file's own)."),
    ] = None,
    proof: Annotated[
        bool, typer.Option("--proof", help="Prove it for all words (the default).")
    ] = False,
    exhaustive: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Run all words of up to N letters."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Run N random and adversarial long words."
        ),
    ] = None,
    smt: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Ask z3 about all words of up to N letters and the ideal network: hard "
            "attention, rational numbers. A claim of its own, for small networks.",
        ),
    ] = None,
    smt_lib: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="With --smt: also write the question as SMT-LIB 2."
        ),
    ] = None,
    gadgets: Annotated[
        str | None,
        typer.Option(
            metavar="NOISE",
            help="Ask z3 whether the MLPs hold their tables for all inputs within NOISE "
            "(such as 1/64) of their codes, up to --error. A claim of its own.",
        ),
    ] = None,
    error: Annotated[
        str, typer.Option(help="With --gadgets: how far outputs may be off.")
    ] = "1/4",
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="For each question to z3."),
    ] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Of the samples, and of z3.")] = 0,
    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Run all words by N processes."),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="The most that each may take (2GiB)."),
    ] = None,
    job: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep what is done of all words in a job file, and go on from there.",
        ),
    ] = None,
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Run one part of N; the job files of all parts, joined, are the whole.",
        ),
    ] = None,
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run all words on a Dask cluster: its scheduler, or local:N.",
        ),
    ] = None,
    every_start: Annotated[
        bool,
        typer.Option(
            "--every-start",
            help="Also run networks compiled in the same way for other start states.",
        ),
    ] = False,
    start: Start = None,
    observe: Observe = None,
    complete: Fill = "reject",
    as_json: Json = False,
) -> int:
    """Decide whether a model computes a machine: proof, all short words, samples, SMT."""
    from krohn.exhaustion import sharding
    from krohn.ideal import verify_gadgets, verify_ideal
    from krohn.sources import read
    from krohn.verification import verify as verified

    wanted = None if machine is None else read(machine, _filled(complete))
    if wanted is not None and start is not None:
        wanted = wanted.with_start(start)
    elif start is not None:
        raise KrohnError("--start needs --machine: the file states its own start state")
    how = sharding(jobs, memory, shard, job, cluster, every_start)
    _alone(smt, smt_lib, gadgets, proof or bool(exhaustive or sample or how))
    if gadgets is not None and wanted is not None:
        raise KrohnError("--gadgets asks about the tables that the file states itself")
    with _progress() as report:
        if gadgets is not None:
            found = verify_gadgets(
                file,
                _fraction(gadgets),
                _fraction(error),
                seconds=timeout,
                seed=seed,
                progress=report,
            )
        elif smt is not None:
            found = verify_ideal(
                file,
                smt,
                wanted,
                seconds=timeout,
                seed=seed,
                smt_lib=smt_lib,
                observation=observe,
                progress=report,
            )
        else:
            found = verified(
                file,
                wanted,
                proof=True if proof else None,
                exhaustive=exhaustive,
                sample=sample,
                seed=seed,
                observation=observe,
                sharding=how,
                progress=report,
            )
    _print(found.to_object(), as_json, lambda: show.report(file, found))
    return {"verified": DONE, "refuted": REFUTED}.get(found.verdict, CANNOT)


def _alone(
    smt: int | None, smt_lib: Path | None, gadgets: str | None, runs: bool
) -> None:
    """What SMT decides is another claim than what the other methods do."""
    asked = sum((smt is not None, gadgets is not None, runs))
    if asked > 1 and (smt is not None or gadgets is not None):
        raise KrohnError(
            "--smt and --gadgets are claims of their own; ask for each, and for --proof, "
            "--exhaustive and --sample, in another call"
        )
    if smt is None and smt_lib is not None:
        raise KrohnError("--smt-lib needs --smt N: which words to ask about")


def _fraction(text: str) -> Fraction:
    """A number from 0 to 1/2, as a fraction or a decimal."""
    try:
        value = Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise KrohnError(f"{text!r} is no number such as 1/64 or 0.01") from None
    if not 0 <= value <= Fraction(1, 2):
        raise KrohnError(
            f"{text!r} is not between 0 and 1/2, half the way between codes"
        )
    return value


@app.command(name="run")
def run_word(
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    word: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WORD",
            help="Letters by name, with spaces between them. Without a word, one word a "
            "line is read from standard input.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a model on a word and print what it says after every letter."""
    from krohn.running import letters_of, open_runner

    runner = open_runner(file)
    lines = [" ".join(word)] if word else (line for line in sys.stdin)
    for line in lines:
        result = runner.run(letters_of(line, runner.machine.letters))
        _print(result, as_json, partial(show.answers, result))


@app.command()
def attention(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="F…", help="Models of one machine: constructions balanced and dyck."
        ),
    ],
    word: Annotated[
        str | None,
        typer.Option(help="A prefix (default: one with all kinds and depths)."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(min=0, help="Of the prefixes on which functions are compared."),
    ] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A picture: .svg, .png or .pdf."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare what networks of one function attend to: variation, balance, a picture."""
    from krohn.attention import compare_attention

    result = compare_attention(files, word, seed, output)
    _print(result, as_json, lambda: show.attention(result))


@app.command()
def draw(
    source: Annotated[
        str, typer.Argument(metavar="MACHINE|F", help="A machine or a model file.")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help=".svg, .png or .pdf")],
    eggbox: Annotated[
        bool,
        typer.Option(
            "--eggbox", help="Draw the D-classes of the machine's monoid instead."
        ),
    ] = False,
    budget: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="How long to list the monoid."),
    ] = 30.0,
    complete: Fill = "reject",
    as_json: Json = False,
) -> None:
    """Draw a machine, its monoid, or the layers, channels and heads of a model."""
    from krohn import drawing
    from krohn.sources import read
    from network import modelfile

    drawing.check_suffix(output)
    if source.endswith(".safetensors"):
        if eggbox:
            raise KrohnError("--eggbox needs a machine, not a model file")
        file = modelfile.read(source)
        if file.header["architecture"]["kind"] == "generator":
            from krohn.attention import compare_attention

            compare_attention([source], output=output)
            _print({"file": str(output)}, as_json, lambda: print(f"drew {output}"))
            return
        figure = drawing.draw_model(file)
    elif eggbox:
        from krohn.monoid import draw_monoid

        with _waiting("listing the monoid"):
            figure = draw_monoid(read(source, _filled(complete)), budget)
    else:
        figure = drawing.draw_machine(read(source, _filled(complete)))
    drawing.save(figure, output)
    _print({"file": str(output)}, as_json, lambda: print(f"drew {output}"))
