"""Whoever runs, proves, exports, measures or draws a network, given a file."""

import hashlib
import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from enclosed_words import enclosed

import krohn
from krohn.architectures.disguise.build import (
    Disguise,
    disguise_network,
)
from krohn.architectures.disguise.commands import fine_tuned
from krohn.architectures.exports import (
    export_huggingface as huggingface,
    export_onnx as onnx,
    export_transformer_lens as transformer_lens,
)
from krohn.architectures.gpt2 import export as gpt2
from krohn.compiled_model import CompiledModel
from krohn.drawing.model import draw_model
from krohn.instruments.attack.campaign import (
    Extent,
    attack,
)
from krohn.instruments.formal.development import development
from krohn.instruments.limits import (
    head_limits,
)
from krohn.instruments.smt import (
    network as smt,
    steps,
)
from krohn.instruments.workbench.edge_patching import Components
from krohn.kinds.dynamic_programs import source_memory
from krohn.kinds.dynamic_programs.draw_rollout import attention as rollout
from krohn.network import attention_cost, modelfile, reading
from krohn.network.meaning.net import Net
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.page.longest import longest
from krohn.verify.checker.network import recheck
from krohn.verify.enclosures.all_words import ranges
from krohn.verify.proof import Proof, prove
from krohn.verify.search.find import find


@cache
def plain() -> CompiledModel:
    """One block with one head and one hidden layer."""
    return krohn.compile("C3", 8, strict=True)


@cache
def evidence() -> bytes:
    """That of the plain network."""
    file = plain().file
    return json.dumps(find(modelfile.pack(file.header, file.tensors))).encode()


@dataclass(frozen=True)
class Given:
    """A file, where it lies."""

    path: Path

    @property
    def file(self) -> ModelFile:
        """As it is read."""
        return modelfile.read(self.path)

    @property
    def data(self) -> bytes:
        """Its bytes."""
        return self.path.read_bytes()


def changed(folder: Path, change: Callable[[dict[str, Any]], None]) -> Given:
    """The plain network, its only block with heads changed in the header."""
    header, _ = deepcopy(plain().file.header), evidence()
    (block,) = [b for b in header["architecture"]["blocks"] if b["heads"]]
    change(block)
    path = folder / "toy.safetensors"
    path.write_bytes(modelfile.pack(header, plain().file.tensors))
    return Given(path)


def rechecked(given: Given) -> object:
    """By the checker alone, with the evidence of the plain network."""
    named = hashlib.sha256(given.data).hexdigest()
    told = json.loads(evidence()) | {"model": named}
    return recheck(given.data, json.dumps(told).encode())


def proved(given: Given) -> Proof:
    """By search and checker."""
    return prove(given.file, plain().machine)


def attacked(given: Given) -> object:
    """As if it were proved."""
    proof = prove(plain().file, plain().machine)
    return attack(given.file, plain().machine, proof, Extent(positions=8))


def written(form: ModuleType) -> Callable[[Given], object]:
    """An export of the file."""

    def write(given: Given) -> None:
        folder = given.path.with_name(form.__name__)
        folder.mkdir()
        form.write(given.file, folder, False)

    return write


def net_of(given: Given) -> Net[Any]:
    """The network as data."""
    return Net.of(given.file.architecture, given.file.tensors)


def hidden(given: Given) -> object:
    """A disguise of the file."""
    file = given.file
    return disguise_network(
        Disguise(("dense",)), file.header, file.tensors, file.precision
    )


NAMED = re.compile(r"is not about 'toy|no rule for .* where attention is toy")
"""How a refusal of something called toy reads."""
ZEROS = np.zeros((1, 2), int)
CONSUMERS: dict[str, Callable[[Given], object]] = {
    "load": lambda given: krohn.load(given.path),
    "runtime": lambda given: Model(given.file),
    "runtime by numpy": lambda given: reading.output_function(given.file)(ZEROS),
    "rollout": lambda given: rollout(given.file, ZEROS[0]),
    "verify": lambda given: krohn.verify(given.path),
    "proof": proved,
    "recheck": rechecked,
    "search": lambda given: find(given.data),
    "attack": attacked,
    "smt": lambda given: smt.question(given.file, plain().machine, 2),
    "gadgets": lambda given: list(steps.gadgets(given.file)),
    "limits of heads": lambda given: head_limits.head_bounds(
        given.file, plain().machine
    ),
    "enclosure": lambda given: enclosed(net_of(given), ZEROS),
    "ranges": lambda given: ranges(net_of(given)),
    "memory": lambda given: source_memory.kept_numbers(given.file.architecture, 8),
    "cost": lambda given: attention_cost.parts(given.file.architecture, 8),
    "formal": lambda given: development(given.data),
    "edges": lambda given: Components(given.file),
    "picture": lambda given: draw_model(given.file),
    "longest": lambda given: longest(given.file, True, 1),
    "training": lambda given: fine_tuned(given.file, given.file),
    "disguise": hidden,
    "onnx": written(onnx),
    "transformer-lens": written(transformer_lens),
    "gpt2": written(gpt2),
    "huggingface": written(huggingface),
}
