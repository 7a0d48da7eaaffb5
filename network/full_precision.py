"""Products with all digits of their numbers, whatever torch is set to.

Proofs are about sums of whole products (A1 of docs/soundness.md). Settings of torch that
are meant for training allow others: TF32 keeps 10 bits of a float32 factor, on CPUs parts
of it may be bfloat16, and partial sums of 16-bit products may be rounded to 16 bits.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import torch

P = ParamSpec("P")
R = TypeVar("R")
FULL = "highest"
REDUCED = (
    "allow_bf16_reduced_precision_reduction",
    "allow_fp16_reduced_precision_reduction",
    "allow_fp16_accumulation",
)
"""Settings of products on CUDA that must be off; not all versions of torch have all."""


@contextmanager
def full_precision() -> Iterator[None]:
    """Turn off what makes products coarser; afterwards all is set as it was.

    The settings are those of the process, as torch has them: another thread that runs
    products meanwhile runs them with all digits, too.
    """
    backends: Any = torch.backends
    cuda, cudnn = backends.cuda.matmul, backends.cudnn
    switches = [(cuda, name) for name in REDUCED if hasattr(cuda, name)]
    before = [
        (holder, name, getattr(holder, name))
        for holder, name in (*switches, (cudnn, "allow_tf32"), *_precisions(backends))
    ]
    known = _precision()
    for holder, name in (*switches, (cudnn, "allow_tf32")):
        setattr(holder, name, False)
    torch.set_float32_matmul_precision(FULL)
    try:
        yield
    finally:
        if known is not None:
            torch.set_float32_matmul_precision(known)
        for holder, name, value in before:
            setattr(holder, name, value)


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


def in_full(method: Callable[P, R]) -> Callable[P, R]:
    """The method, with full precision; a graph that is being traced has no settings."""

    @wraps(method)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if torch.compiler.is_compiling():
            return method(*args, **kwargs)
        with full_precision():
            return method(*args, **kwargs)

    return run
