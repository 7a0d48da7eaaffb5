"""``krohn verify``."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from krohn import show
from krohn.algebra.errors import KrohnError
from krohn.commands import options as common
from krohn.commands import verify_options as own
from krohn.commands.options import Wanted, check, reading, remarks, source_given, typed
from krohn.commands.terminal import CANNOT, DONE, REFUTED, emit, progress, waiting
from krohn.commands.verify_methods import Asked, Methods, Solver
from krohn.option_rules import OF_SOURCES, VERIFY, refuse_others
from krohn.source_kinds import of_file

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.evidence import Checked, Rests
    from krohn.report import Report


def verify(
    context: typer.Context,
    file: own.File,
    machine: common.Against = None,
    proof: own.ByProof = False,
    exhaustive: own.Exhaustive = None,
    sample: own.Sample = None,
    attack: own.Attacked = None,
    length: own.Longest = None,
    smt: own.Smt = None,
    smt_lib: own.SmtLib = None,
    gadgets: own.Gadgets = None,
    error: own.GadgetError = "1/4",
    timeout: own.Timeout = 60.0,
    seed: own.Seed = 0,
    jobs: own.Jobs = None,
    memory: own.Memory = None,
    job: own.JobFile = None,
    shard: own.Shard = None,
    cluster: own.Cluster = None,
    every_start: own.EveryStart = False,
    shorten: own.Shorten = 200_000,
    evidence: own.Evidence = None,
    trusted: own.Trusted = False,
    html: own.Html = None,
    html_effort: own.HtmlEffort = "high",
    start: common.Start = None,
    observe: common.Observe = None,
    complete: common.Fill = "reject",
    kind: common.ReadAs = None,
    digest: common.Digest = None,
    as_json: common.Json = False,
) -> int:
    """Decide whether a model computes a machine: proof, all short words, samples, SMT."""
    from krohn.sharding import sharding

    check(context, VERIFY)
    _check_kind(file, typed(context))
    outputs = Outputs(file, html, html_effort, evidence)
    outputs.check()
    against = Wanted(machine, start, observe, reading(complete, kind))
    source = source_given(file, machine)
    wanted = None if source else against.read()
    how = sharding(jobs, memory, shard, job, cluster, every_start)
    asked = Asked(file, source or wanted, observe, digest)
    solver = Solver(asked, smt, smt_lib, gadgets, error, timeout, seed)
    methods = Methods(proof, exhaustive, sample, attack, length, how, seed, shorten)
    solver.check(methods.asked)
    with progress() as report:
        found = solver.ask(report) or methods.ask(asked, report)
    replay = _replay(file, found, against)
    outputs.write_page(found, wanted, context.find_root().obj or (), replay)
    checked = outputs.write_evidence(found, wanted, observe)
    rests_on = _rests_on(file, found) if trusted else None
    written = {"written": checked.to_object()} if checked else {}
    files = {"trusted": rests_on.to_object()} if rests_on else {}
    extra = {"replay": replay, **remarks(wanted), **written, **files}

    def say() -> None:
        show.report(file, found, replay)
        if html is not None:
            print(f"wrote {html}: a page")
        if checked:
            show.evidence(checked, evidence)
        if rests_on:
            show.trusted(rests_on)

    emit({**found.to_object(), **extra}, as_json, say)
    return {"verified": DONE, "refuted": REFUTED}.get(found.verdict, CANNOT)


def _rests_on(file: str, found: "Report") -> "Rests":
    """What a proof rests on; a process of its own looks, which takes a while."""
    from krohn.evidence import rests_on

    with waiting("running the checker alone"):
        return rests_on(found, file)


def _check_kind(file: str, given: list[str]) -> None:
    """Refuse what is for models of machines only, before anything is verified.

    Raises:
        KrohnError: If the file is about another source, and such an option was given.
    """
    from krohn.gpt2 import TAKES, is_export
    from krohn.network import modelfile
    from krohn.network.trained import is_network

    if is_export(file):
        refuse_others(given, TAKES, "the directory of a GPT-2, which is proved")
        return
    if set(given) <= set(OF_SOURCES) or is_network(file):
        return
    if "source" in (model := modelfile.read(file)).header:
        kind = of_file(model)
        assert kind is not None
        refuse_others(given, OF_SOURCES + kind.asks, f"a file about {kind.called}")


@dataclass(frozen=True)
class Outputs:
    """What is written of a verdict.

    Attributes:
        file: The model file.
        page: A page of HTML; None for none.
        effort: How much to search for it.
        evidence: A file of evidence; None for none.
    """

    file: str
    page: Path | None
    effort: str
    evidence: Path | None

    def check(self) -> None:
        """Refuse what could not be written, before anything is verified.

        Raises:
            KrohnError: If a name is bad, or the network is a trained one.
        """
        if self.page is not None:
            from krohn.algebra.budget import steps_of
            from krohn.page import check_suffix

            check_suffix(self.page)
            steps_of(self.effort)
        if self.page is None and self.evidence is None:
            return
        from krohn.network.trained import is_network

        if is_network(self.file):
            raise KrohnError(
                "--html and --evidence are for model files; `krohn compare` writes a page "
                "of trained networks"
            )

    def write_page(
        self,
        found: "Report",
        machine: "Automaton | None",
        arguments: Sequence[str],
        replay: str | None,
    ) -> None:
        """Write the page, if one is asked for."""
        if self.page is None:
            return
        from krohn.foreign import own_machine
        from krohn.network import modelfile
        from krohn.page import Request, write

        held = machine or own_machine(modelfile.read(self.file))
        with waiting("writing the page"):
            request = Request(self.file, held, found, arguments, replay, self.effort)
            write(request, self.page)

    def write_evidence(
        self, found: "Report", machine: "Automaton | None", observation: str | None
    ) -> "Checked | None":
        """Write the evidence, if it is asked for, and say what the checker saw in it."""
        if self.evidence is None:
            return None
        from krohn.evidence import write

        return write(found, self.file, self.evidence, machine, observation)


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
