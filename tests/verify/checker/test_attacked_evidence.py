"""An adversary writes file and evidence: what the small checker accepts must be right.

The crafted files are wrong although every single statement of their headers is near the
truth; each misuses one rule. The last tests damage small models, and their evidence, at
random.
"""

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import krohn
from krohn.algebra.automaton import Automaton
from krohn.algebra.formats import json_format
from krohn.algebra.semiautomaton import Semiautomaton
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile, pack
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.errors import Refused
from krohn.program.statement import parse
from krohn.verify.checker.model_file import Machine
from krohn.verify.checker.network import recheck
from krohn.verify.search import refinement
from krohn.verify.search.find import find

torch.set_num_threads(1)

Json = dict[str, Any]
Tensors = dict[str, FloatArray]
D = 7
UNIT, NONE = np.eye(D), np.zeros(D)


@dataclass(frozen=True)
class Attack:
    """A model file, and evidence that it computes the machine of its header."""

    file: ModelFile
    evidence: Json

    def accepted(self) -> bool:
        """Whether the small checker is deceived; `Refused` says by what it is not."""
        data = pack(self.file.header, self.file.tensors)
        said = {**self.evidence, "model": sha256(data).hexdigest()}
        return bool(recheck(data, json.dumps(said).encode()).margin > 0)

    def right(self) -> bool:
        """Whether every word that the file is for is answered rightly."""
        header = self.file.header
        automaton = json_format.from_object(header["machine"])
        letters, length = len(automaton.letters), header["claim"]["length"]
        words = np.array(list(product(range(letters), repeat=length)))
        with torch.no_grad():
            logits = Model(self.file)(torch.tensor(words)).double().numpy()
        state, each = np.full(len(words), automaton.start), np.arange(len(words))
        for t, letter in enumerate(words.T):
            state, found = automaton.transitions[letter, state], logits[:, t].copy()
            best = found[each, state].copy()
            found[each, state] = -np.inf
            if not (best > found.max(axis=1)).all():
                return False
        return True

    def edited(self, edit: Callable[[Json], None]) -> "Attack":
        """The same tensors under another header."""
        header = copy.deepcopy(self.file.header)
        edit(header)
        return replace(self, file=replace(self.file, header=header))


def channel(name: str, dim: int, born: int, dies: int, **said: Any) -> Json:
    """A channel with values 0 and 1 in one dimension."""
    place = {"code": "integer", "dims": [dim, dim + 1], "snapshots": [born, dies]}
    return {"name": name, "domain": [0, 1], **place, **said}


def table(inputs: list[str], rows: list[list[int]]) -> Json:
    return {"op": "map", "function": "table", "inputs": inputs, "rows": rows}


def letter(*values: int) -> Json:
    """A table of the letter; the last value is that of BOS."""
    return table(["token"], [[a, v] for a, v in enumerate(values)])


def same(name: str) -> Json:
    return table([name], [[0, 0], [1, 1]])


def product_of(*names: str) -> Json:
    return table([*names], [[a, b, a * b] for a in (0, 1) for b in (0, 1)])


def shift(source: str, by: int) -> Json:
    return {"op": "shift", "source": source, "by": by, "head": 0}


def rows(*dims: int) -> FloatArray:
    return UNIT[list(dims)]


def mlp(block: int, *layers: tuple[Any, Any]) -> Tensors:
    found = {}
    for j, (weight, bias) in enumerate(layers):
        found[f"blocks.{block}.mlp.{j}.weight"] = np.array(weight, np.float64)
        found[f"blocks.{block}.mlp.{j}.bias"] = np.array(bias, np.float64)
    return found


def looking_back(block: int, by: int, source: int, target: int) -> Tensors:
    """A head over 3 positions, whose one-hot codes are in dimensions 1 to 3."""
    query, key = np.zeros((2, 1, D, 3))
    for t in range(3):
        key[0, 1 + t, t], query[0, 1 + t, max(t - by, 0)] = 30.0, 1.0
    value, out = rows(source).T[None], rows(target)[None]
    parts = {"query": query, "key": key, "value": value, "out": out}
    return {f"blocks.{block}.attention.{n}": x for n, x in parts.items()}


def shape_of(tensors: Mapping[str, FloatArray], block: int) -> Json:
    at, widths = f"blocks.{block}", list[int]()
    query = tensors.get(f"{at}.attention.query", np.zeros((0, 0, 0)))
    value = tensors.get(f"{at}.attention.value", query)
    while f"{at}.mlp.{len(widths) + 1}.weight" in tensors:
        widths.append(tensors[f"{at}.mlp.{len(widths)}.weight"].shape[1])
    sizes = {"heads": len(query), "d_qk": query.shape[2], "d_v": value.shape[2]}
    return {**sizes, "mlp": widths}


def machine(transitions: list[list[int]], start: int) -> Automaton:
    letters, states = np.array(transitions).shape
    names = [tuple(map(str, range(n))) for n in (letters, states)]
    return Automaton(Semiautomaton(np.array(transitions), *names), start)


def program(letters: int, channels: list[Json]) -> Json:
    """The last channel is the state; the features of positions are dimensions 1 to 3."""
    token = {"name": "token", "op": "token", "domain": list(range(letters + 1))}
    return {
        "channels": [token, *channels],
        "features": {"place": [1, 4]} if letters == 1 else {},
        "outputs": [channels[-1]["name"]],
        "decode": [[[0], 0], [[1], 1]],
    }


def craft(
    transitions: list[list[int]],
    channels: list[Json],
    tensors: Tensors,
    *,
    blocks: int = 1,
    start: int = 0,
    dtype: str = "float32",
) -> Attack:
    """A strict Transformer for words of 2 letters, and evidence for its Program.

    The read-out says 1 where the last channel is above 1/2.
    """
    letters, states = np.array(transitions).shape
    readout = 2.0 * np.outer(UNIT[channels[-1]["dims"][0]], [0, 1])
    ends = {"embed.position": np.zeros((3, D)), "unembed.bias": np.array([0.0, -1.0])}
    tensors = {**ends, "unembed.weight": readout, **tensors}
    sizes = {"d_model": D, "vocabulary": letters + 1, "positions": 3, "outputs": 2}
    kind = {"kind": "transformer", "dtype": dtype, "strict": True}
    shapes = [shape_of(tensors, b) for b in range(blocks)]
    said = program(letters, channels)
    header = {
        "architecture": {**kind, **sizes, "blocks": shapes},
        "machine": json_format.to_object(machine(transitions, start)),
        "claim": {"dtype": dtype, "start": str(start), "length": 2},
        "program": said,
    }
    small = Machine(start, np.array(transitions), np.arange(states))
    followed = refinement.find(parse(said, letters, 2), small)
    evidence = {"format": "krohn-evidence", "version": 1, "program": followed}
    stored = {n: PRECISIONS[dtype].round(x) for n, x in tensors.items()}
    file = ModelFile(header, stored, PRECISIONS[dtype])
    return Attack(file, evidence)


def nameless() -> Attack:
    """A channel whose name is empty, in the middle of a sum that does not name it.

    s = ReLU(2a + 2b - 3) + ReLU(c) is 1 if only c, which has the empty name, is.
    """
    channels = [
        channel("a", 0, 0, 2, **letter(0, 1, 0, 0)),
        channel("b", 1, 0, 2, **letter(0, 1, 0, 0)),
        channel("", 2, 0, 2, **letter(0, 0, 1, 0)),
        channel("s", 3, 2, 2, **product_of("a", "b")),
    ]
    token = np.array([NONE, UNIT[0] + UNIT[1], UNIT[2], NONE])
    hidden = np.stack([2 * UNIT[0] + 2 * UNIT[1], UNIT[2]], axis=1), [-3, 0]
    tensors = {"embed.token": token, **mlp(0, hidden, (rows(3, 3), NONE))}
    return craft([[0, 0], [1, 1], [0, 0]], channels, tensors)


def moved_feature() -> Attack:
    """An MLP adds 5 to a position feature that a step of 2 leaves out.

    s says that there is a letter before; at position 2 the head looks at BOS instead.
    """
    channels = [
        channel("x", 0, 0, 4, **letter(1, 0)),
        channel("y", 4, 3, 4, **shift("x", 1)),
        channel("s", 5, 4, 4, **same("y")),
    ]
    tensors = {
        "embed.token": np.array([UNIT[0], NONE]),
        "embed.position": rows(1, 2, 3),
        **mlp(0, (rows(0).T, [0]), (1e-9 * rows(2), 5 * UNIT[2])),
        **looking_back(1, by=1, source=0, target=4),
        **mlp(1, (rows(4).T, [0]), (rows(5), NONE)),
    }
    found = craft([[1, 0]], channels, tensors, blocks=2, start=1)
    place = {"place": [1, 4, 2]}
    return found.edited(lambda header: header["program"].update(features=place))


def dead_before_birth() -> Attack:
    """A channel dies before a head writes it; another head adds to what it left."""
    channels = [
        channel("x", 0, 0, 4, **letter(1, 0)),
        channel("ghost", 4, 1, 2, **shift("x", 1)),
        channel("y", 4, 3, 4, **shift("x", 2)),
        channel("s", 5, 4, 4, **same("y")),
    ]
    tensors = {
        "embed.token": np.array([UNIT[0], NONE]),
        "embed.position": rows(1, 2, 3),
        **looking_back(0, by=1, source=0, target=4),
        **looking_back(1, by=2, source=0, target=4),
        **mlp(1, (rows(4).T, [0]), (rows(5), NONE)),
    }
    found = craft([[0, 0]], channels, tensors, blocks=2)
    ghost = {"snapshots": [1, 0]}
    return found.edited(lambda header: header["program"]["channels"][2].update(ghost))


def no_token() -> Attack:
    """The first channel is a position: the embedding has a table of it by letters."""
    place = {"name": "p", "op": "position", "values": [2, 1, 0], "domain": [0, 1, 2]}
    of_place = table(["p"], [[0, 0], [1, 1], [2, 0]])
    tensors = {"embed.token": np.array([NONE, UNIT[0], NONE])}
    channels = [place, channel("s", 0, 0, 0, **of_place)]
    found = craft([[1, 0], [1, 0]], channels, tensors, blocks=0)
    return found.edited(lambda header: header["program"]["channels"].pop(0))


def announced_without_heads() -> Attack:
    """The header announces no heads, and readers who believe it leave them out."""
    found = damaged_from("FlipFlop", "memory", 3, "float32")

    def edit(header: Json) -> None:
        for block in header["architecture"]["blocks"]:
            block["heads"] = 0

    return found.edited(edit)


def rounded_before_bias() -> Attack:
    """In bfloat16, x @ W is 257, stored as 256, before the bias -256 is added."""
    channels = [
        channel("x", 0, 0, 2, **letter(1, 0, 0)),
        channel("c", 1, 0, 2, **letter(1, 1, 1)),
        channel("s", 2, 2, 2, **product_of("x", "c")),
    ]
    token = np.array([UNIT[0] + UNIT[1], UNIT[1], UNIT[1]])
    layers = ((UNIT[0] + 256 * UNIT[1])[:, None], [-256]), (rows(2), NONE)
    tensors = {"embed.token": token, **mlp(0, *layers)}
    return craft([[1, 1], [0, 0]], channels, tensors, dtype="bfloat16")


def unsnapped() -> Attack:
    """In float64, 1 + (2⁻⁵³ + 2⁻⁶⁰) is not 1: the checker's own sum is rounded."""
    zero = {"domain": [0]}
    channels = [
        channel("c", 0, 0, 3, **letter(1, 1)) | {"domain": [1]},
        channel("a", 4, 2, 6, **table(["c"], [[1, 0]])) | zero,
        channel("b", 0, 4, 6, **table(["c", "a"], [[1, 0, 1]])) | {"domain": [1]},
        channel("s", 5, 6, 6, **table(["b"], [[1, 0]])) | zero,
    ]
    tensors = {
        "embed.token": rows(0, 0),
        **mlp(0, (-rows(0).T, [0]), (rows(4), 2.0**-8 * UNIT[4])),
        **mlp(1, (rows(4).T, [1]), (2.0**-52 * rows(0), -(2.0**-53) * UNIT[0])),
        **mlp(2, (2.0**51 * rows(0).T, [-(2.0**51)]), (2 * rows(5), NONE)),
    }
    return craft([[0, 0]], channels, tensors, blocks=3, dtype="float64")


CRAFTED: list[tuple[Callable[[], Attack], str]] = [
    (nameless, "half a step"),
    (moved_feature, "cannot be followed|feature"),
    (dead_before_birth, "never there"),
    (no_token, "token"),
    (announced_without_heads, "tensors"),
    (rounded_before_bias, "half a step"),
    (unsnapped, "half a step"),
]


@pytest.mark.parametrize(("build", "reason"), CRAFTED)
def test_crafted_files_are_wrong_and_refused(
    build: Callable[[], Attack], reason: str
) -> None:
    attack = build()
    assert not attack.right()
    with pytest.raises(Refused, match=reason):
        attack.accepted()


SMALL = [
    ("C2", "counter", 3, "float32"),
    ("FlipFlop", "memory", 3, "bfloat16"),
    ("C2", "scan", 3, "float16"),
    ("C2", "sequential", 2, "float32"),
    ("S3", "cascade", 2, "float32"),
]
VALUES: tuple[Any, ...] = (-1, 0, 1, 2, 7, True, 1.5, 10**30, None, [], {}, "", "token")
WEIGHTS = (0.0, 0.5, 1.0, -1.0, 2.0, 1e-4, 3e38, -3e38)
Path = tuple[str | int, ...]


@cache
def damaged_from(name: str, how: str, length: int, dtype: str) -> Attack:
    """A compiled model with right evidence, to be damaged."""
    file = krohn.compile(name, length, how, dtype=dtype, proved=False).file
    evidence = find(pack(file.header, file.tensors))
    bounds = ("noise", "leak", "margin")
    return Attack(file, {k: v for k, v in evidence.items() if k not in bounds})


def paths(value: Any, above: Path = ()) -> list[Path]:
    """Where a JSON value can be changed."""
    listed = dict(enumerate(value)) if isinstance(value, list) else value
    below = listed.items() if isinstance(listed, dict) else ()
    return [above] * bool(above) + [p for k, v in below for p in paths(v, (*above, k))]


def changed(draw: st.DrawFn, value: Json, roots: tuple[str, ...]) -> Json:
    """A JSON value with one to three fields changed."""
    value = copy.deepcopy(value)
    for _ in range(draw(st.integers(1, 3))):
        path = draw(st.sampled_from([p for p in paths(value) if p[0] in roots]))
        held = value
        for step in path[:-1]:
            held = held[step]  # type: ignore[index]
        old = held[path[-1]]  # type: ignore[index]
        near = [old + 1, old - 1] * 8 if type(old) is int else []
        held[path[-1]] = draw(st.sampled_from([*VALUES, *near]))  # type: ignore[index]
    return value


def spoiled(draw: st.DrawFn, file: ModelFile) -> Tensors:
    """One to three weights set to something else, or moved a little."""
    tensors = {name: array.copy() for name, array in file.tensors.items()}
    for _ in range(draw(st.integers(1, 3))):
        flat = tensors[draw(st.sampled_from(sorted(tensors)))].reshape(-1)
        at = draw(st.integers(0, flat.size - 1))
        step = draw(st.sampled_from((-1, 1))) * 10.0 ** draw(st.floats(-6, 0))
        weight = draw(st.sampled_from((*WEIGHTS, flat[at] + step, flat[at] + step)))
        flat[at] = np.clip(weight, -file.precision.largest, file.precision.largest)
    return {name: file.precision.round(array) for name, array in tensors.items()}


@st.composite
def damaged(draw: st.DrawFn) -> Attack:
    """A small model with its tensors, its header or its evidence damaged."""
    good = damaged_from(*draw(st.sampled_from(SMALL)))
    file, evidence, what = good.file, good.evidence, draw(st.integers(1, 7))
    if what & 1:
        file = replace(file, tensors=spoiled(draw, file))
    if what & 2:
        file = replace(file, header=changed(draw, file.header, ("program", "claim")))
    if what & 4:
        evidence = changed(draw, evidence, ("program",))
    return Attack(file, evidence)


@settings(derandomize=True, max_examples=300)
@given(damaged())
def test_what_is_accepted_is_right(attack: Attack) -> None:
    try:
        accepted = attack.accepted()
    except Refused:
        return
    assert accepted
    assert attack.right()
