"""The page of a comparison: every number that it holds, from top to bottom."""

from typing import Any

from krohn.algebra.formats import json_format
from krohn.comparison.headline import headline, percent
from krohn.comparison.model_results import KEYS, Failure
from krohn.comparison.result import Comparison
from krohn.page import pictures
from krohn.page.curves import LABELS, accuracy_charts, training_charts
from krohn.page.heat import heat_map
from krohn.page.rendering import rendered
from krohn.page.summary import duration, summary
from krohn.page.words import Wrong, wrong

SHOWN_LETTERS = 8


def render(found: Comparison) -> str:
    """The page as text: no scripts, and nothing is fetched."""
    return rendered("comparison.html", _facts(found))


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
        "machine": pictures.of_machine(json_format.from_object(found.machine)),
        "keys": [(key, LABELS[key]) for key in KEYS if found.of(key)],
        "duration": duration,
        "trained": _trained(found),
        "percent": percent,
    }


def _trained(found: Comparison) -> float:
    """How many seconds training took in all."""
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
            "picture": pictures.of_pattern(p.weights),
            "size": len(p.weights),
        }
        for p in found.maps.patterns
    ]
    return {"word": found.maps.word, "shown": shown, "remarks": found.maps.remarks}


def _failures(found: Comparison) -> list[dict[str, Any]]:
    """What was searched and found; the shortest word of a network as a table."""
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
