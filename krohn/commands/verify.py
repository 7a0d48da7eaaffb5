"""``krohn verify``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import (
    CANNOT,
    DONE,
    REFUTED,
    Claimed,
    Wanted,
    check,
    emit,
    grouped,
    typed,
)
from krohn.commands.progress import progress, waiting
from krohn.commands.verify_methods import (
    EveryWord,
    Methods,
    Outputs,
    Shown,
    Solver,
)
from krohn.option_rules import VERIFY, refuse_others
from krohn.source_kinds import machines

if TYPE_CHECKING:
    from krohn.evidence import Rests
    from krohn.report import Report


@grouped
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
    """Decide whether a model computes a machine: proof, all short words, samples, SMT."""
    from krohn.checks import Checks
    from krohn.verification import subject

    check(context, VERIFY)
    about = subject(file)
    if about.takes is not None:
        refuse_others(typed(context), about.takes, about.called)
    outputs.check(file)
    wanted = against.read() if about.of_machine else None
    sharding = words.sharding()
    held = wanted if about.of_machine else against.machine
    solver.check(methods.asked or sharding is not None)
    with progress() as report:
        checks = Checks(
            held,
            observation=against.observe,
            digest=against.digest,
            seed=methods.seed,
            sharding=sharding,
            progress=report,
        )
        found = solver.ask(file, checks) or methods.ask(file, checks)
    replay = _replay(file, found, against)
    outputs.write_page(
        Shown(file, found, wanted), context.find_root().obj or (), replay
    )
    checked = outputs.write_evidence(Shown(file, found, wanted), against.observe)
    rests_on = _rests_on(file, found) if outputs.trusted else None
    written = {"written": checked.to_object()} if checked else {}
    files = {"trusted": rests_on.to_object()} if rests_on else {}
    remarks = machines().remarks(wanted)
    extra = {"replay": replay, **remarks, **written, **files}

    def say() -> None:
        show.report(file, found, replay)
        if outputs.html is not None:
            print(f"wrote {outputs.html}: a page")
        if checked:
            show.evidence(checked, outputs.evidence)
        if rests_on:
            show.trusted(rests_on)

    emit("verify", {**found.to_object(), **extra}, as_json, say)
    return {"verified": DONE, "refuted": REFUTED}.get(found.verdict, CANNOT)


def _rests_on(file: str, found: "Report") -> "Rests":
    """The files that a proof rests on.

    A process of its own finds them, which takes a while.
    """
    from krohn.evidence import rests_on

    with waiting("running the checker alone"):
        return rests_on(found, file)


def _replay(file: str, found: "Report", against: Wanted) -> str | None:
    """The command that shows a wrong word again; None if there is none."""
    wrong = found.counterexample
    if wrong is None:
        return None
    from krohn.replaying import quoted, replay_command, replay_elsewhere

    if found.elsewhere is not None:
        claim, start = _compiled(file), found.elsewhere
        return replay_elsewhere(file, claim, start, wrong.word, against.machine)
    if found.method == "smt":
        how = ["krohn", "verify", f"--smt={len(wrong.word)}", *against.arguments()]
        return " ".join(map(quoted, [*how, "--", file]))
    return replay_command(file, wrong.word, against.arguments())


def _compiled(file: str) -> dict[str, Any]:
    """How to compile networks like that of a file, by the options of the command."""
    from krohn.network import modelfile
    from krohn.network.architecture import kind_of

    header = modelfile.read(file).header
    kind = kind_of(header["architecture"])
    recurrent, one_form = kind.recurrent, kind.recurrent and not kind.bounded
    return {
        "--length": header["claim"].get("length"),
        "--construction": None if one_form else header.get("construction"),
        "--arch": header["architecture"]["kind"] if recurrent else None,
        "--dtype": header["architecture"]["dtype"],
        "--observe": "outputs" if header["claim"].get("shows") == "outputs" else None,
    }
