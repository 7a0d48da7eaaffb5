"""Results of the checker: one type for networks and sources of every kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from krohn.program.domains import Matrices
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format, Interval

if TYPE_CHECKING:
    from krohn.program.statement import Statement
    from krohn.verify.checker.affine_arithmetic import Noisy
    from krohn.verify.checker.heads import Look
    from krohn.verify.checker.residual_stream import Stream
    from krohn.verify.checker.sublayers import Readings

REAL = {"argument": "real vectors"}


@dataclass(frozen=True)
class Established:
    """A proved statement about a network, for all inputs of up to a length.

    A network that says numbers has an error, and one that says classes a margin.

    Attributes:
        form: The format that it computes in.
        length: The longest input; None if there is no longest.
        covers: Which inputs, in words.
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
    """

    form: Format
    length: int | None
    covers: str
    told: Mapping[str, Any] = field(default_factory=dict)
    error: float = inf
    streams: "tuple[Stream, ...]" = ()
    looks: "Mapping[str, Look]" = field(default_factory=dict)
    margin: float = 0.0
    readings: "Readings" = field(default_factory=dict)
    logits: "Noisy | None" = None

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
        told = dict[str, Any](covers=self.covers, length=self.length)
        told["dtype"] = self.form.name
        if self.error < inf:
            told["error"] = self.error
        told |= self.told
        if self.margin > 0:
            told["margin"] = self.margin
        if self.streams:
            told["noise"] = {n: _noise(s, n) for s in self.streams for n in s.noise}
            told["leak"] = {name: look.leak for name, look in self.looks.items()}
        return told


def added_up(
    form: Format, length: int, covers: str, parts: Mapping[str, Interval]
) -> Established:
    """The proved statement about a network of real vectors, whose error has parts."""
    told = {name: part.most for name, part in parts.items()}
    error = sum(parts.values(), Interval.of(0.0)).most
    return Established(form, length, covers, {**REAL, "parts": told}, error)


def _noise(stream: "Stream", name: str) -> float:
    noise = stream.noise[name]
    if isinstance(stream.program.channels[name].values, Matrices):
        return stream.of_matrices.told(noise)
    return float(noise.max())


def judge(
    found: Established, header: Mapping[str, Any], said: Mapping[str, Any]
) -> None:
    """Demand that a file and its evidence claim no more than was shown.

    Args:
        found: What was shown.
        header: That of the file.
        said: The evidence, whose bounds other readers go by.

    Raises:
        Refused: If less was shown, or neither an error nor a margin.
    """
    claim, shown = header["claim"], found.error < inf
    if claim.get("kind") == "within" or (shown and "source" in header):
        claimed(claim, found.error, found.model)
    margin = f"{found.margin:.2g}"
    right = shown or found.margin > 0
    demand(right, f"the read-out can confuse two states (margin {margin})")
    demand(found.error <= said.get("error", inf), "the error is not shown")
    demand(found.margin >= said.get("margin", 0), "the margin is not shown")
    facts = found.facts()
    for kind in ("noise", "leak"):
        for name, most in said.get(kind, {}).items():
            demand(facts[kind][name] <= most, f"the {kind} of {name!r} is not shown")


def claimed(said: Mapping[str, Any], shown: float, model: float = inf) -> None:
    """Demand that a file claims no more than was shown.

    Args:
        said: The claim.
        shown: The error.
        model: That of exact arithmetic alone; infinite if nothing is shown of it.

    Raises:
        Refused: If it claims less, or no error.
    """
    demand(
        said.get("kind") == "within", "the file does not claim to be within an error"
    )
    error = said.get("error", 0.0)
    stated = type(error) is float and 0 < error < inf
    demand(stated, "the file claims no error")
    enough = 0 <= shown <= error
    demand(enough, f"the error may be {shown:.3g}, and the file claims {error:.3g}")
    demand(
        model <= said.get("model_error", inf),
        "the claimed error of the model is not shown",
    )
