"""Results of the checker: one type for networks and sources of every kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from krohn.program.claim import Claim, Sense
from krohn.program.domains import Matrices
from krohn.program.errors import demand, refuse_unknown
from krohn.program.inputs import Inputs
from krohn.verify.checker.arithmetic import Format, Interval

if TYPE_CHECKING:
    from krohn.program.statement import Statement
    from krohn.verify.checker.affine_arithmetic import Noisy
    from krohn.verify.checker.heads import Look
    from krohn.verify.checker.residual_stream import Stream
    from krohn.verify.checker.sublayers import Readings
    from krohn.verify.checker.verdict import Proved

REAL = {"argument": "real vectors"}


@dataclass(frozen=True)
class Established:
    """A proved statement about a network, for all inputs of up to a length.

    A network that says numbers has an error, and one that says classes a margin.

    Attributes:
        form: The format that it computes in.
        inputs: Which inputs the rules have gone through.
        told: What else was shown, by name; ``argument`` is how.
        error: How far any output can be off, at any position; infinite if that is not
            shown.
        streams: Of a Transformer, what is known of the residual stream, after the
            embedding and after each sublayer.
        looks: Of a Transformer, where the head of each channel looks that a head writes.
        margin: How far the right logit stays above every other one, at worst; 0 if that
            is not shown, or not yet.
        readings: Of a Transformer that says classes, for each tuple of output values
            that occurs the class that it means.
        logits: ``(readings, classes)``: the logits of each tuple, in that order.
        proved: The whole claim, once it is shown.
    """

    form: Format
    inputs: Inputs
    told: Mapping[str, Any] = field(default_factory=dict)
    error: float = inf
    streams: "tuple[Stream, ...]" = ()
    looks: "Mapping[str, Look]" = field(default_factory=dict)
    margin: float = 0.0
    readings: "Readings" = field(default_factory=dict)
    logits: "Noisy | None" = None
    proved: "Proved | None" = None

    @property
    def model(self) -> float:
        """The error of exact arithmetic alone; infinite if nothing is shown of it."""
        return float(self.told.get("model error", inf))

    @property
    def program(self) -> "Statement":
        """The statement of the Program that a Transformer computes."""
        return self.streams[0].program

    def facts(self) -> dict[str, Any]:
        """As plain values; of a Transformer the noise of channels, the leak of heads."""
        facts = dict[str, Any](covers=str(self.inputs), dtype=self.form.name)
        if self.proved is not None:
            facts["covers"] = str(self.proved)
            facts["length"] = self.proved.claim.length
        if self.error < inf:
            facts["error"] = self.error
        facts |= self.told
        if self.margin > 0:
            facts["margin"] = self.margin
        if self.streams:
            facts["noise"] = {n: _noise(s, n) for s in self.streams for n in s.noise}
            facts["leak"] = {name: look.leak for name, look in self.looks.items()}
        return facts


def added_up(
    form: Format, inputs: Inputs, parts: Mapping[str, Interval]
) -> Established:
    """The proved statement about a network of real vectors, whose error has parts."""
    sizes = {name: part.most for name, part in parts.items()}
    error = sum(parts.values(), Interval.of(0.0)).most
    return Established(form, inputs, {**REAL, "parts": sizes}, error)


def _noise(stream: "Stream", name: str) -> float:
    noise = stream.noise[name]
    if isinstance(stream.program.channels[name].values, Matrices):
        return stream.of_matrices.describe_noise(noise)
    return float(noise.max())


def judge(found: Established, claim: Claim, said: Mapping[str, Any]) -> None:
    """Demand that a file and its evidence claim no more than was shown.

    Args:
        found: What was shown.
        claim: That of the file.
        said: The evidence, whose bounds other readers go by.

    Raises:
        Refused: If less was shown, or neither an error nor a margin.
    """
    match claim.sense:
        case Sense.WITHIN | Sense.LAWS:
            error, most = f"{found.error:.3g}", claim.error
            enough = 0 <= found.error <= most
            demand(enough, f"the error may be {error}, and the file claims {most:.3g}")
            exact = found.model <= claim.model_error
            demand(exact, "the claimed error of the model is not shown")
        case Sense.EXACT | Sense.GENERATES:
            margin = f"{found.margin:.2g}"
            reason = f"the read-out can confuse two states (margin {margin})"
            demand(found.margin > 0, reason)
        case other:
            refuse_unknown(other, "the checker")
    demand(found.error <= said.get("error", inf), "the error is not shown")
    demand(found.margin >= said.get("margin", 0), "the margin is not shown")
    facts = found.facts()
    for kind in ("noise", "leak"):
        for name, most in said.get(kind, {}).items():
            demand(facts[kind][name] <= most, f"the {kind} of {name!r} is not shown")
