"""The page of a comparison: its table, its probe maps, every number that it holds."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, get_args

from krohn.algebra.formats import json_format
from krohn.instruments.compare.comparison.models import (
    headline,
    percent,
)
from krohn.instruments.compare.comparison.result import (
    COMPILED,
    KEYS,
    Comparison,
    Failure,
    ModelResult,
    ProbeResult,
    SeedResult,
    Size,
)
from krohn.instruments.compare.draw_curves import (
    LABELS,
    accuracy_charts,
    training_charts,
)
from krohn.instruments.compare.measures.accuracy import (
    Rate,
    Spread,
)
from krohn.instruments.compare.probes.interchange import Interchange
from krohn.instruments.compare.probes.probe_map import (
    FOUR_NUMBERS,
    Cell,
    ProbeMap,
    Row,
    Verdict,
    quality,
)
from krohn.page import rendering
from krohn.page.rendering import Wrong, render_page, wrong
from krohn.program.quoting import listed

# The table of a comparison: a row for each measure, a column for each model.


@dataclass(frozen=True)
class Entry:
    """The contents of a cell: a number, and below it in small the facts it rests on."""

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
        "proved": lambda c: _proof_cell(found, c),
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


def table(found: Comparison) -> list[list[str]]:
    """The same on a terminal: the columns, and a row for each measure."""
    columns = ["measure", *(network.title for network in found.contestants)]
    rows = [[row.title, *(e.main for e in row.entries)] for row in summary(found)]
    return [columns, *rows]


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
    ends_text = " to ".join(dict.fromkeys(ends))
    return Entry(
        percent(seeds.mean),
        f"seeds {ends_text}; mean [{_bounds(seeds.low, seeds.high)}]",
    )


def _bounds(low: float, high: float) -> str:
    """Both ends in per cent, rounded outwards."""
    down, up = (int(10_000 * low) / 100, -int(-10_000 * high) / 100)
    return f"{down:g}, {min(100.0, up):g}"


def _proof_cell(found: Comparison, network: ModelResult) -> Entry:
    if network.key != COMPILED:
        return _proved_of_trained(network)
    proof = found.proved
    words = "every length" if proof.length is None else f"T ≤ {proof.length}"
    return Entry("✓ " + words if proof.verdict == "verified" else proof.verdict)


def _proved_of_trained(network: ModelResult) -> Entry:
    """Verdicts of proofs, seed by seed."""
    proofs = [one.proof.verdict for one in network.ones if one.proof is not None]
    if not proofs:
        return Entry("no" if network.size else "–")
    right = proofs.count("verified")
    if right == len(proofs):
        return Entry("✓ every length", f"all {right} seeds" * (right > 1))
    others = [p for p in dict.fromkeys(proofs) if p != "verified"]
    counts = ", ".join(f"{proofs.count(p)} {p}" for p in others)
    return Entry(f"{right} of {len(proofs)}", counts)


def _failing(network: ModelResult) -> Entry:
    failures = [one.failure for one in network.ones if one.failure is not None]
    if not failures:
        return Entry("–")
    lengths = [len(f.word) for f in failures if f.word is not None]
    if not lengths:
        return Entry("none found", f"to T = {max(f.length for f in failures)}")
    letters = f"{min(lengths)} letter{'s' if min(lengths) != 1 else ''}"
    some = f"{len(lengths)} of {len(failures)} seeds fail" if len(failures) > 1 else ""
    return Entry(letters, some)


def _size(network: ModelResult, write: Callable[[Size], str]) -> Entry:
    return Entry("–") if network.size is None else Entry(write(network.size))


def _training(network: ModelResult) -> Entry:
    runs = [one.training for one in network.ones if one.training is not None]
    if not runs:
        return Entry("none" if network.key == COMPILED else "counted")
    return Entry(duration(sum(r.seconds for r in runs) / len(runs)), "a seed")


# Probe maps as tables: how much more a layer says of a variable than what comes free.


SHADES = 10
MOST_ROWS = 20
MOST_NAMES = 4
SHORT = {"embedding": "0"}
"""The embedding is what stands before the first layer; columns are narrow on phones."""
STRONGEST: tuple[Verdict, ...] = ("used", "partly used", "readable")
"""Verdicts that come first; among equals, what is read best."""


@dataclass(frozen=True)
class Spot:
    """A variable at a layer.

    Attributes:
        shade: From 0 to `SHADES`: how much is gone of the errors of what comes free.
        score: Accuracy, or R², in per cent.
        control: Accuracy of the control task; None if there is none.
        untrained: The same as the score before training; None if not known.
        readable: Whether it is more than comes free, by the thresholds of the map.
    """

    shade: int
    score: int
    control: int | None
    untrained: int | None
    readable: bool


@dataclass(frozen=True)
class HeatRow:
    """A variable at all layers."""

    name: str
    about: str
    verdict: Verdict
    spots: tuple[Spot, ...]


@dataclass(frozen=True)
class HeatMap:
    """The heat map of a network.

    Attributes:
        title: Which network.
        found: The whole map.
        layers: Names of the columns, short.
        rows: Those that say most.
        hidden: How many are left out.
        exchanged: The causal tests, with the name of the variable.
    """

    title: str
    found: ProbeMap
    layers: tuple[str, ...]
    rows: tuple[HeatRow, ...]
    hidden: int
    exchanged: tuple[tuple[str, Interchange], ...]

    @property
    def variables(self) -> int:
        """How many variables of derived networks were looked for."""
        return sum(self.of(verdict) for verdict in get_args(Verdict))

    def of(self, verdict: Verdict) -> int:
        """How many of them have a verdict."""
        rows = (row for row in self.found.rows if row.kind != "reference")
        return sum(row.verdict == verdict for row in rows)

    @property
    def numbers(self) -> str:
        """What the numbers behind a variable say; empty if there are none."""
        said = " ".join((self.found.conclusion, *self.found.said))
        return FOUR_NUMBERS if "% read" in said else ""


def heat_map(probed: ProbeResult) -> HeatMap:
    """The rows of a map, as many as can be read, those that say most first."""
    probe_map = probed.found
    order = sorted(probe_map.rows, key=_rank)
    rows = tuple(map(_row, order[:MOST_ROWS]))
    exchanged = tuple((row.name, tested) for row in order for tested in row.exchanged)
    layers = tuple(SHORT.get(n, n.removeprefix("layer ")) for n in probe_map.layers)
    hidden = len(order) - len(rows)
    return HeatMap(probed.title, probe_map, layers, rows, hidden, exchanged)


def variables(found: Comparison) -> list[list[str]]:
    """How many variables were looked for in each trained network, and what was shown."""
    maps = [heat_map(probed) for probed in found.probes]
    columns = ["variables of derived networks in", "all", "used", "partly", "readable"]
    return [
        columns,
        *(
            [each.title, *map(str, (each.variables, *map(each.of, STRONGEST)))]
            for each in maps
        ),
    ]


def _rank(row: Row) -> tuple[bool, bool, int, float]:
    """References last, which are read everywhere; before them what answers tell."""
    known = row.verdict in STRONGEST
    place = STRONGEST.index(row.verdict) if known else len(STRONGEST)
    best = max(quality(cell.trained) for cell in row.cells)
    return row.kind == "reference", row.of_answer, place, -best


def _row(row: Row) -> HeatRow:
    spots = tuple(
        Spot(
            _shade(cell),
            _percent(quality(cell.trained)) or 0,
            _percent(cell.trained.control),
            None if cell.untrained is None else _percent(quality(cell.untrained)),
            cell.readable,
        )
        for cell in row.cells
    )
    return HeatRow(row.name, "; ".join(_about(row)), row.verdict, spots)


def _about(row: Row) -> Iterator[str]:
    first = row.cells[0].trained
    if first.accuracy is None:
        yield "R² of a regression"
    else:
        chance = _percent(first.majority)
        yield f"{row.values} values, the most frequent {chance} %"
    if row.constructions:
        yield f"in {listed(row.constructions, MOST_NAMES)}"
    if len(row.names) > 1:
        yield f"equal to {listed(row.names[1:], MOST_NAMES)}"


def _shade(cell: Cell) -> int:
    """The shade of a cell: the part read beyond the references and the control task."""
    control = cell.trained.control or 0.0
    learned = quality(cell.trained) - control
    above = learned / (1 - control) if control < 1 else 0.0
    return round(SHADES * max(0.0, min(cell.gain, above)))


def _percent(share: float | None) -> int | None:
    return None if share is None else round(100 * share)


# The page of a comparison: every number that it holds, from top to bottom.


SHOWN_LETTERS = 8


def render(found: Comparison) -> str:
    """The page as text: no scripts, and nothing is fetched."""
    return render_page("comparison.html", _facts(found), __package__)


def _facts(found: Comparison) -> dict[str, Any]:
    return {
        "found": found,
        "headline": headline(found),
        "summary": summary(found),
        "accuracy": accuracy_charts(found),
        "training": training_charts(found),
        "strategies": _strategies(found),
        "maps": [heat_map(probed) for probed in found.probes],
        "attention": _attention(found),
        "failures": _failures(found),
        "machine": rendering.of_machine(json_format.from_object(found.machine)),
        "keys": [(key, LABELS[key]) for key in KEYS if found.of(key)],
        "duration": duration,
        "trained": _training_seconds(found),
        "percent": percent,
    }


def _training_seconds(found: Comparison) -> float:
    runs = [o.training for c in found.contestants for o in c.ones if o.training]
    return sum(run.seconds for run in runs)


def _strategies(found: Comparison) -> list[dict[str, Any]]:
    """A row for each kind of word; shares are means over seeds."""
    rows = []
    for kind in found.strategies:
        means = {
            key: sum(s.value for s in shares) / len(shares)
            for key, shares in kind.shares.items()
            if shares
        }
        rows.append({"name": kind.name, "words": kind.words, "means": means})
    return rows


def _attention(found: Comparison) -> dict[str, Any] | None:
    if found.maps is None or not found.maps.patterns:
        return None
    shown = [
        {
            "pattern": p,
            "picture": rendering.of_pattern(p.weights),
            "size": len(p.weights),
        }
        for p in found.maps.patterns
    ]
    return {"word": found.maps.word, "shown": shown, "remarks": found.maps.remarks}


def _failures(found: Comparison) -> list[dict[str, Any]]:
    """The failures that were found; the shortest word of a network as a table."""
    rows = []
    for network in found.contestants:
        ones = [(one, one.failure) for one in network.ones if one.failure is not None]
        lengths = [len(f.word) for _, f in ones if f.word is not None]
        for one, failure in ones:
            word = _word(failure)
            table = word is not None and word.length == min(lengths)
            lengths += [-1] * table  # the first of the shortest
            row = {"network": network, "one": one, "failure": failure}
            rows.append({**row, "word": word, "table": table})
    return rows


def _word(failure: Failure) -> Wrong | None:
    if failure.word is None:
        return None
    return wrong(failure.word, failure.expected, failure.actual, SHOWN_LETTERS)
