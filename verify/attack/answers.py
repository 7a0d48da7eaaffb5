"""Logits beside their bounds, and answers beside the machine."""

from dataclasses import dataclass

import torch
from torch import Tensor

from krohn.program import Table, table
from krohn.verify.attack.true_values import Values
from krohn.verify.attack.worst_seen import Batch
from krohn.verify.checker.transformer import Established


@dataclass(frozen=True)
class Answers:
    """The bounds of a proof on the logits.

    Attributes:
        outputs: The channels that decide the class.
        readings: The class that each tuple of their values means.
        logits: ``(readings, classes)``: the logits of each tuple.
        noise: How far each of them may be off.
        margin: How far the right one is ahead, at least.
    """

    outputs: tuple[str, ...]
    readings: Table
    logits: Tensor
    noise: Tensor
    margin: float

    @staticmethod
    def of(bounds: Established) -> "Answers":
        """Lay out the bounds of the logits."""
        readings, rows = table(bounds.readings), list(bounds.readings)
        order = torch.tensor(sorted(range(len(rows)), key=rows.__getitem__))
        return Answers(
            bounds.program.outputs,
            readings,
            torch.from_numpy(bounds.logits.value)[order],
            torch.from_numpy(bounds.logits.total)[order],
            bounds.margin,
        )

    def judge(
        self, batch: Batch, logits: Tensor, true: Values, classes: Tensor
    ) -> Tensor:
        """Hold every logit against its bound, and every answer against the machine.

        Args:
            batch: The words.
            logits: ``(batch, time, classes)``.
            true: The true values.
            classes: ``(batch, time)``: the machine's answers.

        Returns:
            ``(batch, classes)``: the greatest share of its bound that each word reaches.
        """
        found = logits.double()
        read = [true[n][:, 1:].numpy() for n in self.outputs]
        rows = torch.from_numpy(self.readings.place(read))
        # A tuple that was not expected has no row, and every number is off.
        known = (rows >= 0)[..., None]
        off = torch.where(known, (found - self.logits[rows]).abs(), torch.inf)
        width = found.shape[2]
        keys = [("logits", str(i), -1) for i in range(width)]
        share = batch.judge(keys, off, self.noise[rows], first=1)
        batch.record.numbers["logits"] += found.numel()
        judge_margin(batch, found, classes, self.margin)
        return share


def judge_margin(batch: Batch, found: Tensor, classes: Tensor, margin: float) -> None:
    """Hold the lead of the right logits against the proved margin.

    Args:
        batch: The words.
        found: ``(batch, time, classes)`` logits.
        classes: ``(batch, time)``: the right answers.
        margin: How far it must be ahead.
    """
    right = found.gather(2, classes[..., None])
    others = found.scatter(2, classes[..., None], -torch.inf).amax(dim=2)
    ahead = (right[..., 0] - others).nan_to_num(nan=-torch.inf, posinf=torch.inf)
    word, time = divmod(int(ahead.argmin()), ahead.shape[1])
    batch.note(("margin", "", -1), float(ahead.min()), margin, (word, time + 1))
    batch.record.numbers["margin"] += ahead.numel()
