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

from krohn.network import ModelFileError
from krohn.network.meaning.attention import WRITE
from krohn.network.meaning.branches import Branches, Plan
from krohn.network.recurrent import Stepping
from krohn.network.transformer import Attention, Transformer

DOUBLE = 53
"""Digits of float64, in which the numbers are held."""


class ShortMantissas(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within this context all float64 results have few digits.

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
        result = func(*args, **(kwargs or {}))
        aliases = [each.alias_info for each in func._schema.returns]
        if any(alias is not None and not alias.is_write for alias in aliases):
            return result  # another view of numbers that were rounded before
        return tree_map(lambda x: _round(x, self.digits), result)


def _round(x: Any, digits: int) -> Any:
    """A tensor rounded in place, ties to even (Dekker 1971: split at a digit)."""
    if not isinstance(x, Tensor) or x.dtype != torch.float64:
        return x
    far = x * (2.0 ** (DOUBLE - digits) + 1)
    return x.copy_(torch.where(far.isfinite(), far - (far - x), x))


def has_heads(network: nn.Module) -> bool:
    """Whether a network has heads, which may be all that rounds."""
    parts = network.attention if isinstance(network, Transformer) else ()
    return any(isinstance(each, Attention) for each in parts)


def shorten(network: nn.Module, digits: int, in_heads: bool = False) -> None:
    """Make an open network compute with few digits, letter by letter, weights included.

    Args:
        network: It is changed; the file that it was opened from is not.
        digits: Binary digits of a significand, 1 to 53.
        in_heads: Whether only its heads round.

    Raises:
        ModelFileError: If it does not read letter by letter.
    """
    if not isinstance(network, Transformer | Stepping) or not getattr(
        network, "causal", True
    ):
        raise ModelFileError(
            "few digits are for networks that say classes or texts, letter by letter"
        )
    network.double()
    own: Any = network  # whose methods are replaced
    start = network.start
    if in_heads:
        assert isinstance(network, Transformer)
        for attention in network.attention:
            _shorten_weights(attention, digits)
        plan = partial(_plan_of_heads, network, digits)
        own.start = lambda batch=1: replace(start(batch), plan=plan())
        return
    _shorten_weights(network, digits)
    own.start, own.step = _within(start, digits), _within(network.step, digits)


def _shorten_weights(module: nn.Module, digits: int) -> None:
    for weight in module.parameters():
        weight.data = _round(weight.data.clone(), digits)


def _plan_of_heads(network: Transformer, digits: int) -> Plan:
    return Plan(network.net, partial(_ShortHeads, digits))


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
