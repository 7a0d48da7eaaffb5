"""``krohn explain``."""

from krohn import show
from krohn.commands.options import (
    Activation,
    Dtype,
    Fill,
    Json,
    Length,
    Machine,
    Minimise,
    Observe,
    Start,
    Strict,
    filled,
)
from krohn.commands.terminal import emit


def explain(
    machine: Machine,
    length: Length = 128,
    dtype: Dtype = "float32",
    start: Start = None,
    strict: Strict = False,
    activation: Activation = "relu",
    minimise: Minimise = "depth",
    observe: Observe = None,
    complete: Fill = "reject",
    as_json: Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    result = explained(
        machine,
        length,
        dtype,
        start,
        strict,
        filled(complete),
        minimise,
        observe,
        activation,
    )
    emit(result, as_json, lambda: show.explanation(result))
