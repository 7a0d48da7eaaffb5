"""Finding evidence for a model: what the small checker `verify.recheck` is told.

The search takes the checker's own steps to see which cases suffice; what it finds is
worth nothing until the checker has checked it.
"""

import hashlib
from collections.abc import Callable, Iterator, KeysView
from math import prod
from typing import Any

from verify.cubes import Decider
from verify.errors import Rejected
from verify.evidence import meaning
from verify.evidence.trees import axes, tree
from verify.recheck import generator, network
from verify.recheck.mlp import Mlp
from verify.recheck.model import Machine, Model, Refused, read
from verify.recheck.program import Channel, Program
from verify.statement import Statement, check_domains, parse

FEW_ROWS = 4_000
MANY_ROWS = 50_000
MOST_ROWS = 2_000_000
# Bounds are written a little larger than found: another processor may round otherwise.
MARGIN = 1 + 2.0**-20

Progress = Callable[[int, int], None]


def find(
    data: bytes, machine: Machine | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Evidence that a model computes a machine, with the bounds that it shows.

    Args:
        data: The model file.
        machine: The machine; that of the file's own header if absent.
        progress: Called with the number of sublayers done, and in all.

    Raises:
        Refused: If none is found.
        Rejected: If the Program is malformed.
    """
    model = read(data)
    machine, report = machine or model.machine, progress or (lambda done, total: None)
    network.check_of(model)
    evidence = {
        "format": "krohn-evidence",
        "version": 1,
        "model": hashlib.sha256(data).hexdigest(),
    }
    kind = model.header["architecture"]["kind"]
    return evidence | SEARCHES[kind](model, machine, report)


def _transformer(model: Model, machine: Machine, progress: Progress) -> dict[str, Any]:
    program = network.stated(model, len(machine.transitions))
    evidence = {
        "program": meaning.find(program, machine),
        "tables": _tables(model, program, progress),
    }
    facts = network.established(model, evidence, machine).facts()
    for kind in ("noise", "leak"):
        evidence[kind] = {n: bound * MARGIN for n, bound in facts[kind].items()}
    evidence["margin"] = facts["margin"] / MARGIN
    return evidence


def _generator(model: Model, machine: Machine, progress: Progress) -> dict[str, Any]:
    """Nothing needs to be found: the machine itself says which cases there are."""
    return {"error": generator.established(model, {}, machine).law["error"] * MARGIN}


def _tables(model: Model, program: Program, progress: Progress) -> dict[str, Any]:
    """For every channel that an MLP writes the cases that decide it."""
    statement = parse(model.header["program"], program.letters, program.length)
    check_domains(statement)
    stream, tables = network.embedding(model, program), dict[str, Any]()
    blocks = len(model.header["architecture"]["blocks"])
    for block in range(blocks):
        stream, _ = network.attention(model, stream, block)
        progress(2 * block + 1, 2 * blocks)
        mlp, noise = network.mlp_of(model, stream, block), {}
        for channel in network.born(stream, 2 * block + 2):
            tables[channel.name], noise[channel.name] = _cases(statement, mlp, channel)
        stream = network.after(stream, mlp, 2 * block + 2, noise)
        progress(2 * block + 2, 2 * blocks)
    return tables


def _cases(statement: Statement, mlp: Mlp, channel: Channel) -> tuple[Any, Any]:
    """The first cases, of the cheapest kind, from which the checker sees the channel."""
    refused = Refused(f"no cases decide {channel.name!r}")
    for said in _candidates(statement, mlp, channel):
        try:
            return said, mlp.written(channel, said)
        except Refused as reason:
            refused = reason
    raise refused


def _candidates(statement: Statement, mlp: Mlp, channel: Channel) -> Iterator[Any]:
    stored = mlp.stream.noise.keys()
    if _compares(statement, channel, stored):
        yield {"along": channel.inputs[0]}
        return
    read = {n for n in stored if mlp.reads(n, channel.span)}
    rows = axes(statement, sorted(read | _asked(statement, channel.name, stored)))
    count = prod(len(statement.channels[n].domain) for n in rows)
    if count <= FEW_ROWS:
        yield {"each": rows}
    try:
        cubes = Decider(statement, list(stored)).cubes(statement.channels[channel.name])
    except Rejected:
        cubes = []
    if cubes:
        yield tree(statement, cubes, single=False)
    if FEW_ROWS < count <= MANY_ROWS:
        yield {"each": rows}
    if cubes:
        yield tree(statement, cubes, single=True)
    if MANY_ROWS < count <= MOST_ROWS:
        yield {"each": rows}


def _compares(statement: Statement, channel: Channel, stored: KeysView[str]) -> bool:
    """Whether a channel is a table of a sum that is not there, of channels that are."""
    if channel.op != "table" or len(channel.inputs) != 1:
        return False
    added = statement.channels[channel.inputs[0]]
    there = stored >= set(added.inputs) and added.name not in stored
    return added.op == "sum" and there


def _asked(statement: Statement, name: str, stored: KeysView[str]) -> set[str]:
    """The stored channels that a map is a function of."""
    todo, known = list(statement.channels[name].inputs), set[str]()
    while todo:
        one = todo.pop()
        if one not in known:
            known.add(one)
            todo += () if one in stored else statement.channels[one].inputs
    return set(known & stored)


SEARCHES = {"transformer": _transformer, "generator": _generator}
