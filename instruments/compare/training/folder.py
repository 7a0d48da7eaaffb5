"""The folder of a run: its settings, its checkpoint, and its result."""

import hashlib
import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
import torch
from torch import Tensor

from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.files import (
    TRAINED,
    save,
)
from krohn.instruments.compare.models.network import Network
from krohn.instruments.compare.training.provenance import (
    Json,
    canonical_text,
    content_name,
)
from krohn.instruments.compare.training.trainer import (
    Evaluation,
    Outcome,
    Trainer,
)
from krohn.network.modelfile import LARGEST_FILE
from krohn.program import strict_json
from krohn.program.files import read_bytes
from krohn.program.writing import atomic_write

# A run between two steps as bytes: tensors with their digest, and all other values.


KEY = "krohn-checkpoint"


def pack(trainer: Trainer, identity: str) -> bytes:
    """All that the rest of a run depends on.

    Args:
        trainer: Where the run is.
        identity: What the run is called; it is not read as the state of another.
    """
    tensors = {name: t.detach().cpu() for name, t in _tensors(trainer).items()}
    state = {
        "identity": identity,
        "step": trainer.step,
        "seconds": trainer.seconds,
        "history": [asdict(point) for point in trainer.history],
        "digest": _digest_of_tensors(tensors),
    }
    return safetensors.torch.save(tensors, {KEY: canonical_text(state)})


def restore(trainer: Trainer, data: bytes, identity: str) -> None:
    """Bring a trainer to where a run was.

    Raises:
        KrohnError: If the bytes are damaged, or are of another run.
    """
    try:
        tensors = safetensors.torch.load(data)
        length = int.from_bytes(data[:8], "little")
        header = strict_json.read(data[8 : 8 + length])
        state = strict_json.read(header["__metadata__"][KEY])
        if state["identity"] != identity or state["digest"] != _digest_of_tensors(
            tensors
        ):
            raise ValueError
        _take(trainer, tensors, state)
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
    tensors = {"total": trainer.total}
    for kind, network in _networks(trainer).items():
        tensors |= {f"{kind}.{name}": t for name, t in network.state_dict().items()}
    for index, entry in trainer.optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{index}.{key}": t for key, t in entry.items()}
    return tensors


def _networks(trainer: Trainer) -> dict[str, Network]:
    """The network in training, and its average if that is another one."""
    networks = {"network": trainer.network}
    if trainer.average.network is not trainer.network:
        networks["average"] = trainer.average.network
    return networks


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    size = len(prefix)
    return {name[size:]: t for name, t in tensors.items() if name.startswith(prefix)}


def _digest_of_tensors(tensors: dict[str, Tensor]) -> str:
    """Of names and bytes: a damaged file may well have the right shape."""
    digest = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


# The folder of a run: its settings, its checkpoint, and its result.
#
# ``run.json`` has the settings of the run, and in the end its result;
# ``checkpoint.safetensors`` is there until then, ``weights.safetensors`` from then on.
# Each file is written whole or not at all, so that a run can be killed at any point.


FORMAT, VERSION = "krohn-run", 1
RECORD, CHECKPOINT, WEIGHTS = (
    "run.json",
    "checkpoint.safetensors",
    "weights.safetensors",
)


class RunFolder:
    """Where a run is kept.

    Attributes:
        path: Of the folder.
        run: What is trained, as JSON: task, architecture, recipe and seed.
    """

    def __init__(self, path: str | Path, run: Json) -> None:
        """Make the folder if it is not there.

        Raises:
            KrohnError: If it holds another run, is damaged, or cannot be made.
        """
        self.path, self.run = Path(path), run
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise KrohnError(f"{path}: no folder for a run: {error.strerror}") from None
        if (self.path / RECORD).exists():
            self._check(self.record())
        else:
            self._note({"outcome": None})

    def record(self) -> Json:
        """The content of ``run.json``.

        Raises:
            KrohnError: If it is damaged.
        """
        try:
            record = strict_json.read(read_bytes(self.path / RECORD))
            if record["format"] != FORMAT or record["version"] != VERSION:
                raise ValueError
            if not isinstance(record["run"], dict):
                raise TypeError
        except (KrohnError, ValueError, LookupError, TypeError):
            raise self._damage_error(RECORD) from None
        return record

    def resume(self, trainer: Trainer) -> None:
        """Bring a trainer to where the run was, if it was anywhere.

        Raises:
            KrohnError: If the checkpoint is damaged.
        """
        path = self.path / CHECKPOINT
        if not path.exists():
            return
        try:
            restore(trainer, read_bytes(path, LARGEST_FILE), content_name(self.run))
        except KrohnError:
            raise self._damage_error(CHECKPOINT) from None

    def keep(self, trainer: Trainer) -> None:
        """Write down where the run is.

        Raises:
            KrohnError: If the folder cannot be written.
        """
        atomic_write(self.path / CHECKPOINT, pack(trainer, content_name(self.run)))

    def finish(self, trainer: Trainer) -> None:
        """Write down the result of the run; its checkpoint goes.

        Raises:
            KrohnError: If the folder cannot be written.
        """
        _save(trainer.average.network, self.path / WEIGHTS)
        data = (self.path / WEIGHTS).read_bytes()
        came = {"outcome": trainer.outcome, "weights": _digest(data)}
        self._note(came | {"history": [evaluation_to_json(p) for p in trainer.history]})
        (self.path / CHECKPOINT).unlink(missing_ok=True)

    def result(self, network: Network) -> tuple[Outcome, tuple[Evaluation, ...]] | None:
        """How the run ended, and its history; the network gets its weights.

        Returns:
            None if the run goes on.

        Raises:
            KrohnError: If the kept files are damaged.
        """
        record = self.record()
        if record.get("outcome") is None:
            return None
        try:
            data = read_bytes(self.path / WEIGHTS, LARGEST_FILE)
            if record["weights"] != _digest(data):
                raise ValueError
            network.load_state_dict(safetensors.torch.load(data))
            return record["outcome"], tuple(
                map(_evaluation_from_json, record["history"])
            )
        except (KrohnError, LookupError, RuntimeError, TypeError, ValueError):
            raise self._damage_error(WEIGHTS) from None

    def _note(self, found: Json) -> None:
        record = {"format": FORMAT, "version": VERSION, "run": self.run, **found}
        atomic_write(self.path / RECORD, json.dumps(record, indent=1, sort_keys=True))

    def _check(self, record: Json) -> None:
        recorded = record["run"]
        other = [key for key in self.run if recorded.get(key) != self.run[key]]
        if other:
            raise KrohnError(
                f"{self.path} holds another run ({' and '.join(other)} differ); name "
                "another folder, or delete this one"
            )

    def _damage_error(self, file: str) -> KrohnError:
        return KrohnError(
            f"{self.path / file} is damaged; delete {self.path} to train this network again"
        )


def _save(network: Network, path: Path) -> None:
    """Write weights: as the file of a network where networks of this kind have one."""
    if isinstance(network, TRAINED):
        save(network, path)
        return
    tensors = {name: t.cpu() for name, t in network.state_dict().items()}
    atomic_write(path, safetensors.torch.save(tensors))


def _digest(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def evaluation_to_json(point: Evaluation) -> Json:
    """An evaluation as JSON, which has no number for a loss that is none."""
    loss = point.loss if math.isfinite(point.loss) else None
    entries = {**asdict(point), "loss": loss}
    return {key: x for key, x in entries.items() if key != "errors" or x is not None}


def _evaluation_from_json(noted: Json) -> Evaluation:
    loss = math.nan if noted["loss"] is None else noted["loss"]
    return Evaluation.of(noted | {"loss": loss})
