"""``krohn explain``."""

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import reading, remarks
from krohn.commands.terminal import emit


def explain(
    machine: common.Machine,
    length: common.Length = 128,
    dtype: common.Dtype = "float32",
    start: common.Start = None,
    strict: common.Strict = False,
    activation: common.Activation = "relu",
    minimise: common.Minimise = None,
    observe: common.Observe = None,
    effort: common.Effort = "normal",
    complete: common.Fill = "reject",
    kind: common.ReadAs = None,
    as_json: common.Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.explanation import explain as explained

    read = reading(complete, kind).read(machine)
    result = explained(
        read, length, dtype, start, strict, minimise, observe, activation, effort
    )
    emit({**result, **remarks(read)}, as_json, lambda: show.explanation(result))
