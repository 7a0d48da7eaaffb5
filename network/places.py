"""Where the variables of a machine lie in the residual stream, as a model file says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.nn.functional import one_hot

from krohn.network.errors import ModelFileError


@dataclass(frozen=True)
class VariablePlace:
    """Where a variable of the machine lies in the residual stream.

    Attributes:
        channel: The name of the variable.
        dims: First dimension, and one past the last.
        snapshots: First and last snapshot at which it is there: 0 is after the
            embedding, 2b + 1 after the heads of block b, 2b + 2 after its MLP.
        code: ``"integer"`` (the value itself) or ``"one-hot"``.
        head: Which head of its block wrote it, if one did.
        operation: The operation that it is the result of, as the file states it.
    """

    channel: str
    dims: tuple[int, int]
    snapshots: tuple[int, int]
    code: str
    head: int | None
    operation: Mapping[str, Any]

    def read(self, stream: Tensor) -> Tensor:
        """What stands in a stream ``(…, d)``: ``(…)`` whole numbers.

        Of a code of real numbers, those themselves: ``(…, dimensions)``.
        """
        values = stream[..., slice(*self.dims)]
        if self.code == "one-hot":
            return values.argmax(dim=-1)
        return values[..., 0].round().long() if self.code == "integer" else values

    def write(self, stream: Tensor, values: Tensor) -> Tensor:
        """A stream in which these values stand, as `read` returns them."""
        if self.code == "one-hot":
            values = one_hot(values.long(), self.dims[1] - self.dims[0])
        elif self.code == "integer":
            values = values[..., None]
        changed = stream.clone()
        changed[..., slice(*self.dims)] = values.to(stream)
        return changed


def places(header: Mapping[str, Any]) -> dict[str, VariablePlace]:
    """Where every stored channel lies, by name.

    Raises:
        ModelFileError: If the header is malformed there.
    """
    try:
        stated = header.get("program", {}).get("channels", [])
        return {c["name"]: _place(c) for c in stated if "dims" in c}
    except (AttributeError, LookupError, TypeError) as error:
        raise ModelFileError(
            f"the file is damaged: its channels are malformed ({error!r})"
        ) from None


def _place(channel: Mapping[str, Any]) -> VariablePlace:
    where = ("name", "dims", "snapshots", "code", "head", "domain")
    operation = {k: v for k, v in channel.items() if k not in where}
    return VariablePlace(
        channel=channel["name"],
        dims=(channel["dims"][0], channel["dims"][1]),
        snapshots=(channel["snapshots"][0], channel["snapshots"][1]),
        code=channel["code"],
        head=channel.get("head"),
        operation=operation,
    )
