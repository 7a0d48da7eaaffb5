"""The table of a comparison: a row for each measure, a column for each model."""

from collections.abc import Callable
from dataclasses import dataclass

from krohn.compare.measures.rates import Rate, Spread
from krohn.comparison.headline import percent
from krohn.comparison.model_results import COMPILED, ModelResult, SeedResult, Size
from krohn.comparison.result import Comparison


@dataclass(frozen=True)
class Entry:
    """What stands in a cell: a number, and below it in small what it rests on."""

    main: str
    small: str = ""


@dataclass(frozen=True)
class Measure:
    """A row."""

    title: str
    entries: tuple[Entry, ...]


def summary(found: Comparison) -> tuple[Measure, ...]:
    """The rows, each with an entry for each model."""
    ways: dict[str, Callable[[ModelResult], Entry]] = {
        "token accuracy": lambda c: _share(c, lambda o: o.token, c.token),
        "sequence accuracy": lambda c: _share(c, lambda o: o.sequence, c.sequence),
        "proved": lambda c: _proved(found, c),
        "first failing word": _failing,
        "parameters": lambda c: _size(c, lambda s: f"{s.parameters:,}"),
        "layers": lambda c: _size(
            c, lambda s: "–" if s.depth is None else f"{s.depth}"
        ),
        "FLOPs per word": lambda c: _size(c, lambda s: amount(s.flops)),
        "latency per word": lambda c: _size(c, lambda s: duration(s.latency)),
        "training": _training,
    }
    return tuple(
        Measure(title, tuple(way(c) for c in found.contestants))
        for title, way in ways.items()
    )


def amount(number: int | None) -> str:
    """A large number with three digits."""
    if number is None:
        return "–"
    for power, unit in ((1e9, " G"), (1e6, " M"), (1e3, " k")):
        if number >= power:
            return f"{number / power:.3g}{unit}"
    return str(number)


def duration(seconds: float | None) -> str:
    """A time with three digits."""
    if seconds is None:
        return "–"
    if seconds >= 120:
        return f"{seconds / 60:.1f} min"
    for power, unit in ((1.0, "s"), (1e-3, "ms")):
        if seconds >= power:
            return f"{seconds / power:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"


def _share(
    network: ModelResult, of: Callable[[SeedResult], Rate], seeds: Spread | None
) -> Entry:
    rates = [of(one) for one in network.ones]
    if seeds is None or seeds.low is None or seeds.high is None:
        rate = rates[0]
        alike = f"all {len(rates)} seeds; one of them " * (len(rates) > 1)
        return Entry(percent(rate.value), f"{alike}[{_bounds(rate.low, rate.high)}]")
    ends = [percent(s) for s in (seeds.least, seeds.most)]
    said = " to ".join(dict.fromkeys(ends))
    return Entry(
        percent(seeds.mean), f"seeds {said}; mean [{_bounds(seeds.low, seeds.high)}]"
    )


def _bounds(low: float, high: float) -> str:
    """Both ends in per cent, rounded outwards."""
    down, up = (int(10_000 * low) / 100, -int(-10_000 * high) / 100)
    return f"{down:g}, {min(100.0, up):g}"


def _proved(found: Comparison, network: ModelResult) -> Entry:
    if network.key != COMPILED:
        return Entry("no" if network.size else "–")
    proof = found.proved
    words = "every length" if proof.length is None else f"T ≤ {proof.length}"
    return Entry("✓ " + words if proof.verdict == "verified" else proof.verdict)


def _failing(network: ModelResult) -> Entry:
    failures = [one.failure for one in network.ones if one.failure is not None]
    if not failures:
        return Entry("–")
    found = [len(f.word) for f in failures if f.word is not None]
    if not found:
        return Entry("none found", f"to T = {max(f.length for f in failures)}")
    letters = f"{min(found)} letter{'s' if min(found) != 1 else ''}"
    some = f"{len(found)} of {len(failures)} seeds fail" if len(failures) > 1 else ""
    return Entry(letters, some)


def _size(network: ModelResult, write: Callable[[Size], str]) -> Entry:
    return Entry("–") if network.size is None else Entry(write(network.size))


def _training(network: ModelResult) -> Entry:
    runs = [one.training for one in network.ones if one.training is not None]
    if not runs:
        return Entry("none" if network.key == COMPILED else "counted")
    return Entry(duration(sum(r.seconds for r in runs) / len(runs)), "a seed")
