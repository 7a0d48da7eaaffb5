"""What is verified, saved and answered is the network that runs, of every kind."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from every_kind import NETWORKS, compiled
from slices_here import here
from torch import nn

import krohn
from krohn.algebra.errors import KrohnError
from krohn.compiled_model import CompiledModel
from krohn.network import ModelFileError, modelfile
from krohn.network.architecture import is_index
from krohn.network.model import current_file
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS
from krohn.network.running_file import APART
from krohn.open_model import Model
from krohn.run_result import RunResult

Call = Callable[..., tuple[int, Any]]
KINDS = (*NETWORKS, "generator")
EACH = pytest.mark.parametrize("kind", KINDS)
LAWS = "( [ ]"


def fresh(kind: str) -> CompiledModel:
    """The network of a kind, which no other test has opened."""
    made = compiled(kind)
    header = {**made.original.header, "claim": {**made.original.header["claim"]}}
    return replace(made, original=replace(made.original, header=header))


def in_format(file: ModelFile, name: str) -> ModelFile:
    """The same network with its numbers rounded to another format."""
    precision, header = PRECISIONS[name], file.header
    told = {key: {**header[key], "dtype": name} for key in ("architecture", "claim")}
    most = precision.largest
    tensors = {
        n: t if is_index(n) else precision.round(np.clip(t, -most, most))
        for n, t in file.tensors.items()
    }
    return ModelFile({**header, **told, "evidence": None}, tensors, precision)


def word_of(kind: str) -> str:
    return LAWS if kind == "generator" else NETWORKS[kind][2]


def spoil(network: nn.Module) -> None:
    """Change all numbers, so that none is 0."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.abs_().add_(1)


def level(network: nn.Module) -> None:
    """Make all numbers 1: no such network is right."""
    for parameter in network.parameters():
        parameter.data.fill_(1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("dtype", PRECISIONS)
@EACH
def test_a_network_shares_no_memory_with_its_file(kind: str, dtype: str) -> None:
    file = in_format(compiled(kind).original, dtype)
    before = {name: tensor.copy() for name, tensor in file.tensors.items()}
    net = Model(file)
    assert current_file(net) is file
    spoil(net)
    for name, tensor in file.tensors.items():
        assert np.array_equal(tensor, before[name])
    now, parameters = current_file(net), [p.clone() for p in net.parameters()]
    assert now.header == {**file.header, "evidence": None}
    assert not any(np.shares_memory(now.tensors[n], t) for n, t in before.items())
    assert all(map(torch.equal, Model(now).parameters(), parameters))
    for tensor in now.tensors.values():
        tensor *= 0
    assert all(map(torch.equal, net.parameters(), parameters))


@pytest.mark.sample(2)
@EACH
def test_a_changed_network_has_no_proof_and_is_saved_as_it_runs(
    kind: str, tmp_path: Path
) -> None:
    model = fresh(kind)
    assert model.network is model.network
    assert (model.is_changed, model.file) == (False, model.original)
    assert model.proof is not None
    assert "verified" in repr(model)
    level(model.network)
    told = model.summary()
    assert (told["verdict"], told["digest"], told["about"]) == (None, None, None)
    assert model.proof is None
    assert repr(model).endswith("changed since it was compiled, not proved>")
    with pytest.raises(KrohnError, match="nothing is claimed of it"):
        _ = model.claim
    path = tmp_path / "m.safetensors"
    with pytest.warns(UserWarning, match="nothing is proved of what is written"):
        model.save(path)
    written = modelfile.read(path)
    assert written.header["evidence"] is None
    live = model.network.parameters()
    assert all(map(torch.equal, krohn.load(path).parameters(), live))


@pytest.mark.sample(1)
@EACH
def test_what_is_verified_is_what_runs(kind: str) -> None:
    model = fresh(kind)
    assert krohn.verify(model.model, proof=True).verdict == "verified"
    level(model.network)
    for each in (model, model.model):
        report = krohn.verify(each, proof=True)
        assert report.verdict != "verified"
        assert "verified" not in repr(report)


def _header(model: CompiledModel) -> None:
    model.original.header["claim"]["length"] = 4


def _tensor(model: CompiledModel) -> None:
    name = next(n for n in model.original.tensors if not is_index(n))
    model.original.tensors[name] = model.original.tensors[name] + 1


@pytest.mark.parametrize("change", [_header, _tensor])
def test_a_file_that_is_changed_in_place_has_no_proof(
    change: Callable[[CompiledModel], None], tmp_path: Path
) -> None:
    model = fresh("states")
    model = replace(
        model, original=replace(model.original, tensors={**model.original.tensors})
    )
    change(model)
    assert model.is_changed
    assert (model.proof, model.summary()["digest"]) == (None, None)
    with pytest.warns(UserWarning, match="nothing is proved"):
        model.save(tmp_path / "m.safetensors")
    assert modelfile.read(tmp_path / "m.safetensors").header["evidence"] is None


@pytest.mark.slow
def test_a_header_that_is_changed_in_place_is_read_anew() -> None:
    model = fresh("states")
    before = krohn.verify(model)
    assert model.model.length == 8
    _header(model)
    for each in (model, model.model, model.original):
        report = krohn.verify(each)
        assert (report.verdict, report.length) == ("verified", 4)
        assert "length 4" in report.covers
        assert report.digest != before.digest


def _hook(net: Model) -> None:
    net.network.register_forward_hook(lambda *_: None)


def _hook_before(net: Model) -> None:
    next(m for m in net.network.modules()).register_forward_pre_hook(lambda *_: None)


def _method(net: Model) -> None:
    net.network.forward = lambda x: x


def _attribute(net: Model) -> None:
    net.classes = (*net.classes, "more")


def _buffer(net: Model) -> None:
    net.network.register_buffer("more", torch.ones(1))


def _part(net: Model) -> None:
    net.network.add_module("more", nn.Linear(2, 2))


def _parameter(net: Model) -> None:
    net.network.register_parameter("more", nn.Parameter(torch.ones(2)))


def _no_number(net: Model) -> None:
    next(net.parameters()).data.fill_(torch.nan)


def _wide(net: Model) -> None:
    net.double()


def _other_class(net: Model) -> None:
    net.network.__class__ = type("Own", (type(net.network),), {})


OTHERWISE = (
    *(_hook, _hook_before, _method, _attribute, _buffer, _part, _parameter),
    *(_no_number, _wide, _other_class),
)


@pytest.mark.sample(3)
@pytest.mark.parametrize("change", OTHERWISE)
@EACH
def test_a_network_that_no_file_says_is_refused(
    kind: str, change: Callable[[Model], None], tmp_path: Path
) -> None:
    model = fresh(kind)
    if change is _wide:
        model = replace(model, original=in_format(model.original, "float32"))
    change(model.model)
    for use in (krohn.verify, lambda m: m.file, lambda m: m.save(tmp_path / "m")):
        with pytest.raises(ModelFileError, match="was changed since it was opened"):
            use(model)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match="was changed since it was opened"):
        krohn.verify(model.model)
    assert model.proof is None
    assert "not proved" in repr(model)
    assert model._repr_svg_() is None
    assert model.model._repr_svg_() is None


@pytest.mark.sample(3)
@EACH
def test_every_attribute_of_a_running_network_is_its_own(kind: str) -> None:
    """What decides what it says beside numbers, as which heads see later letters."""
    net = Model(compiled(kind).original)
    for module in net.modules():
        for name, value in vars(module).items():
            if name in {*APART, "_buffers", "file"}:
                continue
            vars(module)[name] = object()
            with pytest.raises(ModelFileError, match="was changed since it was opened"):
                current_file(net)
            vars(module)[name] = value
    for buffer in net.buffers():
        buffer.add_(1)
        with pytest.raises(ModelFileError, match="was changed since it was opened"):
            current_file(net)
        buffer.sub_(1)
    assert current_file(net) is net.file


def test_a_sparse_matrix_with_entries_that_are_0_is_in_no_file() -> None:
    model = fresh("pruned")
    for parameter in model.network.parameters():
        parameter.data.zero_()
    with pytest.raises(ModelFileError, match="has entries that are 0"):
        krohn.verify(model)


def test_a_class_of_its_own_is_refused() -> None:
    class Own(Model):
        pass

    with pytest.raises(ModelFileError, match="class of its own"):
        krohn.verify(Own(compiled("states").file))


# What `krohn run` says, and `net.run`.


def alike(one: Any, other: Any) -> bool:
    """Whether results are the same, up to the last digits of numbers."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(alike(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, rtol=1e-5, atol=1e-6))
    return bool(one == other)


def said(call: Call, path: Path, *words: str) -> dict[str, Any]:
    code, told = call("run", path, *words)
    assert code == 0
    for key in ("schema", "shown"):  # digits that are printed
        told.pop(key, None)
    return dict(told)


@pytest.mark.sample(2)
@EACH
def test_it_says_what_the_command_says(kind: str, tmp_path: Path, call: Call) -> None:
    compiled(kind).save(path := tmp_path / "m.safetensors")
    net, word = krohn.load(path), word_of(kind)
    told, run = said(call, path, *word.split()), net.run(word)
    assert isinstance(run, RunResult)
    shown = run.result.pop("shown", None)
    assert alike(run.result, told)
    assert shown is None or isinstance(shown, str)
    assert (run.unproved, run.error) == (told["unproved"], told.get("error"))
    assert not any(run.unproved)
    assert repr(run) == repr(list(run))
    parts = word.split() if " " in word else list(word)
    assert [list(run)] * 2 == [list(each) for each in net.run([parts] * 2)]


@pytest.mark.sample(2)
@EACH
def test_nothing_is_claimed_of_what_a_changed_network_says(kind: str) -> None:
    model = fresh(kind)
    net, word = model.model, word_of(kind)
    before = net.run(word)
    next(net.parameters()).data.mul_(1 + 2**-8).add_(2**-8)
    run = net.run(word)
    assert all(run.unproved)
    assert (run.error, len(run.unproved)) == (None, len(before.unproved))
    assert "unproved: the network was changed" in repr(run)
    assert run.result["note"] == run.note


def test_words_that_are_never_said_are_marked(tmp_path: Path, call: Call) -> None:
    for kind in ("hidden-markov", "hidden-markov rnn"):
        compiled(kind).save(path := tmp_path / "m.safetensors")
        run, told = krohn.load(path).run("1001"), said(call, path, *"1001")
        assert run.unproved == told["unproved"] == [False, False, True, True]
        assert run.error is None
        assert repr(run).endswith("(unproved: answers 3, 4)")


def test_numbers_are_inputs_of_networks_of_numbers() -> None:
    net = compiled("kernel").model
    wanted = net.run("0.5 0.25 0.125")
    x = [0.5, 0.25, 0.125]
    for word in (x, np.array(x), torch.tensor(x), ["0.5", "0.25", "0.125"]):
        assert net.run(word) == wanted
    assert net.run(np.array([x, x])[..., None]) == [wanted] * 2
    with pytest.raises(KrohnError, match="is neither"):
        net.run(["0.5", 0.25])


USES: dict[str, Callable[[Model], object]] = {
    "a stream": krohn.stream,
    "an examination": lambda net: krohn.examine(net, "Dyck2,2", 3),
    "a text": lambda net: net.write("( ["),
    "a cache": lambda net: net.run_with_cache(["("]),
    "a patch": lambda net: net.patch(["("], "x", 1, 0),
    "states": lambda net: net.run("( [" if net.letters else "0.5", states=True),
    "what is no word": lambda net: net.run([None]),  # type: ignore[list-item]
    "a proof of the plain network": lambda net: krohn.verify(net.network),
}
if here("instruments.learning"):
    USES["a machine that is learned"] = krohn.learn


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("kind", ["generator", "kernel"])
def test_what_needs_classes_refuses_laws_and_numbers(kind: str, use: str) -> None:
    with pytest.raises(KrohnError) as caught:
        USES[use](compiled(kind).model)
    assert "\n" not in str(caught.value)


def test_networks_of_numbers_have_no_letters() -> None:
    with pytest.raises(KrohnError, match="reads numbers, and no letters"):
        compiled("kernel").model.encode(["0.5"])
    with pytest.raises(KrohnError, match="takes a tensor"):
        compiled("kernel").model(["0.5"])
