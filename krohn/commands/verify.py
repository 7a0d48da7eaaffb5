"""``krohn verify``."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from algebra.errors import KrohnError
from algebra.rational import rational
from krohn import show
from krohn.commands import options as common
from krohn.commands import verify_options as own
from krohn.commands.options import Wanted, check, reading, remarks
from krohn.commands.terminal import CANNOT, DONE, REFUTED, emit, progress, waiting
from krohn.option_rules import VERIFY

if TYPE_CHECKING:
    from algebra.automaton import Automaton
    from krohn.report import Report
    from krohn.verification_target import Progress


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
    html: own.Html = None,
    html_effort: own.HtmlEffort = "high",
    start: common.Start = None,
    observe: common.Observe = None,
    complete: common.Fill = "reject",
    kind: common.ReadAs = None,
    as_json: common.Json = False,
) -> int:
    """Decide whether a model computes a machine: proof, all short words, samples, SMT."""
    from krohn.sharding import sharding
    from krohn.verification import verify as verified

    check(context, VERIFY)
    _check_page(html, html_effort)
    _check_written(file, html or evidence)
    against = Wanted(machine, start, observe, reading(complete, kind))
    wanted = against.read()
    how = sharding(jobs, memory, shard, job, cluster, every_start)
    other = Solver(file, wanted, observe, smt, smt_lib, gadgets, error, timeout, seed)
    asked = exhaustive or sample or how or length or attack is not None
    other.check(proof or bool(asked))
    with progress() as report:
        found = other.ask(report) or verified(
            file,
            wanted,
            proof=True if proof or attack is not None else None,
            exhaustive=exhaustive,
            sample=sample,
            seed=seed,
            budget=shorten,
            observation=observe,
            length=length,
            sharding=how,
            progress=report,
        )
        if attack is not None:
            found = _attacked(found, file, wanted, attack, seed, observe, report)
    replay = _replay(file, found, against)
    if html is not None:
        arguments = context.find_root().obj or ()
        _write_page(html, file, wanted, found, arguments, replay, html_effort)
    result = {**found.to_object(), "replay": replay, **remarks(wanted)}
    if evidence is not None:
        from krohn.evidence import write

        written = write(found, file, evidence, wanted, observe)
        result["written"] = written.to_object()
    emit(result, as_json, lambda: show.report(file, found, replay))
    if evidence is not None and not as_json:
        show.evidence(written, evidence)
    return {"verified": DONE, "refuted": REFUTED}.get(found.verdict, CANNOT)


def _check_page(path: Path | None, effort: str) -> None:
    """Refuse a bad name before anything is verified."""
    if path is not None:
        from algebra.budget import steps_of
        from krohn.page import check_suffix

        check_suffix(path)
        steps_of(effort)


def _check_written(file: str, written: Path | str | None) -> None:
    """Refuse to write of a trained network what there is of model files only."""
    if written is not None:
        from network.trained import is_network

        if is_network(file):
            raise KrohnError(
                "--html and --evidence are for model files; `krohn compare` writes a page "
                "of trained networks"
            )


def _write_page(
    path: Path,
    file: str,
    machine: "Automaton | None",
    found: "Report",
    arguments: Sequence[str],
    replay: str | None,
    effort: str,
) -> None:
    """Write the page of a verdict."""
    from krohn.foreign import own_machine
    from krohn.page import Request, write
    from network import modelfile

    held = machine or own_machine(modelfile.read(file))
    with waiting("writing the page"):
        write(Request(file, held, found, arguments, replay, effort), path)


def _attacked(
    found: "Report",
    file: str,
    wanted: "Automaton | None",
    seconds: float,
    seed: int,
    observation: str | None,
    report: "Progress",
) -> "Report":
    """The same after an attack on the proof."""
    from krohn.attacking import attacked

    return attacked(
        found,
        file,
        wanted,
        seconds=seconds,
        seed=seed,
        observation=observation,
        progress=report,
    )


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
    from network import modelfile
    from network.architecture import kind_of

    header = modelfile.read(file).header
    recurrent = kind_of(header["architecture"]).recurrent
    return {
        "--length": header["claim"].get("length"),
        "--construction": None if recurrent else header.get("construction"),
        "--arch": "rnn" if recurrent else None,
        "--dtype": header["architecture"]["dtype"],
        "--observe": "outputs" if header["claim"].get("shows") == "outputs" else None,
    }


@dataclass(frozen=True)
class Solver:
    """What z3 is asked: another claim than what the other methods decide."""

    file: str
    machine: "Automaton | None"
    observation: str | None
    smt: int | None
    smt_lib: Path | None
    gadgets: str | None
    error: str
    timeout: float
    seed: int

    def check(self, runs: bool) -> None:
        """Refuse options that do not go together.

        Args:
            runs: Whether a proof or simulations are asked for as well.

        Raises:
            KrohnError: If they do not.
        """
        asked = sum((self.smt is not None, self.gadgets is not None, runs))
        if asked > 1 and (self.smt is not None or self.gadgets is not None):
            raise KrohnError(
                "--smt and --gadgets are claims of their own; ask for each, and for "
                "--proof, --exhaustive, --sample and --attack, in another call"
            )
        if self.gadgets is not None and self.machine is not None:
            raise KrohnError(
                "--gadgets asks about the tables that the file states itself"
            )

    def ask(self, report: "Progress") -> "Report | None":
        """The answer as a report; None if nothing is asked."""
        if self.smt is not None:
            return self._ideal(self.smt, report)
        if self.gadgets is not None:
            return self._tables(self.gadgets, report)
        return None

    def _ideal(self, length: int, report: "Progress") -> "Report":
        from krohn.ideal_network import verify_ideal

        return verify_ideal(
            self.file,
            length,
            self.machine,
            seconds=self.timeout,
            seed=self.seed,
            smt_lib=self.smt_lib,
            observation=self.observation,
            progress=report,
        )

    def _tables(self, noise: str, report: "Progress") -> "Report":
        from krohn.ideal_network import verify_gadgets

        return verify_gadgets(
            self.file,
            _fraction(noise),
            _fraction(self.error),
            seconds=self.timeout,
            seed=self.seed,
            progress=report,
        )


def _fraction(text: str) -> Fraction:
    """A number from 0 to 1/2, as a fraction or a decimal."""
    try:
        value = rational(text)
    except (ValueError, ZeroDivisionError):
        raise KrohnError(f"{text!r} is no number such as 1/64 or 0.01") from None
    if not 0 <= value <= Fraction(1, 2):
        raise KrohnError(
            f"{text!r} is not between 0 and 1/2, half the way between codes"
        )
    return value
