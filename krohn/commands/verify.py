"""``krohn verify`` and ``krohn recheck``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from krohn.commands import options as common
from krohn.commands.options import (
    CANNOT,
    DONE,
    REFUTED,
    Claimed,
    Wanted,
    check,
    emit,
    expand_option_groups,
    given_parameters,
)
from krohn.commands.progress import progress
from krohn.commands.verify_methods import (
    EveryWord,
    Methods,
    Outputs,
    Shown,
    Solver,
)
from krohn.option_rules import HELD, VERIFY, refuse_others
from krohn.program.claim import Sense
from krohn.show import network as show
from krohn.source_kinds import machines

if TYPE_CHECKING:
    from krohn.report import Report


@expand_option_groups
def verify(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    *,
    against: Claimed,
    methods: Methods,
    words: EveryWord,
    solver: Solver,
    outputs: Outputs,
    as_json: common.Json = False,
) -> int:
    """Decide whether a model file is right: by proof, all short words, samples, SMT.

    Examples:
        krohn verify s5.safetensors
        krohn verify ab.safetensors --proof --exhaustive 10 --sample 1000
        krohn verify turnstile.safetensors --html turnstile.html --html-effort low
    """
    from krohn.checks import Checks
    from krohn.verification import subject

    check(context, VERIFY)
    about = subject(file)
    if about.takes is not None:
        refuse_others(given_parameters(context), about.takes, about.called)
    outputs.check(file)
    wanted = against.read() if about.of_machine else None
    sharding = words.sharding()
    reference = wanted if about.of_machine else against.machine
    solver.check(methods.has_method or sharding is not None)
    with progress("verifying") as report:
        checks = Checks(
            reference,
            observe=against.observe,
            digest=against.digest,
            seed=methods.seed,
            sharding=sharding,
            progress=report,
        )
        outcome = solver.ask(file, checks) or methods.ask(file, checks)
    replay, named = _replay(file, outcome, against), reference is not None
    shown = Shown(file, outcome, wanted, replay, named)
    written = outputs.write(shown, against.observe, context.find_root().obj or ())
    extra = {
        "replay": shown.replay,
        **machines().remarks(wanted),
        **written.to_object(),
    }
    result = {**outcome.to_object(), **extra}
    emit("verify", result, as_json, lambda: outputs.say(shown, written))
    return {"verified": DONE, "refuted": REFUTED}.get(outcome.verdict, CANNOT)


def _replay(file: str, found: "Report", against: Wanted) -> str | None:
    """The command that shows a wrong word again; None if there is none."""
    wrong = found.counterexample
    if wrong is None:
        return None
    from krohn.replaying import command_line, replay_command, replay_elsewhere

    if found.elsewhere is not None:
        claim, start = _read_compile_options(file), found.elsewhere
        return replay_elsewhere(file, claim, start, wrong.word, against.machine)
    if found.method == "smt":
        how = ["krohn", "verify", f"--smt={len(wrong.word)}", *against.arguments()]
        return command_line([*how, "--", file])
    if (
        found.about and found.about.sense is Sense.WITHIN
    ):  # numbers, to be compared with those that are right
        return command_line(["krohn", "run", "--", file, *wrong.word])
    return replay_command(file, wrong.word, against.arguments())


def _read_compile_options(file: str) -> dict[str, Any]:
    """How to compile networks like that of a file, by the options of the command."""
    from krohn.network import modelfile
    from krohn.network.architecture import kind_of
    from krohn.program.claim import Shows

    read = modelfile.read(file)
    claim, kind = read.claim, kind_of(read.architecture)
    recurrent, one_form = kind.recurrent, kind.recurrent and not kind.bounded
    return {
        "--length": claim.length,
        "--construction": None if one_form else read.header.get("construction"),
        "--arch": read.architecture.kind if recurrent else None,
        "--dtype": claim.dtype,
        "--observe": "outputs" if claim.shows is Shows.OUTPUTS else None,
    }


@expand_option_groups
def recheck(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="F", help="A model file.")],
    evidence: Annotated[
        str,
        typer.Argument(
            metavar="EVIDENCE", help="The file that `verify --evidence` wrote."
        ),
    ],
    against: Claimed,
    as_json: common.Json = False,
) -> int:
    """Check saved evidence of a proof with the small checker alone, without a search.

    Examples:
        krohn verify s5.safetensors --evidence s5.json
        krohn recheck s5.safetensors s5.json
        krohn recheck s5.safetensors s5.json --machine S5
    """
    from krohn.evidence import check as checked
    from krohn.verification import subject

    check(context, HELD)
    wanted = against.read() if (about := subject(file)).of_machine else None
    reference = wanted if about.of_machine else against.machine
    with progress("checking"):
        outcome = checked(file, evidence, reference, against.observe, against.digest)
    result = outcome.to_object() | machines().remarks(wanted)
    emit("recheck", result, as_json, lambda: show.evidence(outcome))
    return DONE if outcome.verdict == "verified" else CANNOT
