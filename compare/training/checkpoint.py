"""A run between two steps as bytes: tensors with their digest, and all other values."""

import hashlib
from dataclasses import asdict
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.compare.models.network import Network
from krohn.compare.training.described import canonical_text
from krohn.compare.training.trainer import Evaluation, Trainer
from krohn.program import strict_json

KEY = "krohn-checkpoint"


def pack(trainer: Trainer, identity: str) -> bytes:
    """All that the rest of a run depends on.

    Args:
        trainer: Where the run is.
        identity: What the run is called; it is not read as the state of another.
    """
    tensors = {name: t.detach().cpu() for name, t in _tensors(trainer).items()}
    said = {
        "identity": identity,
        "step": trainer.step,
        "seconds": trainer.seconds,
        "history": [asdict(point) for point in trainer.history],
        "digest": _digest(tensors),
    }
    return safetensors.torch.save(tensors, {KEY: canonical_text(said)})


def restore(trainer: Trainer, data: bytes, identity: str) -> None:
    """Bring a trainer to where a run was.

    Raises:
        KrohnError: If the bytes are damaged, or are of another run.
    """
    try:
        tensors = safetensors.torch.load(data)
        length = int.from_bytes(data[:8], "little")
        header = strict_json.read(data[8 : 8 + length])
        said = strict_json.read(header["__metadata__"][KEY])
        if said["identity"] != identity or said["digest"] != _digest(tensors):
            raise ValueError
        _take(trainer, tensors, said)
    except (
        safetensors.SafetensorError,
        LookupError,
        RuntimeError,  # another release of a library has other names for weights
        TypeError,
        ValueError,
    ):
        raise KrohnError("it is damaged, or is of another run") from None


def _take(trainer: Trainer, tensors: dict[str, Tensor], said: dict[str, Any]) -> None:
    for kind, network in _networks(trainer).items():
        network.load_state_dict(_under(f"{kind}.", tensors))
    state: dict[int, dict[str, Tensor]] = {}
    for name, tensor in _under("optimiser.", tensors).items():
        index, key = name.split(".")
        state.setdefault(int(index), {})[key] = tensor
    groups = trainer.optimiser.state_dict()["param_groups"]
    trainer.optimiser.load_state_dict({"state": state, "param_groups": groups})
    trainer.total.copy_(tensors["total"])
    trainer.step, trainer.seconds = int(said["step"]), float(said["seconds"])
    trainer.history = [Evaluation.of(point) for point in said["history"]]


def _tensors(trainer: Trainer) -> dict[str, Tensor]:
    found = {"total": trainer.total}
    for kind, network in _networks(trainer).items():
        found |= {f"{kind}.{name}": t for name, t in network.state_dict().items()}
    for index, held in trainer.optimiser.state_dict()["state"].items():
        found |= {f"optimiser.{index}.{key}": t for key, t in held.items()}
    return found


def _networks(trainer: Trainer) -> dict[str, Network]:
    """The network in training, and its average if that is another one."""
    found = {"network": trainer.network}
    if trainer.average.network is not trainer.network:
        found["average"] = trainer.average.network
    return found


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    size = len(prefix)
    return {name[size:]: t for name, t in tensors.items() if name.startswith(prefix)}


def _digest(tensors: dict[str, Tensor]) -> str:
    """Of names and bytes: a damaged file may well have the right shape."""
    found = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(tensors.items()):
        found.update(name.encode())
        found.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
    return found.hexdigest()
