"""How wrong a network is on words with labels."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from krohn.compare.tasks.task import Batch

IGNORED = -100
"""What torch calls a label that does not enter the loss."""


@dataclass(frozen=True)
class DeviceBatch:
    """A batch on the device; ``(count, length)``, int64.

    Attributes:
        letters: Letter indices.
        labels: Class indices, also where they do not enter the loss.
        trained: Class indices where they enter the loss, else `IGNORED`.
        many: How many enter it.
    """

    letters: Tensor
    labels: Tensor
    trained: Tensor
    many: int


def on_device(batch: Batch, device: torch.device) -> DeviceBatch:
    """A batch, brought to where the network is."""
    letters, labels = torch.tensor(batch.letters), torch.tensor(batch.labels)
    trained = labels.masked_fill(~torch.tensor(batch.trained), IGNORED)
    letters, labels, trained = (
        x.to(device, non_blocking=True) for x in (letters, labels, trained)
    )
    return DeviceBatch(letters, labels, trained, int(batch.trained.sum()))


def mean_loss(logits: Tensor, taught: DeviceBatch) -> Tensor:
    """The mean cross-entropy over positions whose label is revealed; 0 if none is.

    Logits ``(count, length, classes)`` of any format are added up in float32.
    """
    summed = cross_entropy(
        logits.float().flatten(0, 1),
        taught.trained.flatten(),
        ignore_index=IGNORED,
        reduction="sum",
    )
    return summed / max(taught.many, 1)
