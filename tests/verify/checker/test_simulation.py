"""Rule S: damaged nodes and edges are refused (Theorem S)."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from json import dumps
from typing import Any

import numpy as np
import pytest

import krohn
from krohn.network.modelfile import pack
from krohn.program.errors import Refused
from krohn.verify.checker.network import recheck
from krohn.verify.search.find import find

KINDS: dict[str, dict[str, Any]] = {
    "rnn": {"name": "S3", "arch": "rnn"},
    "lstm": {"name": "S3", "arch": "lstm"},
    "gru": {"name": "abab", "arch": "gru"},
    "pruned": {"name": "C2", "arch": "rnn", "construction": "pruned"},
    "ssm": {"name": "D8", "arch": "ssm", "construction": "selective", "length": 9},
    "beliefs": {"name": "GoldenMean", "arch": "rnn"},
}
Numbers = Callable[[Any], None]


@cache
def proved(kind: str) -> tuple[bytes, dict[str, Any]]:
    """A model file, and its evidence."""
    how = KINDS[kind]
    rest = {key: each for key, each in how.items() if key != "name"}
    file = krohn.compile(how["name"], proof=False, **rest).file
    data = pack(file.header, file.tensors)
    return data, find(data)


def changed(text: str, change: Numbers, code: str = "<i4") -> str:
    """An array of evidence with other numbers."""
    numbers = np.frombuffer(b64decode(text), code).copy()
    change(numbers)
    return b64encode(numbers.tobytes()).decode()


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", KINDS)
def test_what_was_found_is_shown(kind: str) -> None:
    data, evidence = proved(kind)
    recheck(data, dumps(evidence).encode())


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("part", "change", "reason"),
    [
        ("edges", lambda x: x.put(0, -1), "an edge is missing"),
        ("edges", lambda x: x.put(0, -2), "leads nowhere"),
        ("edges", lambda x: x.put(0, 2**20), "leads nowhere"),
        ("edges", lambda x: x.fill(0), "another state|out of the nodes|missing"),
        ("states", lambda x: x.fill(x[-1] + 99), "has no state"),
        ("states", lambda x: x.put(0, x.max() - x[0]), "another state"),
        ("states", lambda x: x.fill(-1), "has no state"),
    ],
)
def test_damaged_graphs_are_refused(
    kind: str, part: str, change: Numbers, reason: str
) -> None:
    data, evidence = proved(kind)
    told = deepcopy(evidence)
    told["simulation"][part] = changed(told["simulation"][part], change)
    with pytest.raises(Refused, match=reason):
        recheck(data, dumps(told).encode())


@pytest.mark.sample(1)
@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru", "pruned", "ssm"])
def test_nodes_that_hold_something_else_are_refused(kind: str) -> None:
    """One number of a node that is reached is another one; every node is."""
    data, evidence = proved(kind)
    nodes = evidence["simulation"]["nodes"]
    held, code = (nodes["values"], "<f8") if kind == "rnn" else (nodes, "<f8")
    code = "<i4" if kind == "ssm" else code
    count = len(np.frombuffer(b64decode(held), code))
    for at in np.random.default_rng(0).integers(count, size=12):

        def change(x: Any, at: int = at) -> None:
            if kind in ("rnn", "ssm"):  # another vector
                x[at] = x[at] + 1 if kind == "rnn" else 1 - x[at]
            elif at < count // 2:  # a box without its least numbers
                x[at] = x[at + count // 2]
            else:
                x[at] = x[at - count // 2]

        other = changed(held, change, code)
        if other == held:
            continue
        told = deepcopy(evidence)
        if kind == "rnn":
            told["simulation"]["nodes"]["values"] = other
        else:
            told["simulation"]["nodes"] = other
        with pytest.raises(
            Refused, match=r"out of the nodes|does not hold|confuse|class"
        ):
            recheck(data, dumps(told).encode())


def test_depths_may_not_end_a_word_too_early() -> None:
    data, evidence = proved("ssm")
    told = deepcopy(evidence)
    told["simulation"]["depths"] = changed(
        told["simulation"]["depths"], lambda x: x.__iadd__(9)
    )
    with pytest.raises(Refused, match="the start has a depth"):
        recheck(data, dumps(told).encode())
    told["simulation"]["depths"] = changed(
        evidence["simulation"]["depths"], lambda x: x[1:].__iadd__(9)
    )
    with pytest.raises(Refused, match="before its depth"):
        recheck(data, dumps(told).encode())


def test_numbers_that_are_none_are_refused() -> None:
    data, evidence = proved("lstm")
    for number in (np.nan, np.inf, -np.inf):
        told = deepcopy(evidence)
        told["simulation"]["nodes"] = changed(
            told["simulation"]["nodes"], lambda x, n=number: x.fill(n), "<f8"
        )
        with pytest.raises(Refused, match="not finite"):
            recheck(data, dumps(told).encode())
