"""Targets of attention from functions: their tables, and the moduli of these."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypedDict, Unpack

import numpy as np

from krohn.kinds.attention_targets.source_target import (
    NODES,
    AttentionTarget,
    decompose,
    gauss_legendre,
)
from krohn.kinds.attention_targets.statement_target import (
    MOST_POINTS,
    MOST_RANK,
    Moduli,
    OuterFunction,
    is_power,
)
from krohn.program.domains import FloatArray, IntArray
from krohn.program.errors import Refused, demand, told_as
from krohn.program.user_input import real_array

# Targets whose singular values are chosen: sums of sines.
#
# ρ(u, v) = Σ_{i ≤ r} i^(−α) φ_i(u) ψ_i(v), with φ_i = √2 sin 2πi·; F and f are the
# identity (Jiang & Li, section 5.1). `benchmarks/truncated_couplings.py` measures how
# cutting ρ errs.


@dataclass(frozen=True)
class SineSeries:
    """A coupling of one-dimensional inputs.

    Attributes:
        decay: α: singular value i is i^(−α).
        rank: r.
        scramble: ψ_i is the sine of index ((i − 1) xor scramble) + 1; 0 makes ψ_i = φ_i.
    """

    decay: float
    rank: int
    scramble: int = 0

    def __post_init__(self) -> None:
        demand(self.decay > 0.5, "ρ is no function of finite norm unless α > 1/2")
        demand(self.rank >= 1, "a series has a term at least")
        demand(self.scramble >= 0, "indices are changed by a bitwise xor")

    @property
    def indices(self) -> IntArray:
        """``(r,)``: 1, 2, …."""
        return np.arange(1, self.rank + 1)

    @property
    def sigma(self) -> FloatArray:
        """``(r,)``: the singular values."""
        return np.asarray(self.indices**-self.decay, dtype=np.float64)

    def phi(self, points: FloatArray) -> FloatArray:
        """``(…, r)``: the bases on the side of queries."""
        return _sines(points, self.indices)

    def psi(self, points: FloatArray) -> FloatArray:
        """``(…, r)``: the bases on the side of keys."""
        return _sines(points, ((self.indices - 1) ^ self.scramble) + 1)

    def __call__(self, u: FloatArray, v: FloatArray) -> FloatArray:
        """``(a, b)``: ρ at points ``(a, 1)`` and ``(b, 1)``."""
        return (self.phi(u[:, 0]) * self.sigma) @ self.psi(v[:, 0]).T

    def logits(self, inputs: FloatArray, terms: int | None = None) -> FloatArray:
        """``(count, τ, τ)``: ρ of each pair of inputs ``(count, τ)``, cut after terms."""
        kept = slice(0, terms)
        left = self.phi(inputs)[..., kept] * self.sigma[kept]
        return left @ self.psi(inputs)[..., kept].swapaxes(1, 2)

    def outputs(self, inputs: FloatArray, terms: int | None = None) -> FloatArray:
        """``(count, τ)``: H_t of inputs ``(count, τ)``, with ρ cut after terms."""
        return aggregate(self.logits(inputs, terms), inputs)


def _sines(points: FloatArray, indices: IntArray) -> FloatArray:
    values: FloatArray = np.sqrt(2) * np.sin(2 * np.pi * indices * points[..., None])
    return values


def aggregate(logits: FloatArray, values: FloatArray) -> FloatArray:
    """``(count, τ)``: the means of values ``(count, τ)`` by softmax of logits."""
    weights = np.exp(logits - logits.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    means: FloatArray = np.einsum("bts,bs->bt", weights, values)
    return means


# Targets of attention from functions: their tables, and the moduli of these.


Function = Callable[..., Any]
Bounds = Mapping[str, float]
POINTS = 2048
"""With so many pieces the tables of named targets are far finer than their networks."""


class TargetKeywords(TypedDict, total=False):
    """The keywords of `attention_target` beside its functions: fields of `Given`."""

    lipschitz: Bounds | None
    second_derivatives: Bounds | None
    rank: int | None
    knots: int | None
    causal: bool
    name: str


@dataclass(frozen=True)
class Given:
    """All that a target states beside its functions.

    Attributes:
        lipschitz: Of ``rho`` (along each axis), ``f``, ``F``: how steep they are at most.
        second_derivatives: Likewise: how large their second derivatives are at most, of ρ
            those along each axis.
        rank: m_h of the network; chosen if absent.
        knots: The pieces of the network's functions; chosen if absent.
        causal: Whether position t sees s ≤ t only.
        name: The name of the target.
    """

    lipschitz: Bounds | None = None
    second_derivatives: Bounds | None = None
    rank: int | None = None
    knots: int | None = None
    causal: bool = False
    name: str = "target"

    def modulus(
        self, what: str, table: FloatArray, step: float, axes: int = 1
    ) -> float:
        """How far a function is from the interpolant of its samples at most.

        Raises:
            Refused: If neither bound of it is given, or the samples contradict it.
        """
        curved, steep = self.second_derivatives or {}, self.lipschitz or {}
        if what in curved:
            bound = float(curved[what])
            _demand_kept(f"second_derivatives of {what}", bound, table, step, 2, axes)
            return axes * bound * step**2 / 8
        demand(what in steep, f"say lipschitz= or second_derivatives= of {what!r}")
        bound = float(steep[what])
        _demand_kept(f"lipschitz of {what}", bound, table, step, 1, axes)
        return axes * bound * step / 2


def attention_target(
    *,
    rho: Function | FloatArray,
    f: Function | FloatArray | None = None,
    F: Function | None = None,
    length: int = 16,
    points: int = POINTS,
    **options: Unpack[TargetKeywords],
) -> AttentionTarget:
    """A target of attention, H_t(x) = F(Σ_s softmax_s[ρ(x(t), x(s))] f(x(s))).

    Args:
        rho: ρ, of points ``(a, 1)`` and ``(1, b)`` of [0, 1] to logits ``(a, b)``; or its
            values ``(N + 1, N + 1)`` at k/N, N a power of two.
        f: Of points ``(a,)`` to ``(a,)`` or ``(a, n)``; or values ``(N + 1, n)``. None for
            the identity.
        F: Of numbers ``(a,)`` to ``(a,)``, applied to each of the n; None for the identity.
            No table: it is asked on a range that f and its bound make.
        length: τ: the most vectors of an input.
        points: N, where functions are sampled; a power of two.
        **options: Bounds of the functions, and what its network is like, by the names in
            `krohn.kinds.attention_targets.source_sampling.Given`.

    What a function is between the points must be bounded: for each one that is not a table
    one of the two bounds is needed. A function that is L-Lipschitz is within L·h/2 of its
    interpolant at steps h, one whose second derivative is at most M within M·h²/8.

    Raises:
        Refused: If a bound is missing or the samples contradict it, or a function gives no
            such numbers.

    Examples:
        >>> krohn.attention_target(rho=lambda x, y: x * y, lipschitz={"rho": 1}, length=4)
        <AttentionTarget target: 4 vectors, 2048 pieces>
    """
    given = Given(**options)
    size = len(rho) - 1 if isinstance(rho, np.ndarray) else points
    demand(size > 1 and is_power(size), "a grid has 2, 4, 8, … pieces")
    demand(size <= MOST_POINTS, f"a grid has at most {MOST_POINTS} pieces")
    grid = np.arange(size + 1) / size
    _check_bounds(given.lipschitz, given.second_derivatives, rho=rho, f=f, F=F)
    left, right, of_rho = _coupling(rho, given, grid)
    inner = grid if f is None else _sample_function("f", f, grid) if callable(f) else f
    inner = real_array(inner, "f")
    demand(inner.ndim > 0, "f must give a number, or a row, for each x")
    values = inner.reshape(len(inner), -1)
    of_f = given.modulus("f", values, 1 / size) if callable(f) else 0.0
    outer = None if F is None else _outer(F, values, of_f, size)
    of_F = 0.0 if outer is None else given.modulus("F", outer.values, outer.step)
    moduli, of_network = Moduli(of_rho, of_f, of_F), (given.rank, given.knots)
    parts = (left, right, values, outer, moduli)
    return AttentionTarget(given.name, length, *parts, given.causal, *of_network)


def _coupling(
    rho: Function | FloatArray, given: Given, grid: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """The factors of ρ, and how far it can be from their product anywhere."""
    coupled, size, off = rho, len(grid) - 1, 0.0
    if callable(rho):
        coupled = _sample_function("rho", rho, grid[:, None], grid[None, :])
        demand(coupled.shape == (size + 1,) * 2, "rho must give a row for each u")
        off = given.modulus("rho", coupled, 1 / size, axes=2)
    left, right, missed = _factors(rho, real_array(coupled, "rho"), grid)
    return left, right, off + missed


def _check_bounds(
    lipschitz: Bounds | None, second_derivatives: Bounds | None, **functions: Any
) -> None:
    """Refuse a bound of what is no function here, or that is no number; and a table F.

    Raises:
        Refused: With the functions that there are.
    """
    outer = functions["F"]
    demand(
        outer is None or callable(outer),
        "F is a function, no table: write F=lambda a: np.interp(a, points, values), with "
        "its lipschitz=",
    )
    bounds = {"lipschitz": lipschitz, "second_derivatives": second_derivatives}
    needing = [name for name, each in functions.items() if callable(each)]
    for called, bounds_by_name in bounds.items():
        demand(
            bounds_by_name is None or isinstance(bounds_by_name, Mapping),
            f'{called}= is a dict, as {{"rho": 1.0}}',
        )
        for what, bound in (bounds_by_name or {}).items():
            known = ", ".join(needing) or "none"
            demand(
                what in needing,
                f"{called}= says a bound of {what!r}; the functions that need one "
                f"here: {known}",
            )
            number = isinstance(bound, Real) and not isinstance(bound, bool)
            demand(
                number and bound >= 0,
                f"{called}= of {what} is a number from 0 on, not {bound!r}",
            )


def _sample_function(what: str, function: Function, *points: FloatArray) -> FloatArray:
    """A function at points ``(a,)``, or at those of a grid of two axes.

    Raises:
        Refused: If it takes no arrays, or is not finite; the message says where.
    """
    try:
        with np.errstate(all="ignore"):  # what is not finite is told by name
            result = function(*points)
    except (TypeError, ValueError) as reason:
        raise Refused(
            f"{what} takes no arrays: write it with numpy ({reason})"
        ) from None
    values = real_array(result, what)
    bad = np.argwhere(~np.isfinite(values))
    if not len(bad):
        return values
    shape = np.broadcast_shapes(*(x.shape for x in points))
    here = ""
    if values.shape[: len(shape)] == shape:
        spots = (np.broadcast_to(x, shape)[tuple(bad[0])[: len(shape)]] for x in points)
        names = ("u", "v") if len(points) == 2 else ("x",)
        coordinates = zip(names, spots, strict=True)
        here = " at " + ", ".join(f"{name} = {float(x):g}" for name, x in coordinates)
    raise Refused(f"{what} is not finite{here}")


ROUNDED = 2.0**-40
"""Samples may be off by this much of the largest: some thousand roundings."""


def _demand_kept(
    what: str, bound: float, table: FloatArray, step: float, order: int, axes: int
) -> None:
    """Refuse a bound of derivatives that the differences of samples are beyond.

    A difference of so high an order is step^order times a derivative somewhere between.

    Raises:
        Refused: With the derivative that was found.
    """
    steps = (np.diff(table, order, axis=axis) for axis in range(axes))
    largest = max(float(np.abs(x).max(initial=0.0)) for x in steps) / step**order
    slack = ROUNDED * (bound + float(np.abs(table).max()) * 2**order / step**order)
    demand(
        largest <= bound + slack,
        f"{what}: at most {bound:g} is said, and the samples show {largest:.4g}",
    )


def _factors(
    rho: Function | FloatArray, values: FloatArray, grid: FloatArray
) -> tuple[FloatArray, FloatArray, float]:
    """Two matrices whose product is ρ on the grid, and by how much it is not."""
    if callable(rho):

        def coupling(u: FloatArray, v: FloatArray) -> FloatArray:
            return real_array(rho(u, v.T), "rho")

        pod = decompose(coupling, gauss_legendre(NODES))
        terms, at = min(pod.rank, MOST_RANK), grid[:, None]
        root = np.sqrt(pod.sigma[:terms])
        left, right = pod.phi(at, terms) * root, pod.psi(at, terms) * root
    else:
        demand(values.ndim == 2 and len(values) == values.shape[1], "ρ is no table")
        one, sigma, other = np.linalg.svd(values)
        terms = min(MOST_RANK, max(int((sigma > sigma[0] * 2.0**-48).sum()), 1))
        root = np.sqrt(sigma[:terms])
        left, right = one[:, :terms] * root, other[:terms].T * root
    missed = float(np.abs(left @ right.T - values).max())
    scale = float((np.abs(left) @ np.abs(right).T).max())
    return left, right, missed + 2 * terms * 2.0**-53 * scale


def _outer(F: Function, values: FloatArray, off: float, size: int) -> OuterFunction:
    """F at as many points as ρ has, of a range that all means of f are in."""
    low, high = float(values.min()) - off, float(values.max()) + off
    step = 2.0 ** np.ceil(np.log2(max(high - low, 2.0**-20) / size))
    first = np.floor(low / step)
    count = int(np.ceil(high / step) - first) + 1
    samples = _sample_function("F", F, step * (first + np.arange(count)))
    demand(samples.shape == (count,), "F must give a number for each number")
    return OuterFunction(first * step, step, np.tile(samples[:, None], values.shape[1]))


_NAME = re.compile(r"Sine(\d+),(\d+(?:\.\d+)?)(?::(.+))?")
_USUAL = {"length": 16, "points": POINTS, "rank": None, "knots": None, "scramble": 0}


def find_by_name(text: str) -> AttentionTarget | None:
    """The target of a name such as ``Sine6,1.5:length=16,knots=256``.

    ``SineR,A`` has F = f = id and the coupling `SineSeries` of rank R and decay A.

    Raises:
        Refused: If an option is unknown, or a number is out of range.
    """
    if not text.startswith("Sine"):
        return None
    match = _NAME.fullmatch(text)
    demand(
        match is not None,
        f"{text!r} is no name: say SineR,A or SineR,A:OPTION=N,…, rank R and exponent A, "
        f"options {', '.join(_USUAL)}",
    )
    assert match is not None
    options: dict[str, int | None] = dict(_USUAL)
    for part in match[3].split(",") if match[3] else []:
        option, _, number = part.partition("=")
        demand(option in options and number.isdecimal(), f"{text}: what is {part!r}?")
        options[option] = int(number)
    with told_as(Refused, f"{text}: "):
        scramble = options.pop("scramble") or 0
        series = SineSeries(float(match[2]), int(match[1]), scramble)
        return _of_series(series, text, **options)


def _of_series(
    series: SineSeries,
    name: str,
    length: int | None,
    points: int | None,
    rank: int | None,
    knots: int | None,
) -> AttentionTarget:
    """A series with tables that are its own factors; F and f are the identity."""
    assert length is not None
    assert points is not None
    demand(series.rank <= MOST_RANK, f"a rank lies between 1 and {MOST_RANK}")
    demand(2 <= points <= MOST_POINTS, f"2 to {MOST_POINTS} points")
    grid = np.arange(points + 1) / points
    root = np.sqrt(series.sigma)
    waves = series.indices, ((series.indices - 1) ^ series.scramble) + 1
    curve = sum(float((series.sigma * 2 * (2 * np.pi * i) ** 2).sum()) for i in waves)
    steep = 2 * np.pi * float((series.sigma * waves[1]).sum())
    # What numpy's sines are off by, and the argument of a steep one.
    rounded = 2.0**-50 * (float(series.sigma.sum()) + steep)
    return AttentionTarget(
        name,
        length,
        series.phi(grid) * root,
        series.psi(grid) * root,
        grid[:, None],
        moduli=Moduli(rho=curve / (8 * points**2) + rounded),
        rank=rank,
        knots=knots,
    )
