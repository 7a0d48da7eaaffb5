"""ONNX Runtime computes from the written graph what the network computes."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from foreign import flip_flop, trained

import krohn
from krohn.architectures.exports.destinations import destination
from krohn.network import ExportError
from krohn.network.architecture import expected_shapes
from krohn.network.meaning.arrays import Arrays, whole
from krohn.network.meaning.net import Net
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import PRECISIONS, FloatArray
from krohn.program.domains import IntArray

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
PLACE = destination("onnx")
D, LENGTH = 6, 9


def both(file: ModelFile, at: Path, length: int = LENGTH) -> tuple[torch.Tensor, ...]:
    """Logits of the network and of its export, on random words."""
    PLACE.write(file, at)
    model, rng = Model(file), np.random.default_rng(0)
    words = torch.from_numpy(rng.integers(len(model.letters), size=(20, length)))
    with torch.inference_mode():
        return model(words), PLACE.open(at)(words)


def network(dtype: str, recurrent: str | None = None, **block: Any) -> ModelFile:
    """Random weights: nothing is saturated, so that every operation can be seen."""
    shape: dict[str, Any] = {"dtype": dtype, "outputs": 4}
    if recurrent is not None:
        shape |= {"kind": recurrent, "hidden": D, "vocabulary": 3}
    else:
        block = {"heads": 2, "d_qk": 3, "d_v": 2, "mlp": [5, 4], **block}
        empty = {"heads": 0, "d_qk": 0, "d_v": 0, "mlp": []}
        shape |= {"kind": "transformer", "strict": False, "d_model": D}
        shape |= {"vocabulary": 4, "positions": LENGTH + 1}
        shape["blocks"] = [block, empty, block]
    rng = np.random.default_rng(1)
    precision = PRECISIONS[dtype]
    tensors = {
        name: precision.round(
            rng.integers(2, size=size)
            if name.endswith("residual")
            else rng.normal(size=size) / 2
        )
        for name, size in expected_shapes(shape).items()
    }
    names = {"letters": list("abc"), "states": list("wxyz")}
    return ModelFile(
        {"architecture": shape, "machine": names, "claim": {}}, tensors, precision
    )


SPARSE = {"kind": "sparse", "block": 3, "windows": 1, "last": 1}
BLOCKS: tuple[dict[str, Any], ...] = (
    {},
    {"activation": [[["relu", 2], ["sine", 3]], [["sine", 1], ["relu", 3]]]},
    {"causal": [True, False]},
    {"attention": {"kind": "relu"}, "causal": [False, True]},
    {"attention": {"kind": "linear"}, "causal": [True, True]},
    {"attention": SPARSE, "causal": [True, True]},
)


@pytest.mark.sample(1)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_operation_is_the_same(
    block: dict[str, Any], dtype: str, tmp_path: Path
) -> None:
    file = network(dtype, **block)
    ours, theirs = both(file, tmp_path)
    assert ours.std() > 0.1
    near = 1e-12 if dtype == "float64" else 1e-4
    torch.testing.assert_close(theirs, ours, rtol=near, atol=near)


def defined(file: ModelFile, words: IntArray) -> FloatArray:
    """Logits by the definition."""
    net = Net.of(file.architecture, file.tensors)
    with np.errstate(all="ignore"):
        logits: FloatArray = whole(net, Arrays(), words)
    return logits


@pytest.mark.sample(4)
@pytest.mark.parametrize("block", BLOCKS, ids=str)
@pytest.mark.parametrize("wrong", [np.inf, -np.inf, np.nan])
def test_what_is_not_finite_spoils_those_alone_who_see_it(
    block: dict[str, Any], wrong: float, tmp_path: Path
) -> None:
    """The fifth letter is no number; heads see it from later ones, or do not."""
    file = network("float64", **block)
    file.tensors["embed.position"][5] = wrong
    PLACE.write(file, tmp_path)
    words = np.random.default_rng(0).integers(3, size=(4, LENGTH))
    ours = defined(file, words)
    theirs = PLACE.open(tmp_path)(torch.from_numpy(words)).numpy()
    kept = np.isfinite(ours)
    assert (np.isfinite(theirs) == kept).all()
    np.testing.assert_allclose(theirs[kept], ours[kept], rtol=1e-12, atol=1e-12)
    assert not kept[:, 4].any()
    assert kept[:, :4].all() == (False not in block.get("causal", ()))


def test_gelus_are_those_of_the_error_function(tmp_path: Path) -> None:
    units = [[["gelu", 5]], [["relu", 1], ["gelu", 3]]]
    ours, theirs = both(network("float32", activation=units), tmp_path)
    torch.testing.assert_close(theirs, ours, rtol=1e-4, atol=1e-4)
    with pytest.raises(ExportError, match="no GeLU in float64"):
        PLACE.write(network("float64", activation=units), tmp_path)


@pytest.mark.parametrize("kind", ["rnn", "lstm", "gru"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_what_is_remembered_goes_from_letter_to_letter(
    kind: str, dtype: str, tmp_path: Path
) -> None:
    ours, theirs = both(network(dtype, kind), tmp_path, 30 if kind != "rnn" else 5)
    near = 1e-12 if dtype == "float64" else 1e-3
    torch.testing.assert_close(theirs, ours, rtol=near, atol=near)


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (1, 9)])
def test_batch_and_time_are_free(shape: tuple[int, int], tmp_path: Path) -> None:
    PLACE.write(network("float64"), tmp_path)
    words = torch.zeros(shape, dtype=torch.int64)
    assert PLACE.open(tmp_path)(words).shape == (*shape, 4)


@pytest.mark.parametrize("make", [partial(flip_flop, 10, 1.5), partial(trained, 10, 1)])
def test_networks_that_krohn_did_not_compile_go_there(
    make: Callable[[], ModelFile], tmp_path: Path
) -> None:
    ours, theirs = both(make(), tmp_path)
    torch.testing.assert_close(theirs, ours, rtol=1e-6, atol=1e-6)


def test_the_graph_names_what_it_holds(tmp_path: Path) -> None:
    file = krohn.compile("S3", length=12).file
    PLACE.write(file, tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    assert {t.name for t in model.graph.initializer} >= set(file.tensors)
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 20)]
    written = {name for node in model.graph.node for name in node.output}
    table = json.loads((tmp_path / "circuit.json").read_text())
    places = {v[name] for v in table["variables"] for name in ("hook", "until")}
    assert {"blocks.0.hook_resid_pre", "blocks.1.hook_resid_mid"} < places <= written
    heads = [i for i, b in enumerate(file.architecture.blocks) if b.heads]
    assert {f"blocks.{i}.attn.hook_pattern" for i in heads} <= written


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_nothing_is_computed_twice(block: dict[str, Any], tmp_path: Path) -> None:
    PLACE.write(network("float64", **block), tmp_path)
    model = onnx.load(tmp_path / "model.onnx")
    nodes = [(n.op_type, *n.input, str(n.attribute)) for n in model.graph.node]
    assert len(set(nodes)) == len(nodes)


def test_the_same_network_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        PLACE.write(network("float32"), tmp_path / name)
    first, second = ((tmp_path / n / "model.onnx").read_bytes() for n in "ab")
    assert first == second


def recurrent_or_not() -> list[ModelFile]:
    """A network of each kind that is written in its own way."""
    others = [network("float32", kind) for kind in ("rnn", "lstm", "gru")]
    return [*(network("float64", **block) for block in BLOCKS), *others]


@pytest.mark.sample(2)
@pytest.mark.parametrize("number", range(len(BLOCKS) + 3))
def test_the_network_is_read_off_the_graph(number: int, tmp_path: Path) -> None:
    file = recurrent_or_not()[number]
    PLACE.write(file, tmp_path)
    there = PLACE.read(file, tmp_path).file
    assert there.header == file.header
    for name, tensor in file.tensors.items():
        assert there.tensors[name] is not tensor
        assert (there.tensors[name] == tensor).all()


@pytest.mark.sample(1)
@pytest.mark.parametrize("arch", ["transformer", "ssm", "lstm"])
def test_what_is_no_word_of_the_claim_is_refused(arch: str, tmp_path: Path) -> None:
    """By a node whose name says why, which is in the message of ONNX Runtime."""
    file = krohn.compile("C2", None if arch == "lstm" else 8, arch=arch).file
    PLACE.write(file, tmp_path)
    run = PLACE.open(tmp_path)
    for letter in (2, -1):
        with pytest.raises(Exception, match="Name:'letters_are_0_to_1'"):
            run(torch.tensor([[0, 1], [1, letter]]))
    assert run(torch.zeros((2, 8), dtype=torch.int64)).shape == (2, 8, 2)
    longer = torch.zeros((2, 9), dtype=torch.int64)
    if arch == "lstm":
        assert run(longer).shape == (2, 9, 2)
        return
    with pytest.raises(Exception, match="Name:'words_have_up_to_8_letters'"):
        run(longer)


def test_the_metadata_are_the_claim(tmp_path: Path) -> None:
    file = krohn.compile("S3", length=12).file
    PLACE.write(file, tmp_path)
    stored = onnx.load(tmp_path / "model.onnx").metadata_props
    entries = {entry.key: entry.value for entry in stored}
    assert entries.pop("digest") == file.claim.digest
    about = {key: json.loads(text) for key, text in entries.items()}
    claim, machine = about.pop("claim"), file.header["machine"]
    assert (claim["length"], claim["dtype"]) == (12, "float32")
    assert claim["start"] in machine["states"]
    assert about["letters"] == machine["letters"]
    assert about["classes"] == about["states"] == machine["states"]


def constant(graph: Any, name: str, array: Any) -> None:
    """Give a constant of a graph another value."""
    (held,) = [tensor for tensor in graph.initializer if tensor.name == name]
    held.CopyFrom(onnx.numpy_helper.from_array(array, name))


def of_kind(graph: Any, kind: str) -> Any:
    """The last node of a kind."""
    return [node for node in graph.node if node.op_type == kind][-1]


def more(model: Any) -> None:
    """A node that nobody reads, behind the others."""
    model.graph.node.append(onnx.helper.make_node("Neg", ["logits"], ["no"], "no"))


def ahead(model: Any) -> None:
    """Heads see what comes, and not what was."""
    of_kind(model.graph, "LessOrEqual").op_type = "GreaterOrEqual"


def beside(model: Any) -> None:
    """Letters have other names."""
    (held,) = [entry for entry in model.metadata_props if entry.key == "letters"]
    held.value = held.value.replace("a", "b")


def told(key: str, text: str) -> Callable[[Any], object]:
    """Another text beside the tensors."""

    def change(model: Any) -> None:
        (held,) = [entry for entry in model.metadata_props if entry.key == key]
        assert held.value != text
        held.value = text

    return change


DAMAGE: dict[str, tuple[Callable[[Any], object], str]] = {
    "a tensor": (
        lambda m: constant(m.graph, "unembed.bias", np.full(4, 2.0**-40)),
        "the tensor 'unembed.bias'",
    ),
    "no tensor": (lambda m: m.graph.initializer.pop(0), "the tensor 'blocks"),
    "a constant": (
        lambda m: m.graph.initializer[-1].dims.append(1),
        "model.onnx is not as it was written",
    ),
    "what heads see": (ahead, "the node 'lessorequal_[0-9]+'"),
    "an attribute": (
        lambda m: setattr(of_kind(m.graph, "Softmax").attribute[0], "i", 1),
        "the node 'blocks.2.attn.hook_pattern'",
    ),
    "an input": (
        lambda m: of_kind(m.graph, "Relu").input.__setitem__(0, "hook"),
        "the node 'relu_[0-9]+'",
    ),
    "one more": (more, "the node 'no'"),
    "one less": (lambda m: m.graph.node.pop(), "the node 'blocks.1.hook_resid_mid'"),
    "operations": (
        lambda m: setattr(m.opset_import[0], "version", 21),
        "model.onnx is not as it was written",
    ),
    "an output": (
        lambda m: m.graph.output.pop(),
        "model.onnx is not as it was written",
    ),
    "names": (beside, "beside the tensors"),
    "a longer word": (told("claim", '{"length": 99}'), "beside the tensors"),
    "a digest": (told("digest", "0" * 64), "beside the tensors"),
    "classes": (told("classes", '["x", "w", "y", "z"]'), "beside the tensors"),
    "no claim": (lambda m: m.metadata_props.pop(0), "beside the tensors"),
    "an entry": (
        lambda m: m.metadata_props.add(key="author", value="somebody"),
        "beside the tensors",
    ),
    "no bound of words": (
        lambda m: m.graph.node.remove(
            next(
                n
                for n in m.graph.node
                if n.name == f"words_have_up_to_{LENGTH}_letters"
            )
        ),
        "the node",
    ),
    "names twice": (
        lambda m: m.metadata_props.insert(0, m.metadata_props[0]),
        "beside the tensors",
    ),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("name", DAMAGE)
def test_another_graph_is_not_the_network(name: str, tmp_path: Path) -> None:
    file, path = network("float64"), tmp_path / "model.onnx"
    PLACE.write(file, tmp_path)
    model = onnx.load(path)
    change, said = DAMAGE[name]
    change(model)
    path.write_bytes(model.SerializeToString(deterministic=True))
    with pytest.raises(ExportError, match=said):
        PLACE.read(file, tmp_path)


def test_a_file_that_is_no_graph_is_refused(tmp_path: Path) -> None:
    file, path = network("float32"), tmp_path / "model.onnx"
    PLACE.write(file, tmp_path)
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(ExportError, match="cannot be read back: Error parsing message"):
        PLACE.read(file, tmp_path)
    path.unlink()
    with pytest.raises(ExportError, match=r"cannot be read back: .*No such file"):
        PLACE.read(file, tmp_path)


def test_what_it_lacks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="no kernels for bfloat16"):
        PLACE.write(network("bfloat16"), tmp_path)
    with pytest.raises(ExportError, match="crashes on loops in float16"):
        PLACE.write(network("float16", "gru"), tmp_path)
