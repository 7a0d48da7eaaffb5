"""The settings of a forward pass: hooks, all digits of products, threads, no dropout."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import wraps
from threading import Lock, local
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

from krohn.network import ModelFileError
from krohn.program.quoting import kind_of_value

Hook = Callable[[Tensor], Tensor | None]
"""Takes what stands at a place, and returns another, or None to leave it."""


@dataclass(frozen=True)
class Hooks:
    """Functions at places by name, each called when its place is reached.

    Attributes:
        at: For each place its functions, in order.
    """

    at: Mapping[str, Iterable[Hook]] = field(default_factory=dict)

    def __call__(self, place: str, value: Tensor) -> Tensor:
        """The value at a place after its hooks.

        Raises:
            ModelFileError: If a function returns what does not fit there.
        """
        for hook in self.at.get(place, ()):
            replacement = hook(value)
            if replacement is None:
                continue
            if not isinstance(replacement, Tensor) or replacement.shape != value.shape:
                raise unfit(place, replacement, value)
            value = replacement.to(value)
        return value

    def asks(self, place: str) -> bool:
        """Whether there is a function at a place."""
        return place in self.at

    def check(self, known: Collection[str]) -> None:
        """Refuse places that there are not.

        Raises:
            ModelFileError: If there is one.
        """
        for place in self.at:
            if place not in known:
                raise ModelFileError(
                    f"there is no place {place!r}; `model.hook_places()` lists them"
                )


def unfit(place: str, given: object, there: Tensor) -> ModelFileError:
    """The error of a hook that returned what does not fit at its place."""
    what = kind_of_value(given)
    if isinstance(given, Tensor):
        what = f"a tensor {tuple(given.shape)}"
    return ModelFileError(
        f"the hook at {place} returned {what}; there stands a tensor {tuple(there.shape)}"
    )


# All digits of numbers, whatever torch is set to.
#
# Proofs are about sums of whole products, and gates within a few units of roundoff (A1
# and A14 of docs/soundness.md). Settings of torch that are meant for training allow
# others: TF32 keeps 10 bits of a float32 factor, on CPUs parts of it may be bfloat16,
# partial sums of 16-bit products may be rounded to 16 bits, autocast makes products of
# numbers of 16 bits instead, and cuDNN has gates of its own.


P = ParamSpec("P")
R = TypeVar("R")
FULL = "highest"
REDUCED = (
    "allow_bf16_reduced_precision_reduction",
    "allow_fp16_reduced_precision_reduction",
    "allow_fp16_accumulation",
)
"""Settings of products on CUDA that must be off; not all versions of torch have all."""
LIBRARY = ("allow_tf32", "enabled")
"""Those of cuDNN, whose hyperbolic tangent of float32 is off by up to 132 units of
roundoff (an H200, cuDNN 9): torch's own kernels meet A14."""
DEVICES = ("cpu", "cuda")
"""Where operations may be in another format than their numbers (`torch.autocast`)."""


_within = local()
"""Whether a thread is in `full_precision` already: to set all again for each letter of a
text would take longer than the letter."""


class _Running:
    """How many threads of the process run networks, and what puts its settings back."""

    def __init__(self) -> None:
        self.lock, self.threads = Lock(), 0
        self.put_back: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """One more; the first turns off what makes numbers coarser."""
        with self.lock:
            if not self.threads:
                self.put_back = _turned_off()
            self.threads += 1

    def end(self) -> None:
        """One less; the last puts the settings back."""
        with self.lock:
            self.threads -= 1
            if not self.threads:
                self.put_back()


_running = _Running()


@contextmanager
def full_precision() -> Iterator[None]:
    """Turn off what makes numbers coarser; afterwards all is set as it was.

    The settings are those of the process, as torch has them: another thread that runs
    products meanwhile runs them with all digits, too. Within this context it does nothing.
    """
    if getattr(_within, "full", False):
        yield
        return
    _running.begin()
    _within.full = True
    try:
        with ExitStack() as plain:
            for device in filter(torch.is_autocast_enabled, DEVICES):
                plain.enter_context(torch.autocast(device, enabled=False))
            yield
    finally:
        _within.full = False
        _running.end()


def _turned_off() -> Callable[[], None]:
    """Turn off settings of the process; the function puts them back."""
    backends: Any = torch.backends
    cuda, cudnn = backends.cuda.matmul, backends.cudnn
    switches = [(cuda, name) for name in REDUCED if hasattr(cuda, name)]
    switches += [(cudnn, name) for name in LIBRARY]
    before = [
        (holder, name, getattr(holder, name))
        for holder, name in (*switches, *_precisions(backends))
    ]
    known = _precision()
    for holder, name in switches:
        setattr(holder, name, False)
    torch.set_float32_matmul_precision(FULL)

    def put_back() -> None:
        if known is not None:
            torch.set_float32_matmul_precision(known)
        for holder, name, value in before:
            setattr(holder, name, value)

    return put_back


def _precisions(backends: Any) -> list[tuple[Any, str]]:
    """Where versions of torch from 2.9 on say the precision, too."""
    holders, name = (backends.cuda.matmul, backends.mkldnn), "fp32_precision"
    if not hasattr(holders[0], name):
        return []
    return [(holders[0], name), (holders[1].matmul, name)]


def _precision() -> str | None:
    """The precision of float32; None if it was said where `_precisions` reads it."""
    try:
        return torch.get_float32_matmul_precision()
    except RuntimeError:
        return None


def _is_set_already() -> bool:
    """Whether all is off: to turn it off, and on again, takes as long as a short pass.

    Settings of GPUs do not matter where none is in use. What another thread will put back
    is as good as on.
    """
    cuda: Any = torch.cuda
    return not (
        _running.threads
        or cuda.is_initialized()
        or any(map(torch.is_autocast_enabled, DEVICES))
        or _precision() != FULL
    )


def in_full(method: Callable[P, R]) -> Callable[P, R]:
    """The method, with full precision; a graph that is being traced has no settings."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        within = getattr(_within, "full", False) or torch.compiler.is_compiling()
        if within or _is_set_already():
            return method(*args, **kwargs)
        with full_precision():
            return method(*args, **kwargs)

    return run


@contextmanager
def threads(count: int) -> Iterator[None]:
    """A context in which torch uses so many threads; also a decorator.

    Steps of one letter are so small that threads wait for one another, on a busy machine
    for most of the time.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def evaluation_mode(network: object) -> Iterator[None]:
    """A torch module in evaluation mode; afterwards each of its parts as it was.

    Anything else is left alone.
    """
    parts = list(network.modules()) if isinstance(network, nn.Module) else []
    training = [part.training for part in parts]
    if isinstance(network, nn.Module):
        network.eval()
    try:
        yield
    finally:
        for part, was in zip(parts, training, strict=True):
            part.training = was
