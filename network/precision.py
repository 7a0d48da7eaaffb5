"""The number formats a model can be stored and run in, and the threads of their sums."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Precision:
    """A floating-point format, and the one its sums are accumulated in.

    Attributes:
        name: As torch calls it.
        code: As safetensors calls it.
        digits: Binary digits of the significand, the implicit one included.
        accumulator_digits: The same for the accumulator of dot products.
        largest: The largest finite number.
        smallest: The smallest positive normal number.
    """

    name: str
    code: str
    digits: int
    accumulator_digits: int
    largest: float
    smallest: float

    @property
    def unit(self) -> float:
        """The unit roundoff of a stored number."""
        return 2.0**-self.digits

    @property
    def accumulator_unit(self) -> float:
        """The unit roundoff inside a dot product."""
        return 2.0**-self.accumulator_digits

    def store(self, values: npt.ArrayLike) -> npt.NDArray[np.generic]:
        """``values`` rounded to this format, ties to even."""
        if self.code == "BF16":
            import ml_dtypes  # noqa: F401  (registers "bfloat16" with numpy)

        return np.asarray(values, dtype=np.float64).astype(self.name)

    def round(self, values: npt.ArrayLike) -> FloatArray:
        """The nearest numbers of this format, as float64 (which holds them all)."""
        return self.store(values).astype(np.float64)

    def normal(self, values: npt.ArrayLike) -> FloatArray:
        """The same, and 0 for what is no normal number: it may be flushed."""
        rounded = self.round(values)
        return np.where(np.abs(rounded) < self.smallest, 0.0, rounded)

    def decode(self, data: bytes) -> FloatArray:
        """The numbers stored in ``data``, on one axis, as float64."""
        if self.code == "BF16":  # the upper half of a float32
            halves = np.frombuffer(data, "<u2").astype("<u4") << 16
            return halves.view("<f4").astype(np.float64)
        return np.frombuffer(data, dtype=self.name).astype(np.float64)


FLOAT64 = Precision(
    "float64", "F64", 53, 53, float(np.finfo(np.float64).max), 2.0**-1022
)
FLOAT32 = Precision(
    "float32", "F32", 24, 24, float(np.finfo(np.float32).max), 2.0**-126
)
FLOAT16 = Precision("float16", "F16", 11, 24, 65504.0, 2.0**-14)
BFLOAT16 = Precision("bfloat16", "BF16", 8, 24, 2.0**128 - 2.0**120, 2.0**-126)

PRECISIONS = {p.name: p for p in (FLOAT64, FLOAT32, FLOAT16, BFLOAT16)}
BY_CODE = {p.code: p for p in PRECISIONS.values()}


def one_thread() -> AbstractContextManager[Any]:
    """A context in which the linear algebra of numpy uses one thread.

    Many products are small, and threads wait for one another. It also makes sums come out
    alike wherever they are added up. Without threadpoolctl the threads stay as they are:
    a proof holds for sums in any order.
    """
    controller = _controller()
    if controller is None:
        return nullcontext()
    limit: AbstractContextManager[Any] = controller.limit(limits=1, user_api="blas")
    return limit


@cache
def _controller() -> "ThreadpoolController | None":
    try:
        from threadpoolctl import ThreadpoolController
    except ModuleNotFoundError:
        return None
    return ThreadpoolController()


def _take_buffer() -> None:
    """Let OpenBLAS have its buffer: where it gets none later, it ends the process.

    That would say nothing, with the exit code of a verdict; numpy raises MemoryError.
    """
    few = np.ones((128, 128))  # smaller products need none on some processors
    np.dot(few, few)


_take_buffer()
