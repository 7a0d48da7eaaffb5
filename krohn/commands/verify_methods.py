"""The methods of ``krohn verify``, each with its options."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from krohn.algebra.errors import KrohnError
from krohn.algebra.rational import rational
from krohn.commands import verify_options as own
from krohn.commands.terminal import waiting

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
    from krohn.evidence import Checked
    from krohn.progress import Progress
    from krohn.report import Report
    from krohn.sharding import Sharding


@dataclass(frozen=True)
class Asked:
    """What a verdict is asked about.

    Attributes:
        file: A model file.
        machine: What it is held against; None for what it states.
        observation: What is seen of a machine.
        digest: Of the claim that it must be, or its first digits; None for any.
    """

    file: str
    machine: "Automaton | str | None"
    observation: str | None
    digest: str | None


@dataclass(frozen=True)
class Methods:
    """Proof, runs and attack, with the options that `krohn.verify` takes of them."""

    proof: own.ByProof = False
    exhaustive: own.Exhaustive = None
    sample: own.Sample = None
    attack: own.Attacked = None
    length: own.Longest = None
    seed: own.Seed = 0
    shorten: own.Shorten = 200_000

    @property
    def asked(self) -> bool:
        """Whether the options ask for one; if they ask for nothing, there is a proof."""
        runs = self.exhaustive or self.sample or self.length
        return bool(self.proof or runs or self.attack is not None)

    def ask(
        self, asked: Asked, sharding: "Sharding | None", report: "Progress"
    ) -> "Report":
        """What they come to."""
        from krohn.verification import verify

        found = verify(
            asked.file,
            asked.machine,
            proof=True if self.proof or self.attack is not None else None,
            exhaustive=self.exhaustive,
            sample=self.sample,
            seed=self.seed,
            budget=self.shorten,
            observation=asked.observation,
            length=self.length,
            sharding=sharding,
            digest=asked.digest,
            progress=report,
        )
        if self.attack is None:
            return found
        from krohn.attacking import attacked  # torch, which a proof does without

        return attacked(
            found,
            asked.file,
            asked.machine,
            seconds=self.attack,
            seed=self.seed,
            observation=asked.observation,
            progress=report,
        )


@dataclass(frozen=True)
class EveryWord:
    """How all words up to a length are run: by whom, and what is kept of it."""

    jobs: own.Jobs = None
    memory: own.Memory = None
    job: own.JobFile = None
    shard: own.Shard = None
    cluster: own.Cluster = None
    every_start: own.EveryStart = False

    def sharding(self) -> "Sharding | None":
        """The plan; None if nothing is said."""
        from krohn.sharding import sharding

        given = self.jobs, self.memory, self.shard, self.job, self.cluster
        return sharding(*given, self.every_start)


@dataclass(frozen=True)
class Solver:
    """The questions to z3, for `krohn.ideal_network`."""

    smt: own.Smt = None
    smt_lib: own.SmtLib = None
    gadgets: own.Gadgets = None
    error: own.GadgetError = "1/4"
    timeout: own.Timeout = 60.0

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

    def ask(self, asked: Asked, seed: int, report: "Progress") -> "Report | None":
        """The answer as a report; None if nothing is asked."""
        if self.smt is None and self.gadgets is None:
            return None
        from krohn.ideal_network import verify_gadgets, verify_ideal

        how: dict[str, Any] = {"seconds": self.timeout, "seed": seed}
        how |= {"digest": asked.digest, "progress": report}
        if self.smt is not None:
            how |= {"smt_lib": self.smt_lib, "observation": asked.observation}
            return verify_ideal(asked.file, self.smt, asked.machine, **how)
        assert self.gadgets is not None
        bounds = _fraction(self.gadgets), _fraction(self.error)
        return verify_gadgets(asked.file, *bounds, **how)


@dataclass(frozen=True)
class Shown:
    """A verdict, with the file that it is about and the machine that it was held against.

    Attributes:
        file: The model file.
        found: The verdict.
        machine: None for the machine of the file.
    """

    file: str
    found: "Report"
    machine: "Automaton | None"


@dataclass(frozen=True)
class Outputs:
    """The files that are written of a verdict, and what else is said of it."""

    evidence: own.Evidence = None
    trusted: own.Trusted = False
    html: own.Html = None
    html_effort: own.HtmlEffort = "high"

    def check(self, file: str) -> None:
        """Refuse what could not be written, before anything is verified.

        Raises:
            KrohnError: If a name is bad, or the network is a trained one.
        """
        if self.html is not None:
            from krohn.algebra.budget import steps_of
            from krohn.page import check_suffix

            check_suffix(self.html)
            steps_of(self.html_effort)
        if self.html is None and self.evidence is None:
            return
        from krohn.network.trained import is_network

        if is_network(file):
            raise KrohnError(
                "--html and --evidence are for model files; `krohn compare` writes a page "
                "of trained networks"
            )

    def write_page(
        self, shown: Shown, arguments: Sequence[str], replay: str | None
    ) -> None:
        """Write the page, if one is asked for."""
        if self.html is None:
            return
        from krohn.foreign import own_machine
        from krohn.network import modelfile
        from krohn.page import Request, write

        file, found, effort = shown.file, shown.found, self.html_effort
        held = shown.machine or own_machine(modelfile.read(file))
        with waiting("writing the page"):
            request = Request(file, held, found, arguments, replay, effort)
            write(request, self.html)

    def write_evidence(self, shown: Shown, observation: str | None) -> "Checked | None":
        """Write the evidence, if it is asked for, and say what the checker saw in it."""
        if self.evidence is None:
            return None
        from krohn.evidence import write

        file, found = shown.file, shown.found
        return write(found, file, self.evidence, shown.machine, observation)


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
