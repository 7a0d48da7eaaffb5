"""How a network is trained: every number that a run depends on, the seed apart."""

from dataclasses import dataclass
from typing import Literal

from algebra.errors import KrohnError

Format = Literal["float32", "bfloat16"]


@dataclass(frozen=True)
class Recipe:
    """Online training with AdamW on fresh batches (thesis, section 3.4.5.1.1).

    Attributes:
        steps: Batches, each drawn anew.
        batch: Words in each.
        length: Letters in each word.
        rate: The learning rate at its highest.
        warmup: Steps over which it rises linearly from zero.
        decay: ``"linear"`` to zero at the last step, ``"cosine"``, or ``"constant"``.
        weight_decay: Of AdamW.
        betas: Of AdamW.
        clip: The largest norm of a gradient; None for no limit.
        average: Decay of the exponential moving average of the weights that is measured
            (thesis: 0.9); 0 for none.
        shift: Positions are shifted by a number drawn from 0..shift for each batch
            (thesis, section 3.4.5.2.3: 400).
        scratchpad: The network reads its own answers between the letters.
        sharpening: Weight of the mean entropy of attention in the loss (section 3.5.3).
        balance: Weight of the Dyck balance regulariser (section 3.6.3.2).
        stop_at: Token accuracy on `probe` fresh words at which training stops; None for
            never.
        every: Steps between evaluations and checkpoints.
        probe: Words of an evaluation during training.
        format: Number format of the forward pass; weights stay in float32.

    Raises:
        KrohnError: If a number makes no sense.
    """

    steps: int = 2000
    batch: int = 32
    length: int = 32
    rate: float = 1e-3
    warmup: int = 50
    decay: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: float = 1e-4
    betas: tuple[float, float] = (0.9, 0.999)
    clip: float | None = 1.0
    average: float = 0.9
    shift: int = 0
    scratchpad: bool = False
    sharpening: float = 0.0
    balance: float = 0.0
    stop_at: float | None = None
    every: int = 100
    probe: int = 256
    format: Format = "float32"

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "length", "every", "probe"):
            if getattr(self, name) < 1:
                raise KrohnError(
                    f"{name} must be at least 1, not {getattr(self, name)}"
                )
        for name in (
            "rate",
            "weight_decay",
            "warmup",
            "shift",
            "sharpening",
            "balance",
        ):
            if getattr(self, name) < 0:
                raise KrohnError(f"{name} must not be negative: {getattr(self, name)}")
        if not 0 <= self.average < 1:
            raise KrohnError(f"an average decays by a number in [0, 1): {self.average}")
