"""One page of HTML that says what a verdict is, how far it is from failing, and why."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.algebra.errors import KrohnError
from krohn.drawing import DrawingError
from krohn.drawing.residual_stream import Bar as StreamBar, stream
from krohn.foreign import with_names
from krohn.intervention import parse_program
from krohn.network import modelfile
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.network.stated_program import meanings_of
from krohn.page import rendering
from krohn.page.longest import EFFORT, Longest, longest
from krohn.page.rendering import Wrong, provenance, render_page, superscript, wrong
from krohn.program.quoting import listed
from krohn.program.wording import at_most
from krohn.program.writing import atomic_write
from krohn.report import Report

# How far a proof is from failing, sublayer by sublayer, read from what it established.


HALF_STEP = 0.5
"""Values are whole numbers or one-hot: noise of this size would make one another."""
MOST_LEAK = 1 / 8
"""The checker refuses heads of which more weight may lie elsewhere."""


@dataclass(frozen=True)
class Head:
    """The bounds that were shown for one channel that a head reads.

    Attributes:
        sublayer: Where.
        channel: What.
        gap: The least lead of the right score; 0 for heads that add up.
        score_error: How far a score can be off.
        leak: How much weight can lie elsewhere.
        noise: How far what it reads can be off.
    """

    sublayer: str
    channel: str
    gap: float
    score_error: float
    leak: float
    noise: float

    @property
    def share(self) -> float:
        """How much is used of what may be used: 1 would be refused."""
        scores = 2 * self.score_error / self.gap if self.gap > 0 else 0.0
        return max(scores, self.leak / MOST_LEAK)


@dataclass(frozen=True)
class Sublayer:
    """The bounds that were shown for one sublayer.

    Attributes:
        title: Its name.
        heads: Of an attention layer.
        noise: The most by which anything that it writes can be off.
    """

    title: str
    heads: tuple[Head, ...]
    noise: float

    @property
    def lead(self) -> float | None:
        """The share that the worst head uses; None if none has to tell positions apart."""
        return max((h.share for h in self.heads if h.gap or h.leak), default=None)

    @property
    def share(self) -> float:
        """How much of half a step the noise is."""
        return self.noise / HALF_STEP


def sublayers(evidence: Sequence[Mapping[str, Any]]) -> list[Sublayer]:
    """The sublayers that write channels, in order."""
    return [
        Sublayer(
            str(step["sublayer"]),
            tuple(_heads(step)),
            max(float(c["noise"]) for c in step["channels"]),
        )
        for step in evidence
        if step.get("channels")
    ]


def _heads(step: Mapping[str, Any]) -> Iterator[Head]:
    for c in step["channels"]:
        if "gap" in c:
            numbers = (float(c[k]) for k in ("gap", "score_error", "leak", "noise"))
            yield Head(str(step["sublayer"]), str(c["channel"]), *numbers)


def worst_head(found: Sequence[Sublayer]) -> Head | None:
    """The head that uses most of what it may; of equal ones that with the most noise."""
    heads = [head for sublayer in found for head in sublayer.heads]
    return max(heads, key=lambda h: (h.share, h.noise), default=None)


def noises(evidence: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """By how much each channel can be off, by name."""
    return {
        str(c["channel"]): float(c["noise"])
        for step in evidence
        for c in step.get("channels", ())
    }


def margin(evidence: Sequence[Mapping[str, Any]]) -> float | None:
    """By how much the right logit is above all others at least."""
    margins = [float(step["margin"]) for step in evidence if "margin" in step]
    return min(margins, default=None)


# Bars on a logarithmic scale that ends at what would be too much.
#
# Texts keep their size and bars take the width that there is, so that a chart can be read
# on a phone: places are per cent along, pixels down.


ROW = 44
TOP = 22
MOST_ROWS = 40
LEAST_DECADES = 4
THIN = 0.6


@dataclass(frozen=True)
class Bar:
    """One bar: a kind (which colour), its length in per cent, and the number."""

    kind: str
    width: float
    value: float


@dataclass(frozen=True)
class Row:
    """The bars of a sublayer."""

    title: str
    y: int
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Tick:
    """A line down the chart."""

    label: str
    x: float


@dataclass(frozen=True)
class Chart:
    """The chart of a proof's bounds.

    Attributes:
        rows: From top to bottom.
        ticks: From left to right; the last one is what would be too much.
        height: In pixels.
        hidden: How many sublayers are left out, those that use least.
    """

    rows: tuple[Row, ...]
    ticks: tuple[Tick, ...]
    height: int
    hidden: int


def chart(found: Sequence[Sublayer]) -> Chart:
    """The shares that sublayers use of what they may."""
    shown = _worst(found)
    shares = [x for s in shown for x in (s.share, s.lead or 0.0) if x > 0]
    least = math.floor(math.log10(min(shares, default=1.0)))
    decades = max(LEAST_DECADES, 2 * math.ceil(-least / 2))
    rows = tuple(
        Row(s.title, TOP + ROW * i, tuple(_bars(s, decades)))
        for i, s in enumerate(shown)
    )
    step = max(2, 2 * math.ceil(decades / 10))
    exponents = [e for e in range(decades, 0, -step) if e]
    ticks = tuple(
        Tick(f"10{superscript(-e)}", 100 * (1 - e / decades)) for e in exponents
    )
    height = TOP + ROW * len(rows)
    return Chart(rows, (*ticks, Tick("limit", 100)), height, len(found) - len(shown))


def _worst(found: Sequence[Sublayer]) -> list[Sublayer]:
    """All, or those that use most, in their order."""
    order = sorted(found, key=lambda s: max(s.share, s.lead or 0.0), reverse=True)
    kept = {id(s) for s in order[:MOST_ROWS]}
    return [s for s in found if id(s) in kept]


def _bars(sublayer: Sublayer, decades: int) -> list[Bar]:
    shares = [("noise", sublayer.share)]
    if sublayer.lead is not None:
        shares.insert(0, ("lead", sublayer.lead))
    return [Bar(kind, _width(share, decades), share) for kind, share in shares]


def _width(share: float, decades: int) -> float:
    if share <= 0:
        return 0.0
    return min(100.0, max(THIN, 100 * (1 + math.log10(share) / decades)))


# The operations of a Program as rows of a table: where, of what, noise in and out.


MOST_OPERATIONS = 150


@dataclass(frozen=True)
class Operation:
    """One operation, or several alike that lie side by side.

    Attributes:
        name: Of the channel, or of all of them.
        does: What it computes, of which channels.
        place: Which sublayer writes it, and to which dimensions.
        noise_in: By how much what it reads can be off; None if nothing is known.
        noise_out: The same of what it writes.
    """

    name: str
    does: str
    place: str
    noise_in: float | None
    noise_out: float | None


def operations(
    file: ModelFile, noise: Mapping[str, float], embedded: bool
) -> tuple[list[Operation], int]:
    """The operations that are stored, and how many are left out.

    Args:
        file: A model file.
        noise: By how much channels can be off, as a proof established it.
        embedded: Whether it established that the embedding is exact.

    Raises:
        DrawingError: If there is no Program, or one that makes no sense.
    """
    residual_stream = stream(file)
    known = dict(noise)
    if embedded:
        known |= {
            n: 0.0 for bar in residual_stream.bars if not bar.born for n in bar.names
        }
    channels = {str(c["name"]): c for c in file.header["program"]["channels"]}
    bars = sorted(residual_stream.bars, key=lambda bar: (bar.born, bar.start))
    said = _meanings(file)
    rows = [_operation(bar, channels, known, said) for bar in bars[:MOST_OPERATIONS]]
    return rows, len(bars) - len(rows)


def _meanings(file: ModelFile) -> dict[str, str]:
    """What each channel holds, in words; empty if the Program is one that nobody reads."""
    try:
        meanings = meanings_of(file, parse_program(file))
    except KrohnError:
        return {}
    return {name: each.says for name, each in meanings.items()}


def _operation(
    bar: StreamBar,
    channels: Mapping[str, Any],
    known: Mapping[str, float],
    said: Mapping[str, str],
) -> Operation:
    read = {*bar.sources, *([bar.where] if bar.where in channels else [])}
    return Operation(
        bar.title,
        _does(bar, channels[bar.names[0]], said),
        f"{_sublayer(bar.born)}, {_span(bar.start, bar.stop)}",
        _most(read, known) if bar.born else None,
        _most(bar.names, known),
    )


def _most(names: Iterable[str], known: Mapping[str, float]) -> float | None:
    bounds = [known.get(name) for name in names]
    if any(n is None for n in bounds):
        return None
    return max((n for n in bounds if n is not None), default=0.0)


def _does(bar: StreamBar, channel: Mapping[str, Any], said: Mapping[str, str]) -> str:
    if bar.names[0] in said:
        return said[bar.names[0]] + ", and so on" * (len(bar.names) > 1)
    kind = bar.note or str(channel.get("function", channel["op"]))
    sources = sorted(bar.sources)
    of = listed(sources, 4)
    if channel["op"] == "at":
        return f"{of} at position {bar.where.removesuffix('[0]')}"
    where = f" where {bar.where}" if bar.where else ""
    return f"{kind} of {of or 'the letter'}{where}"


def _sublayer(snapshot: int) -> str:
    if not snapshot:
        return "embedding"
    kind = "attention" if snapshot % 2 else "mlp"
    return f"{kind} {(snapshot - 1) // 2}"


def _span(start: int, stop: int) -> str:
    return f"dim {start}" if stop == start + 1 else f"dims {start} to {stop - 1}"


# One page of HTML that says what a verdict is, how far it is from failing, and why.


MOST_HEADS = 40


@dataclass(frozen=True)
class Request:
    """The subject of a page.

    Attributes:
        path: The model file.
        machine: What it was held against.
        report: What came of it.
        arguments: Of the command that asked, without ``krohn``.
        replay: The command that replays the wrong word, if there is one.
        effort: How much work to do for the longest words of other networks.
    """

    path: str
    machine: Automaton
    report: Report
    arguments: Sequence[str] = field(default_factory=tuple)
    replay: str | None = None
    effort: str = EFFORT


def write(request: Request, path: Path) -> None:
    """Write the page whole or not at all.

    Raises:
        KrohnError: If the model cannot be read, or the file system refuses.
    """
    atomic_write(path, render(request))


def render(request: Request) -> str:
    """The page as text: no scripts, and nothing is fetched."""
    return render_page("verdict.html", _facts(request))


def _facts(request: Request) -> dict[str, Any]:
    report = request.report
    file, _ = with_names(modelfile.read(request.path), request.machine)
    evidence = report.proof.evidence if report.proof else []
    layers = sublayers(evidence)
    return {
        "report": report,
        "machine": request.machine,
        "network": kind_of(file.architecture).title,
        "construction": file.header.get("construction", "not stated"),
        "dtype": file.precision.name,
        "architecture": file.architecture,
        "parameters": parameters(file.architecture),
        "wrong": _wrong(report),
        "replay": request.replay,
        "bounds": [head.summary() for head in report.heads[:MOST_HEADS]],
        "attack": sorted(report.attack.tightest.items()) if report.attack else [],
        "chart": chart(layers) if layers else None,
        "worst": worst_head(layers),
        "margin": margin(evidence),
        "other": _other(evidence),
        "longest": _longest(file, request),
        "pictures": [rendering.of_machine(request.machine), *_network(file)],
        "operations": _operations(file, evidence),
        "provenance": provenance(request.path, request.arguments, report.method),
    }


def _wrong(report: Report) -> Wrong | None:
    counterexample = report.counterexample
    return (
        None
        if counterexample is None
        else wrong(counterexample.word, counterexample.expected, counterexample.actual)
    )


def _network(file: ModelFile) -> list[rendering.Picture]:
    """A picture of the network, where there is one to draw."""
    drawn = kind_of(file.architecture).answers == "classes"
    return [rendering.of_model(file)] if drawn else []


def _other(evidence: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """The facts that were established beside the noise of channels."""
    flat: list[tuple[str, str]] = []
    for step in evidence:
        for key, value in step.items():
            if key in ("channels", "sublayer", "margin", "longest"):
                continue
            flat += _lines(key, value)
    return flat


def _lines(key: str, value: object) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        return [(f"{key}, {k}".capitalize(), str(_short(v))) for k, v in value.items()]
    return [(key.capitalize(), str(_short(value)))]


def _short(value: object) -> object:
    return at_most(value, 6) if isinstance(value, float) else value


def _longest(file: ModelFile, request: Request) -> list[Longest] | str:
    proof = request.report.proof
    if proof is None or request.report.verdict != "verified":
        return longest(file, False, request.effort)
    for step in proof.evidence:
        if isinstance(bounds := step.get("longest"), dict):
            how = "by the bounds of the proof, for the weights of this file"
            return [Longest(d, int(n), None, False, how) for d, n in bounds.items()]
    return longest(file, True, request.effort)


def _operations(file: ModelFile, evidence: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The rows of the table of operations, or why there are none."""
    kind = kind_of(file.architecture)
    if not kind.program:
        reason = (
            f"Files of {kind.called} state no Program, so there is no list of "
            "operations."
        )
        return {"rows": [], "hidden": 0, "reason": reason}
    embedded = any(step.get("sublayer") == "embedding" for step in evidence)
    try:
        rows, hidden = operations(file, noises(evidence), embedded)
    except DrawingError as error:
        return {"rows": [], "hidden": 0, "reason": str(error)}
    return {"rows": rows, "hidden": hidden, "reason": ""}
