"""Pruned Transformers: proved as they are; damaged masks are refused or still right."""

import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from slices_here import needs

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.architectures.pruned import build_transformer
from krohn.architectures.pruned.build_masks import is_random
from krohn.architectures.pruned.check_masks import take_off
from krohn.architectures.pruned.statement import GRID, matrix_of
from krohn.compiled_model import CompiledModel
from krohn.foreign import own_machine
from krohn.network.architecture import sparse_matrices
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.sparse import Sparse
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS
from krohn.verify.checker.model_file import Model as Checked
from krohn.verify.proof import prove

MACHINES = ("C2", "FlipFlop", "Memory3")
FACTOR = "masks.blocks.0.attention.key"
Tensors = dict[str, FloatArray]


@cache
def compiled(
    name: str, construction: str = "pruned", dtype: str = "float32", length: int = 16
) -> CompiledModel:
    return krohn.compile(name, length, construction=construction, dtype=dtype)


def products(file: ModelFile) -> Tensors:
    """Each matrix, multiplied out of its masked factors in float64."""
    columns = sparse_matrices(file.header["architecture"])
    dense = {n: Sparse.from_tensors(file.tensors, n, c) for n, c in columns.items()}
    names = {name.removesuffix(".left") for name in dense if name.endswith(".left")}
    return {
        name.removeprefix("masks."): dense[f"{name}.left"].dense()
        @ dense[f"{name}.right"].dense()
        for name in names
    }


def answers(file: ModelFile, words: IntArray) -> IntArray:
    """What the masked matrices alone compute, by numpy: ``(words, letters)``."""
    made, shape = products(file), file.architecture
    x = np.concatenate([np.full((len(words), 1), shape.vocabulary - 1), words], axis=1)
    x = made["embed.token"][x] + made["embed.position"][: x.shape[1]]
    for i, block in enumerate(shape.blocks):
        at, parts = f"blocks.{i}", []
        if block.heads:
            for name in ("query", "key", "value"):
                read = x @ made[f"{at}.attention.{name}"]
                parts.append(read.reshape(*x.shape[:2], block.heads, -1))
            scores = np.einsum("bihk,bjhk->bhij", *parts[:2])
            hidden = np.triu(np.ones(scores.shape[-2:], bool), 1)
            scores = np.where(hidden, -np.inf, scores)
            weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
            weights /= weights.sum(axis=-1, keepdims=True)
            heads = np.einsum("bhij,bjhv->bihv", weights, parts[2])
            x = x + heads.reshape(*x.shape[:2], -1) @ made[f"{at}.attention.out"]
        if block.mlp:
            first, second = made[f"{at}.mlp.0"], made[f"{at}.mlp.1"]
            units = np.maximum(x @ first[:-1] + first[-1], 0.0)
            x = x + units @ second[:-1] + second[-1]
    logits = x @ made["unembed"][:-1] + made["unembed"][-1]
    return np.asarray(logits[:, 1:].argmax(axis=-1))


def some_words(letters: int, length: int) -> IntArray:
    """All words of 6 letters, and some long ones."""
    short = np.array(list(product(range(letters), repeat=6)))
    long = np.random.default_rng(0).integers(0, letters, (200, length))
    return np.concatenate([np.resize(short, (len(short), length)), long])


def is_right(file: ModelFile, machine: Automaton) -> bool:
    """Whether numpy and the runtime both say the machine's states."""
    words = some_words(len(machine.letters), 16)
    states = machine.semiautomaton.trace(words, machine.start)
    said = Model(file).network(torch.from_numpy(words)).argmax(dim=-1).numpy()
    return bool((answers(file, words) == states).all() and (said == states).all())


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("fixed", ["left", "right"])
def test_a_machine_in_masked_random_matrices_is_proved(
    name: str, dtype: str, fixed: str
) -> None:
    model = compiled(name, f"pruned:fixed={fixed}", dtype)
    assert model.summary()["verdict"] == "verified"
    assert is_right(model.file, zoo.machine(name))
    assert is_random(model.file.header["architecture"], model.file.tensors)
    told = model.summary()["random"]
    assert told["kept"] < told["weights"] / 4
    assert told["bytes"] == told["weights"] * (4 if dtype == "float32" else 8)
    for matrix, columns in sparse_matrices(model.file.architecture).items():
        kept = Sparse.from_tensors(model.file.tensors, matrix, columns)
        assert (np.abs(kept.values) <= 1).all()
        assert kept.problem() is None


@pytest.mark.slow
def test_matrices_are_exact_products_rounded_once() -> None:
    file = compiled("C2").file
    for name, made in products(file).items():
        assert np.array_equal(made.astype(np.float32), matrix_of(file.tensors, name))
    name, columns = FACTOR, sparse_matrices(file.architecture)
    left, right = (
        Sparse.from_tensors(file.tensors, f"{name}.{side}", columns[f"{name}.{side}"])
        for side in ("left", "right")
    )
    assert not np.fmod(np.concatenate([left.values, right.values]), GRID).any()
    exact = [[Fraction(0)] * right.shape[1] for _ in range(left.shape[0])]
    rows = right.dense()
    for i, k, a in zip(left.rows, left.columns, left.values, strict=True):
        for j in np.flatnonzero(rows[k]):
            exact[i][j] += Fraction(a) * Fraction(rows[k, j])
    made = products(file)["blocks.0.attention.key"]
    assert [[Fraction(x) for x in row] for row in made] == exact


def checked(file: ModelFile) -> Checked:
    return Checked(FORMATS[file.precision.name], dict(file.tensors), file.header)


def with_masks(file: ModelFile, **changed: Any) -> ModelFile:
    """A file that states other masks."""
    architecture = dict(file.header["architecture"])
    architecture["masks"] = {**architecture["masks"], **changed}
    return replace(file, header={**file.header, "architecture": architecture})


def other_values(file: ModelFile) -> ModelFile:
    values = file.tensors[f"{FACTOR}.right.values"].copy()
    values[0] += GRID
    return replace(file, tensors={**file.tensors, f"{FACTOR}.right.values": values})


def other_weight(file: ModelFile) -> ModelFile:
    bias = file.tensors["unembed.bias"].copy()
    at = int(np.abs(bias).argmax())
    bias[at] = np.nextafter(np.float32(bias[at]), np.float32(9))
    return replace(file, tensors={**file.tensors, "unembed.bias": bias})


def other_column(file: ModelFile) -> ModelFile:
    name = f"{FACTOR}.left.columns"
    columns = file.tensors[name].copy()
    columns[-1] += 1
    return replace(file, tensors={**file.tensors, name: columns})


def keeping_less(file: ModelFile, name: str, less: int) -> ModelFile:
    """A mask that does not keep the last numbers that it kept, and states so."""
    columns = sparse_matrices(file.architecture)[name]
    whole = Sparse.from_tensors(file.tensors, name, columns)
    dense = whole.dense()
    dense[whole.rows[-less:], whole.columns[-less:]] = 0.0
    kept = dense != 0
    offsets = np.concatenate([[0], kept.sum(axis=1).cumsum()])
    fewer = Sparse(whole.shape, offsets, kept.nonzero()[1], dense[kept])
    entries = dict(file.header["architecture"]["masks"]["entries"])
    entries[name] -= less
    smaller = replace(file, tensors={**file.tensors, **fewer.tensors(name)})
    return with_masks(smaller, entries=entries)


DAMAGES: dict[str, tuple[Callable[[ModelFile], ModelFile], str]] = {
    "seed": (lambda f: with_masks(f, seed=1), "than the seed draws"),
    "fixed": (lambda f: with_masks(f, fixed="right"), "not as stated"),
    "units": (lambda f: with_masks(f, units=95), "not as stated"),
    "entries": (lambda f: with_masks(f, entries={}), "does not name each"),
    "value": (other_values, "than the seed draws"),
    "weight": (other_weight, "is not the product"),
    "column": (other_column, "than the seed draws|beside it"),
    "mask": (lambda f: keeping_less(f, f"{FACTOR}.right", 3), "is not the product"),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_masks_and_seeds_are_refused(damage: str) -> None:
    change, reason = DAMAGES[damage]
    file = change(compiled("C2").file)
    with pytest.raises(Refused, match=reason):
        take_off(checked(file))
    found = prove(file, own_machine(file))
    assert found.verdict == "undecided"
    assert not found.proved


@pytest.mark.slow
def test_other_masks_of_the_same_random_network_are_judged_by_what_they_make() -> None:
    """Masks that keep fewer numbers, with their own product: proved only if right."""
    file, verdicts = compiled("FlipFlop").file, set()
    for name in ("blocks.0.attention.key", "blocks.0.attention.value", "unembed"):
        for count in (1, 4, 16):
            less = keeping_less(file, f"masks.{name}.right", count)
            matrix = products(less)[name].astype(np.float32).astype(np.float64)
            if name == "unembed":
                more = {"unembed.weight": matrix[:-1], "unembed.bias": matrix[-1]}
            else:
                more = {name: matrix[None]}
            other = replace(less, tensors={**less.tensors, **more})
            take_off(checked(other))
            verdict = prove(other, own_machine(other)).verdict
            assert verdict != "verified" or is_right(other, zoo.machine("FlipFlop"))
            verdicts.add(verdict)
    assert len(verdicts) > 1


@pytest.mark.parametrize("letter", range(3))
def test_another_machine_is_not_proved(letter: int) -> None:
    file = compiled("FlipFlop").file
    machine = file.header["machine"]
    rows = [list(row) for row in machine["transitions"]]
    rows[letter][0] = 1 - rows[letter][0]
    header = {**file.header, "machine": {**machine, "transitions": rows}}
    changed = replace(file, header=header)
    assert prove(changed, own_machine(changed)).verdict != "verified"


def test_masks_need_a_plain_network_and_a_wide_format() -> None:
    file = compiled("C2").file
    architecture = {**file.header["architecture"], "disguise": None}
    header = {**file.header, "architecture": architecture}
    alone = replace(file, header=header)
    assert prove(alone, own_machine(file)).verdict == "undecided"
    narrow = Checked(FORMATS["bfloat16"], dict(file.tensors), file.header)
    with pytest.raises(Refused, match="too coarsely"):
        take_off(narrow)


def mirror() -> Automaton:
    """It flips by the letter 0, where C2 flips by 1."""
    moves = {"0": {"0": "1", "1": "0"}, "1": {"0": "0", "1": "1"}}
    return krohn.automaton(moves, start="0", name="mirror")


@pytest.mark.slow
@needs("instruments.equivalence")
@pytest.mark.parametrize("fixed", ["left", "right"])
def test_two_functions_differ_in_one_matrix_of_one_random_network(
    fixed: str,
) -> None:
    """And in another one if the other side is masked alike: no matrix tells which."""
    how: dict[str, Any] = {"construction": f"pruned:fixed={fixed}", "length": 8}
    one, other = krohn.compile("C2", **how), krohn.compile(mirror(), **how)
    found = krohn.twins(one, other)
    assert (found.verdict, found.word, found.random) == ("refuted", ("0",), True)
    side = {"left": "right", "right": "left"}[fixed]
    apart = {*one.file.architecture.sparse} - {*found.matrices}
    assert apart == {f"masks.embed.token.{side}"}
    usual = krohn.compile("C2", 8, construction="pruned")
    alike = krohn.twins(usual, krohn.compile("C2", 8, construction="pruned:seed=1"))
    assert (alike.verdict, alike.random, alike.matrices) == ("verified", False, ())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"dtype": "bfloat16"}, "too coarsely"),
        (
            {"construction": "pruned:units=8"},
            "off a weight; try another seed, as pruned:seed=1",
        ),
        ({"activation": "gelu"}, "not about 'gelu units'"),
        ({"disguise": "rotate"}, "leave disguise="),
        ({"length": None}, "needs the longest length"),
        (
            {"arch": "rnn", "length": None, "construction": "pruned:fixed=right"},
            "fixed is for",
        ),
    ],
)
def test_what_is_not_pruned_is_said(how: dict[str, Any], reason: str) -> None:
    asked = {"length": 8, "construction": "pruned", **how}
    with pytest.raises(KrohnError, match=reason):
        krohn.compile("C2", **asked)


def test_what_is_too_large_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        KrohnError, match=r"'embed\.position' needs more than 16,777,216"
    ):
        krohn.compile("FlipFlop", 600, construction="pruned")
    monkeypatch.setattr(build_transformer, "MOST_WEIGHTS", 10)
    with pytest.raises(KrohnError, match="looked for up to 10 weights"):
        krohn.compile("FlipFlop", 4, construction="pruned")


@pytest.mark.slow
@needs("instruments.equivalence")
def test_variables_are_read_along_their_directions_and_prices_are_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = compiled("FlipFlop")
    tokens = model.model.encode(["1", "⊥", "2"])
    assert model.model.read(tokens, "stored").tolist() == [[0, 0, 0, 1]]
    model.save(tmp_path / "f.safetensors")
    assert krohn.load(tmp_path / "f.safetensors").run(["2", "⊥"]) == ["2", "2"]
    assert krohn.verify(tmp_path / "f.safetensors").verdict == "verified"
    path = tmp_path / "g.safetensors"
    how = "compile", "FlipFlop", "-T", "4", "--construction", "pruned", "-o", str(path)
    assert cli.run([*how]) == 0
    assert re.search(r"random weights, \d+\.\d MB", capsys.readouterr().out)
    assert cli.run(["draw", str(path), "-o", str(tmp_path / "g.svg")]) == 2
    assert "without --construction pruned" in capsys.readouterr().err
    assert cli.run(["equivalent", str(path), str(path)]) == 0
    told = capsys.readouterr().out
    assert "masks.unembed.left, a random matrix" in told
    assert "both are masks of one random network" in told


@pytest.mark.slow
@needs("architectures.exports")
@pytest.mark.parametrize("to", ["onnx", "huggingface", "transformer-lens"])
def test_exports_are_those_of_the_products(to: str, tmp_path: Path) -> None:
    done = krohn.export(compiled("C2"), to=to, directory=tmp_path / to, sample=50)
    usual = krohn.compile("C2", 16, disguise="rotate", dtype="float32")
    same = krohn.export(usual, to=to, directory=tmp_path / "usual", sample=50)
    assert done.verdict == same.verdict
    assert done.ran.deviation < 1e-3
