"""The claim of networks of real numbers: to be within an error."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

from krohn.program.domains import Matrices
from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format

if TYPE_CHECKING:
    from krohn.verify.checker.heads import Look
    from krohn.verify.checker.residual_stream import Stream


@dataclass(frozen=True)
class Established:
    """What was shown of a network that says states of a source of real numbers.

    Attributes:
        form: Its format.
        length: T; None for words of every length.
        error: How far any output can be off, at any position of any word.
        covers: Which words, in words.
        told: What else was shown, by name.
        streams: Of a Transformer: as for a machine.
        looks: As for a machine.
    """

    form: Format
    length: int | None
    error: float
    covers: str
    told: Mapping[str, Any] = field(default_factory=dict)
    streams: "tuple[Stream, ...]" = ()
    looks: "Mapping[str, Look]" = field(default_factory=dict)

    @property
    def model(self) -> float:
        """The error of exact arithmetic alone; infinite if nothing is shown of it."""
        return float(self.told.get("model error", inf))

    def facts(self) -> dict[str, Any]:
        """In numbers: the error; of a Transformer that of channels, the leak of heads."""
        told = {
            "covers": self.covers,
            "length": self.length,
            "dtype": self.form.name,
            "error": self.error,
            **self.told,
        }
        if self.streams:
            told["noise"] = {n: _noise(s, n) for s in self.streams for n in s.noise}
            told["leak"] = {name: look.leak for name, look in self.looks.items()}
        return told


def _noise(stream: "Stream", name: str) -> float:
    """How far a channel is off."""
    noise = stream.noise[name]
    if isinstance(stream.program.channels[name].values, Matrices):
        return stream.of_matrices.told(noise)
    return float(noise.max())


def claimed(said: Mapping[str, Any], shown: float, model: float = inf) -> None:
    """What a file claims is what was shown, or more.

    Args:
        said: The claim.
        shown: The error.
        model: That of exact arithmetic alone; infinite if nothing is shown of it.

    Raises:
        Refused: If it claims less, or no error.
    """
    demand(
        said.get("kind") == "within",
        "the file does not claim to be within an error",
    )
    error = said.get("error", 0.0)
    stated = type(error) is float and 0 < error < inf
    demand(stated, "the file claims no error")
    demand(
        shown <= error, f"the error may be {shown:.3g}, and the file claims {error:.3g}"
    )
    demand(
        model <= said.get("model_error", inf),
        "the claimed error of the model is not shown",
    )
