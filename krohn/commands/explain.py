"""``krohn explain``."""

import typer

from krohn import show
from krohn.commands import options as common
from krohn.commands.options import reading, remarks, typed
from krohn.commands.terminal import emit
from krohn.option_rules import refuse_others


def explain(
    context: typer.Context,
    machine: common.Machine,
    length: common.Length = 128,
    dtype: common.Dtype = "float32",
    start: common.Start = None,
    strict: common.Strict = False,
    activation: common.Activation = "relu",
    minimise: common.Minimise = None,
    observe: common.Observe = None,
    block: common.Block = None,
    effort: common.Effort = "normal",
    complete: common.Fill = "reject",
    kind: common.ReadAs = None,
    as_json: common.Json = False,
) -> None:
    """Say what a machine is, which constructions apply, and which one is chosen."""
    from krohn.source_kinds import named, written

    other = named(machine)
    if block is not None and other is not None:
        other = written(other[1], block)
    elif block is not None:
        part = reading(complete, kind).read(machine)
        other = written(part.with_start(start) if start else part, block)
    if other is not None:
        from krohn.compilation import options_of

        source_kind, source = other
        refuse_others(typed(context), source_kind.takes, source_kind.called)
        format_ = dtype if "dtype" in typed(context) else source_kind.format()
        options = options_of(format_, strict, activation)
        asked = length if "length" in typed(context) else None
        facts = source_kind.explain(source, asked, options)
        emit(facts, as_json, lambda: show.facts(facts))
        return
    from krohn.explanation import explain as explained

    read = reading(complete, kind).read(machine)
    result = explained(
        read, length, dtype, start, strict, minimise, observe, activation, effort
    )
    emit({**result, **remarks(read)}, as_json, lambda: show.explanation(result))
