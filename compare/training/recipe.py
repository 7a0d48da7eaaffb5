"""How a network is trained: every number that a run depends on, the seed apart."""

from dataclasses import dataclass
from typing import Literal, get_args

from krohn.algebra.errors import KrohnError
from krohn.compare.training.balance import Balance
from krohn.compare.training.sharpening import Sharpening

Format = Literal["float32", "bfloat16"]
Decay = Literal["linear", "cosine", "constant"]


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
        longest: The longest word that the network gets positions for; None for the
            length.
        scratchpad: The network reads its own answers between the letters.
        sharpening: What makes attention sharp (section 3.5.3); None for nothing.
        balance: What makes attention to brackets balanced (section 3.6.3.2); None for
            nothing.
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
    decay: Decay = "linear"
    weight_decay: float = 1e-4
    betas: tuple[float, float] = (0.9, 0.999)
    clip: float | None = 1.0
    average: float = 0.9
    shift: int = 0
    longest: int | None = None
    scratchpad: bool = False
    sharpening: Sharpening | None = None
    balance: Balance | None = None
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
        for name in ("rate", "weight_decay", "warmup", "shift"):
            if not getattr(self, name) >= 0:
                raise KrohnError(f"{name} must not be negative: {getattr(self, name)}")
        if not 0 <= self.average < 1:
            raise KrohnError(f"an average decays by a number in [0, 1): {self.average}")
        if self.clip is not None and not self.clip > 0:
            raise KrohnError(f"clip must be above 0, or None, not {self.clip}")
        self._check_names()

    def _check_names(self) -> None:
        if self.decay not in get_args(Decay):
            known = ", ".join(get_args(Decay))
            raise KrohnError(f"the learning rate decays {known}, not {self.decay!r}")
        if self.format not in get_args(Format):
            known = ", ".join(get_args(Format))
            raise KrohnError(f"formats are {known}, not {self.format!r}")
        if self.scratchpad and self.balance:
            raise KrohnError("balance is about networks without a scratchpad")

    @property
    def reads(self) -> int:
        """The longest word that is asked for, in training or later."""
        return max(self.length, self.longest or 0)
