"""Small files that would cost much: each is refused before the cost is paid."""

import json
import re
from hashlib import sha256
from itertools import product

import numpy as np
import pytest
from hostile import ANY, Json, Judge, bounded
from hypothesis import given, strategies as st

from krohn.algebra.formats import json_format
from krohn.network import modelfile
from krohn.network.precision import FloatArray
from krohn.program.errors import Refused
from krohn.program.statement import parse
from krohn.verify.checker import refinement
from krohn.verify.checker.invariant import Part
from krohn.verify.checker.network import recheck
from krohn.verify.errors import Rejected
from krohn.verify.search import exploration
from krohn.verify.search.exploration import Effort
from krohn.verify.search.find import machine_of
from krohn.verify.search.lemmas import overlaps, repeats
from krohn.verify.search.refinement import find

Channels = list[dict[str, Json]]


def table(name: str, read: list[str], rows: list[list[int]]) -> dict[str, Json]:
    domain = sorted({row[-1] for row in rows})
    fields = {"op": "map", "function": "table", "inputs": read, "rows": rows}
    return {"name": name, "domain": domain, **fields}


def token(letters: int) -> dict[str, Json]:
    return {"name": "token", "op": "token", "domain": list(range(letters + 1))}


def file(
    letters: int,
    length: int,
    channels: Channels,
    outputs: list[str] | None = None,
    decode: list[Json] | None = None,
) -> bytes:
    """A file that states a Program, with next to nothing in its tensors."""
    machine = {
        "format": "krohn-machine",
        "version": 1,
        "name": "m",
        "letters": [f"a{i}" for i in range(letters)],
        "states": ["s"],
        "start": "s",
        "transitions": [[0]] * letters,
    }
    sizes = {"d_model": 1, "vocabulary": letters + 1, "positions": length + 1}
    shape = {"kind": "transformer", "dtype": "float16", "strict": False, "blocks": []}
    tensors: dict[str, FloatArray] = {
        "embed.token": np.zeros((letters + 1, 1)),
        "embed.position": np.zeros((length + 1, 1)),
        "unembed.weight": np.zeros((1, 1)),
        "unembed.bias": np.zeros(1),
    }
    program = {
        "channels": [token(letters), *channels],
        "features": {},
        "outputs": outputs or [channels[-1]["name"]],
        "decode": decode or [[[0], 0]],
    }
    header = {
        "architecture": {**shape, **sizes, "outputs": 1},
        "machine": machine,
        "construction": "scan",
        "claim": {"start": "s", "dtype": "float16", "length": length},
        "program": program,
        "evidence": None,
    }
    return modelfile.pack(header, tensors)


def last_of(value: int) -> bytes:
    """A latest match over a source that is 0 or one large number."""
    fetch = {"op": "latest-match", "source": "s", "key": "k", "query": "q"}
    flags = [[[a, x] for a, x in enumerate(row)] for row in ((0, value, 0), (0, 1, 0))]
    channels: Channels = [
        table("s", ["token"], flags[0]),
        table("q", ["token"], flags[1]),
        table("k", ["token"], [[0, 0], [1, 0], [2, 0]]),
        {"name": "fetched", "domain": [0, value], **fetch},
        table("o", ["fetched"], [[0, 0], [value, 0]]),
    ]
    return file(2, 4, channels)


def shifted(letters: int) -> bytes:
    """The letter three ago, twice: as many memories as words of three letters.

    Only who tells them all apart sees that both are always equal.
    """
    every = list(range(letters + 1))
    ago = {"op": "shift", "source": "id", "by": 3, "domain": every}
    rows = [[i, j, int(i != j)] for i, j in product(every, repeat=2)]
    channels: Channels = [
        table("id", ["token"], [[i, i] for i in every]),
        {"name": "ago", **ago},
        {"name": "too", **ago},
        table("o", ["ago", "too"], rows),
    ]
    return file(letters, 4, channels)


def summed(most: int) -> bytes:
    """A sum that is read by a table that differs at its first value only."""
    channels: Channels = [
        table("one", ["token"], [[0, 1], [1, 0]]),
        {
            "name": "n",
            "op": "prefix-sum",
            "source": "one",
            "domain": [*range(most + 1)],
        },
        table("x", ["n"], [[i, int(i == 0)] for i in range(most + 1)]),
        table("o", ["x"], [[0, 0], [1, 0]]),
    ]
    return file(1, most, channels)


def rotated(size: int) -> bytes:
    """A sum with a long period, whose residues are told apart by one of them."""
    channels: Channels = [
        table("one", ["token"], [[0, 1], [1, 0], [2, 0]]),
        {
            "name": "n",
            "op": "prefix-sum",
            "source": "one",
            "domain": [*range(2 * size + 1)],
        },
        table("x", ["n"], [[i, int(i % size == 0)] for i in range(2 * size + 1)]),
        table("o", ["x"], [[0, 0], [1, 0]]),
    ]
    return file(2, 2 * size, channels)


def copied(links: int, inputs: int) -> bytes:
    """A long chain of copies, selected among many times."""
    rows = [[0, 0], [1, 1]]
    channels: Channels = [table("c0", ["token"], [[0, 0], [1, 1], [2, 0]])]
    channels += [table(f"c{i + 1}", [f"c{i}"], rows) for i in range(links)]
    last = [f"c{links}"] * inputs
    select = {"op": "map", "function": "select", "inputs": ["c0", *last]}
    channels.append({"name": "o", "domain": [0, 1], **select})
    return file(2, 4, channels, decode=[[[0], 0], [[1], 0]])


def doubled(rounds: int) -> bytes:
    """Pointers through pointers: twice as many flags in each."""
    flags = table("f", ["token"], [[0, 1], [1, 0], [2, 1]])
    pointer = {"op": "position", "values": [0, 0, 1, 2], "domain": [0, 1, 2]}
    bits = [[0, 0, 1, 0], [0, 0, 0, 1]]
    channels: Channels = [flags, {"name": "p", **pointer}]
    for b, values in enumerate(bits):
        row = {"op": "position", "values": values, "domain": [0, 1]}
        channels.append({"name": f"b{b}", **row})
    for name, domain in (("p", [0, 1, 2]), ("b0", [0, 1]), ("b1", [0, 1])):
        latest = {"op": "latest", "source": name, "where": "f", "domain": domain}
        channels.append({"name": f"{name}.0", **latest})
    for i, (name, top) in product(range(rounds), (("p", 2), ("b0", 1), ("b1", 1))):
        read = {"source": f"{name}.{i}", "digits": [f"b0.{i}", f"b1.{i}"]}
        domain = [*range(top + 1)]
        channels.append(
            {"name": f"{name}.{i + 1}", "op": "at", **read, "domain": domain}
        )
    return file(2, 3, channels, decode=[[[v], 0] for v in range(3)])


def many(outputs: int) -> bytes:
    """One output, said very often, of a Program with many memories."""
    every = list(range(41))
    channels: Channels = [
        table("id", ["token"], [[i, i] for i in every]),
        {"name": "ago", "op": "shift", "source": "id", "by": 3, "domain": every},
        table("o", ["ago"], [[i, 0] for i in every]),
    ]
    return file(40, 4, channels, ["o"] * outputs, [[[0] * outputs, 0]])


FILES = {
    "a value of eleven digits": (last_of(10**10), "negative or too large"),
    "a value of eight digits": (last_of(10**7), "'o' is not there where it is read"),
    "60 letters, three ago": (shifted(60), "takes more than 2,000,000 steps"),
    "a sum of 20,000": (summed(20_000), ANY),
    "a period of 4,000": (rotated(4_000), ANY),
    "1,000 copies, 10,000 times": (copied(1_000, 10_000), "'o' is not there"),
    "pointers of 2^60 flags": (doubled(60), "in a way that no rule covers"),
    "5,000 outputs": (many(5_000), "'o' is not there"),
}


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", FILES)
def test_small_files_cost_little(
    judge: Judge, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        exploration, "MOST_STEPS", 2_000_000
    )  # a tenth: tests are quick
    data, expected = FILES[name]
    assert len(data) < 2**20
    said = judge(data)
    assert said.verdict in ("undecided", "refuted")
    assert re.search(expected, said.reason)


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", FILES)
def test_the_small_checker_reads_them_at_little_cost(name: str) -> None:
    data, _ = FILES[name]
    nothing = {"windows": {}, "families": [], "parts": [], "final": []}
    told = {"format": "krohn-evidence", "version": 1, "program": nothing, "tables": {}}
    told["model"] = sha256(data).hexdigest()
    with bounded(), pytest.raises(Refused):
        recheck(data, json.dumps(told).encode())


def joined(rounds: int, length: int) -> bytes:
    """Piecewise functions of the same two sums: few bytes, and length^2 joint values."""
    one = table("one", ["token"], [[0, 1], [1, 0]])
    domain = [*range(length + 1)]
    sums = [
        {"name": n, "op": "prefix-sum", "source": "one", "domain": domain} for n in "xy"
    ]
    channels: Channels = [one, *sums, table("z0", ["token"], [[0, 1], [1, 0]])]
    read = [[1, "argument", i] for i in range(3)]
    expression = [0, [[1, "rectified", [-2 * length, read]]]]
    fields = {"op": "map", "function": "piecewise", "expression": expression}
    for i in range(rounds):
        added = {"name": f"z{i + 1}", "inputs": ["x", "y", f"z{i}"], **fields}
        channels.append({**added, "domain": [0, 1]})
    return file(1, length, channels, decode=[[[0], 0], [[1], 0]])


def test_joint_values_of_piecewise_functions_are_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(refinement, "MOST_WORK", 2**26)
    data, length = joined(150, 1000), 1000
    every = [[*range(length + 1)], [[0]]]
    part = {"length": length, "outputs": ["z150"], "states": [0], "follow": [[0]]}
    part |= {"depths": [0], "assumed": {}, "reduced": [], "split": []}
    part |= {"repeats": [0, 1]}
    cells = {n: [[every[0]], every[1]] for n in "xy"}
    program = {
        "windows": {},
        "families": [],
        "ranks": [],
        "parts": [{**part, "cells": cells}],
    }
    told = {"format": "krohn-evidence", "version": 1, "tables": {}}
    told |= {"model": sha256(data).hexdigest(), "program": {**program, "final": [0]}}
    with bounded(), pytest.raises(Refused, match="too much work"):
        recheck(data, json.dumps(told).encode())


@pytest.mark.parametrize("most", [100, 1000])
def test_abstract_states_are_counted_as_they_are_found(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Not after a round, in which each of 60^2 memories meets 60 letters."""
    monkeypatch.setattr(exploration, "MOST_STATES", most)
    monkeypatch.setattr(exploration, "CELLS", 10_000)
    rows: list[int] = []
    move = Part.move
    monkeypatch.setattr(
        Part,
        "move",
        lambda part, old, q, a, t: [rows.append(len(q)), move(part, old, q, a, t)][1],
    )
    data = shifted(60)
    size = int.from_bytes(data[:8], "little")
    header = json.loads(json.loads(data[8 : 8 + size])["__metadata__"]["krohn"])
    machine = machine_of(json_format.from_object(header["machine"]))
    with pytest.raises(Refused, match="too many memories"):
        find(parse(header["program"], 60, 4), machine)
    assert sum(rows) < 3 * most


@given(st.lists(st.integers(0, 2), min_size=1, max_size=24))
def test_repeats_are_those_of_their_definition(word: list[int]) -> None:
    n = len(word)
    agree = [
        next((k for k in range(n - i) if word[k] != word[i + k]), n - i)
        for i in range(n)
    ]
    assert overlaps(word).tolist() == agree
    whole = [(0, p) for p in range(1, n) if word[p:] == word[:-p]]
    ends = [
        (s + p, p, s)
        for p in range(1, n // 2 + 1)
        for s in range(n - p)
        if word[s : n - p] == word[s + p :]
    ]
    _, p, s = min(ends, default=(0, 0, 0))
    assert repeats(np.array(word)) == (whole[0] if whole else (s, p))


def test_what_is_spent_is_refused() -> None:
    left = Effort(10)
    left.spend(10)
    left.spend_on_arrays(99)
    with pytest.raises(Rejected, match="takes more than"):
        left.spend_on_arrays(100)


def test_blocks_of_many_positions_need_no_list_of_pairs() -> None:
    """The largest sum of a block, of 10^5 positions: by sums so far."""
    length = 10**5
    channels: Channels = [
        token(1),
        table("c", ["token"], [[0, 1], [1, 0]]),
        {"name": "b", "op": "position", "values": [0, *[2] * length]},
        {"name": "s", "op": "block-sum", "source": "c", "block": "b", "size": 3},
    ]
    channels[-2]["domain"], channels[-1]["domain"] = [0, 2], [0, 1, 2, 3]
    said = {"channels": channels, "features": {}, "outputs": ["s"]}
    found = parse({**said, "decode": [[[n], 0] for n in range(4)]}, 1, length)
    assert found.channels["s"].later.tolist() == [0, 1, 2, 3]
