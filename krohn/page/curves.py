"""The curves of a comparison as charts."""

from collections.abc import Iterator, Mapping
from itertools import pairwise

from krohn.comparison.contestants import KEYS, Contestant
from krohn.comparison.result import Comparison, Sweep
from krohn.page.lines import Frame, Plot, Series, Span
from krohn.page.scales import doubling, even, powers, shares

LABELS: Mapping[str, str] = {
    "compiled": "compiled",
    "gpt": "GPT",
    "lstm": "LSTM",
    "ngram": "n-gram",
    "majority": "majority",
}
"""What is written beside lines, short enough for a phone."""


def accuracy_plots(found: Comparison) -> list[Plot]:
    """Token accuracy along position, bias, count and length."""
    return [_sweep(sweep) for sweep in found.sweeps]


def training_plots(found: Comparison) -> list[Plot]:
    """Loss and accuracy while training, a line for each network, a band over seeds."""
    trained = [c for c in found.contestants if any(o.training for o in c.ones)]
    plots = []
    for title, loss in (("loss (logarithmic)", True), ("token accuracy", False)):
        series, at = _history(trained, loss)
        if any(s.known for s in series):
            values = [v for s in series for v in s.known]
            upward = powers(values) if loss else shares(values)
            frame = Frame(at, even(at), upward)
            plots.append(_plot(title, "training step", frame, series))
    return plots


def _plot(
    title: str,
    axis: str,
    frame: Frame,
    series: list[Series],
    spans: tuple[Span, ...] = (),
    remark: str = "",
) -> Plot:
    across, up = frame.across(), frame.up()
    return Plot(title, axis, frame.lines(series), across, up, spans, remark)


def _sweep(sweep: Sweep) -> Plot:
    series = [Series(c.key, LABELS[c.key], c.values) for c in sweep.curves]
    series.sort(key=lambda s: KEYS.index(s.key))
    along = doubling(sweep.at) if _doubles(sweep.at) else even(sweep.at)
    frame = Frame(sweep.at, along, shares([v for s in series for v in s.known]))
    spans = tuple(_spans(sweep, frame))
    return _plot(sweep.title, sweep.axis, frame, series, spans, sweep.remark)


def _doubles(at: tuple[float, ...]) -> bool:
    """Whether the places are far apart at the end, as lengths are."""
    gaps = [b - a for a, b in pairwise(at)]
    return len(gaps) > 2 and at[0] > 0 and gaps[-1] > 3 * gaps[0]


def _spans(sweep: Sweep, frame: Frame) -> Iterator[Span]:
    if sweep.trained is not None:
        low, high = map(frame.x, sweep.trained)
        yield Span("trained", low, high)
    if sweep.proved is not None and sweep.proved < sweep.at[-1]:
        yield Span("proved to here", frame.x(sweep.proved), frame.x(sweep.proved))


def _history(
    trained: list[Contestant], loss: bool
) -> tuple[list[Series], tuple[float, ...]]:
    """What was noted while training, on the steps of all runs together."""
    runs = {c.key: [o.training for o in c.ones if o.training] for c in trained}
    at = sorted({float(s) for found in runs.values() for r in found for s in r.steps})
    series = []
    for key, found in runs.items():
        rows = []
        for run in found:
            noted = dict(
                zip(run.steps, run.loss if loss else run.accuracy, strict=True)
            )
            rows.append(tuple(noted.get(int(s)) for s in at))
        series.append(Series(key, LABELS[key], tuple(rows)))
    return series, tuple(at)
