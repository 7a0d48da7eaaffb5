"""How each channel is followed that is not followed by what it is computed from."""

from typing import Any

from krohn.program.statement import Channel, Statement
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.registry import rule

Ways = dict[str, tuple[str, tuple[str, ...]]]  # how channels are followed, and by which
Step = tuple[Channel, str, tuple[str, ...]]
RECOGNISED = {
    "before": ("sibling-latest", "latest_before"),
    "departures": ("earliest", "departures"),
}
"""Ways that channels show by themselves: an operation of each, and who recognises it."""


def ways(program: Statement, said: Any, machine: Machine) -> Ways:
    """How channels are followed that are not followed by what they are computed from."""
    found, ops = Ways(), {c.op for c in program.channels.values()}
    for kind, (op, name) in RECOGNISED.items():
        if op in ops:
            each: dict[str, tuple[str, ...]] = rule(name).recognised(program)
            found |= {n: (kind, read) for n, read in each.items()}
    if said["windows"]:
        shown: dict[str, tuple[str, ...]] = rule("windows").shown(
            program, said, machine
        )
        found |= {n: ("window", family) for n, family in shown.items()}
    return found


def steps(program: Statement, followed: Ways, outputs: list[str]) -> list[Step]:
    """The channels that some depend on, in order, how they are followed, by which."""
    todo, needed = list(outputs), {}
    while todo:
        if (name := todo.pop()) not in needed:
            channel = program.channels[name]
            needed[name] = channel, *followed.get(name, (channel.op, channel.inputs))
            todo += needed[name][2]
    return [needed[n] for n in sorted(needed, key=program.order.__getitem__)]
