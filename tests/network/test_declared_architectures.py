"""Each architecture is declared once: its steps run so, and its document says so."""

import re
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
import pytest
import torch

import krohn
from krohn.algebra import zoo
from krohn.algebra.formats import json_format
from krohn.network.architecture import (
    every_kind,
    kind_of,
)
from krohn.network.meaning.arrays import Arrays
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.program.errors import Refused

DOCUMENT = Path(__file__).parents[2] / "docs/model-format.md"
MACHINE = json_format.claimed_machine(zoo.machine("C3"))


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


@pytest.mark.parametrize("name", ["rnn", "lstm", "gru"])
def test_the_steps_that_are_declared_are_those_that_run(name: Any) -> None:
    file = krohn.compile("C3", arch=name, proof=False).file
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
