"""RNNs: which check is asked about one, by the kind of what it computes."""

from typing import Any

from krohn.program.errors import demand
from krohn.verify.checker.claimed_error import claimed
from krohn.verify.checker.model_file import Machine, Model
from krohn.verify.checker.registry import RECURRENT, check


def established(model: Model, said: Any, machine: Machine | None) -> Any:
    """What the file of an RNN shows.

    Raises:
        Refused: If that is not what it claims.
    """
    if "ranks" in model.header["architecture"]:
        return check("relu_boxes")(model, said, machine)
    if "source" not in model.header:
        return check("recurrent")(model, said, machine)
    alone = machine is None and "machine" not in model.header
    demand(alone and model.header["version"] >= 5, "the file claims no machine")
    kind = model.header["source"]["kind"]
    demand(kind in RECURRENT, "there is no rule for an RNN of such a source")
    shown = check(RECURRENT[kind])(model, said)
    claimed(model.header["claim"], shown.error)
    demand(shown.error <= said.get("error", float("inf")), "the error is not shown")
    return shown
