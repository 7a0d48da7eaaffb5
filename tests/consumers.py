"""Whoever runs, proves, exports, measures or draws a network, given a file."""

import hashlib
import json
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from enclosed_words import enclosed
from slices_here import here

import krohn
from krohn.compiled_model import CompiledModel
from krohn.compiler.compiled_network import CompiledNetwork
from krohn.compiler.transformer import Network
from krohn.drawing.model import draw_model
from krohn.network import attention_cost, modelfile, reading
from krohn.network.meaning.net import Net
from krohn.network.model import Model
from krohn.network.modelfile import ModelFile
from krohn.page.longest import longest
from krohn.program.slices import find as part, find_in_slices, slices
from krohn.verify.checker.network import open_model, recheck
from krohn.verify.enclosures.all_words import ranges
from krohn.verify.kernel.evidence import find_kernel_evidence
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


def net_of(given: Given) -> Net[Any]:
    """The network as data."""
    return Net.of(given.file.architecture, given.file.tensors)


# Those of slices.


def rollout(given: Given) -> object:
    """Where heads look, as a picture of a text shows it."""
    attention = part("krohn.kinds.dynamic_programs.draw_rollout:attention")
    return attention(given.file, ZEROS[0])


def memory(given: Given) -> object:
    """The numbers that are kept."""
    kept = part("krohn.kinds.dynamic_programs.source_memory:kept_numbers")
    return kept(given.file.architecture, 8)


def attacked(given: Given) -> object:
    """As if it were proved."""
    campaign = part("krohn.instruments.attack.campaign")
    proof, extent = prove(plain().file, plain().machine), campaign.Extent(positions=8)
    return campaign.attack(given.file, plain().machine, proof, extent)


def asked(given: Given) -> object:
    """A question to z3."""
    question = part("krohn.instruments.smt.network:question")
    return question(given.file, plain().machine, 2)


def gadgets(given: Given) -> object:
    """The parts of the network that z3 is asked about one by one."""
    return list(part("krohn.instruments.smt.steps:gadgets")(given.file))


def limits(given: Given) -> object:
    """What heads cannot do."""
    bounds = part("krohn.instruments.limits.head_limits:head_bounds")
    return bounds(given.file, plain().machine)


def of_kernel(given: Given) -> object:
    """What the kernel is told."""
    return find_kernel_evidence(open_model(given.data))


def edges(given: Given) -> object:
    """The parts that are patched."""
    components = part("krohn.instruments.workbench.edge_patching:Components")
    return components(given.file)


def training(given: Given) -> object:
    """What training made of a disguise."""
    tuned = part("krohn.architectures.disguise.commands:fine_tuned")
    return tuned(given.file, given.file)


def hidden(given: Given) -> object:
    """A disguise of the file."""
    build, file = part("krohn.architectures.disguise.build"), given.file
    how = build.Disguise(("dense",))
    return build.disguise_network(how, file.header, file.tensors, file.precision)


def masked(given: Given) -> object:
    """Masks of random matrices that leave the network."""
    build, file = part("krohn.architectures.pruned.build_transformer"), given.file
    network = Network(file.header["architecture"], file.tensors, {})
    plain = CompiledNetwork("plain", network, file.header["program"], None)
    choice = part("krohn.architectures.pruned.build_masks:Choice")()
    return next(build.networks(plain, file.precision, choice))


def written(name: str) -> Callable[[Given], object]:
    """An export of the file."""

    def write(given: Given) -> None:
        folder = given.path.with_name(name)
        folder.mkdir()
        part(find_in_slices("exports", name).module).write(given.file, folder, False)

    return write


NAMED = re.compile(r"is not about 'toy|no rule for .* where attention is toy")
"""How a refusal of something called toy reads."""
ZEROS = np.zeros((1, 2), int)
CORE: dict[str, Callable[[Given], object]] = {
    "load": lambda given: krohn.load(given.path),
    "runtime": lambda given: Model(given.file),
    "runtime by numpy": lambda given: reading.output_function(given.file)(ZEROS),
    "proof": proved,
    "recheck": rechecked,
    "search": lambda given: find(given.data),
    "enclosure": lambda given: enclosed(net_of(given), ZEROS),
    "ranges": lambda given: ranges(net_of(given)),
    "cost": lambda given: attention_cost.parts(given.file.architecture, 8),
    "picture": lambda given: draw_model(given.file),
    "longest": lambda given: longest(given.file, True, 1),
    "kernel": of_kernel,
}
SLICES: dict[str, dict[str, Callable[[Given], object]]] = {
    "kinds.dynamic_programs": {"rollout": rollout, "memory": memory},
    "instruments.attack": {"attack": attacked},
    "instruments.smt": {"smt": asked, "gadgets": gadgets},
    "instruments.limits": {
        "limits of heads": limits,
        "verify": lambda given: krohn.verify(given.path),  # it says them, too
    },
    "instruments.workbench": {"edges": edges},
    "architectures.disguise": {"training": training, "disguise": hidden},
    "architectures.pruned": {"masks": masked},
}
CONSUMERS = {
    **CORE,
    **{
        name: use
        for of, uses in SLICES.items()
        if here(of)
        for name, use in uses.items()
    },
    **{name: written(name) for one in slices().values() for name in one.exports},
}
