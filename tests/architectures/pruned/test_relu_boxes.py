"""Pruned RNNs: proved for every length; damaged ones are refused or still right."""

from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch

import krohn
from krohn import cli
from krohn.algebra import zoo
from krohn.algebra.errors import KrohnError
from krohn.architectures.pruned.build_masks import is_random
from krohn.architectures.pruned.check import open_network
from krohn.compiled_model import CompiledModel
from krohn.foreign import own_machine
from krohn.network import modelfile
from krohn.network.cache import Cache
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused
from krohn.verify.checker.arithmetic import FORMATS, Interval
from krohn.verify.checker.model_file import Model as Checked
from krohn.verify.proof import prove
from krohn.verify.search.find import model_of

MACHINES = ("C2", "FlipFlop", "Memory3")


@cache
def compiled(
    name: str, construction: str = "pruned", dtype: str = "float32"
) -> CompiledModel:
    return krohn.compile(name, arch="rnn", construction=construction, dtype=dtype)


def is_right(file: ModelFile, name: str) -> bool:
    """Whether it says the right state on all words of 6 letters, and on long ones."""
    machine, letters = zoo.machine(name), len(zoo.machine(name).letters)
    short = np.array(list(product(range(letters), repeat=6)))
    long = np.random.default_rng(0).integers(0, letters, (200, 64))
    for words in (short, long):
        states = machine.semiautomaton.trace(words, machine.start)
        said = Model(file).network(torch.from_numpy(words)).argmax(dim=-1).numpy()
        if not np.array_equal(said, states):
            return False
    return True


@pytest.mark.sample(1)
@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_pruned_random_network_is_proved_for_words_of_every_length(
    name: str, dtype: str, tmp_path: Path
) -> None:
    model = compiled(name, dtype=dtype)
    assert model.summary()["verdict"] == "verified"
    told = model.summary()["random"]
    assert told["kept"] < told["weights"] / 4
    assert is_right(model.file, name)
    assert is_random(model.file.header["architecture"], model.file.tensors)
    model.save(tmp_path / "f.safetensors")
    assert krohn.verify(tmp_path / "f.safetensors").verdict == "verified"


@pytest.mark.slow
def test_other_seeds_are_other_networks_of_the_same_function() -> None:
    one, other = compiled("C2"), compiled("C2", "pruned:seed=1")
    assert other.summary()["verdict"] == "verified"
    values = [m.file.tensors["hidden.right.values"] for m in (one, other)]
    assert not np.intersect1d(*values).size


@pytest.mark.slow
@pytest.mark.parametrize("name", MACHINES)
def test_what_is_computed_lies_in_the_boxes(name: str) -> None:
    """Two letters from random points of random boxes, as the runtime computes them."""
    file = compiled(name).file
    steps, start = open_network(model_of(file)), file.tensors["hidden.start"]
    generator, letters = np.random.default_rng(4), len(zoo.machine(name).letters)
    rights = [np.zeros(letters**n, np.int64) for n in range(3)]
    net = Model(file).network
    for _ in range(5):
        on = generator.integers(0, 2, start.shape)
        low = np.float64(np.float32(generator.uniform(0, 0.7, start.shape) * on))
        high = low + generator.choice([0.0, 1e-6, 1e-2, 0.2], start.shape)
        box = Interval(low, high)
        held = replace(steps, nodes=box.each(lambda x: x[None]))
        found, _ = held.follow(np.zeros(1, np.int64), rights)
        inside = generator.uniform(low, high, (50, len(low))).astype(np.float32)
        inside = np.where((box.low <= inside) & (inside <= box.high), inside, low)
        points = torch.from_numpy(inside.astype(np.float32))
        for at, (a, b) in enumerate(product(range(letters), repeat=2)):
            cache = Cache(0, (points,))
            for letter in (a, b):
                word = torch.full((len(points),), letter)
                _, cache = net.step(word, cache)
            h = cache.parts[0].numpy()
            assert (found.low[at] <= h).all()
            assert (h <= found.high[at]).all()


@pytest.mark.slow
@pytest.mark.parametrize("letter", range(4))
@pytest.mark.parametrize("state", range(3))
def test_a_machine_with_another_transition_is_not_proved(
    state: int, letter: int
) -> None:
    file = compiled("Memory3").file
    machine = file.header["machine"]
    rows = [list(row) for row in machine["transitions"]]
    rows[letter][state] = (rows[letter][state] + 1) % 3
    header = {**file.header, "machine": {**machine, "transitions": rows}}
    changed = replace(file, header=header)
    assert prove(changed, own_machine(changed)).verdict != "verified"


def test_formats_of_16_bits_are_refused_by_checker_and_compiler() -> None:
    model = model_of(compiled("C2").file)
    narrow = Checked(FORMATS["bfloat16"], model.tensors, model.header)
    with pytest.raises(Refused, match="too coarsely"):
        open_network(narrow)
    with pytest.raises(KrohnError, match="too coarsely"):
        krohn.compile("C2", arch="rnn", construction="pruned", dtype="bfloat16")


@pytest.mark.slow
def test_too_few_units_are_refused_with_what_to_do() -> None:
    with pytest.raises(KrohnError, match="cannot be certified"):
        krohn.compile("C2", arch="rnn", construction="pruned:units=4")


def test_files_say_what_they_hold(tmp_path: Path) -> None:
    path = tmp_path / "f.safetensors"
    compiled("C2").save(path)
    file = modelfile.read(path)
    assert file.header["architecture"]["random"]["seed"] == 0
    changed = dict(file.tensors)
    changed["hidden.right.values"] = changed["hidden.right.values"] * 0.5
    assert not is_random(file.header["architecture"], changed)


@pytest.mark.slow
def test_it_is_drawn_and_is_neither_attacked_nor_exported_to_onnx(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, picture = tmp_path / "f.safetensors", tmp_path / "f.svg"
    compiled("C2").save(path)
    assert cli.run(["draw", str(path), "-o", str(picture)]) == 0
    assert "<svg" in picture.read_text()
    for command, reason in (
        (["verify", str(path), "--attack", "1"], "no attack"),
        (["export", str(path), "--to", "onnx", "-o", str(tmp_path / "o")], "pruned"),
    ):
        capsys.readouterr()
        assert cli.run(command) == 2
        assert reason in capsys.readouterr().err
