"""What the small checker says of an MLP holds for all joint values, noises and orders."""

import copy
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from in_parts import part_of
from torch.special import ndtr

from krohn.algebra.automaton import IntArray
from krohn.compiler.passes.simplify import InferDomains
from krohn.compiler.pipeline import Options, arrange
from krohn.compiler.transformer import describe, lower
from krohn.network.precision import FLOAT64, PRECISIONS, FloatArray, Precision
from krohn.program import (
    Map,
    Operation,
    Piecewise,
    Program,
    Select,
    Shift,
    Token,
    table,
)
from krohn.program.errors import Refused
from krohn.program.expressions import Bounds, argument, number, rectify
from krohn.program.statement import Channel, Statement as Stated, parse
from krohn.verify.checker.arithmetic import FORMATS, gelu_units
from krohn.verify.checker.mlp import Mlp
from krohn.verify.checker.model_file import StrArray
from krohn.verify.checker.residual_stream import FREE, Stream, owners
from krohn.verify.search.cases import find_cases, needs_cases

LETTERS = 3
Json = dict[str, Any]
TRIES = 6
MOST_JOINT = 120
UNITS = pytest.mark.parametrize("activation", ["relu", "gelu"])


@dataclass(frozen=True)
class Case:
    """An MLP and one of the channels that it writes."""

    mlp: Mlp
    channel: Channel
    said: Json

    @property
    def program(self) -> Stated:
        return self.mlp.stream.program

    @property
    def precision(self) -> Precision:
        return PRECISIONS[self.mlp.stream.form.name]

    def stream_noise(self) -> float:
        """The most that anything before the MLP can be off."""
        noise = (x.max() for x in self.mlp.stream.noise.values())
        return float(max(*noise, 0.0, self.mlp.stream.free.max()))

    def verdict(self, said: Json | None = None) -> FloatArray | None:
        """The noise of each value, or None if it is refused; by evidence of its cases."""
        try:
            with np.errstate(all="ignore"):
                self.mlp.check_reads()
                mlp = self.told()
                if said is not None:
                    mlp = replace(mlp, cases={self.channel.name: said}, shown={})
                return mlp.bound_noise(self.channel)
        except (Refused, LookupError):  # `recheck` refuses what cannot be followed
            return None

    def told(self) -> Mlp:
        """The MLP with evidence of the cases that decide the channel."""
        if not needs_cases(self.mlp, self.channel):
            return self.mlp
        said = {self.channel.name: find_cases(self.mlp, self.channel)}
        return replace(self.mlp, cases=said)

    def occurring(self) -> Iterator[tuple[Mapping[str, int], int]]:
        """Joint values of the stored channels, with that of the channel; at BOS first."""
        channels, names = self.program.channels, list(self.mlp.stream.noise)
        yield {n: channels[n].bos for n in names}, self.channel.bos
        letters = [n for n in names if channels[n].inputs == ("token",)]
        others = [n for n in names if n not in letters]
        for row in product(*(channels[n].later.tolist() for n in others)):
            for a in range(LETTERS):
                values = dict(zip(others, row, strict=True))
                values |= {n: int(channels[n].table.values[a]) for n in letters}
                yield values, self._value(self.channel.name, values)

    def _value(self, name: str, values: Mapping[str, int]) -> int:
        if name in values:
            return values[name]
        found = self.program.channels[name]
        if found.op == "select":
            index, *options = found.inputs
            return self._value(options[self._value(index, values)], values)
        read = [np.array(self._value(n, values)) for n in found.inputs]
        assert isinstance(found.operation, Map)
        return int(found.operation.function(read))

    def excess(self, noise: FloatArray, rng: np.random.Generator) -> float:
        """By how much the network leaves the bounds, at worst, on what is tried."""
        joint = list(self.occurring())
        if len(joint) > MOST_JOINT:
            chosen = rng.choice(len(joint), MOST_JOINT, replace=False)
            joint = [joint[i] for i in chosen]
        values = np.array([value for _, value in joint])
        bound = noise[np.searchsorted(self.channel.domain, values)]
        code, reach = self._stream([row for row, _ in joint])
        worst = -np.inf
        for _ in range(TRIES):
            signs = rng.choice([-1.0, 1.0, 0.0], size=code.shape, p=[0.45, 0.45, 0.1])
            x = self.precision.round(code + signs * reach)
            x = np.where(np.abs(x - code) <= reach, x, code)
            off = self._run(x, rng)[:, self.channel.span] - self.channel.code(values)
            excess = np.abs(off).max(axis=1) - bound
            worst = max(worst, float(np.where(np.isnan(excess), np.inf, excess).max()))
        return worst

    def _stream(self, rows: list[Mapping[str, int]]) -> tuple[FloatArray, FloatArray]:
        """Codes, and how far they may be off."""
        stream = self.mlp.stream
        code = np.zeros((len(rows), len(self.mlp.mask)))
        reach = np.broadcast_to(stream.free, code.shape).copy()
        for name in stream.noise:
            found = self.program.channels[name]
            column = np.array([row[name] for row in rows])
            code[:, found.span] = found.code(column)
            reach[:, found.span] = stream.noise[name][found.place(column)][:, None]
        return code, reach

    def _run(self, x: FloatArray, rng: np.random.Generator) -> FloatArray:
        hidden = x
        for j, (weight, bias) in enumerate(self.mlp.layers):
            hidden = self._activated(hidden, self.mlp.activations[j - 1], rng, j)
            hidden = self._affine(hidden, weight, bias, rng)
        return self.precision.round(x * self.mlp.mask + hidden)

    def _activated(
        self, x: FloatArray, names: StrArray, rng: np.random.Generator, layer: int
    ) -> FloatArray:
        """ReLUs are exact, GeLUs as bad as A12 allows; the input has neither."""
        if not layer:
            return x
        gelu = x * ndtr(torch.from_numpy(x)).numpy()
        units = gelu_units(np.abs(x), FORMATS[self.precision.name]) - 1
        worst = units * self.precision.accumulator_unit * np.abs(x)
        gelu = self.precision.round(gelu + rng.choice([-1.0, 1.0], x.shape) * worst)
        return np.where(names == "gelu", gelu, np.maximum(x, 0))

    def _affine(
        self,
        x: FloatArray,
        weight: FloatArray,
        bias: FloatArray,
        rng: np.random.Generator,
    ) -> FloatArray:
        """In a random order, rounded at every step; the bias first, or after a store."""
        precision = self.precision
        wide = np.float64 if precision is FLOAT64 else np.float32
        first = rng.random() < 0.5
        total = np.zeros((len(x), len(bias)), dtype=wide)
        total += bias.astype(wide) * first
        for i in rng.permutation(len(weight)):
            total += x[:, i : i + 1].astype(wide) * weight[i].astype(wide)
        stored = precision.round(total)
        return stored if first else precision.round(stored + bias)


def drawn(rng: np.random.Generator) -> Program:
    """Maps of Maps over two functions of the letter, here and at earlier positions."""
    operations: dict[str, Operation] = {"token": Token()}
    for i in range(2):
        letter: dict[tuple[int, ...], int] = {
            (a,): int(rng.integers(4)) for a in range(LETTERS + 1)
        }
        operations[f"e{i}"] = Map(table(letter), ("token",))
    for i in range(2):
        operations[f"x{i}"] = Shift(f"e{i}", i + 1)
    for i in range(rng.integers(2, 5)):
        operations[f"m{i}"] = drawn_map(rng, inferred(operations))
    program = inferred(operations)
    wide = {n for n in operations if n != "token" and rng.random() < 0.3}
    wide -= {f"x{i}" for i in range(2) if f"e{i}" not in wide}
    wide |= {f"x{i}" for i in range(2) if f"e{i}" in wide}
    wide -= whole(operations)
    return replace(program, one_hot=frozenset(wide))


def whole(operations: Mapping[str, Operation]) -> set[str]:
    """Piecewise channels and those that they read, with what these fetch: integers."""
    found = set[str]()
    for name, operation in reversed(operations.items()):
        if isinstance(operation, Map) and isinstance(operation.function, Piecewise):
            found |= {name, *operation.inputs}
        elif isinstance(operation, Shift) and name in found:
            found.add(operation.source)
    return found | {f"x{i}" for i in range(2) if f"e{i}" in found}


def drawn_piecewise(
    rng: np.random.Generator, boxes: list[tuple[int, int]]
) -> Piecewise:
    """Some terms, some along one direction, and a constant so that none is negative."""
    inputs = [argument(i) for i in range(len(boxes))]
    found = number(0)
    for x in inputs:
        found = found + int(rng.integers(-1, 3)) * x
    for _ in range(rng.integers(4)):
        along = number(0)
        for x in inputs:
            along = along + int(rng.integers(-2, 3)) * x
        for _ in range(rng.integers(1, 3)):
            unit = rectify(along + int(rng.integers(-3, 4)))
            found = found + int(rng.choice([-3, -1, 1, 2])) * unit
    least, _ = Bounds(dict(enumerate(boxes))).of(found)
    return Piecewise(found + max(0, -least))


def inferred(operations: dict[str, Operation]) -> Program:
    """A Program whose output is the last channel."""
    last = list(operations)[-1]
    program = Program(tuple("abc"), 1, 3, operations, (last,), {})
    program = InferDomains().apply(program)
    return replace(program, decode={(v,): 0 for v in program.domains[last]})


def drawn_map(rng: np.random.Generator, program: Program) -> Map:
    names = list(program.operations)[1:]
    read = [names[i] for i in rng.integers(len(names), size=rng.integers(1, 4))]
    if rng.random() < 0.3:
        read = list(dict.fromkeys(read))
        ends = [(min(program.domains[n]), max(program.domains[n])) for n in read]
        return Map(drawn_piecewise(rng, ends), tuple(read))
    if rng.random() < 0.3:
        count = max(program.domains[read[0]]) + 1
        options = [names[i] for i in rng.integers(len(names), size=count)]
        return Map(Select(), (read[0], *options))
    rows = product(*(program.domains[n] for n in read))
    return Map(table({row: int(rng.integers(4)) for row in rows}), tuple(read))


def built(rng: np.random.Generator, activation: str) -> list[Case]:
    """The first MLP of a drawn Program, for each channel that it writes."""
    program = drawn(rng)
    precision = PRECISIONS[str(rng.choice(list(PRECISIONS)))]
    layout, features = arrange(program, Options(precision, most_paths=1000))
    network = lower(layout, features, False, activation)
    said = describe(layout, network)
    stated = parse(said, LETTERS, 3)
    tensors = {n: precision.round(t) for n, t in network.tensors.items()}
    widths = [len(block["mlp"]) for block in network.architecture["blocks"]]
    block = next((b for b, depth in enumerate(widths) if depth), None)
    if block is None:
        return []
    at = f"blocks.{block}.mlp"
    layers = [
        (tensors[f"{at}.{j}.weight"], tensors[f"{at}.{j}.bias"])
        for j in range(widths[block] + 1)
    ]
    snapshot = 2 * block + 1
    owner, names = owners(stated, snapshot, layout.d_model)
    largest = float(rng.choice([0, 0, 2**-6, 0.1, 0.2]))
    noise = {
        n: rng.random(len(stated.channels[n].domain)) * largest * (rng.random() < 0.6)
        for n in names
    }
    free = (owner == FREE) * rng.random(len(owner)) * float(rng.choice([0, 0.05]))
    nowhere = np.zeros((4, len(owner)))
    form = FORMATS[precision.name]
    stream = Stream(stated, form, nowhere, owner, noise, free)
    units = [np.full(len(bias), activation) for _, bias in layers[:-1]]
    mlp = Mlp(layers, units, tensors[f"{at}.residual"], stream)
    born = [c for c in stated.channels.values() if c.stored and c.born == snapshot + 1]
    return [Case(mlp, c, said) for c in born]


def damaged(case: Case, rng: np.random.Generator) -> Case:
    """One or two weights changed, sometimes a residual connection as well."""
    layers = [(w.copy(), b.copy()) for w, b in case.mlp.layers]
    for _ in range(rng.integers(1, 3)):
        array = layers[rng.integers(len(layers))][int(rng.random() < 0.3)]
        flat = array.reshape(-1)
        if used := np.flatnonzero(flat).tolist():
            i = int(rng.choice([*used, rng.integers(len(flat))]))
            change = [0.0, -flat[i], 1.1 * flat[i], flat[i] + 0.25, 2 * flat[i] + 1]
            flat[i] = case.precision.round(rng.choice(np.array(change)))
    mask = case.mlp.mask.copy()
    if rng.random() < 0.1:
        i = int(rng.integers(len(mask)))
        mask[i] = 1 - mask[i]
    return replace(case, mlp=replace(case.mlp, layers=layers, mask=mask))


def misstated(case: Case, rng: np.random.Generator) -> Case:
    """One row of a table says something else, but nothing that is nowhere told of."""
    said = copy.deepcopy(case.said)
    known = {entry["name"]: entry for entry in said["channels"]}
    tables = [n for n, e in known.items() if "rows" in e and "dims" not in e]
    changed = known[str(rng.choice([*tables, case.channel.name]))]
    if expression := changed.get("expression"):
        expression[0] += int(rng.choice([-1, 1]))
    if rows := changed.get("rows"):
        rows[rng.integers(len(rows))][-1] = int(rng.choice(changed["domain"]))
    try:
        program = parse(said, LETTERS, 3)
    except Refused:
        return case
    stream = replace(case.mlp.stream, program=program)
    mlp = replace(case.mlp, stream=stream)
    return Case(mlp, program.channels[case.channel.name], said)


def cases(
    seed: int, count: int, activation: str = "relu"
) -> Iterator[tuple[Case, np.random.Generator]]:
    rng = np.random.default_rng(seed)
    for _ in range(count):
        for case in built(rng, activation):
            yield case, rng


@pytest.mark.sample(1)
@UNITS
@part_of(4)
def test_what_is_accepted_keeps_its_bounds(part: int, activation: str) -> None:
    accepted = 0
    for case, rng in cases(part, 12, activation):
        noise = case.verdict()
        if noise is not None:
            accepted += 1
            assert case.excess(noise, rng) <= 0
    assert accepted > 7


@pytest.mark.sample(1)
@UNITS
@part_of(4)
def test_what_is_accepted_after_damage_keeps_its_bounds(
    part: int, activation: str
) -> None:
    verdicts = []
    for case, rng in cases(part, 12, activation):
        for spoilt in (damaged(case, rng), damaged(case, rng), misstated(case, rng)):
            noise = spoilt.verdict()
            verdicts.append(noise is not None)
            if noise is not None:
                assert spoilt.excess(noise, rng) <= 0
    assert 0.1 < np.mean(verdicts) < 0.9


@pytest.mark.slow
@part_of(2)
def test_what_other_evidence_shows_keeps_its_bounds(part: int) -> None:
    """Other sums, sets and parts than those that were found."""
    verdicts = []
    for case, rng in cases(20 + part, 12):
        if not needs_cases(case.mlp, case.channel):
            continue
        said = find_cases(case.mlp, case.channel)
        for _ in range(4):
            noise = case.verdict(forged(said, case.program, rng))
            verdicts.append(noise is not None)
            if noise is not None:
                assert case.excess(noise, rng) <= 0
    assert 0 < np.mean(verdicts) < 1


def forged(said: Json, program: Stated, rng: np.random.Generator) -> Json:
    """Evidence of cases with something changed."""
    said = copy.deepcopy(said)
    kind, parts = rng.integers(4), said["parts"]
    if kind == 0:
        said["sums"] = rng.choice([*program.channels], 1).tolist()
    elif kind == 1:
        held = said["sets"][rng.integers(len(said["sets"]))]
        if held and held[0]:
            held[0] = held[0][1:]
    elif parts:
        at, which = rng.integers(len(parts)), rng.integers(3)
        parts[at][which] = max(0, parts[at][which] + int(rng.choice([-1, 1])))
    return said


@pytest.mark.slow
@UNITS
def test_nearly_everything_that_is_built_without_noise_is_accepted(
    activation: str,
) -> None:
    silent = [
        case.verdict() is not None
        for case, _ in cases(9, 30, activation)
        if not any(bound.any() for bound in case.mlp.stream.noise.values())
    ]
    assert np.mean(silent) > 0.95


@pytest.mark.slow
def test_every_joint_value_is_tried() -> None:
    """The search itself finds a network that is wrong for one joint value."""
    rng = np.random.default_rng(0)
    found = 0
    for case, _ in cases(5, 25):
        joint = list(case.occurring())
        column: IntArray = np.array([value for _, value in joint])
        if len(joint) <= MOST_JOINT and len(set(column.tolist())) > 1:
            spoilt = misstated(case, rng)
            changed = [v for _, v in spoilt.occurring()] != column.tolist()
            none = np.zeros(len(case.channel.domain))
            if changed:
                found += 1
                assert spoilt.excess(none + 0.4, rng) > 0
    assert found


def test_units_that_nothing_reads_are_finite() -> None:
    case = next(case for case, _ in cases(0, 9) if len(case.mlp.layers) == 2)
    (below, inside), (above, after) = case.mlp.layers
    for weight, fits in ((1.0, True), (2.0**30, False)):
        read = np.hstack([below, weight * (case.mlp.stream.owner[:, None] == 0)])
        unread = np.vstack([above, np.zeros(len(after))])
        layers = [(read, np.append(inside, 0.0)), (unread, after)]
        names = [np.append(case.mlp.activations[0], "relu")]
        idle = replace(case, mlp=replace(case.mlp, layers=layers, activations=names))
        with np.errstate(all="ignore"):
            if fits:
                idle.mlp.check_reads()
                continue
            with pytest.raises(Refused, match="nothing reads"):
                idle.mlp.check_reads()


@pytest.mark.slow
@UNITS
def test_piecewise_functions_are_accepted_and_changed_ones_are_not(
    activation: str,
) -> None:
    """Of exact inputs every one is; a changed weight that matters on integers is not."""
    found, refused = 0, 0
    for case, rng in cases(7, 60, activation):
        if case.channel.op != "piecewise" or case.stream_noise() > 0:
            continue
        assert case.verdict() is not None
        found += 1
        worse = damaged(case, rng)
        if worse.excess(np.full(len(case.channel.domain), 0.25), rng) > 0:
            assert worse.verdict() is None
            refused += 1
    assert found > 5
    assert refused > 2
