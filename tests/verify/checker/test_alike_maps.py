"""A map is shown by an earlier one if nothing that its noise depends on differs."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.pipeline import Options, arrange
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT32
from krohn.program import Map, Operation, Program, Shift, Token, table
from krohn.program.domains import FloatArray
from krohn.program.errors import Refused
from krohn.program.expressions import argument
from krohn.program.statement import Channel, parse
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.mlp import Mlp
from krohn.verify.checker.residual_stream import FREE, Stream, owners
from krohn.verify.search.cases import find_cases

LETTERS = 3
Rows = dict[tuple[int, ...], int]
ROWS: Rows = {(u, v): (u * v + u) % 3 for u in range(3) for v in range(3)}


def twins(other: Rows | None = None) -> tuple[Mlp, list[Channel]]:
    """A table of two channels, and one, or the same, of two other channels."""
    operations: dict[str, Operation] = {"token": Token()}
    for name in ("a", "b"):
        for i in range(2):
            letters: Rows = {(a,): (a + i) % 3 for a in range(LETTERS + 1)}
            operations[f"e{i}{name}"] = Map(table(letters), ("token",))
            operations[f"x{i}{name}"] = Shift(f"e{i}{name}", 1 + (name == "b"))
    for name, rows in (("a", ROWS), ("b", other or ROWS)):
        operations[f"m{name}"] = Map(table(rows), (f"x0{name}", f"x1{name}"))
    program = Program(tuple("abc"), 1, 3, operations, ("ma", "mb"), {})
    program = InferDomains().apply(program)
    decode: Rows = {(v, w): 0 for v in range(3) for w in range(3)}
    layout, features = arrange(replace(program, decode=decode), Options(FLOAT32))
    network = lower(layout, features, False, "relu")
    stated = parse(describe(layout, network), LETTERS, 3)
    owner, names = owners(stated, 1, layout.d_model)
    depth, tensors = len(network.architecture["blocks"][0]["mlp"]), network.tensors
    at = "blocks.0.mlp"
    layers = [
        (tensors[f"{at}.{j}.weight"], tensors[f"{at}.{j}.bias"])
        for j in range(depth + 1)
    ]
    noise = {n: np.full(len(stated.channels[n].domain), 2.0**-20) for n in names}
    free = (owner == FREE) * 2.0**-130
    stream = Stream(
        stated, FORMATS["float32"], np.zeros((4, len(owner))), owner, noise, free
    )
    units = [np.full(len(bias), "relu") for _, bias in layers[:-1]]
    mlp = Mlp(layers, units, tensors[f"{at}.residual"], stream)
    return mlp, [stated.channels["ma"], stated.channels["mb"]]


def shown(mlp: Mlp, channels: list[Channel]) -> tuple[int, list[FloatArray | None]]:
    """How many maps are shown by themselves, and the noise of each, if it is shown."""
    mlp = replace(mlp, cases={c.name: find_cases(mlp, c) for c in channels}, shown={})
    noise = list[FloatArray | None]()
    for channel in channels:
        try:
            noise.append(mlp.bound_noise(channel))
        except Refused:
            noise.append(None)
    return len(mlp.shown), noise


def alone(mlp: Mlp, channel: Channel) -> FloatArray | None:
    """The noise of a map that no other one helps to show."""
    return shown(mlp, [channel])[1][0]


def alike(first: FloatArray | None, second: FloatArray | None) -> bool:
    """Whether both bounds are the same, or neither is shown."""
    if first is None or second is None:
        return first is second
    return np.array_equal(first, second)


def changed(array: FloatArray) -> Iterator[FloatArray]:
    """An array with one number changed, for each that is not 0, and for one that is."""
    places = [*np.flatnonzero(array), *np.flatnonzero(array == 0)[:1]]
    for i in places:
        other = array.copy()
        other.reshape(-1)[i] += 2.0**-12
        yield other


def variants(mlp: Mlp) -> Iterator[Mlp]:
    """The MLP with one number changed in its weights, its mask or its stream."""
    for j, (weight, bias) in enumerate(mlp.layers):
        pairs = [(w, bias) for w in changed(weight)] + [
            (weight, b) for b in changed(bias)
        ]
        for pair in pairs:
            yield replace(mlp, layers=[*mlp.layers[:j], pair, *mlp.layers[j + 1 :]])
    for name, noise in mlp.stream.noise.items():
        for other in changed(noise):
            both = {**mlp.stream.noise, name: other}
            yield replace(mlp, stream=replace(mlp.stream, noise=both))
    for free in changed(mlp.stream.free):
        yield replace(mlp, stream=replace(mlp.stream, free=free))


def test_a_map_like_another_one_needs_no_evidence_of_its_own() -> None:
    mlp, channels = twins()
    count, (first, second) = shown(mlp, channels)
    assert count == 1
    assert first is not None
    assert second is not None
    assert alike(second, alone(mlp, channels[1]))


@pytest.mark.parametrize("place", [(0, 1), (1, 2), (2, 0)])
def test_a_map_that_computes_something_else_is_shown_by_itself(
    place: tuple[int, int],
) -> None:
    rows: Rows = {**ROWS, place: (ROWS[place] + 1) % 3}
    assert shown(*twins(rows))[0] == 2


@pytest.mark.slow
def test_whatever_number_differs_the_bound_is_that_of_the_map_alone() -> None:
    """Of both maps: what is read by one alone must not be taken from the other."""
    mlp, channels = twins()
    apart = 0
    for variant in list(variants(mlp))[::2]:
        number, both = shown(variant, channels)
        apart += number == 2 or any(noise is None for noise in both)
        for channel, noise in zip(channels, both, strict=True):
            assert alike(noise, alone(variant, channel))
    assert apart > 20


EVEN, ODD = [0, 0, 1, 0, 1], [0, 1, 0, 1, 0]


def selections(second: Sequence[list[int]]) -> tuple[Mlp, list[Channel]]:
    """Two maps written by x0: the x of a number that a sum of two bits of t chooses.

    Bits of the first are equal, so the sum is 0 or 2, and both choose x0.

    Args:
        second: The two bits of the second one, at each position.
    """
    bits = {"g0": EVEN, "g1": EVEN, "h0": second[0], "h1": second[1]}
    given = {**bits, "x0": EVEN, "x1": ODD}
    channels: list[dict[str, Any]] = [{"name": "t", "op": "token", "domain": [0, 1]}]

    def place(born: int) -> dict[str, Any]:
        at = sum("dims" in c for c in channels)
        there = {"dims": [at, at + 1], "snapshots": [born, max(born, 1)]}
        return {"code": "integer", "domain": [0, 1], **there}

    for name, values in given.items():
        channels.append({"name": name, "op": "position", "values": values, **place(0)})
    added = {"op": "map", "function": "piecewise"}
    added["expression"] = (argument(0) + argument(1)).to_wire()  # type: ignore[assignment]
    for of in "gh":
        pair = [f"{of}0", f"{of}1"]
        sums = {a + b for a, b in zip(given[pair[0]], given[pair[1]], strict=True)}
        channels.append(
            {"name": f"sum {of}", "inputs": pair, "domain": sorted(sums), **added}
        )
    for of in "gh":
        read = {"function": "select", "inputs": [f"sum {of}", "x0", "x1", "x0"]}
        channels.append({"name": f"m{of}", "op": "map", **read, **place(2)})
    stated = {"features": {}, "outputs": ["mg"], "decode": [], "channels": channels}
    program = parse(stated, 1, 4)
    owner, names = owners(program, 1, 8)
    noise, none = {n: np.zeros(2) for n in names}, np.zeros(8)
    stream = Stream(program, FORMATS["float32"], np.zeros((5, 8)), owner, noise, none)
    read_x0, write = np.zeros((8, 2)), np.zeros((2, 8))
    read_x0[4], write[[0, 1], [6, 7]] = 1, 1
    sets: list[list[list[int]]] = [[] for _ in ("t", *given)]
    sets[5] = [[0], [1]]
    case = {"sums": [], "sets": sets, "parts": [[0, 5, 1], [0, 5, 2]]}
    layers = [(read_x0, np.zeros(2)), (write, none)]
    cases = {"mg": case, "mh": case}
    mlp = Mlp(layers, [np.full(2, "relu")], np.ones(8), stream, cases)
    return mlp, [program.channels[n] for n in ("mg", "mh")]


def test_maps_on_the_way_that_take_other_values_are_not_alike() -> None:
    """Two maps are one function of alike sources, but not of the values that occur.

    Bits of the second are never equal, so it chooses x1, and the MLP is wrong.
    """
    mlp, (first, second) = selections((EVEN, EVEN))
    assert not mlp.bound_noise(first).any()
    assert not mlp.bound_noise(second).any()
    assert len(mlp.shown) == 1
    mlp, (first, second) = selections((ODD, EVEN))
    assert not mlp.bound_noise(first).any()
    with pytest.raises(Refused):
        mlp.bound_noise(second)
