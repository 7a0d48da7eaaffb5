"""How a network is trained: every number of a run, and the regularisers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self, get_args

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import mse_loss

from krohn.algebra.automaton import Automaton, IntArray
from krohn.algebra.brackets import Brackets, as_brackets
from krohn.algebra.errors import KrohnError
from krohn.instruments.compare.models.network import (
    Network,
    RecurrentLayerNetwork,
)

# The balance regulariser: brackets that are closed again should change no answer.


@dataclass(frozen=True)
class Balance:
    """The mean squared change of logits by nested pairs in front (thesis, eq. 3.40).

    The number of pairs is uniform in 1..D for each batch, and their kinds are uniform
    for each word. The thesis writes a squared norm and calls it a mean; it is the mean
    here, so that the weight means the same at every length.

    Attributes:
        weight: Its share in the loss.

    Raises:
        KrohnError: If the weight is not above 0.
    """

    weight: float

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise KrohnError(f"balance has a weight above 0, not {self.weight}")

    def __call__(
        self,
        network: Network,
        letters: Tensor,
        logits: Tensor,
        front: IntArray,
        shift: int,
    ) -> Tensor:
        """The term of the loss.

        Args:
            network: The network in training.
            letters: Letter indices ``(count, length)``.
            logits: Its logits for these words.
            front: The letters to put in front, from `draw_nested_pairs`.
            shift: Where positions begin.
        """
        before = torch.from_numpy(front).to(letters.device)
        after = network(torch.cat([before, letters], dim=1), shift)
        return self.weight * mse_loss(
            after[:, front.shape[1] :].float(), logits.float()
        )


def draw_nested_pairs(
    brackets: Brackets, rng: np.random.Generator, count: int
) -> IntArray:
    """Nested pairs ``(count, 2r)`` of random kinds, r uniform in 1..depth."""
    pairs = int(rng.integers(1, brackets.depth + 1))
    kinds = rng.integers(brackets.kinds, size=(count, pairs))
    opening = [brackets.opens.index(kind) for kind in range(brackets.kinds)]
    closing = [brackets.closes.index(kind) for kind in range(brackets.kinds)]
    opened, closed = np.array(opening)[kinds], np.array(closing)[kinds[:, ::-1]]
    return np.concatenate([opened, closed], axis=1)


def stacks(machine: Automaton) -> Brackets:
    """The stacks that a machine keeps.

    Raises:
        KrohnError: If it keeps none, or does not start with the empty one.
    """
    brackets = as_brackets(machine)
    if brackets is None or brackets.stacks[machine.start] != ():
        raise KrohnError(
            f"balance is about brackets, and {machine.name} is no machine of brackets"
        )
    return brackets


# Attention sharpening: a loss that is small where heads look at few letters.


Form = Literal["entropy", "l2", "linf"]


@dataclass(frozen=True)
class Sharpening:
    """The mean of a concave function of each row of attention (thesis, section 3.5.3).

    Attributes:
        weight: Its share in the loss at its highest (thesis: 0.01 to 30).
        form: The entropy of the row, or minus its 2-norm or its largest entry.
        start: The step at which it sets in (thesis: 0, 2000 or 5000).
        rise: Steps over which it then rises linearly. (The thesis also lets it
            oscillate, and does not say how.)

    Raises:
        KrohnError: If a number makes no sense.
    """

    weight: float
    form: Form = "entropy"
    start: int = 0
    rise: int = 0

    def __post_init__(self) -> None:
        if not self.weight > 0:
            raise KrohnError(f"sharpening has a weight above 0, not {self.weight}")
        if self.start < 0 or self.rise < 0:
            raise KrohnError("sharpening starts and rises in no negative steps")
        if self.form not in get_args(Form):
            known = ", ".join(get_args(Form))
            raise KrohnError(f"forms of sharpening are {known}, not {self.form!r}")

    def strength(self, step: int) -> float:
        """Its share in the loss at a step, counted from 0."""
        if step < self.start:
            return 0.0
        passed = step - self.start + 1
        return self.weight * min(1.0, passed / max(self.rise, 1))

    def __call__(self, attention: Sequence[Tensor], step: int) -> Tensor:
        """The term of the loss.

        Args:
            attention: For each layer ``(count, heads, length, length)``.
            step: Counted from 0.

        Raises:
            KrohnError: If there is no attention.
        """
        if not attention:
            raise KrohnError("there is no attention to sharpen in this network")
        terms = [_FORMS[self.form](rows.float()).mean() for rows in attention]
        return self.strength(step) * torch.stack(terms).mean()


def _entropy(rows: Tensor) -> Tensor:
    # At 0, where a weight is masked, the slope is infinite.
    seen = rows.clamp_min(torch.finfo(rows.dtype).tiny)
    return -(seen * seen.log()).sum(dim=-1)


def _minus_2_norm(rows: Tensor) -> Tensor:
    return -rows.square().sum(dim=-1).sqrt()


def _minus_largest(rows: Tensor) -> Tensor:
    return -rows.amax(dim=-1)


_FORMS: dict[Form, Callable[[Tensor], Tensor]] = {
    "entropy": _entropy,
    "l2": _minus_2_norm,
    "linf": _minus_largest,
}


# Steadiness: a loss for noise that recurrent networks do not forget.


@dataclass(frozen=True)
class Steadiness:
    """The mean squared distance that noise makes after the next letter; ours.

    Each word is read twice, the second time with Gaussian noise on all that is remembered
    after each letter. Both answers enter the loss, and how far apart both readings are,
    in units of the squared noise. Half of the words have runs and biases of their own
    (`Varied` of `tasks.letters`). A network that forgets noise can be proved for
    words of every length (docs/architectures/gated.md).

    From `start` on, the words of every second batch go on after others, which are read
    without noise and gradients (a truncated gradient, Williams and Peng 1990): so errors
    that long runs make slowly are seen at the cost of short words. Where the answer just
    before is wrong, no later one counts.

    Attributes:
        weight: Its share in the loss at its highest; 0 for noise alone.
        noise: The standard deviation.
        start: The share of training after which it sets in: a network learns first.
        rise: The share of training over which it then rises linearly.
        before: The most letters that are read before the words of a batch.
        shortest: Letters of words at first; they get longer until `start`. None for as
            many as the recipe says from the first batch on.

    Raises:
        KrohnError: If a number makes no sense.
    """

    weight: float
    noise: float = 0.1
    start: float = 0.4
    rise: float = 0.3
    before: int = 0
    shortest: int | None = None

    def __post_init__(self) -> None:
        if not self.noise > 0:
            raise KrohnError(f"noise must be above 0, not {self.noise!r}")
        for name in ("weight", "start", "rise", "before"):
            if not getattr(self, name) >= 0:
                raise KrohnError(f"{name} must not be negative: {getattr(self, name)}")

    def strength(self, passed: float) -> float:
        """Its share in the loss after a share of training."""
        risen = (passed - self.start) / max(self.rise, 1e-9)
        return self.weight * min(1.0, max(0.0, risen))

    def length(self, passed: float, length: int) -> int:
        """Letters of words after a share of training, of which `length` come at last."""
        if self.shortest is None or passed >= self.start:
            return length
        return round(self.shortest + (length - self.shortest) * passed / self.start)

    def read_before(self, passed: float, rng: np.random.Generator) -> int:
        """How many letters are read before a batch, after a share of training."""
        if passed < self.start or rng.random() < 0.5:
            return 0
        return int(rng.integers(self.before + 1))

    def __call__(
        self,
        network: Network,
        letters: Tensor,
        passed: float,
        memory: list[Tensor] | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Logits of both readings ``(2·count, length, classes)``, and the term of the loss.

        Args:
            network: The network in training.
            letters: Letter indices ``(count, length)``.
            passed: The share of training that is done.
            memory: What the network remembers before; None for nothing.

        Raises:
            KrohnError: If the network is of another kind.
        """
        if not isinstance(network, RecurrentLayerNetwork):
            raise KrohnError("steadiness is about networks of one recurrent layer")
        logits, apart = network.read_with_noise(letters, self.noise, memory)
        return logits, self.strength(passed) * apart


# How a network is trained: every number that a run depends on, the seed apart.


Format = Literal["float32", "bfloat16"]
Decay = Literal["linear", "cosine", "constant", "halving"]


@dataclass(frozen=True)
class Recipe:
    """Online training with AdamW on fresh batches (thesis, section 3.4.5.1.1).

    Attributes:
        steps: Batches, each drawn anew.
        batch: Words in each.
        length: Letters in each word.
        rate: The learning rate at its highest.
        warmup: Steps over which it rises linearly from zero.
        decay: ``"linear"`` to zero at the last step, ``"cosine"``, ``"constant"``, or
            ``"halving"`` after each fifth of the steps.
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
        steadiness: What makes recurrent networks forget noise; None for nothing.
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
    steadiness: Steadiness | None = None
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

    def for_trial(self, steps: int) -> tuple[Self, tuple[int, ...]]:
        """A recipe of a few steps on words of each length that it trains on.

        Returns:
            It, and for each length, in turn, how many steps the whole training has.
        """
        short = replace(self, steps=steps, warmup=min(self.warmup, steps), every=steps)
        return short, (self.steps,)

    def _check_names(self) -> None:
        if self.decay not in get_args(Decay):
            known = ", ".join(get_args(Decay))
            raise KrohnError(f"the learning rate decays {known}, not {self.decay!r}")
        if self.format not in get_args(Format):
            known = ", ".join(get_args(Format))
            raise KrohnError(f"formats are {known}, not {self.format!r}")
        if self.scratchpad and self.balance:
            raise KrohnError("balance is about networks without a scratchpad")
        if self.steadiness and (self.scratchpad or self.sharpening or self.balance):
            raise KrohnError(
                "steadiness is for recurrent layers: no scratchpad, sharpening or balance"
            )

    @property
    def reads(self) -> int:
        """The longest word that is asked for, in training or later."""
        return max(self.length, self.longest or 0)
