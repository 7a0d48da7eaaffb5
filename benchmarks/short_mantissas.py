"""A forward pass whose numbers have few digits: what log precision does to a network.

Yang et al. (2024), section 4.1, have numbers of O(log L) bits and round after every
operation. Here the result of every operation of torch is rounded, and what it adds up
within itself is not. Exponents stay as they are.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map

from krohn.network.cache import Cache
from krohn.network.meaning.attention import WRITE
from krohn.network.meaning.branches import Branches, Plan
from krohn.network.transformer import Transformer

DOUBLE = 53
"""Digits of float64, in which the numbers are held."""


class ShortMantissas(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within this context all float64 results have few digits; weights, see `shorten`.

    Attributes:
        digits: Binary digits of the significand, the leading one among them.
    """

    def __init__(self, digits: int) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.digits = digits

    def __torch_dispatch__(
        self,
        func: Any,
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        """The result of an operation, rounded where it is stored."""
        found = func(*args, **(kwargs or {}))
        aliases = [each.alias_info for each in func._schema.returns]
        if any(alias is not None and not alias.is_write for alias in aliases):
            return found  # another view of numbers that were rounded before
        return tree_map(lambda x: _round(x, self.digits), found)


def _round(x: Any, digits: int) -> Any:
    """A tensor rounded in place, ties to even (Dekker 1971: split at a digit)."""
    if not isinstance(x, Tensor) or x.dtype != torch.float64:
        return x
    far = x * (2.0 ** (DOUBLE - digits) + 1)
    return x.copy_(torch.where(far.isfinite(), far - (far - x), x))


def shorten(network: nn.Module, digits: int) -> None:
    """Give a network float64 weights of few digits; the file it is of stays as it is."""
    for weight in network.parameters():
        weight.data = _round(weight.data.clone(), digits)


def shorten_heads(network: Transformer, digits: int) -> None:
    """Make only the heads of a network compute with few digits, their weights included."""
    for attention in network.attention:
        shorten(attention, digits)
    start = network.start

    def with_plan(batch: int = 1) -> Cache:
        plan = Plan(network.net, partial(_ShortHeads, digits))
        return replace(start(batch), plan=plan)

    network.start = with_plan  # type: ignore[method-assign]


class _ShortHeads(Branches):
    """The engine of a pass whose heads have few digits."""

    def __init__(self, digits: int, *given: Any) -> None:
        super().__init__(*given)
        for name in ("project", "remember", "attend"):
            setattr(self, name, _within(getattr(self, name), digits))
        self.write = _within(super().contract, digits)

    def contract(self, axes: str, x: Tensor, y: Tensor) -> Tensor:
        """What heads write; the rest is a part of the others, and rounded there."""
        write: Tensor = (self.write if axes == WRITE else super().contract)(axes, x, y)
        return write


def _within(function: Callable[..., Any], digits: int) -> Callable[..., Any]:
    def rounded(*args: Any) -> Any:
        with ShortMantissas(digits):
            return function(*args)

    return rounded
