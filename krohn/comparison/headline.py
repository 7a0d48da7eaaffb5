"""A comparison in two or three sentences, by rule from its numbers."""

from collections.abc import Iterator

from krohn.algebra.wording import count
from krohn.comparison.model_results import COMPILED, GPT, LSTM, ModelResult
from krohn.comparison.models import TITLES
from krohn.comparison.result import Comparison, Sweep

PERFECT = 0.99995
"""From here on four digits would be rounded up to 100 %."""
LEARNED = 0.9
"""What never did the task falls nowhere."""
FALL = 0.1
"""Token accuracy that is lost on other words and worth a sentence. It is the least of some
fifty places of 256 words each: a share of 0.9 of words has a standard error of 0.019, so
that chance alone does this at none of them (five standard errors)."""


def headline(found: Comparison) -> tuple[str, ...]:
    """What is proved, what training reached, and where it breaks."""
    return (_proved(found), *_trained(found), *_falls(found))


def percent(share: float) -> str:
    """A share in per cent that says 100 % only of all of them."""
    if share >= 1:
        return "100 %"
    if share >= PERFECT:
        return "> 99.99 %"
    return f"{100 * share:.2f} %" if share > 0.99 else f"{100 * share:.1f} %"


def average(one: ModelResult) -> float:
    """Token accuracy, the mean over seeds."""
    return sum(o.token.value for o in one.ones) / len(one.ones)


def _proved(found: Comparison) -> str:
    compiled, proved = found.of(COMPILED), found.proved
    words = "every length"
    if proved.length is not None:
        words = f"up to {count(proved.length, 'letter')}"
    if proved.verdict != "verified":
        return f"The compiled network is not proved: {proved.covers}."
    size = compiled.size if compiled else None
    layers = f", {size.depth} layers deep" if size and size.depth else ""
    layers = ", 1 layer deep" if size and size.depth == 1 else layers
    return (
        f"The compiled network ({proved.construction}{layers}) is proved right at every "
        f"position of every word of {words}."
    )


def _trained(found: Comparison) -> Iterator[str]:
    said = [
        f"the {_short(c)} gives {percent(average(c))} right answers"
        for c in map(found.of, (GPT, LSTM))
        if c is not None
    ]
    if said:
        seeds = len(found.origin.seeds)
        mean = f", mean of {seeds} seeds" if seeds > 1 else ""
        yield (
            f"Trained on words of {count(found.length, 'letter')} and measured on fresh "
            f"ones, {' and '.join(said)}{mean}."
        )


def _falls(found: Comparison) -> Iterator[str]:
    """Where a trained network loses most, sweep by sweep."""
    for key in (GPT, LSTM):
        network = found.of(key)
        if network is None or average(network) < LEARNED:
            continue
        elsewhere = [s for s in found.sweeps if s.trained is not None]
        falls = [f for s in elsewhere if (f := _fall(s, key, average(network)))]
        if falls:
            yield (
                f"On other words the {_short(network)} gives fewer right answers: "
                f"{'; '.join(falls)}."
            )


def _fall(sweep: Sweep, key: str, usual: float) -> str | None:
    curve = next((c for c in sweep.curves if c.key == key), None)
    if curve is None:
        return None
    means = []
    for at, column in zip(sweep.at, zip(*curve.values, strict=True), strict=True):
        known = [v for v in column if v is not None]
        if known:
            means.append((sum(known) / len(known), at))
    lowest, at = min(means, default=(1.0, 0.0))
    if lowest > usual - FALL:
        return None
    return f"{percent(lowest)} {sweep.said.replace('{}', f'{at:g}')}"


def _short(network: ModelResult) -> str:
    return TITLES.get(network.key, network.title)
