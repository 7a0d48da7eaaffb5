"""The claim of networks of real numbers: to be within an error."""

from collections.abc import Mapping
from math import inf
from typing import Any

from krohn.program.errors import demand


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
