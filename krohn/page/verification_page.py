"""One page of HTML that says what a verdict is, how far it is from failing, and why."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from krohn.algebra.automaton import Automaton
from krohn.drawing import DrawingError
from krohn.foreign import with_names
from krohn.network import modelfile
from krohn.network.architecture import kind_of, parameters
from krohn.network.modelfile import ModelFile
from krohn.page import pictures
from krohn.page.chart import chart
from krohn.page.longest import EFFORT, Longest, longest
from krohn.page.margins import margin, noises, sublayers, worst_head
from krohn.page.operations import operations
from krohn.page.provenance import provenance
from krohn.page.rendering import rendered
from krohn.page.words import Wrong, wrong
from krohn.program.writing import atomic_write
from krohn.report import Report

MOST_HEADS = 40


@dataclass(frozen=True)
class Request:
    """What a page is about.

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
    return rendered("verdict.html", _facts(request))


def _facts(request: Request) -> dict[str, Any]:
    report = request.report
    file, _ = with_names(modelfile.read(request.path), request.machine)
    evidence = report.proof.evidence if report.proof else []
    layers = sublayers(evidence)
    return {
        "report": report,
        "machine": request.machine,
        "claim": _claim(file, request),
        "header": file.header,
        "architecture": file.header["architecture"],
        "parameters": parameters(file.header["architecture"]),
        "wrong": _wrong(report),
        "replay": request.replay,
        "bounds": [head.summary() for head in report.heads[:MOST_HEADS]],
        "attack": sorted(report.attack.tightest.items()) if report.attack else [],
        "chart": chart(layers) if layers else None,
        "worst": worst_head(layers),
        "margin": margin(evidence),
        "other": _other(evidence),
        "longest": _longest(file, request),
        "pictures": [pictures.of_machine(request.machine), *_network(file)],
        "operations": _operations(file, evidence),
        "provenance": provenance(request.path, request.arguments, report.method),
    }


def _claim(file: ModelFile, request: Request) -> dict[str, Any]:
    claim, report = file.header["claim"], request.report
    proof = "proof" in report.method.split("+")
    kind = kind_of(file.header["architecture"])
    return {
        "network": kind.title,
        "answers": kind.answers,
        "length": claim.get("length") if proof else report.length,
        "every": proof or "exhaustive" in report.method or report.method == "smt",
        "dtype": file.precision.name,
        "shows": "output" if claim.get("shows") == "outputs" else "state",
        "start": request.machine.states[request.machine.start],
        "opening": claim.get("opening"),
        "tolerance": claim.get("tolerance"),
        "construction": file.header.get("construction", "not stated"),
    }


def _wrong(report: Report) -> Wrong | None:
    found = report.counterexample
    return None if found is None else wrong(found.word, found.expected, found.actual)


def _network(file: ModelFile) -> list[pictures.Picture]:
    """A picture of the network, where there is one to draw."""
    drawn = kind_of(file.header["architecture"]).answers == "classes"
    return [pictures.of_model(file)] if drawn else []


def _other(evidence: Sequence[dict[str, Any]]) -> list[tuple[str, str]]:
    """What was established that is no noise of a channel."""
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
    return f"{value:.6g}" if isinstance(value, float) else value


def _longest(file: ModelFile, request: Request) -> list[Longest] | str:
    """How long words may be: lines, or a sentence."""
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
    kind = kind_of(file.header["architecture"])
    if not kind.program:
        reason = (
            f"Files of {kind.called} state no Program, so there is no list of "
            "operations."
        )
        return {"rows": [], "hidden": 0, "reason": reason}
    embedded = any(step.get("sublayer") == "embedding" for step in evidence)
    try:
        rows, hidden = operations(file.header, noises(evidence), embedded)
    except DrawingError as error:
        return {"rows": [], "hidden": 0, "reason": str(error)}
    return {"rows": rows, "hidden": hidden, "reason": ""}
