"""The Program computes the machine: invariants of memory (docs/proofs/invariants.md)."""

from itertools import product
from math import prod
from typing import Any

import numpy as np

from krohn.program.domains import MOST
from krohn.program.errors import demand
from krohn.program.statement import MOST_CELLS, Statement
from krohn.program.strict_json import whole
from krohn.verify.checker.invariant import Part, Ways, memory, steps, ways
from krohn.verify.checker.model_file import Machine, machine_of
from krohn.verify.checker.registry import rule

MOST_WORK = 2**36  # values; a million take about a millisecond


def check(
    program: Statement, said: Any, machine: Machine
) -> dict[tuple[int, ...], int]:
    """The tuples that the outputs can be, with their classes, if all are right."""
    followed, parts, work = ways(program, said, machine), list[Part](), 0
    for one in said["parts"]:
        parts.append(part(program, machine, followed, parts, one))
        work += parts[-1].work
        demand(work <= MOST_WORK, "the parts take too much work")
        parts[-1].prove()
    return readings(program, machine, [parts[j] for j in said["final"]])


def readings(
    program: Statement, machine: Machine, last: list[Part]
) -> dict[tuple[int, ...], int]:
    """The tuples that parts show together, and the machine's state that each one means."""
    demand([one.length == program.length for one in last], "a part ends too early")
    demand([one.machine is machine for one in last], "a part is of another machine")
    names = [n for one in last for n in one.outputs]
    shown = [[list[tuple[int, ...]]() for _ in machine.shows] for _ in last]
    for one, beside_state in zip(last, shown, strict=True):
        for *values, q in one.shown:
            beside_state[q].append(tuple(values))
    meanings = {}
    each_state = list(zip(machine.shows.tolist(), *shown, strict=True))
    count = sum(prod(map(len, choices)) for _, *choices in each_state)
    demand(count <= MOST, "parts show too much to be combined")
    for right, *choices in each_state:
        for each in product(*choices):
            value = dict(zip(names, sum(each, start=()), strict=True))
            reading = tuple(value[n] for n in program.outputs)
            fits = program.decode.get(reading) == right
            demand(fits, f"{reading} is decoded wrongly")
            meanings[reading] = right
    return meanings


def part(
    program: Statement, machine: Machine, followed: Ways, parts: list[Part], said: Any
) -> Part:
    """A part as the evidence states it, with the channels that it needs."""
    length, outputs = int(whole(said["length"], 0)), list(said["outputs"])
    demand(length <= program.length, "a part is longer than the words")
    states, follow = whole(said["states"], 1), whole(said["follow"], 2)
    depths, machine = whole(said["depths"], 1), _machine(said, machine, program.letters)
    fits = follow.shape == (len(states), program.letters) and len(depths) == len(states)
    demand(fits and np.all(follow < len(states)), "the abstract states do not fit")
    assumed = {}
    for name, j in said["assumed"].items():
        shown = program.channels[name], parts[j], machine, length
        assumed[name] = rule("lemmas").lemma(*shown)
    followed = followed | dict.fromkeys(assumed, ("assumed", ()))
    reduced = [
        rule("lowered_sums").Lowered(list(sums), *whole([by, least], 2))
        for sums, by, least in said["reduced"]
    ]
    start, period = whole(said["repeats"], 1).tolist()
    demand(period > 0, "positions repeat themselves after none")
    for lowered in reduced:
        program = lowered.few_values(program)
    needed_steps = steps(program, followed, outputs)
    cells, room = {}, MOST_CELLS
    for step in needed_steps:
        channel = step[0]
        if channel.name in said["cells"]:
            domain, first, size = memory(program, machine, step, assumed)
            sets, of = said["cells"][channel.name]
            room -= len(sets) * len(domain)
            demand(room > 0, "there are too many sets")
            members = np.array([np.isin(domain, one) for one in sets], np.bool_)
            members, of = members.reshape(len(sets), len(domain)), whole(of, 2)
            demand(of.shape == (len(states), size), f"{channel.name!r}: other cells")
            right = members[of[0]][:, domain == first]
            demand(right, f"{channel.name!r} starts elsewhere")
            cells[channel.name] = members, of
    fields = (
        needed_steps,
        outputs,
        length,
        assumed,
        cells,
        states,
        depths,
        follow,
        reduced,
    )
    more = (start, period), list(said["split"]), set[tuple[int, ...]]()
    return Part(program, machine, *fields, *more)


def _machine(said: Any, machine: Machine, letters: int) -> Machine:
    """The machine that a part is about: another one, if the evidence names it."""
    return machine_of(said["machine"], letters) if "machine" in said else machine
