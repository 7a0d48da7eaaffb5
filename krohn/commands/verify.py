"""``krohn verify``."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from algebra.errors import KrohnError
from algebra.rational import rational
from krohn import show
from krohn.commands.options import Against, Fill, Json, Observe, Start, Wanted
from krohn.commands.terminal import CANNOT, DONE, REFUTED, emit, progress
from krohn.commands.verify_options import (
    ByProof,
    Cluster,
    EveryStart,
    Exhaustive,
    File,
    GadgetError,
    Gadgets,
    JobFile,
    Jobs,
    Memory,
    Sample,
    Seed,
    Shard,
    Shorten,
    Smt,
    SmtLib,
    Timeout,
)

if TYPE_CHECKING:
    from algebra.automaton import Automaton
    from krohn.verification import Progress, Report


def verify(
    file: File,
    machine: Against = None,
    proof: ByProof = False,
    exhaustive: Exhaustive = None,
    sample: Sample = None,
    smt: Smt = None,
    smt_lib: SmtLib = None,
    gadgets: Gadgets = None,
    error: GadgetError = "1/4",
    timeout: Timeout = 60.0,
    seed: Seed = 0,
    jobs: Jobs = None,
    memory: Memory = None,
    job: JobFile = None,
    shard: Shard = None,
    cluster: Cluster = None,
    every_start: EveryStart = False,
    shorten: Shorten = 200_000,
    start: Start = None,
    observe: Observe = None,
    complete: Fill = "reject",
    as_json: Json = False,
) -> int:
    """Decide whether a model computes a machine: proof, all short words, samples, SMT."""
    from krohn.exhaustion import sharding
    from krohn.verification import verify as verified

    against = Wanted(machine, start, observe, complete)
    wanted = against.read()
    how = sharding(jobs, memory, shard, job, cluster, every_start)
    other = Solver(file, wanted, observe, smt, smt_lib, gadgets, error, timeout, seed)
    other.check(proof or bool(exhaustive or sample or how))
    with progress() as report:
        found = other.ask(report) or verified(
            file,
            wanted,
            proof=True if proof else None,
            exhaustive=exhaustive,
            sample=sample,
            seed=seed,
            budget=shorten,
            observation=observe,
            sharding=how,
            progress=report,
        )
    replay = _replay(file, found, against)
    result = {**found.to_object(), "replay": replay}
    emit(result, as_json, lambda: show.report(file, found, replay))
    return {"verified": DONE, "refuted": REFUTED}.get(found.verdict, CANNOT)


def _replay(file: str, found: "Report", against: Wanted) -> str | None:
    """The command that shows a wrong word again; None if there is none."""
    from krohn.replaying import quoted, replay_command

    wrong = found.counterexample
    if wrong is None or found.elsewhere:
        return None
    if found.method == "smt":
        how = ["krohn", "verify", f"--smt={len(wrong.word)}", *against.arguments()]
        return " ".join(map(quoted, [*how, "--", file]))
    return replay_command(file, wrong.word, against.arguments())


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
                "--proof, --exhaustive and --sample, in another call"
            )
        if self.smt is None and self.smt_lib is not None:
            raise KrohnError("--smt-lib needs --smt N: which words to ask about")
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
        from krohn.ideal import verify_ideal

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
        from krohn.ideal import verify_gadgets

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
