"""Mutations of the Program that a file states: the network stays what it is."""

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from mutants.subject import Json, Mutant, Mutation, Subject
from mutants.weights import exchanged

OPERATIONS: dict[str, tuple[str, ...]] = {
    "token": (),
    "position": ("values",),
    "map": ("function", "inputs"),
    "shift": ("source", "by"),
    "latest": ("source", "where"),
    "latest-match": ("source", "key", "query"),
    "best": ("source", "key", "query", "rating"),
    "sibling-latest": ("source", "where", "level"),
    "earliest": ("source", "where"),
    "at": ("source", "digits"),
    "prefix-sum": ("source",),
    "marked-sum": ("source", "where"),
}
FUNCTIONS = ("table", "select", "sum")
READ = ("source", "where", "key", "query", "rating")

Change: TypeAlias = Callable[[Any, Json, np.random.Generator], Any]
"""From the old value of a field, the Program and a source of chance: the new value."""


def _field(name: str, change: Change) -> Mutation:
    """One channel that has a field gets another value in it."""

    def alter(subject: Subject, rng: np.random.Generator) -> Mutant | None:
        listed = (subject.program or {"channels": []})["channels"]
        having = [i for i, channel in enumerate(listed) if channel.get(name)]
        if not having:
            return None
        index = int(rng.choice(having))

        def edit(header: Json) -> None:
            program = header["program"]
            channel = program["channels"][index]
            channel[name] = change(channel[name], program, rng)

        where = f"{listed[index]['name']}.{name}"
        return Mutant(where, subject.with_header(edit))

    return alter


def _names(program: Json) -> list[str]:
    return [str(channel["name"]) for channel in program["channels"]]


def _near(old: int, _: Json, rng: np.random.Generator) -> int:
    return int(max(0, old + rng.choice([-1, 1])))


def _other_channel(old: str, program: Json, rng: np.random.Generator) -> str:
    return str(rng.choice([n for n in _names(program) if n != old]))


def _one_input(old: list[str], program: Json, rng: np.random.Generator) -> list[str]:
    at = int(rng.integers(len(old)))
    return [*old[:at], _other_channel(old[at], program, rng), *old[at + 1 :]]


def _function(old: str, _: Json, rng: np.random.Generator) -> str:
    return str(rng.choice([f for f in FUNCTIONS if f != old]))


def _row_value(old: list[list[int]], _: Json, rng: np.random.Generator) -> Any:
    at, values = int(rng.integers(len(old))), sorted({row[-1] for row in old})
    others = [v for v in values if v != old[at][-1]] or [old[at][-1] + 1]
    return [*old[:at], [*old[at][:-1], int(rng.choice(others))], *old[at + 1 :]]


def _without_one(old: list[Any], _: Json, rng: np.random.Generator) -> list[Any]:
    at = int(rng.integers(len(old)))
    return [*old[:at], *old[at + 1 :]]


def _one_value_more(old: list[int], *_: object) -> list[int]:
    return [*old, old[-1] + 1]


def _moved(old: list[int], _: Json, rng: np.random.Generator) -> list[int]:
    by = int(rng.choice([-1, 1]))
    return [max(0, old[0] + by), max(0, old[1] + by)]


def _one_end(old: list[int], _: Json, rng: np.random.Generator) -> list[int]:
    at = int(rng.integers(2))
    return [
        max(0, x + int(rng.choice([-1, 1]))) if i == at else x
        for i, x in enumerate(old)
    ]


def _one_value(old: list[int], _: Json, rng: np.random.Generator) -> list[int]:
    at = int(rng.integers(len(old)))
    return [*old[:at], old[at] + 1, *old[at + 1 :]]


def _code(old: str, *_: object) -> str:
    return {"integer": "one-hot", "one-hot": "integer"}[old]


def operation(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """A channel has another operation, with all fields that it needs."""
    listed = (subject.program or {"channels": []})["channels"]
    if len(listed) < 2:
        return None
    index = int(rng.integers(1, len(listed)))
    old = listed[index]["op"]
    new = str(rng.choice([op for op in OPERATIONS if op != old]))

    def edit(header: Json) -> None:
        channel = header["program"]["channels"][index]
        before = _names(header["program"])[:index]
        some: Json = {name: str(rng.choice(before)) for name in READ}
        length = header["claim"]["length"]
        some["digits"] = [str(n) for n in rng.choice(before, length.bit_length())]
        plain: Json = {"by": 1, "level": 0, "function": "select", "inputs": before[-1:]}
        given = {**some, **plain, "values": [0] * (length + 1), **channel}
        channel |= {"op": new} | {field: given[field] for field in OPERATIONS[new]}

    where = f"{listed[index]['name']}: {old} to {new}"
    return Mutant(where, subject.with_header(edit))


def places(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """Two channels trade the dimensions in which they stand."""
    listed = (subject.program or {"channels": []})["channels"]
    stored = [i for i, channel in enumerate(listed) if "dims" in channel]
    if len(stored) < 2:
        return None
    left, right = map(int, rng.choice(stored, size=2, replace=False))

    def edit(header: Json) -> None:
        channels = header["program"]["channels"]
        a, b = channels[left], channels[right]
        a["dims"], b["dims"] = b["dims"], a["dims"]

    where = f"{listed[left]['name']} and {listed[right]['name']}"
    return Mutant(where, subject.with_header(edit))


def _in_program(key: str, change: Change) -> Mutation:
    """Another value under a key of the Program itself."""

    def alter(subject: Subject, rng: np.random.Generator) -> Mutant | None:
        if subject.program is None or not subject.program[key]:
            return None

        def edit(header: Json) -> None:
            program = header["program"]
            program[key] = change(program[key], program, rng)

        return Mutant(f"program.{key}", subject.with_header(edit))

    return alter


def _decoded(old: list[Any], _: Json, rng: np.random.Generator) -> list[Any]:
    at, states = int(rng.integers(len(old))), sorted({q for _, q in old})
    others = [q for q in states if q != old[at][1]] or [old[at][1] + 1]
    return [*old[:at], [old[at][0], int(rng.choice(others))], *old[at + 1 :]]


def _feature(old: Json, program: Json, rng: np.random.Generator) -> Json:
    name = str(rng.choice(sorted(old)))
    return {**old, name: _moved(old[name], program, rng)}


def retold(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """One letter is embedded as another, and the statement says so too."""
    letters = len(subject.machine.letters)
    if subject.program is None or letters < 2:
        return None
    told, as_this = map(int, rng.choice(letters, size=2, replace=False))
    table = subject.file.tensors["embed.token"].copy()
    table[told] = table[as_this]

    def edit(header: Json) -> None:
        for channel in header["program"]["channels"]:
            if channel.get("inputs") == ["token"]:
                values = dict(channel["rows"])
                values[told] = values[as_this]
                channel["rows"] = [list(row) for row in values.items()]

    changed = subject.with_header(edit).with_tensors({"embed.token": table})
    return Mutant(f"letter {told} as {as_this}", changed)


def renamed(subject: Subject, rng: np.random.Generator) -> Mutant | None:
    """Two classes trade their logits, and the statement says so too."""
    outputs = subject.file.header["architecture"]["outputs"]
    if subject.program is None or outputs < 2:
        return None
    left, right = map(int, rng.choice(outputs, size=2, replace=False))
    names = ("unembed.weight", "unembed.bias")
    changed = {n: exchanged(subject.file.tensors[n], left, right, -1) for n in names}
    other = {left: right, right: left}

    def edit(header: Json) -> None:
        program = header["program"]
        program["decode"] = [[v, other.get(q, q)] for v, q in program["decode"]]

    where = f"classes {left} and {right}"
    return Mutant(where, subject.with_header(edit).with_tensors(changed))


KINDS: dict[str, Mutation] = {
    "channel: operation": operation,
    "channel: function": _field("function", _function),
    "channel: one input": _field("inputs", _one_input),
    **{f"channel: {name}": _field(name, _other_channel) for name in READ},
    "channel: by ±1": _field("by", _near),
    "channel: level ±1": _field("level", _near),
    "channel: value of a row": _field("rows", _row_value),
    "channel: a row less": _field("rows", _without_one),
    "channel: value of a position": _field("values", _one_value),
    "channel: domain less one": _field("domain", _without_one),
    "channel: domain and one": _field("domain", _one_value_more),
    "channel: place ±1": _field("dims", _moved),
    "channel: an end of its place ±1": _field("dims", _one_end),
    "channel: two places exchanged": places,
    "channel: code": _field("code", _code),
    "channel: born or dies ±1": _field("snapshots", _one_end),
    "channel: head ±1": _field("head", _near),
    "channel: name of another": _field("name", _other_channel),
    "decode: one state": _in_program("decode", _decoded),
    "decode: a row less": _in_program("decode", _without_one),
    "outputs: one other": _in_program("outputs", _one_input),
    "features: place ±1": _in_program("features", _feature),
    "a letter retold": retold,
    "two classes retold": renamed,
}
