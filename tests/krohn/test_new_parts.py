"""A construction, an export and a kind of source that the project does not have.

Each is one declaration, as in `compiler/constructions/`, `network/exports/` and
`krohn/source_kinds/`, and an entry in its registry: nothing else is told of it. A new
operation is in `tests/test_new_operation.py`, a new architecture in
`tests/network/test_new_architecture.py`.
"""

import json
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

import krohn
from krohn import cli
from krohn.algebra.automaton import Automaton
from krohn.architectures.exports.destinations import (
    Destination,
    StoredNetwork,
)
from krohn.compilation import Asked
from krohn.compiler import CompileError
from krohn.compiler.constructions.registry import CONSTRUCTIONS, Construction
from krohn.compiler.transformer import Network
from krohn.network import ExportError
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FloatArray
from krohn.program import Map, Program, Token, inputs, table
from krohn.program.errors import demand
from krohn.program.inputs import Stated
from krohn.program.slices import Export, Slice, Source, slice_sources, slices
from krohn.source_kinds.base import Built
from krohn.source_kinds.real_outputs import Reference
from krohn.source_kinds.real_sequences import Box, RealSequences
from krohn.verify.checker.arithmetic import Interval
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model as CheckedModel

Patch = pytest.MonkeyPatch


def last_letter(machine: Automaton, length: int) -> Program:
    """The state that the last letter leads to, from wherever."""
    targets = machine.transitions
    if (targets != targets[:, :1]).any():
        raise CompileError("a letter does not lead to one state")
    rows = {(a,): int(q) for a, q in enumerate(targets[:, 0])}
    rows[len(rows),] = machine.start
    return Program(
        letters=machine.letters,
        states=len(machine.states),
        length=length,
        operations={"token": Token(), "state": Map(table(rows), ("token",))},
        outputs=("state",),
        decode={(q,): q for q in range(len(machine.states))},
    )


def test_a_construction_is_chosen_compiled_proved_run_and_explained(
    monkeypatch: Patch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    row = Construction(f"{__name__}:last_letter", "the last letter says it all")
    monkeypatch.setitem(CONSTRUCTIONS, "last-letter", row)
    machine = krohn.automaton({q: {"x": "p", "y": "q"} for q in "pq"}, start="p")
    model = krohn.compile(machine, 6, "last-letter")
    assert model.summary()["verdict"] == "verified"
    assert krohn.verify(model, exhaustive=6, proof=False).verdict == "verified"
    assert Model(model.file).run("xyyx") == list("pqqp")
    rows = {row["name"]: row for row in krohn.explain(machine, 6)["constructions"]}
    assert rows["last-letter"]["depth"] == 0
    path = tmp_path / "F.safetensors"
    how = ["-T", "6", "--construction", "last-letter", "-o", str(path)]
    assert cli.run(["compile", "FlipFlop", *how]) == 2  # one of its letters keeps
    assert "a letter does not lead to one state" in capsys.readouterr().err


def module(**held: object) -> ModuleType:
    """A module with something in it, which needs no file."""
    return SimpleNamespace(**held)  # type: ignore[return-value]


def write_table(file: ModelFile, place: Path, states: bool) -> None:
    """Write the answers of a machine with one letter, position by position."""
    if len(file.header["machine"]["letters"]) > 1:
        raise ExportError("a table has words of one letter only")
    length = file.header["claim"]["length"]
    logits = Model(file)(torch.zeros(1, length, dtype=torch.int64))
    (place / "table.json").write_text(json.dumps(logits[0].tolist()))


def open_table(place: Path) -> Callable[[torch.Tensor], torch.Tensor]:
    """Read it, without Krohn."""
    rows = torch.tensor(json.loads((place / "table.json").read_text()))
    return lambda words: rows[: words.shape[1]].expand(len(words), -1, -1)


def test_an_export_is_written_read_back_and_held_against_the_file(
    monkeypatch: Patch, tmp_path: Path
) -> None:
    to = Destination(
        "table",
        "a table",
        write_table,
        open_table,
        "nothing",
        lambda file, place: StoredNetwork(file),
    )
    monkeypatch.setitem(sys.modules, "own_export", module(DESTINATION=to))
    brought = Slice(exports={"table": Export("own_export", ("json",))})
    monkeypatch.setitem(slices(), "own", brought)  # type: ignore[arg-type]
    clock = krohn.automaton({"a": {"tick": "b"}, "b": {"tick": "a"}}, start="a")
    path = tmp_path / "clock.safetensors"
    krohn.compile(clock, 5).save(path)
    assert (
        cli.run(["export", str(path), "--to", "table", "-o", str(tmp_path / "t")]) == 0
    )
    assert len(json.loads((tmp_path / "t" / "table.json").read_text())) == 5
    with pytest.raises(krohn.KrohnError, match="words of one letter only"):
        krohn.export(krohn.compile("C3", 4), to="table", directory=tmp_path / "u")
    assert not (tmp_path / "u").exists()


@dataclass(frozen=True)
class Gain:
    """What comes in, times a power of two."""

    name: str
    power: int

    def to_wire(self) -> dict[str, Any]:
        return {"name": self.name, "power": self.power}

    @classmethod
    def from_wire(cls, said: Mapping[str, Any]) -> "Gain":
        demand(type(said["power"]) is int, "its power is no whole number")
        return cls(said["name"], said["power"])

    @classmethod
    def named(cls, text: str) -> "Gain | None":
        found = re.fullmatch(r"Gain(\d)", text)
        return cls(text, int(found[1])) if found else None


class Gains(RealSequences[Gain]):
    """A linear RNN that remembers nothing."""

    wire = "gain"
    source = Gain
    of_name = staticmethod(Gain.named)

    def build(self, source: Gain, asked: Asked) -> Built:
        shape = {"kind": "linear-recurrence", "dtype": "float64", "form": "dense"}
        shape |= dict.fromkeys(("hidden", "inputs", "outputs"), 1)
        names = ("input.weight", "unembed.weight", "hidden.weight", "skip.weight")
        tensors = {name: np.zeros((1, 1)) for name in names}
        tensors["skip.weight"][:] = 2.0**source.power
        network, length = Network(shape, tensors, {}), asked.length or 8
        return self.with_error(source, "skip", network, length, asked.options)

    def facts(self, source: Gain, asked: Asked) -> dict[str, Any]:
        return {"gain": 2**source.power}

    def box(self, source: Gain) -> Box:
        return Box(("x",), -np.ones(1), np.ones(1))

    def reference(self, source: Gain) -> Reference:
        return Reference(lambda x: x * 2.0**source.power, 0.0)

    def adversarial(
        self, source: Gain, file: ModelFile, count: int, rng: np.random.Generator
    ) -> FloatArray:
        return np.ones((1, file.header["claim"]["length"], 1))


def established(model: CheckedModel, said: Any, machine: Machine | None) -> Established:
    """Products with powers of two are exact, if the state stays 0."""
    t = model.tensors
    demand(not t["input.weight"].any(), "it remembers")
    off = t["skip.weight"] - 2.0 ** model.source["power"]
    error = Interval.of(np.abs(off)).most + 2.0**-1000
    return Established(model.format, unit_box({}, {}, model.length), {}, error)


def unit_box(source: Stated, claim: Stated, length: int | None) -> inputs.Box:
    return inputs.Box(((-1.0, 1.0),), 1, length or 0)


def test_a_kind_of_source_is_compiled_proved_run_and_explained(
    monkeypatch: Patch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(
        sys.modules,
        "own.gains",
        module(Gains=Gains, established=established, unit_box=unit_box),
    )
    own = "own.gains:Gains", r"Gain\d"
    entry = Source(*own, objects=(__name__,), inputs="own.gains:unit_box")
    monkeypatch.setitem(slice_sources(), "gain", entry)  # type: ignore[arg-type]
    brought = Slice(readers={("linear-recurrence", "gain"): "own.gains"})
    monkeypatch.setitem(slices(), "own", brought)  # type: ignore[arg-type]
    path = tmp_path / "gain.safetensors"
    assert cli.run(["compile", "Gain3", "-T", "4", "-o", str(path)]) == 0
    assert cli.run(["verify", str(path), "--proof", "--sample", "20"]) == 0
    capsys.readouterr()
    assert cli.run(["run", str(path), "0.5", "0.75", "0.25"]) == 0
    assert capsys.readouterr().out.split() == ["4", "6", "2"]
    assert krohn.explain("Gain3")["gain"] == 8
    file = krohn.compile(Gain("own", 1), 3).file
    wrong = replace(file, tensors={**file.tensors, "skip.weight": np.full((1, 1), 2.5)})
    assert krohn.verify(wrong).verdict == "undecided"
    assert krohn.verify(wrong, proof=False, sample=5).verdict == "refuted"
