"""The methods of ``krohn verify``, each with its options."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple

import typer

from krohn.algebra.errors import KrohnError
from krohn.algebra.wording import rational
from krohn.commands.progress import progress
from krohn.program.slices import needed_part
from krohn.show import network as show

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.checks import Checks, Sharding
    from krohn.evidence import Checked
    from krohn.report import Report
    from krohn.verify.trusted import Rests


@dataclass(frozen=True)
class Methods:
    """Proof, runs and attack, with the options that `krohn.verify` takes of them."""

    proof: Annotated[
        bool,
        typer.Option(
            "--proof",
            help="Prove it for all words (done if no other check is asked for).",
        ),
    ] = False
    exhaustive: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Run all words of up to N letters."),
    ] = None
    sample: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Run N random and adversarial long words."
        ),
    ] = None
    attack: Annotated[
        float | None,
        typer.Option(
            "--attack",
            metavar="SECONDS",
            min=0,
            help="Prove it, then try to violate every bound of the proof: adversarial "
            "words, other orders of summation, kernels and arithmetics.",
        ),
    ] = None
    kernel: Annotated[
        str,
        typer.Option(
            metavar="WHICH",
            help="Whose proof: auto, the kernel's where it is installed and covers the "
            "file; require, the kernel's alone; none, that of the rules; or the path of "
            "a kernel.",
        ),
    ] = "auto"
    digits: Annotated[
        int | None,
        typer.Option(
            metavar="B",
            min=1,
            max=53,
            help="Also find the fewest binary digits of numbers, up to B, with which it is "
            "right on N inputs (--sample), or 32: a test.",
        ),
    ] = None
    length: Annotated[
        int | None,
        typer.Option(
            "-T",
            "--length",
            metavar="N",
            min=1,
            help="Test words of up to N letters, and prove nothing. The claim is then that "
            "of N letters, with a digest of its own.",
        ),
    ] = None
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the samples, and of z3.")
    ] = 0
    shorten: Annotated[
        int,
        typer.Option(
            metavar="WORDS",
            min=0,
            help="How many words may be run to make a wrong one the shortest there is.",
        ),
    ] = 200_000

    @property
    def has_method(self) -> bool:
        """Whether the options ask for one; if they ask for nothing, there is a proof."""
        runs = self.exhaustive or self.sample or self.length
        return bool(self.proof or runs or self.digits or self.attack is not None)

    def ask(self, file: str, checks: "Checks") -> "Report":
        """Verify a file by these methods."""
        from krohn.verification import run_checks

        report = run_checks(
            file,
            replace(
                checks,
                proof=True if self.proof or self.attack is not None else None,
                exhaustive=self.exhaustive,
                sample=self.sample,
                shorten=self.shorten,
                length=self.length,
                digits=self.digits,
                kernel=self.kernel,
            ),
        )
        if self.attack is None:
            return report
        from krohn.machine_verification import (
            attack_proof,  # torch, which a proof does without
        )

        return attack_proof(report, file, checks, seconds=self.attack)


@dataclass(frozen=True)
class EveryWord:
    """How all words up to a length are run: by whom, and what is kept of it."""

    panel: ClassVar = "How all words are run (--exhaustive)"

    jobs: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Run all words by N processes."),
    ] = None
    memory: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="The most that each may take (2GiB)."),
    ] = None
    job_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep what is done of all words in a job file, and go on from there.",
        ),
    ] = None
    shard: Annotated[
        str | None,
        typer.Option(
            metavar="I/N",
            help="Run one part of N; the job files of all parts, joined, are the whole.",
        ),
    ] = None
    cluster: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Run all words on a Dask cluster: its scheduler, or local:N.",
        ),
    ] = None
    every_start: Annotated[
        bool,
        typer.Option(
            "--every-start",
            help="Also run networks compiled in the same way for other start states.",
        ),
    ] = False

    def sharding(self) -> "Sharding | None":
        """The plan; None if nothing is said."""
        from krohn.checks import sharding

        given = self.jobs, self.memory, self.shard, self.job_file, self.cluster
        return sharding(*given, self.every_start)


@dataclass(frozen=True)
class Solver:
    """The questions to z3, for `krohn.instruments.smt.commands`."""

    panel: ClassVar = "Questions to z3"

    smt: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            min=1,
            help="Ask z3 about all words of up to N letters and the ideal network: hard "
            "attention, rational numbers. A claim of its own, for small networks.",
        ),
    ] = None
    smt_lib: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="With --smt: also write the question as SMT-LIB 2."
        ),
    ] = None
    gadgets: Annotated[
        str | None,
        typer.Option(
            metavar="NOISE",
            help="Ask z3 whether the MLPs hold their tables for all inputs within NOISE "
            "(such as 1/64) of their codes, up to --error; of a dynamic program, whether "
            "they hold its rules for all real numbers. A claim of its own.",
        ),
    ] = None
    error: Annotated[
        str,
        typer.Option(metavar="X", help="With --gadgets: how far outputs may be off."),
    ] = "1/4"
    timeout: Annotated[
        float,
        typer.Option(metavar="SECONDS", min=0, help="Time for each question to z3."),
    ] = 60.0

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

    def ask(self, file: str, checks: "Checks") -> "Report | None":
        """The answer as a report; None if nothing is asked."""
        if self.smt is None and self.gadgets is None:
            return None
        smt = needed_part("smt", "a question to z3")
        if checks.digest is not None:
            raise KrohnError(
                "--digest is of a claim about floating point, and z3 decides about "
                "fractions; leave --digest out"
            )
        limits = smt.Limits(self.timeout, checks.seed)
        how: dict[str, Any] = {"progress": checks.progress, "limits": limits}
        if self.smt is not None:
            how |= {"smt_lib": self.smt_lib, "observe": checks.observe}
            machine: Any = checks.machine
            report: Report = smt.verify_ideal(file, self.smt, machine, **how)
            return report
        assert self.gadgets is not None
        bounds = _fraction("--gadgets", self.gadgets), _fraction("--error", self.error)
        gadgets_report: Report = smt.verify_gadgets(file, *bounds, **how)
        return gadgets_report


@dataclass(frozen=True)
class Shown:
    """A verdict, with the file that it is about and the machine that it was held against.

    Attributes:
        file: The model file.
        found: The verdict.
        machine: None for the machine of the file.
        replay: The command that shows a wrong word again; None if there is none.
        against: Whether somebody named the machine, or other source.
    """

    file: str
    found: "Report"
    machine: "Automaton | None"
    replay: str | None
    against: bool


class Written(NamedTuple):
    """What the small checker said of a proof, as far as that was asked for.

    Attributes:
        evidence: Of the evidence that was written.
        trusted: The files that the proof rests on.
    """

    evidence: "Checked | None"
    trusted: "Rests | None"

    def to_object(self) -> dict[str, Any]:
        """As ``krohn verify --json`` prints it."""
        both = {"written": self.evidence, "trusted": self.trusted}
        return {name: each.to_object() for name, each in both.items() if each}


@dataclass(frozen=True)
class Outputs:
    """The files that are written of a verdict, and what else is said of it."""

    panel: ClassVar = "What is written"

    evidence: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT",
            help="With a proof: write evidence that `krohn recheck` can check again.",
        ),
    ] = None
    trusted: Annotated[
        bool,
        typer.Option(
            help="With a proof: list the files and lines of the small checker that it "
            "rests on, measured in a process that runs the checker alone."
        ),
    ] = False
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="OUT", help="Write all that is known as one page of HTML."
        ),
    ] = None
    html_effort: Annotated[
        str,
        typer.Option(
            metavar="LEVEL",
            help="With --html: how much to search for the longest words of each format, as "
            "--effort of compile.",
        ),
    ] = "high"

    def check(self, file: str) -> None:
        """Refuse what could not be written, before anything is verified.

        Raises:
            KrohnError: If a name is bad, or the network is a trained one.
        """
        for path in filter(None, (self.html, self.evidence)):
            if not path.parent.is_dir():
                raise KrohnError(
                    f"{path}: cannot be written: there is no directory {path.parent}"
                )
        if self.html is not None:
            from krohn.algebra.budget import steps_of
            from krohn.page import check_suffix

            check_suffix(self.html)
            steps_of(self.html_effort)
        if self.html is None and not self.trusted:
            return
        from krohn.foreign import is_trained

        if is_trained(file):
            raise KrohnError(
                "--html and --trusted are for model files; `krohn compare` writes a page "
                "of trained networks"
            )

    def write(
        self, shown: Shown, observe: str | None, arguments: Sequence[str]
    ) -> Written:
        """Write what is asked for, and ask the small checker.

        Args:
            shown: The verdict.
            observe: What was seen of the machine.
            arguments: Those of the command, which the page repeats.
        """
        if self.html is not None:
            self._write_page(self.html, shown, arguments)
        checked, rests = None, None
        if self.evidence is not None:
            from krohn.evidence import write

            evidence_arguments = (
                shown.found,
                shown.file,
                self.evidence,
                shown.machine,
                observe,
            )
            checked = write(*evidence_arguments)
        if self.trusted:
            from krohn.evidence import rests_on

            with progress("running the checker alone"):  # in a process of its own
                rests = rests_on(shown.found, shown.file)
        return Written(checked, rests)

    def say(self, shown: Shown, written: Written) -> None:
        """Print the verdict, and what was written."""
        show.report(shown.file, shown.found, shown.replay, against=shown.against)
        if self.html is not None:
            print(f"wrote {self.html}: a page")
        if written.evidence:
            show.evidence(written.evidence, self.evidence)
        if written.trusted:
            show.print_trusted_files(written.trusted)

    def _write_page(self, path: Path, shown: Shown, arguments: Sequence[str]) -> None:
        from krohn.foreign import own_machine
        from krohn.network import modelfile
        from krohn.page import Request, write

        file, report, effort = shown.file, shown.found, self.html_effort
        machine = shown.machine or own_machine(modelfile.read(file))
        with progress("writing the page"):
            request = Request(file, machine, report, arguments, shown.replay, effort)
            write(request, path)


def _fraction(option: str, text: str) -> Fraction:
    """A number from 0 to 1/2, half the way between codes, as a fraction or a decimal."""
    try:
        value = rational(text)
    except (ValueError, ZeroDivisionError):
        raise KrohnError(
            f"{option} takes a number such as 1/64 or 0.01, not {text!r}"
        ) from None
    if not 0 <= value <= Fraction(1, 2):
        raise KrohnError(f"{option} takes a number from 0 to 1/2, not {text}")
    return value
