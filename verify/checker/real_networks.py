"""Networks that read and say real vectors.

A check re-derives from the tensors how far any output can be off, for all inputs that the
source allows; here is what all such files have in common.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from krohn.program.errors import demand
from krohn.verify.checker.arithmetic import Format
from krohn.verify.checker.claimed_error import claimed
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.registry import REAL, check


@dataclass(frozen=True)
class Established:
    """What was shown of a network of real vectors.

    Attributes:
        form: Its format.
        length: The longest input.
        error: How far any number that it says can be off.
        parts: What the error is made of, by name.
        covers: Which inputs, in words.
    """

    form: Format
    length: int
    error: float
    parts: Mapping[str, float] = field(default_factory=dict)
    covers: str = "all inputs of the source"

    def facts(self) -> dict[str, Any]:
        """In numbers."""
        return {
            "covers": self.covers,
            "length": self.length,
            "dtype": self.form.name,
            "error": self.error,
            "parts": dict(self.parts),
        }


def established(model: Model, said: Any, machine: Machine | None) -> Established:
    """The error that the check of the pair shows, if the file claims no less.

    Raises:
        Refused: If there is no such check, or it shows nothing.
    """
    alone = machine is None and "machine" not in model.header
    demand(alone, "the file claims to compute no machine")
    demand(model.header["version"] >= 5, "this version is for machines only")
    source, claim = model.header["source"], model.header["claim"]
    pair = model.header["architecture"]["kind"], source["kind"]
    demand(pair in REAL, "there is no rule for a network of such a source")
    exact = model.format.unit == model.format.sum_unit
    demand(exact, f"{model.format.name} is too narrow for real numbers")
    length = claim.get("length")
    demand(type(length) is int and length > 0, "the file claims no length")
    shown: Established = check(REAL[pair])(model)
    demand(shown.length == length, "the claim is about another length")
    # Comparisons with NaN choose a side: a part that is no number is no bound.
    whole = 0 <= shown.error < float("inf")
    demand(whole, "no error is shown")
    claimed(claim, shown.error)
    demand(shown.error <= said.get("error", float("inf")), "the error is not shown")
    return shown
