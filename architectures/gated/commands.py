"""Recurrent networks that somebody trained, as model files that can be proved.

One layer of torch's (`torch.nn.RNN` with tanh, `GRU`, `LSTM`) that reads unit vectors or
embedded letters, and a linear read-out: a module, its state dict, or a file of
`krohn compare`.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack, cast

import numpy as np
from torch import Tensor, nn

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.algebra.formats import json_format
from krohn.algebra.minimisation import Shows, output_classes
from krohn.architectures.gated.statement_lstm import Gated
from krohn.compiled_model import CompiledModel, with_evidence
from krohn.foreign import is_state_dict, own_machine, read
from krohn.machine_reading import MachineKeywords, MachineReading
from krohn.machines import machine_of, with_outputs
from krohn.network.modelfile import ModelFile, is_trained_network
from krohn.network.precision import PRECISIONS
from krohn.program.architecture import architecture_named
from krohn.program.quoting import kind_of_value
from krohn.program.slices import needed_part
from krohn.trained_modules import SHORT, check_forward, check_plain
from krohn.verify.proof import prove

GATES = {4: "lstm", 3: "gru", 1: "elman"}
"""The kind of a layer, by how many rows its weights have for each unit."""
LAYER = "weight_hh_l0"
"""A tensor that every recurrent layer of torch has."""


@dataclass(frozen=True)
class Layer:
    """The tensors of a recurrent network.

    Attributes:
        recurrent: Those of the layer, by torch's names.
        weight: ``(classes, hidden)``: of the read-out.
        bias: ``(classes,)``.
        embedding: ``(letters, width)``; None if letters are unit vectors.
    """

    recurrent: Mapping[str, Tensor]
    weight: Tensor
    bias: Tensor | None
    embedding: Tensor | None

    @classmethod
    def of(cls, tensors: Mapping[str, Tensor]) -> "Layer":
        """From a state dict, whatever its modules are called.

        Raises:
            KrohnError: If it is that of another network.
        """
        layers = [name for name in tensors if name.endswith(LAYER)]
        if len(layers) != 1:
            raise KrohnError(
                f"the network has {len(layers)} recurrent layers; one that is proved has "
                "one: torch.nn.RNN, GRU or LSTM with num_layers=1"
            )
        prefix = layers[0].removesuffix(LAYER)
        own = {
            name.removeprefix(prefix): tensor
            for name, tensor in tensors.items()
            if name.startswith(f"{prefix}weight_") or name.startswith(f"{prefix}bias_")
        }
        rest = {n: t for n, t in tensors.items() if n.removeprefix(prefix) not in own}
        known = {f"{w}_{p}_l0" for w in ("weight", "bias") for p in ("ih", "hh")}
        if odd := sorted(own.keys() - known):
            raise KrohnError(
                f"the recurrent layer has {odd[0]!r}: a layer that is proved reads one "
                "way, is not projected, and has none above it"
            )
        return cls._with_ends(own, rest)

    @classmethod
    def _with_ends(
        cls, own: Mapping[str, Tensor], rest: Mapping[str, Tensor]
    ) -> "Layer":
        hidden, read = own[LAYER].shape[1], own["weight_ih_l0"].shape[1]
        matrices = [name for name, tensor in rest.items() if tensor.dim() == 2]
        tables = [n for n in matrices if f"{n.removesuffix('weight')}bias" not in rest]
        heads = [n for n in matrices if rest[n].shape[1] == hidden]
        embedding = None
        if len(matrices) == 2:
            first = [n for n in tables if rest[n].shape[1] == read]
            if len(first) == 2:  # without a bias, the read-out comes last
                first = first[:1]
            embedding = first[0] if first else None
            heads = [n for n in heads if n != embedding]
        bias = f"{heads[0].removesuffix('weight')}bias" if heads else ""
        used = {*heads, bias, *([embedding] if embedding else [])}
        if len(heads) != 1 or (odd := rest.keys() - used):
            more = f"; this one also has {min(odd)!r}" if len(heads) == 1 else ""
            raise KrohnError(
                "only networks of one recurrent layer and one linear read-out, with or "
                f"without an embedding, can be proved{more}"
            )
        table = rest[embedding] if embedding else None
        return cls(own, rest[heads[0]], rest.get(bias), table)

    @property
    def counts(self) -> tuple[int, int]:
        """How many letters there are, and classes."""
        letters = self.recurrent["weight_ih_l0"].shape[1]
        if self.embedding is not None:
            letters = len(self.embedding)
        return letters, len(self.weight)

    @property
    def ambiguous(self) -> bool:
        """Whether the embedding could be the read-out, and the other way round."""
        return (
            self.bias is None
            and self.embedding is not None
            and self.embedding.shape == self.weight.shape
        )

    def file(self, machine: Automaton, shows: Shows) -> ModelFile:
        """The model file that claims that it computes a machine.

        Raises:
            KrohnError: If it has another number of letters or classes, or a number that
                no file holds.
        """
        weight = self.recurrent[LAYER]
        precision = PRECISIONS.get(str(weight.dtype).removeprefix("torch."))
        kind = GATES.get(weight.shape[0] // weight.shape[1])
        if precision is None or kind is None:
            raise KrohnError(
                f"there is no recurrent layer of torch's in {weight.dtype}"
            )
        tensors = self._tensors(kind)
        if odd := {str(tensor.dtype) for tensor in tensors.values()} - {
            str(weight.dtype)
        }:
            raise KrohnError(
                f"the recurrent layer has {weight.dtype}, and another tensor {min(odd)}: "
                "say .float() or .double() of the network, so that all have one format"
            )
        arrays = {
            name: tensor.detach().cpu().double().numpy().copy()
            for name, tensor in tensors.items()
        }
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise KrohnError(f"the tensor {name!r} has entries that are not finite")
        width = arrays["recurrent.weight_ih_l0"].shape[1]
        (letters, classes), names = self.counts, output_classes(machine, shows).names
        counts = (
            (letters, "letters", machine.letters),
            (classes, "classes", names),
        )
        for has, what, named in counts:
            if has != len(named):
                hint = "; if it says what states show, --observe (observe=) names that"
                raise KrohnError(
                    f"the network has {has} {what}, and {machine.name} has {len(named)}"
                    + hint * (what == "classes" and shows == "states")
                )
        shape = {"kind": kind, "dtype": precision.name, "hidden": weight.shape[1]}
        shape |= {"vocabulary": letters, "outputs": len(names)}
        if self.embedding is not None:
            shape["embedding"] = width
        claim = {"start": machine.states[machine.start], "dtype": precision.name}
        claim |= {"shows": "outputs"} if shows == "outputs" else {}
        header = {
            "format": "krohn-model",
            "architecture": shape,
            "machine": json_format.claimed_machine(machine),
            "construction": "trained",
            "claim": claim,
            "evidence": None,
        }
        return ModelFile(header, arrays, precision)

    def _tensors(self, kind: str) -> dict[str, Tensor]:
        weight = self.recurrent[LAYER]
        none = weight.new_zeros(len(weight))
        tensors = {"recurrent.bias_ih_l0": none, "recurrent.bias_hh_l0": none}
        tensors |= {
            f"recurrent.{name}": tensor for name, tensor in self.recurrent.items()
        }
        for name in cast("type[Gated]", architecture_named(kind)).starts:
            tensors[name] = weight.new_zeros(weight.shape[1])
        if self.embedding is not None:
            tensors["embed.token"] = self.embedding
        bias = (
            self.bias
            if self.bias is not None
            else self.weight.new_zeros(len(self.weight))
        )
        return {**tensors, "unembed.weight": self.weight.T, "unembed.bias": bias}


def model_file(
    model: object, machine: object, observe: str | None = None
) -> ModelFile | None:
    """A trained recurrent network as the model file of a machine.

    Args:
        model: A torch module from letter indices ``(batch, T)`` to logits, its state
            dict, the file of one (``.pt``), or of one that `krohn.compare` trained.
        machine: What it must compute.
        observe: What it says of the machine; None for the state.

    Returns:
        None if it is something else, or a trained network of another architecture.

    Raises:
        KrohnError: If no machine is named, or it is a module of another kind.
    """
    tensors = tensors_of(model)
    if tensors is None:
        return None
    if machine is None:
        raise KrohnError(
            "a trained network states no machine; name the one that it must compute with "
            "--machine"
        )
    wanted = with_outputs(machine_of(machine), observe)
    shows: Shows = "states" if observe is None else "outputs"
    layer = Layer.of(tensors)
    named = isinstance(model, Mapping) or is_state_dict(model)
    if named and layer.ambiguous:
        raise KrohnError(
            "the state dict does not say which of two matrices is the embedding and "
            "which the read-out: give the module itself"
        )
    file = layer.file(wanted, shows)
    check_forward(model, file, SHORT)
    return file


def tensors_of(model: object) -> Mapping[str, Tensor] | None:
    """The tensors of a trained recurrent network; None if it is something else.

    Raises:
        KrohnError: If it is a module that cannot be proved.
    """
    if isinstance(model, nn.Module):
        if type(model).__module__.startswith("krohn.network."):
            raise KrohnError(
                f"{kind_of_value(model)} says nothing of what it computes: give the "
                "model that it is the network of"
            )
        check_plain(model)
        return dict(nn.Module.named_parameters(model, remove_duplicate=False))
    if is_state_dict(model):
        return tensors_of(read(str(model)))
    if isinstance(model, Mapping):
        if all(isinstance(tensor, Tensor) for tensor in model.values()):
            return model
        raise KrohnError("a state dict holds tensors by their names")
    if isinstance(model, str | Path) and is_trained_network(model):
        load = needed_part("trained networks", "a reader of trained networks")
        network = load(model)
        layers = [x for x in network.modules() if isinstance(x, nn.RNNBase)]
        plain = len(layers) == 1 and layers[0].mode != "RNN_RELU"
        return network.state_dict() if plain else None
    return None


def from_torch(
    model: object, machine: object, **reading: Unpack[MachineKeywords]
) -> CompiledModel:
    """The network that runs the tensors of a trained recurrent network, and nothing else.

    Args:
        model: A torch module from letter indices ``(batch, T)`` to logits, its state
            dict, or the file of one (docs/architectures/gated.md).
        machine: What it must compute.
        **reading: How the machine is read, by the names in
            `krohn.machine_reading.MachineReading`. ``observe`` is what the network says
            of it; None for the state.

    Returns:
        The network with a proof that says whether it is verified: it can be saved,
        exported and run, ``.network`` is a plain torch module.

    Raises:
        KrohnError: If it is another network, or is seen to do more with its tensors.

    Examples:
        >>> krohn.from_torch("net.pt", "C2").save("net.safetensors")  # doctest: +SKIP
    """
    began, how = time.monotonic(), MachineReading(**reading)
    file = model_file(model, machine_of(machine, how), how.observe)
    if file is None:
        raise KrohnError(
            f"{kind_of_value(model)} is no recurrent network of torch's, nor the file "
            "or the state dict of one"
        )
    proof = prove(file, own_machine(file))
    seconds = time.monotonic() - began
    return CompiledModel(with_evidence(file, proof), "trained", proof, seconds)
