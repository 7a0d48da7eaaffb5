"""What was proved, as a value that only the checker makes, and the sentence about it."""

from dataclasses import dataclass
from enum import StrEnum
from math import inf

from krohn.program.claim import Claim, Sense
from krohn.program.errors import refuse_unknown
from krohn.program.wording import at_most


class Speaker(StrEnum):
    """Who says that a claim holds."""

    RULES = "rules"
    """The rules of `krohn.verify.checker`, in Python."""
    KERNEL = "kernel"
    """Functions that Coq has proved sound, extracted to OCaml (`krohn.verify.kernel`)."""

    @property
    def who(self) -> str:
        """Who it is, for people."""
        return {"rules": "rules (Python)", "kernel": "the kernel (Coq)"}[self.value]

    @property
    def rests_on(self) -> str:
        """What is trusted if it speaks."""
        return {
            "rules": "the checker, Python, numpy and safetensors (--trusted)",
            "kernel": "a statement in Coq, Coq with its extraction, OCaml and a reader of "
            "files (--trusted)",
        }[self.value]


@dataclass(frozen=True)
class Proved:
    """A claim that was proved.

    Attributes:
        claim: The claim, with its inputs and its digest.
        by: Who says so.
        error: How far any output can be off, as it was shown; 0 where answers are chosen.
        margin: How far the right logit stays above every other one; 0 of numbers.
        checkers: The distributions beside Krohn whose modules the proof rests on.
    """

    claim: Claim
    by: Speaker
    error: float
    margin: float
    checkers: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """Of the claim, 64 hexadecimal digits."""
        return self.claim.digest

    def __str__(self) -> str:
        """The sentence that is printed wherever this is told; errors are rounded up."""
        said = f"{_quality(self.claim)} {self.claim.inputs}, in {self.claim.dtype}"
        others = " and ".join(
            f"a checker of the distribution {x}" for x in self.checkers
        )
        return f"{said}; this rests on {others}" if others else said


def _quality(claim: Claim) -> str:
    """How right answers are, and where, up to the inputs."""
    match claim.sense:
        case Sense.EXACT | Sense.GENERATES:
            return "right on"
        case Sense.WITHIN:
            alone = f" ({at_most(claim.model_error)} without rounding)"
            remark = alone if claim.model_error < inf else ""
            return f"within {at_most(claim.error)} of the source{remark} on"
        case Sense.LAWS:
            law = f"the law that opens with q = {claim.opening}"
            return f"within {at_most(claim.error)} of {law} on"
        case other:
            return refuse_unknown(other, "a sentence")
