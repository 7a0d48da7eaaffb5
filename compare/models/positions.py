"""How a letter knows where it is: tables that are added, and penalties for distance."""

import math

import torch
from torch import Tensor, nn

BASE = 10_000.0
"""The longest wave of sinusoidal positions is 2π·10000 letters (Vaswani et al.)."""


def sinusoidal(count: int, width: int) -> Tensor:
    """``(count, width)``: sines in even columns, cosines in odd ones (Vaswani et al.).

    Column pair k turns by 10000^(−2k/width) at each position.
    """
    pairs = torch.arange(0, width, 2, dtype=torch.float64)
    turns = torch.arange(count, dtype=torch.float64)[:, None] * BASE ** (-pairs / width)
    both = torch.stack([turns.sin(), turns.cos()], dim=-1)
    return both.flatten(1)[:, :width].float()


def linear(count: int, width: int) -> Tensor:
    """``(count, width)``: position i is i/count along (1, −1, 1, −1, …).

    Proportional to i as in the thesis, section 3.4.5.2.4. The direction has mean zero,
    so that layer norm does not take it away.
    """
    share = torch.arange(count, dtype=torch.float64) / count
    signs = 1 - 2 * (torch.arange(width) % 2)
    return (share[:, None] * signs).float()


class Table(nn.Module):
    """Positions ``(…)`` to rows of a fixed table ``(…, width)``."""

    rows: Tensor

    def __init__(self, rows: Tensor) -> None:
        super().__init__()
        self.register_buffer("rows", rows, persistent=False)

    def forward(self, positions: Tensor) -> Tensor:
        """The rows of positions."""
        return self.rows[positions]


class NoPositions(nn.Module):
    """Positions ``(…)`` to zeros ``(…, 1)``, which add nothing to any width."""

    def forward(self, positions: Tensor) -> Tensor:
        """As many zeros as there are positions."""
        return torch.zeros((*positions.shape, 1), device=positions.device)


def slopes(heads: int) -> Tensor:
    """``(heads,)``: how much each head pays for a letter of distance (ALiBi).

    Press et al.: 2^(−8i/n) for i = 1..n if the number n of heads is a power of two;
    else those of the power of two below, and then every other one of the next.
    """
    whole = 2 ** int(math.log2(heads))
    first = [2.0 ** (-8 * i / whole) for i in range(1, whole + 1)]
    rest = [2.0 ** (-4 * i / whole) for i in range(1, 2 * whole + 1, 2)]
    return torch.tensor((first + rest)[:heads])


def penalties(heads: int, length: int, device: torch.device) -> Tensor:
    """``(1, heads, length, length)``: what ALiBi adds to scores; −∞ after the query."""
    at = torch.arange(length, device=device)
    distance = at[:, None] - at
    paid = -slopes(heads).to(device)[:, None, None] * distance
    return paid.masked_fill(distance < 0, -torch.inf)[None]
