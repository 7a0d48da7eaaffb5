"""``krohn explain``."""

from krohn import show
from krohn.commands.options import (
    Activation,
    Dtype,
    Effort,
    Fill,
    Json,
    Length,
    Machine,
    Minimise,
    Observe,
    ReadAs,
    Start,
    Strict,
    reading,
    remarks,
)
from krohn.commands.terminal import emit


def explain(
    machine: Machine,
    length: Length = 128,
    dtype: Dtype = "float32",
    start: Start = None,
    strict: Strict = False,
    activation: Activation = "relu",
    minimise: Minimise = None,
    observe: Observe = None,
    effort: Effort = "normal",
    complete: Fill = "reject",
    kind: ReadAs = None,
    as_json: Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    read = reading(complete, kind).read(machine)
    result = explained(
        read,
        length,
        dtype,
        start,
        strict,
        minimise,
        observe,
        activation,
        effort,
    )
    emit({**result, **remarks(read)}, as_json, lambda: show.explanation(result))
