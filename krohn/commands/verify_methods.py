"""The methods of ``krohn verify``, each with its options."""

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from krohn.algebra.errors import KrohnError
from krohn.algebra.rational import rational

if TYPE_CHECKING:
    from krohn.algebra.automaton import Automaton
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

    proof: bool
    exhaustive: int | None
    sample: int | None
    attack: float | None
    length: int | None
    sharding: "Sharding | None"
    seed: int
    budget: int

    @property
    def asked(self) -> bool:
        """Whether the options ask for one; if they ask for nothing, there is a proof."""
        runs = self.exhaustive or self.sample or self.length or self.sharding
        return bool(self.proof or runs or self.attack is not None)

    def ask(self, asked: Asked, report: "Progress") -> "Report":
        """What they come to."""
        from krohn.verification import verify

        found = verify(
            asked.file,
            asked.machine,
            proof=True if self.proof or self.attack is not None else None,
            exhaustive=self.exhaustive,
            sample=self.sample,
            seed=self.seed,
            budget=self.budget,
            observation=asked.observation,
            length=self.length,
            sharding=self.sharding,
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
class Solver:
    """The options of what z3 is asked, for `krohn.ideal_network`."""

    asked: Asked
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
            self.asked.file,
            length,
            self.asked.machine,
            seconds=self.timeout,
            seed=self.seed,
            smt_lib=self.smt_lib,
            observation=self.asked.observation,
            digest=self.asked.digest,
            progress=report,
        )

    def _tables(self, noise: str, report: "Progress") -> "Report":
        from krohn.ideal_network import verify_gadgets

        return verify_gadgets(
            self.asked.file,
            _fraction(noise),
            _fraction(self.error),
            seconds=self.timeout,
            seed=self.seed,
            digest=self.asked.digest,
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
