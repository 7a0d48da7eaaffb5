"""An architecture that the project does not have, added by its declarations alone.

What its file says (as in `program/architectures/`), what it makes of a letter (as in
`network/architectures/`) and what is proved of it (as in `verify/checker/`): nothing else
is told of it, and its networks are stored, opened, run, exported and checked.
"""

import hashlib
import json
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.algebra.formats import json_format
from krohn.architectures.exports.destinations import destination
from krohn.network import ExportError, ModelFileError, architecture, modelfile
from krohn.network.architecture import (
    Kind,
    declare,
    every_kind,
    kind_of,
)
from krohn.network.meaning.arrays import Arrays
from krohn.network.meaning.engine import Engine
from krohn.network.meaning.step import ByName, Step
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.network.precision import FLOAT32
from krohn.program.architecture import Architecture, Shapes
from krohn.program.errors import Refused
from krohn.program.inputs import Words
from krohn.program.stated import Size
from krohn.verify.checker.established import Established
from krohn.verify.checker.model_file import Machine, Model as CheckedModel
from krohn.verify.checker.network import recheck

DOCUMENT = Path(__file__).parents[2] / "docs/model-format.md"
MACHINE = json_format.claimed_machine(zoo.machine("C3"))


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> type[Architecture]:
    """Declares the architecture, and forgets it afterwards."""
    monkeypatch.setattr(architecture, "KINDS", dict(every_kind()))
    monkeypatch.setattr(Architecture, "named", dict(Architecture.named))

    @dataclass(frozen=True)
    class MinimalGated(Architecture):
        """Minimal gated units (Zhou et al. 2016): one gate, which forgets and writes."""

        kind = "minimal-gated"
        check = "minimal_gated"
        hidden: Size
        vocabulary: Size
        outputs: Size

        @property
        def shapes(self) -> Shapes:
            n, letters, outputs = self.hidden, self.vocabulary, self.outputs
            shapes: Shapes = {"start": (n,), "unembed.weight": (n, outputs)}
            shapes["unembed.bias"] = (outputs,)
            for part in ("gate", "new"):
                shapes[f"{part}.input"] = letters, n
                shapes[f"{part}.weight"] = n, n
            return shapes

    def after(
        o: Engine, t: ByName, letter: Any, held: tuple[Any, ...]
    ) -> tuple[Any, tuple[Any, ...]]:
        (h,) = held
        gate = o.sigmoid(o.gather(t["gate.input"], letter) + h @ t["gate.weight"])
        new = o.tanh(o.gather(t["new.input"], letter) + (gate * h) @ t["new.weight"])
        h = h + gate * (new - h)
        return h, (h,)

    declare(
        Kind(
            MinimalGated,
            title="minimal gated unit",
            width_of=lambda shape: shape.hidden,
            step_of=lambda _: Step(("start",), after),
            recurrent=True,
        )
    )

    def established(model: CheckedModel, said: Any, machine: Machine | None) -> Any:
        shape = model.network(MinimalGated)
        told = {"hidden": shape.hidden}
        return Established(model.format, Words(3, None), told, margin=1.0)

    name = "krohn.verify.checker.minimal_gated"
    monkeypatch.setitem(sys.modules, name, SimpleNamespace(established=established))  # type: ignore[arg-type]
    return MinimalGated


def network(kind: type[Architecture]) -> ModelFile:
    """A random network."""
    shape = {"kind": kind.kind, "dtype": "float32", "hidden": 5, "vocabulary": 3}
    shape["outputs"] = 3
    rng = np.random.default_rng(0)
    tensors = {
        name: FLOAT32.round(rng.normal(size=size))
        for name, size in kind_of(shape).shapes(shape).items()
    }
    header = {"architecture": shape, "machine": MACHINE, "claim": {}}
    return ModelFile(header, tensors, FLOAT32)


def by_numpy(file: ModelFile, word: list[int]) -> np.ndarray:
    """Logits by the declared step, in float64."""
    t, shape = file.tensors, file.header["architecture"]
    step = kind_of(shape).step(shape)
    assert step is not None
    parts, logits = tuple(t[name] for name in step.starts), []
    for letter in word:
        h, parts = step.after(Arrays(), step.net(t), letter, parts)
        logits.append(h @ t["unembed.weight"] + t["unembed.bias"])
    return np.array(logits)


def test_it_is_stored_opened_and_run(toy: type[Architecture], tmp_path: Path) -> None:
    file, path = network(toy), tmp_path / "model"
    modelfile.write(path, file.header, file.tensors)
    model = Model(modelfile.read(path))
    assert modelfile.read(path).tensors.keys() == file.tensors.keys()
    assert set(model.run("01201")) <= set(MACHINE["states"])
    words = torch.randint(3, (4, 9))
    said = model(words).detach().numpy()
    for word, row in zip(words.tolist(), said, strict=True):
        assert np.abs(row - by_numpy(file, word)).max() < 1e-5
    assert krohn.load(path).run("01") == model.run("01")


def test_a_file_with_other_tensors_is_refused(
    toy: type[Architecture], tmp_path: Path
) -> None:
    file, path = network(toy), tmp_path / "model"
    modelfile.write(path, file.header, {**file.tensors, "gate.bias": np.zeros(5)})
    with pytest.raises(ModelFileError, match=r"'gate.bias' is not in its architecture"):
        modelfile.read(path)
    file.header["architecture"]["hidden"] = 0
    with pytest.raises(Refused, match="'hidden' is 0, not a sensible size"):
        modelfile.write(path, file.header, file.tensors)


def test_the_checker_asks_its_own_check(toy: type[Architecture]) -> None:
    file = network(toy)

    def shown(change: Callable[[dict[str, Any]], object]) -> Any:
        tensors = dict(file.tensors)
        change(tensors)
        data = modelfile.pack(file.header, tensors)
        evidence: dict[str, Any] = {"format": "krohn-evidence", "version": 1}
        evidence["simulation"] = {}
        evidence["model"] = hashlib.sha256(data).hexdigest()
        return recheck(data, json.dumps(evidence).encode())

    assert shown(lambda t: None).told == {"hidden": 5}
    with pytest.raises(Refused, match="tensors are not as stated"):
        shown(lambda t: t.pop("start"))
    toy.check = "recurrent"
    with pytest.raises(Refused, match="of another kind"):
        shown(lambda t: None)


def test_it_goes_to_onnx(toy: type[Architecture], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    file, to = network(toy), destination("onnx")
    to.write(file, tmp_path, False)
    words = torch.randint(3, (2, 7))
    there = to.open(tmp_path)(words).detach().numpy()
    assert np.abs(there - Model(file)(words).detach().numpy()).max() < 1e-5


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru"])
def test_the_steps_that_are_declared_are_those_that_run(name: Any) -> None:
    file = krohn.compile("C3", arch=name, proved=False).file
    letters = len(file.header["machine"]["letters"])
    words = torch.randint(letters, (3, 8))
    said = Model(file)(words).detach().numpy()
    for word, row in zip(words.tolist(), said, strict=True):
        assert np.abs(row - by_numpy(file, word)).max() < 1e-3


def values(rule: Any) -> list[Any]:
    """Small values that a field of a header may have."""
    form, inner = get_origin(rule), get_args(rule)
    if rule is bool:
        return [False, True]
    if form is Literal:
        return list(inner)
    if form is Annotated:
        return sorted({inner[1], 1})
    if form is tuple:
        return [[each] for each in values(inner[0])]
    return headers(rule) if isinstance(rule, type) else [None]


def headers(declared: type) -> list[dict[str, Any]]:
    """Small headers of an architecture."""
    fields = declared.__dataclass_fields__.values()  # type: ignore[attr-defined]
    known = {f.name: values(f.type) for f in fields if f.name != "moves"}
    each = [
        dict(zip(known, chosen, strict=True)) for chosen in product(*known.values())
    ]
    return [{n: v for n, v in said.items() if v is not None} for said in each]


def same(name: str) -> str:
    """The name of a tensor without the numbers of layers."""
    parts = name.split(".")
    return ".".join("#" if p.isdigit() or len(p) == 1 else p for p in parts)


def told(text: str) -> set[str]:
    """All names in a text between signs of code; ``.key`` goes on the one before."""
    found, before = set[str](), ""
    for name in re.findall(r"`([^`\n]+)`", text):
        whole = before.rpartition(".")[0] + name if name.startswith(".") else name
        found.add(same(whole))
        before = whole
    return found


@pytest.mark.parametrize("name", sorted(every_kind()))
def test_the_document_has_its_sizes_and_tensors(name: str) -> None:
    sections = re.split(r"^## ", DOCUMENT.read_text(), flags=re.M)
    (text,) = [s for s in sections if re.search(rf'`kind`[^.]*`"{name}"`', s[:400])]
    names, declared = told(text), kind_of({"kind": name}).declared
    assert {field for said in headers(declared) for field in said} <= names
    shapes = set[str]()
    for said in headers(declared):
        try:
            more = {"moves": [1] * said["vocabulary"]} if name == "generator" else {}
            shapes |= declared.of({**more, **said}).shapes.keys()
        except Refused:
            continue  # of what cannot go together
    assert shapes
    assert {same(shape) for shape in shapes} <= names


def test_its_code_is_not_carried_if_it_is_no_file(
    toy: type[Architecture], tmp_path: Path
) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ExportError, match="minimal_gated is no file"):
        destination("huggingface").write(network(toy), tmp_path, False)
